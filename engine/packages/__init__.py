"""A bot as files: read, check and unpack the package of a stranger."""
