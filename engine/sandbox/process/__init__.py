"""The life of a bot's process: its start, its clock, its memory, its end."""
