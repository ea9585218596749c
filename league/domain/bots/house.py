"""House bots: the bots that the league ships. The player `house` enters them in the usual way."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path

from django.conf import settings

from engine.packages import archive
from engine.packages.manifest import PackageRefused
from engine.runner import BotSpec
from engine.runner.loaded import loaded_spec
from league.domain.bots import bots
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import players
from league.enums import Licence
from league.models import BotVersion, Player

log = logging.getLogger("league.house")
FOLDER = Path("bots/house")  # Below the project's folder; each folder in it is one package.


def player(*, now: datetime | None = None) -> Player:
    """Return the player `house`; create it if it does not exist."""
    owner = Player.objects.filter(name=players.HOUSE).first()
    return owner or players.create(players.HOUSE, reserved=True, now=now)


def names() -> list[str]:
    """Return the names of the shipped bots, in alphabetical order."""
    return sorted(path.parent.name for path in (settings.BASE_DIR / FOLDER).glob("*/bot.toml"))


def enter(
    only: Collection[str] = (), *, secret: bytes | None = None, now: datetime | None = None
) -> Iterator[tuple[BotVersion, bool]]:
    """Upload the house bots (or `only` these) that the league does not have yet; yield each current version, and True if it is new.

    Raise Refused for an unknown name before anything is uploaded. `secret` is the key of the validations' deals, for repeatable runs.
    """
    shipped = names()
    if unknown := [name for name in only if name not in shipped]:
        raise Refused(
            "no house bot is called {name!r}; choose one of {names}", name=unknown[0], names=", ".join(shipped)
        )
    now = clock.now_or(now)
    owner = player(now=now)
    closed = BotVersion.objects.filter(bot__owner=owner, opened=None)
    for name in shipped:
        if only and name not in only:
            continue
        folder = settings.BASE_DIR / FOLDER / name
        content = archive.read_path(folder)
        existing = BotVersion.objects.filter(bot__owner=owner, package_id=content.sha256).select_related("bot").first()
        if existing:
            closed.filter(pk=existing.pk).update(opened=now, licence=Licence.MIT)
            yield existing, False
        else:
            version = bots.upload(owner, folder.name, content.zip(), f"{folder.name}.zip", secret=secret, now=now)
            closed.filter(pk=version.pk).update(opened=now, licence=Licence.MIT)  # The project has their source.
            yield version, True


@cache
def _shipped() -> dict[str, BotSpec]:
    """Return the shipped bots in Python by the hash of their package. It reads their files once; a folder that is no package is left out."""
    specs = {}
    for name in names():
        try:
            spec = loaded_spec(settings.BASE_DIR / FOLDER / name)
        except (PackageRefused, OSError) as error:
            log.error(
                "the house bot %s plays in the sandbox at tables, too, because its folder cannot be read: %s",
                name,
                error,
            )
            continue
        if spec.runtime == "python":
            specs[spec.sha256] = spec
    return specs


def loaded(version: BotVersion) -> BotSpec | None:
    """Return a version as a bot of this release, to play without a sandbox at a table of people; None if its files are not those of the release.

    The code that runs is that of the release's own folder: nobody who can write to the database can choose it.
    """
    return _shipped().get(version.package_id)
