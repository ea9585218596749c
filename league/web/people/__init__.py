"""Pages of accounts and players."""
