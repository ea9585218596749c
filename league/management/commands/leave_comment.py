"""manage.py leave_comment."""

from league.management.operating import action_command

Command = action_command("leave")
