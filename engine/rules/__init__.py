"""The rules as data, resolved for a table."""
