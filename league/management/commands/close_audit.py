"""manage.py close_audit."""

from league.management.operating import action_command

Command = action_command("conclude")
