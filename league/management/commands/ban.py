"""manage.py ban."""

from league.management.operating import action_command

Command = action_command("ban")
