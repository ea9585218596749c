"""manage.py pause."""

from league.management.operating import action_command

Command = action_command("pause")
