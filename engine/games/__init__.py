"""One module per game, each with a `GAME`. The package is searched, so a new game needs a new file and no other change."""
