"""manage.py unban."""

from league.management.operating import action_command

Command = action_command("unban")
