"""Players and tokens in the API."""
