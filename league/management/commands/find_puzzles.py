"""manage.py find_puzzles."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from league.domain.jobs.handlers import puzzles
from league.domain.jobs.handlers.base import Signals, execute
from league.domain.jobs.worker import Worker
from league.domain.judgements import summing
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Puzzles of the league's own matches."""

    help = (
        "Look for puzzles in matches that were judged fairly and not looked through yet, the newest first, as workers do when they have "
        "nothing else to do; here they need not be idle, and the day may have more than PUZZLES_PER_DAY. It runs at the lowest priority, "
        "for so many seconds and the match at hand. Only finished matches count that everybody may see."
    )
    example = "manage.py find_puzzles --seconds 300"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--seconds", type=float, default=300.0, help="begin no further match after so long (300)")

    def run(self, **options: Any) -> None:
        """Search until the time is over, and print what was searched."""
        if not settings.PUZZLES_PER_DAY:
            raise CommandError("this league makes no puzzles: PUZZLES_PER_DAY is 0")
        until = time.monotonic() + options["seconds"]
        while summing.count_new():
            pass
        site, handler, signals = Worker(settings.STATE_DIR / "bots"), puzzles.PuzzleHandler(), Signals(lambda: False)
        matches = count = 0
        while time.monotonic() < until and (job := handler.claim(site.name, by_hand=True)):
            self.say(f"match {job.row.judgement.match.public_id}")
            before = job.row.made
            execute(handler, job, site, signals)
            count += job.row.made - before
            matches += 1
        self.say(f"{count} new puzzles in {matches} matches")
