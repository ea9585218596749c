"""manage.py create_player."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.db import transaction

from league.domain.people import players, rights
from league.enums import Right
from league.management.base import LeagueCommand
from league.models import Player


class Command(LeagueCommand):
    """Create an account."""

    help = "Create a player with an account. An existing player is not changed."
    example = "echo 'a long password' | manage.py create_player ana --password-stdin --staff --may void,pause"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="a-z, 0-9 and inner hyphens")
        parser.add_argument("--email", default="")
        parser.add_argument("--staff", action="store_true", help="may see everything, including the admin pages")
        parser.add_argument("--may", default="", help=f"with --staff: rights, such as void,pause: {', '.join(Right)}")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        parser.add_argument("--no-password", action="store_true", help="nobody can log in until a password is set")

    def run(self, **options: Any) -> None:
        """Create the player."""
        name = options["name"]
        if Player.objects.filter(name=name).exists():
            self.say(f"the player {name} exists already")
            return
        password = None
        if options["password_stdin"]:
            password = sys.stdin.readline().rstrip("\n")
        elif not options["no_password"]:
            password = getpass.getpass(f"password of {name}: ")
        words = [word.strip() for word in options["may"].split(",") if word.strip()]
        with transaction.atomic():
            player = players.create(name, password=password, email=options["email"], staff=options["staff"])
            if words:
                rights.change(player, words, give=True, why="made so", actor="operator")
        self.say(f"created the player {player.name}")
