"""Tries (league.domain.bots.tries): a text from the editor plays some boards, or answers one decision of a match."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from engine.runner import BotSpec, Limits, MatchSpec
from engine.runner.match import play_match
from engine.runner.rerun import rerun
from engine.runner.result import SittingResult
from engine.runner.spec import POSSIBLE
from engine.sandbox import Sandbox
from league.domain.bots import languages, packages, tries
from league.domain.bots.tries import MOST_S, MOST_SERIES_S, DecisionPoint
from league.domain.core import clock, queue
from league.domain.core.queue import LeaseLost
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.matches import note_progress
from league.domain.jobs.handlers.queued import MatchLease, QueuedHandler
from league.domain.matches import conversations, leases
from league.domain.matches.reports import Receipt
from league.domain.ratings import pools
from league.enums import MatchKind
from league.models import Match, Try

AT_ONCE = 5  # Boards of a series that are played together: few, so that little is lost when the time runs out
MOST_SHOWN = 2  # Sittings of each board of a series that are stored
MOST_LINE = 4000  # The most characters of a line to or from the bot that are stored
READS = ("source", "language", "at", "rival__number", "rival__bot__slug", "rival__package__data")


@dataclass
class TryTask:
    """A text to try."""

    row: Try
    text: BotSpec


class TryHandler(QueuedHandler[TryTask, tries.TryResult]):
    """The work on a try."""

    kinds = (MatchKind.TRY,)

    def read(self, job: MatchLease, site: Site) -> TryTask:
        """Load the text and unpack it."""
        row = Try.objects.select_related("rival__bot", "rival__package").only(*READS).get(work=job.match)
        language = languages.find(row.language)
        text = languages.package(row.source.encode(), language, [job.match.pool.game])
        return TryTask(row, packages.unpacked(text, site.folder))

    def run(self, job: MatchLease, task: TryTask, site: Site, signals: Signals) -> tries.TryResult | None:
        """Play with the text, or ask it for one decision. Raise the errors of `play_match`, and OSError."""
        if task.row.at is not None:
            return _put(task, site.proven_sandbox(), signals.stop)
        if job.match.boards_planned > 1:
            return _play_series(job, task, site, signals.stop)
        return _play(job.match, task, site, signals.stop)

    def report(self, job: MatchLease, result: tries.TryResult, *, now: datetime | None = None) -> Receipt:
        """Store the result and finish the work, unless another worker has the lease."""
        return report(job.match, result, now=now)


def _spec(work: Match, task: TryTask, site: Site) -> MatchSpec:
    rivals = [packages.spec(task.row.rival, site.folder)] * (pools.parties(work.pool) - 1)
    return MatchSpec(
        match_id=work.public_id,
        game=work.pool.game,
        players=work.pool.players,
        options=work.pool.options,
        secret=bytes(work.secret),
        table=work.table,
        boards=range(work.first_board, work.first_board + work.boards_planned),
        parties=(task.text, *rivals),
        sealing=POSSIBLE,
    )


def _play(work: Match, task: TryTask, site: Site, stop: Callable[[], bool]) -> tries.TryResult | None:
    spec = _spec(work, task, site)
    seatings = pools.game_of(work.pool).sittings(len(spec.parties))
    box = site.proven_sandbox()
    result = tries.TryResult(tier=box.tier)

    def note_line(sitting: int, seat: int, request: bytes, answer: bytes) -> None:
        if seatings[sitting][seat] == 0:
            result.lines.append([sitting, seat, _line(request), _line(answer)])

    until = time.monotonic() + MOST_S
    played = play_match(spec, box, stop=lambda: stop() or time.monotonic() > until, tap=note_line)
    board, text = played.boards[0], played.parties[0]
    if not board.complete and stop():
        return None
    result.stopped = not board.complete
    result.scores = board.scores
    result.sittings = [_sitting(sitting) for sitting in board.sittings]
    result.faults = [asdict(fault) for fault in text.faults]
    result.stderr, result.decisions = text.stderr, text.decisions
    return result


def _play_series(job: MatchLease, task: TryTask, site: Site, stop: Callable[[], bool]) -> tries.TryResult | None:
    """Play the boards of a series, some at a time, until the time runs out. All sittings of started boards are finished."""
    spec, box = _spec(job.match, task, site), site.proven_sandbox()
    result = tries.TryResult(tier=box.tier)
    until = time.monotonic() + MOST_SERIES_S
    progress = note_progress(job)
    for first in range(0, len(spec.boards), AT_ONCE):
        part = replace(spec, boards=spec.boards[first : first + AT_ONCE])
        played = play_match(part, box, stop=lambda: stop() or time.monotonic() > until)
        text = played.parties[0]
        if stop():
            return None
        for board in played.boards:
            if board.complete:
                result.boards.append({"number": board.number, "scores": list(board.scores)})
                result.sittings += [
                    {**_sitting(sitting), "board": board.number} for sitting in board.sittings[:MOST_SHOWN]
                ]
        result.faults = [asdict(fault) for fault in text.faults]
        result.stderr, result.decisions = text.stderr, result.decisions + text.decisions
        progress(min(first + AT_ONCE, len(spec.boards)), len(spec.boards))
        if result.faults:
            break
        if time.monotonic() > until:
            result.stopped = len(result.boards) < len(spec.boards)
            break
    return result


def _sitting(sitting: SittingResult) -> dict[str, Any]:
    return {"seating": list(sitting.seating), "scores": list(sitting.scores), "replay": sitting.replay}


def _put(task: TryTask, box: Sandbox, stop: Callable[[], bool]) -> tries.TryResult | None:
    """Send the text the lines that a bot got in a match up to one decision. Its answers before that decision have no effect."""
    at = DecisionPoint(**(task.row.at or {}))
    match = Match.objects.only("public_id", "limits").get(public_id=at.match)
    lines = at.until(conversations.conversation(match, at.board, at.sitting, at.seat))
    limits = Limits(**match.limits).lenient()
    run = rerun(task.text, box, lines, limits, party=0, sitting=at.sitting, stop=stop, most_s=MOST_S)
    if run is None:
        return None
    stderr = run.stderr.replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
    result = tries.TryResult(tier=box.tier, stderr=stderr, decisions=len(run.replies))
    result.logged = lines[-1].answer or ""
    result.lines = [[0, at.seat, _line(lines[0].request), ""]]
    result.lines += [[0, at.seat, _line(reply.exchange.request), reply.now] for reply in run.replies]
    result.faults = [asdict(run.fault)] if run.fault else []
    result.stopped = run.fault is None and len(run.replies) < sum(line.step >= 0 for line in lines)
    return result


def _line(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip("\n")
    return text if len(text) <= MOST_LINE else text[:MOST_LINE] + " …"


def report(work: Match, result: tries.TryResult, *, now: datetime | None = None) -> Receipt:
    """Store the result of a try and finish its row in the queue, in one transaction that checks the token."""
    now = clock.now_or(now)
    data = result.packed()
    with suppress(LeaseLost), transaction.atomic():
        work = queue.lock(work)
        Try.objects.filter(work=work, result=None).update(result=data, finished=now)
        leases.finish(work, now=now)
        return Receipt.STORED
    return Receipt.REFUSED
