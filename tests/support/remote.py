"""Remote bots for tests."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence

from league.domain.bots import bots
from league.domain.remote import links
from league.models import BotVersion, Player

GAMES = ("brisca",)


def toml(name: str, games: Sequence[str] = GAMES, version: str = "1") -> bytes:
    """Return the package of a remote bot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        text = f'name = "{name}"\nruntime = "remote"\ngames = {json.dumps(list(games))}\nversion = "{version}"\n'
        archive.writestr("bot.toml", text)
    return packed.getvalue()


def remote(player: Player, name: str, *, most: int = 1, **more: Sequence[str]) -> BotVersion:
    """Return a connected remote bot."""
    version = bots.upload(player, name, toml(name, **more), "bot.zip")
    links.note_seen(version.bot, most)
    return version
