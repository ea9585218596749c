"""Evidence of a match: its replays, and the secret that determined its deals."""
