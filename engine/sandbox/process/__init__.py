"""The life cycle of a bot's process: start, clock, memory, end."""
