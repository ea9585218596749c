"""A bot as files: reads a package of a stranger, checks it, unpacks it."""
