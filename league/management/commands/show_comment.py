"""manage.py show_comment."""

from league.management.operating import action_command

Command = action_command("show")
