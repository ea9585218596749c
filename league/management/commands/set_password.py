"""manage.py set_password."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import translation

from league.domain.core.errors import Refused
from league.domain.people import passwords
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Set the password of a player."""

    help = "Set the password of a player. This ends their sessions and revokes their keys; the journal and their account page show when and by whom."
    example = "echo 'a long password' | manage.py set_password ana --by berto --password-stdin"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="name of the player")
        parser.add_argument("--by", default="operator", help="who sets it; shown to the player")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def run(self, **options: Any) -> None:
        """Set the password."""
        player = find_player(options["name"])
        if options["by"] == player.name:
            raise Refused(
                "--by must name another person; {name} can change their own password on the site",
                name=player.name,
            )
        if options["password_stdin"]:
            password = sys.stdin.readline().rstrip("\n")
        else:
            password = getpass.getpass(f"new password of {player.name}: ")
        try:
            with translation.override("en"):
                validate_password(password, player.user)
        except ValidationError as error:
            raise Refused("{errors}", errors=" ".join(error.messages)) from error
        passwords.set_password(player, password, actor=options["by"])
        self.say(f"the password of {player.name} is set; their sessions have ended and their keys are revoked")
