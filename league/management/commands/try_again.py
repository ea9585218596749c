"""manage.py try_again."""

from league.management.operating import action_command

Command = action_command("retry")
