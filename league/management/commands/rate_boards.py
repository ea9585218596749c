"""manage.py rate_boards."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from league.domain.core.errors import Refused
from league.management.base import LeagueCommand
from league.pure.rating import published
from league.pure.rating.bradley_terry import REVISION


class Command(LeagueCommand):
    """Recompute ratings from public boards alone."""

    help = (
        "Recompute the ratings of a pool from the boards file on the page of its game (or - for standard input). "
        "Needs no database, so anyone can check a leaderboard."
    )
    example = "curl -s https://league.example/g/partnership/boards.jsonl | manage.py rate_boards -"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("file", help="the downloaded file, or -")
        parser.add_argument("--json", action="store_true", help="all digits, for programs")

    def run(self, **options: Any) -> None:
        """Read the boards, fit the ratings, print them."""
        try:
            if options["file"] == "-":
                rated = published.rate_boards(sys.stdin)
            else:
                with Path(options["file"]).open(encoding="utf-8") as lines:
                    rated = published.rate_boards(lines)
        except (OSError, published.BadBoards) as error:
            raise Refused(f"{options['file']}: {error}") from error
        if options["json"]:
            rows = [{"version": rated.names[row.bot], **asdict(row)} for row in rated.table.rows]
            self.say(json.dumps({"pool": rated.pool, "matches": rated.matches, "boards": rated.boards, "rows": rows}))
            return
        pool = rated.pool
        if rated.revision != REVISION:
            self.say(
                f"The file is of revision {rated.revision} of the ratings, this program fits by revision {REVISION}: its numbers are not those "
                "of the league's table then. docs/ratings.md says what changed; download the file again for boards that came since."
            )
        self.say(
            f"{pool['game']}, {pool['players']} players: {rated.boards} boards of {rated.matches} matches, all versions"
        )
        self.say(f"{'bot':<30} {'Elo':>8} {'95%':>7} {'boards':>7} {'score':>6}")
        for row in rated.table.rows:
            mark = " provisional" if row.provisional else ""
            self.say(
                f"{rated.names[row.bot]:<30} {row.elo:8.2f} ±{row.margin:6.2f} {row.boards:7} {row.score:6.1%}{mark}"
            )
