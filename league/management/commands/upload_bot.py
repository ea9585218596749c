"""manage.py upload_bot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.packages import archive
from engine.runner import PackageRefused
from league.domain.bots import bots
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Upload a bot."""

    help = "Upload a bot: one source file, a zip, or a folder with a bot.toml. Its validation is queued."
    example = "manage.py upload_bot mybot.py --player ana --name rufo --game partnership"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("path", type=Path)
        parser.add_argument("--player", required=True, help="the owner")
        parser.add_argument("--name", default="", help="name of the bot; by default the package's own")
        parser.add_argument(
            "--game", action="append", default=[], help="a game it plays, for one source file; may be repeated"
        )

    def run(self, **options: Any) -> None:
        """Upload the file or folder."""
        path: Path = options["path"]
        try:
            if path.is_dir():
                data, filename = archive.read_path(path).zip(), f"{path.name}.zip"
            else:
                data, filename = path.read_bytes(), path.name
        except OSError as error:
            raise PackageRefused(f"{path} cannot be read: {error}") from error
        version = bots.upload(find_player(options["player"]), options["name"], data, filename, options["game"] or None)
        games = ", ".join(version.games) or "every game"
        self.say(f"uploaded {version} ({games}, {version.package_id[:12]}); its validation is queued")
