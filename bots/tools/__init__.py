"""Tools for bot authors that need the engine: not part of what a bot imports."""
