"""Rules that several games share, as functions over a `State`."""
