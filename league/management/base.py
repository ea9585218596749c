"""The base class of the commands: an example in the help, refusals as plain messages, exit codes."""

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
    """The base of commands. Subclasses set `help` and `example`, and write `run`. Exit codes: 0 done, 1 refused or failed, 2 wrong usage."""

    example = ""
    # Only the checks of the settings. The others load every page and the whole API; `manage.py check` runs them.
    requires_system_checks = [Tags.security]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Build the parser, with the example at the end of its help."""
        kwargs.setdefault("epilog", f"example:\n  {self.example}")
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; a refusal becomes one line on stderr."""
        try:
            self.run(**options)
        except (Refused, PackageRefused) as error:
            raise CommandError(str(error)) from error

    def run(self, **options: Any) -> None:
        """Do the work of the command."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Write one line to stdout."""
        self.stdout.write(text)


def find_player(name: str) -> Player:
    """Return the player of this name, or refuse with a hint."""
    player = Player.objects.filter(name=name).first()
    if player is None:
        raise Refused(f"there is no player {name!r}; create one with: manage.py create_player {name}")
    return player


def find_version(text: str) -> BotVersion:
    """Return the version in a text such as "rufo" (the newest) or "rufo:3"."""
    slug, _, number = text.partition(":")
    versions = BotVersion.objects.select_related("bot").filter(bot__slug=slug).order_by("-number")
    if number:
        if not (number.isascii() and number.isdigit()):
            raise Refused(f"{text!r} is not a version; write bot:number, for example rufo:3")
        versions = versions.filter(number=int(number))
    version = versions.first()
    if version is None:
        ours = slug in house.names()
        hint = f"to upload this house bot, run: manage.py enter_house {slug}" if ours else "/bots/ lists all bots"
        raise Refused(f"there is no version {text!r}; {hint}")
    return version
