"""Pages of classes."""
