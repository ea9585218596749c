"""One module a game, each with a `GAME`. The package is searched, so a new game is a new file and nothing else."""
