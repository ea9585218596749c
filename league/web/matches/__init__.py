"""Pages of matches and boards."""
