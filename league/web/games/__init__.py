"""Pages of games and their leaderboards."""
