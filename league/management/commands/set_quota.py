"""manage.py set_quota."""

from league.management.operating import action_command

Command = action_command("quota")
