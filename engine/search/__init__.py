"""The rules for millions of playouts. Here sampling and exact solving will stand too."""
