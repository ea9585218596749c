"""What a bot author imports: `tute_bot`, one file to copy, and tools around it."""
