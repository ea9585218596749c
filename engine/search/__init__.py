"""What searches and learners use: cards consistent with what a seat knows, playouts, batches, exact solving, open playouts."""
