"""Pages of comments."""
