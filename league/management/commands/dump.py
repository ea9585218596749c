"""manage.py dump."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import engine
from league.domain.core.errors import Refused
from league.domain.upkeep import dumping
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Export the data of a league for research."""

    help = (
        "Write all rated matches with every card into files, one per game and day (FOLDER/GAME/DAY.jsonl.gz), one replay per line, and a list "
        "of them with check sums (FOLDER/files.json). Existing days are skipped, so it can run every night and be stopped at any time."
    )
    example = "manage.py dump /srv/tute/dump --game partnership --since 2026-11-01"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("folder", type=Path)
        parser.add_argument("--game", action="append", default=[], help="only this game; may be repeated")
        parser.add_argument("--since", help="from this day on, such as 2026-11-01 (UTC)")

    def run(self, **options: Any) -> None:
        """Write the files and print each one."""
        for game in options["game"]:
            if game not in engine.games():
                raise Refused(f"there is no game {game!r}; use one of {', '.join(engine.games())}")
        try:
            since = date.fromisoformat(options["since"]) if options["since"] else None
        except ValueError as error:
            raise Refused(f"--since takes a day such as 2026-11-01, not {options['since']!r}") from error
        files = matches = size = 0
        for day in dumping.dump(options["folder"], games=options["game"], since=since):
            files, matches, size = files + 1, matches + day.matches, size + day.bytes
            missing = f"; {day.held} hidden" if day.held else ""
            missing += f"; {day.without} without replays" if day.without else ""
            self.say(f"{day.path}: {day.matches} matches, {day.bytes:,} bytes{missing}")
        self.say(f"{files} files written: {matches} matches, {size:,} bytes")
