"""The files that a bot may read: a copy of the interpreter and its libraries."""
