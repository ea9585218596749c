"""manage.py hide_comment."""

from league.management.operating import action_command

Command = action_command("hide")
