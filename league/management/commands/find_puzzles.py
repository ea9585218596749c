"""manage.py find_puzzles."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from league.domain.jobs.handlers import puzzles
from league.domain.jobs.handlers.base import Signals, execute
from league.domain.jobs.worker import WorkerLoop
from league.domain.judgements import summing
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Find puzzles in the league's own matches."""

    help = (
        "Search analysed matches for puzzles, the newest first, as idle workers do; this command ignores PUZZLES_PER_DAY. It runs at the "
        "lowest priority and finishes its last match. Only finished public matches count."
    )
    example = "manage.py find_puzzles --seconds 300"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--seconds", type=float, default=300.0, help="start no new match after this time (300)")

    def run(self, **options: Any) -> None:
        """Search for the given time and print the result."""
        if not settings.PUZZLES_PER_DAY:
            raise CommandError("this league searches for no puzzles, because PUZZLES_PER_DAY is 0")
        until = time.monotonic() + options["seconds"]
        while summing.count_new():
            pass
        site, handler, signals = (
            WorkerLoop(settings.STATE_DIR / "bots"),
            puzzles.PuzzleHandler(),
            Signals(lambda: False),
        )
        matches = count = 0
        while time.monotonic() < until and (job := handler.claim_by_hand(site.name)):
            self.say(f"match {job.subject.judgement.match.public_id}")
            before = job.subject.made
            execute(handler, job, site, signals)
            count += job.subject.made - before
            matches += 1
        self.say(f"{count} new puzzles in {matches} matches")
