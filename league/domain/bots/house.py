"""The bots that the league ships, entered by its own player like anybody's."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from django.conf import settings

from engine.packages import archive
from league.domain.bots import bots
from league.domain.core import clock
from league.domain.people import players
from league.models import BotVersion, Player

FOLDER = Path("bots/house")  # under the project; one package per folder in it


def player(*, now: datetime | None = None) -> Player:
    """The player `house`; made where it does not exist."""
    found = Player.objects.filter(name=players.HOUSE).first()
    return found or players.create(players.HOUSE, reserved=True, now=now)


def enter(
    *, secret: bytes | None = None, now: datetime | None = None, but: Collection[str] = ()
) -> Iterator[tuple[BotVersion, bool]]:
    """Upload the bots whose files are not in the league yet, `but` for those of these names; each version of now, and whether it is new.

    `secret` keys the deals of the validation matches, for runs that are to be repeated.
    """
    now = clock.given(now)
    owner = player(now=now)
    for folder in sorted(path.parent for path in (settings.BASE_DIR / FOLDER).glob("*/bot.toml")):
        if folder.name in but:
            continue
        content = archive.read_path(folder)
        there = BotVersion.objects.filter(bot__owner=owner, package_id=content.sha256).select_related("bot").first()
        if there:
            yield there, False
        else:
            yield bots.upload(owner, folder.name, content.zip(), f"{folder.name}.zip", secret=secret, now=now), True
