"""What the commands of the league share: an example in the help, refusals as plain messages, exit codes."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser

from engine.runner import PackageRefused
from league.domain.bots import house
from league.domain.core.errors import Refused
from league.models import BotVersion, Player


class LeagueCommand(BaseCommand):
    """Subclasses set `help` and `example`, and write `run`. Exit codes: 0 done, 1 refused or failed, 2 wrong usage."""

    example = ""
    # Those of the settings. The others ask the code, which `manage.py check` does; for that they load every page and the whole API.
    requires_system_checks = [Tags.security]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser with the example at its end."""
        kwargs.setdefault("epilog", f"example:\n  {self.example}")
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run; what the league refuses becomes one line on stderr."""
        try:
            self.run(**options)
        except (Refused, PackageRefused) as error:
            raise CommandError(str(error)) from error

    def run(self, **options: Any) -> None:
        """The work of the command."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """One line on stdout."""
        self.stdout.write(text)


def find_player(name: str) -> Player:
    """The player of that name, or Refused with what to do."""
    found = Player.objects.filter(name=name).first()
    if found is None:
        raise Refused(f"there is no player {name!r}; create one with: manage.py create_player {name}")
    return found


def find_version(text: str) -> BotVersion:
    """The version of a text such as "rufo" (the newest) or "rufo:3"."""
    slug, _, number = text.partition(":")
    versions = BotVersion.objects.select_related("bot").filter(bot__slug=slug).order_by("-number")
    if number:
        if not (number.isascii() and number.isdigit()):
            raise Refused(f"{text!r} names no version; write a bot and a number, such as rufo:3")
        versions = versions.filter(number=int(number))
    found = versions.first()
    if found is None:
        ours = slug in house.names()
        hint = f"it is of the house: manage.py enter_house {slug}" if ours else "the pages under /bots/ show all bots"
        raise Refused(f"there is no version {text!r}; {hint}")
    return found
