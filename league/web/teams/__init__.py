"""Pages of teams, and of handing a bot on."""
