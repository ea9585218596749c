"""Cards, actions and chance as plain numbers."""
