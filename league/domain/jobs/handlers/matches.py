"""Matches: their boards are played in the sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Generic

from django.conf import settings

from engine.runner import Limits, MatchResult, MatchSpec
from engine.runner.bot_processes import BotProcesses
from engine.runner.match import first_processes, play_match
from engine.runner.result import BoardResult
from engine.runner.spec import ALWAYS, POSSIBLE
from league.domain.bots import packages
from league.domain.jobs.handlers.base import Result, Signals, Site
from league.domain.jobs.handlers.queued import TEST, MatchLease, QueuedHandler
from league.domain.matches import matches, reports
from league.domain.matches.reports import Receipt
from league.enums import MatchKind
from league.models import BotVersion, Match, Party, Pool
from league.service import logs

# After this many attempts that broke off because of the same bot, if possible on different workers, the bot is to blame
UNPLAYABLE = 2


@dataclass
class MatchTask:
    """A match to play. crew: the processes of the first pass, if they were started in advance."""

    spec: MatchSpec
    crew: BotProcesses | None = None


class PlayedHandler(QueuedHandler[MatchTask, Result], Generic[Result]):
    """A kind of work that plays the table of a match. The claim has read the row with seats, bots and packages."""

    def read(self, job: MatchLease, site: Site) -> MatchTask:
        """Unpack the bots. No query."""
        return MatchTask(match_spec(job.match, site.folder))

    def prepare(self, task: MatchTask, site: Site, core: int) -> None:
        """Start the bots of the first pass."""
        task.crew = first_processes(task.spec, site.proven_sandbox(), core)

    def close(self, task: MatchTask) -> None:
        """Stop the bots that were started in advance."""
        if task.crew is not None:
            task.crew.close()

    @staticmethod
    @contextmanager
    def playing(job: MatchLease, task: MatchTask) -> Iterator[None]:
        """Measure from here on if the bots are slow, and name them in the log."""
        job.began = time.monotonic()
        with logs.about(bots=", ".join(bot.name for bot in task.spec.parties)):
            yield


class MatchHandler(PlayedHandler[MatchResult]):
    """The work on a match that is not a validation."""

    kinds: ClassVar[tuple[str, ...]] = (
        MatchKind.TOURNAMENT,
        MatchKind.CHALLENGE,
        MatchKind.LADDER,
        MatchKind.ASSIGNMENT,
        TEST,
    )

    def run(self, job: MatchLease, task: MatchTask, site: Site, signals: Signals) -> MatchResult | None:
        """Play all boards. Raise the errors of `play_match`."""
        with self.playing(job, task):
            result = play_match(
                task.spec,
                site.proven_sandbox(),
                progress=note_progress(job),
                decided=_note_decided(job),
                stop=signals.stop,
                first=task.crew,
                # After a failed attempt, no other match is prepared beside this one
                closing=signals.ending if job.match.attempts == 1 else None,
                interlude=signals.interlude,
            )
        is_whole = len(result.boards) >= job.match.boards_planned and all(board.complete for board in result.boards)
        return result if is_whole else None

    def report(self, job: MatchLease, result: MatchResult, *, now: datetime | None = None) -> Receipt:
        """Store boards, sittings and log, and finish the match."""
        return reports.report(job.match, result, now=now)


def note_progress(job: MatchLease) -> Callable[[int, int], None]:
    """Return a function that notes the number of finished sittings, or of finished games of a validation."""

    def note(count: int, total: int) -> None:
        job.progress, job.done = min(99, 100 * count // max(1, total)), count

    return note


def _note_decided(job: MatchLease) -> Callable[[Sequence[BoardResult]], None]:
    def note(boards: Sequence[BoardResult]) -> None:
        job.decided = [[board.number, list(board.scores)] for board in boards]

    return note


def match_spec(match: Match, folder: Path) -> MatchSpec:
    """Return what the runner needs to play `match`, with the bots unpacked under `folder`. No query for a match read by a claim."""
    parties = sorted(match.parties.all(), key=lambda party: party.number)
    boards = range(match.first_board, match.first_board + match.boards_planned)
    versions = [party.version for party in parties]
    limits = Limits(**match.limits)
    spec = _spec(match.public_id, match.pool, bytes(match.secret), match.table, boards, versions, limits, folder)
    broken = {party.number: _why_unplayable(party) for party in parties if len(party.broken_off) >= UNPLAYABLE}
    sealing = ALWAYS if match.tournament and match.tournament.sealed else POSSIBLE
    return replace(spec, unplayable=broken, sealing=sealing, apart=_is_apart(match, versions))


def _is_apart(match: Match, versions: Sequence[BotVersion]) -> bool:
    """Return True if this match counts, and a bot that is not the league's own could gain by what an earlier pass tells a later one."""
    counts = match.kind in (MatchKind.TOURNAMENT, MatchKind.LADDER)
    return settings.PASSES_APART and counts and not all(version.bot.is_house for version in versions)


def plan_spec(plan: matches.MatchPlan, folder: Path) -> MatchSpec:
    """Return what the runner needs to play a match that is not in the database yet."""
    boards = range(plan.first_board, plan.first_board + plan.boards)
    limits = Limits(**plan.limits)
    return _spec(matches.public_id(plan), plan.pool, plan.secret, plan.table, boards, plan.versions, limits, folder)


def _why_unplayable(party: Party) -> str:
    """Return the message to a bot's owner about the attempts that broke off because of it."""
    return "the match broke off at this bot: " + "; ".join(
        f"attempt {attempt['attempt']} on worker {attempt['worker']}: {attempt['why']}" for attempt in party.broken_off
    )


def _spec(
    name: str,
    pool: Pool,
    secret: bytes,
    table: str,
    boards: range,
    versions: Sequence[BotVersion],
    limits: Limits,
    folder: Path,
) -> MatchSpec:
    return MatchSpec(
        match_id=name,
        game=pool.game,
        players=pool.players,
        options=pool.options,
        secret=secret,
        table=table,
        boards=boards,
        parties=tuple(packages.spec(version, folder) for version in versions),
        limits=limits,
        sealing=POSSIBLE,
    )
