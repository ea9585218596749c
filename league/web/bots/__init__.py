"""Pages of bots and their uploads."""
