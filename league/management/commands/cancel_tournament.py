"""manage.py cancel_tournament."""

from league.management.operating import action_command

Command = action_command("cancel")
