"""How a worker plays a try (league.domain.bots.tries), and its result, stored exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from django.db import transaction

from engine.runner import Limits, MatchSpec
from engine.runner.match import play_match
from engine.runner.rerun import rerun
from engine.runner.spec import PARTNERS
from engine.sandbox import Sandbox
from league.domain.bots import packages
from league.domain.bots.tries import FILE, MOST_S, Moment, Result
from league.domain.core import clock
from league.domain.matches import conversations, leases
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Match, Try

MOST_LINE = 4000  # characters kept of a line to the bot or from it


def carry_out(work: Match, box: Sandbox, folder: Path, *, stop: Callable[[], bool]) -> Result | None:
    """Play a try; None where `stop` said so. folder: of the unpacked bots.

    Raises what `play_match` raises, and OSError.
    """
    row = Try.objects.select_related("rival__bot", "rival__package").get(work=work)
    if row.at is not None:
        return _put(row, work, box, folder, stop)
    text = packages.unpacked(packages.inspect(row.source.encode(), FILE, [work.pool.game]), folder)
    others = [packages.spec(row.rival, folder)] * (pools.parties(work.pool) - 1)
    spec = MatchSpec(
        match_id=work.public_id,
        game=work.pool.game,
        players=work.pool.players,
        options=work.pool.options,
        secret=bytes(work.secret),
        table=work.table,
        boards=range(1, 2),
        parties=(text, *others),
        sealing=PARTNERS,
    )
    seatings = pools.game_of(work.pool).sittings(len(spec.parties))
    found = Result(tier=box.tier)

    def hear(sitting: int, seat: int, request: bytes, answer: bytes) -> None:
        if seatings[sitting][seat] == 0:
            found.lines.append([sitting, seat, _line(request), _line(answer)])

    until = time.monotonic() + MOST_S
    played = play_match(spec, box, stop=lambda: stop() or time.monotonic() > until, tap=hear)
    board, mine = played.boards[0], played.parties[0]
    if not board.complete and stop():
        return None
    found.stopped = not board.complete
    found.scores = board.scores
    found.sittings = [
        {"seating": list(one.seating), "scores": list(one.scores), "replay": one.replay} for one in board.sittings
    ]
    found.faults = [asdict(fault) for fault in mine.faults]
    found.stderr, found.decisions = mine.stderr, mine.decisions
    return found


def _put(row: Try, work: Match, box: Sandbox, folder: Path, stop: Callable[[], bool]) -> Result | None:
    """Put what a bot was sent in a match, up to one decision, to the text. What it answers before that one changes nothing."""
    at = Moment(**(row.at or {}))
    match = Match.objects.get(public_id=at.match)
    lines = at.until(conversations.conversation(match, at.board, at.sitting, at.seat))
    text = packages.unpacked(packages.inspect(row.source.encode(), FILE, [work.pool.game]), folder)
    run = rerun(
        text, box, lines, Limits(**match.limits).lenient(), party=0, sitting=at.sitting, stop=stop, most_s=MOST_S
    )
    if run is None:
        return None
    found = Result(tier=box.tier, stderr=run.stderr.replace("\0", "\ufffd"), decisions=len(run.replies))
    found.logged = lines[-1].answer or ""
    found.lines = [[0, at.seat, _line(lines[0].request), ""]]
    found.lines += [[0, at.seat, _line(one.exchange.request), one.now] for one in run.replies]
    found.faults = [asdict(run.fault)] if run.fault else []
    found.stopped = run.fault is None and len(run.replies) < sum(one.step >= 0 for one in lines)
    return found


def _line(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip("\n")
    return text if len(text) <= MOST_LINE else text[:MOST_LINE] + " …"


def report(match_id: int, token: int, found: Result, *, now: datetime | None = None) -> bool:
    """Store the result and finish the work, in one transaction. False, and nothing is changed, where the lease is not the present one."""
    now = clock.now_or(now)
    data = found.packed()
    with transaction.atomic():
        work = Match.work.select_for_update().filter(pk=match_id, token=token, status=MatchStatus.RUNNING).first()
        if work is None:
            return False
        Try.objects.filter(work=work, result=None).update(result=data, finished=now)
        leases.finish(work, now=now)
    return True
