"""A trick: legal cards, songs, exchanges, windows."""
