"""The bots that the league ships, entered by its own player like anybody's."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from django.conf import settings

from engine.packages import archive
from league.domain.bots import bots
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import players
from league.models import BotVersion, Player

FOLDER = Path("bots/house")  # under the project; one package per folder in it


def player(*, now: datetime | None = None) -> Player:
    """The player `house`; made where it does not exist."""
    found = Player.objects.filter(name=players.HOUSE).first()
    return found or players.create(players.HOUSE, reserved=True, now=now)


def names() -> list[str]:
    """Those of the bots that are shipped, in the order of the alphabet."""
    return sorted(path.parent.name for path in (settings.BASE_DIR / FOLDER).glob("*/bot.toml"))


def enter(
    only: Collection[str] = (), *, secret: bytes | None = None, now: datetime | None = None
) -> Iterator[tuple[BotVersion, bool]]:
    """Upload the bots whose files are not in the league yet, all of them or `only` those named; each version of now, and whether it is new.

    Raises Refused for a name of none before anything is uploaded. `secret` keys the deals of the validation matches, for runs that are
    to be repeated.
    """
    shipped = names()
    if unknown := [name for name in only if name not in shipped]:
        raise Refused("no house bot is called {name!r}; there are: {names}", name=unknown[0], names=", ".join(shipped))
    now = clock.now_or(now)
    owner = player(now=now)
    for name in shipped:
        if only and name not in only:
            continue
        folder = settings.BASE_DIR / FOLDER / name
        content = archive.read_path(folder)
        there = BotVersion.objects.filter(bot__owner=owner, package_id=content.sha256).select_related("bot").first()
        if there:
            yield there, False
        else:
            yield bots.upload(owner, folder.name, content.zip(), f"{folder.name}.zip", secret=secret, now=now), True
