"""The parts that all addresses of the API share: callers, problems, pages, schema."""
