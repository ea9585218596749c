"""What every address of the API shares: callers, problems, pages, schema."""
