"""manage.py void_match."""

from league.management.operating import action_command

Command = action_command("void")
