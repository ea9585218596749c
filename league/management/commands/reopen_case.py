"""manage.py reopen_case."""

from league.management.operating import action_command

Command = action_command("reopen")
