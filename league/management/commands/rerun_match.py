"""manage.py rerun_match."""

from league.management.operating import action_command

Command = action_command("rerun")
