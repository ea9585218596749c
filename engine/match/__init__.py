"""A match: its data, its course, and `State.apply`, the only way to change it."""
