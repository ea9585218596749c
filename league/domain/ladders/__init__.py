"""The standing ladders: one a game, which plays by itself where nothing else waits."""
