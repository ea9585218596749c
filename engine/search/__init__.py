"""Search and learning: deals consistent with what a seat knows, playouts, batches, exact solving, open playouts."""
