"""manage.py lift_embargo."""

from league.management.operating import action_command

Command = action_command("lift_embargo")
