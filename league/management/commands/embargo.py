"""manage.py embargo."""

from league.management.operating import action_command

Command = action_command("embargo")
