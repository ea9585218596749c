"""manage.py resume."""

from league.management.operating import action_command

Command = action_command("resume")
