"""The kit for bot authors: `tute_bot`, one file to copy, and tools around it."""
