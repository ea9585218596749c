"""Control groups, users and cores: where a bot's process is put, and the proof that it is there."""
