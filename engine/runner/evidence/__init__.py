"""What a match leaves behind: replays, and the secret that its deals followed from."""
