"""Studies of the rules: workers play many boards of a variant between house bots, and report what its rules do beside the usual ones."""
