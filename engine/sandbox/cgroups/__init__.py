"""Control groups, users and cores: the place of a bot's process, and the proof that it is there."""
