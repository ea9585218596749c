"""The files that a bot may see: a copy of the interpreter and its libraries."""
