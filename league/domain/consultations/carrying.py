"""A consultation carried out by a worker that has nothing else to do, under a lease; its result is stored once.

The bot is started as in a match, in the sandbox, and is sent what the seat was sent in this sitting: the same `hello`, the same events and
choices. Whatever it answers, the events that follow are those of the record. It hears nothing of the boards before, and its bank is full.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from engine.analysis import decisions, ply_of
from engine.compiled import COMPILED
from engine.replay import ReplayError
from engine.runner import Limits
from engine.runner.rebuild import exchanges
from engine.runner.rerun import Rerun, rerun
from engine.sandbox import Sandbox
from league.domain.bots import packages
from league.domain.consultations import asking
from league.domain.consultations.reading import Answer
from league.domain.core import clock
from league.domain.core.errors import Refused, without_folders
from league.domain.matches import background, replays
from league.enums import JudgementStatus
from league.models import BotVersion, Consultation, Match, Sitting

log = logging.getLogger("league.consultations")
MOST_S = 120.0  # of wall time; what was answered by then is kept
Held = background.Held[Consultation]


def claim(worker: str, *, before_ladders: bool = False, now: datetime | None = None) -> Held | None:
    """As `background.claim`, of consultations."""
    return background.claim(Consultation, worker, before_ladders=before_ladders, now=now)


def expire(*, now: datetime | None = None) -> int:
    """As `background.expire`, of consultations."""
    return background.expire(Consultation, now=now)


def carry_out(held: Held, box: Sandbox, folder: Path, *, stop: Callable[[], bool], now: datetime | None = None) -> bool:
    """Ask the bot, and store what it answers; whether it is done. Whatever happens the lease is given back, if it is still held.

    folder: of the unpacked bots. A consultation that makes way begins anew the next time: a bot cannot be asked from the middle on.
    """
    row = held.row
    try:
        found = _Conversation(held, stop).hold(box, folder)
    except (Refused, ReplayError, ValueError) as error:  # what cannot be read will not be so the next time
        return _fail(held, str(error), again=False, now=clock.now_or(now))
    except Exception as error:
        log.error("consultation %s: attempt %d failed", row.pk, row.attempts, exc_info=error)
        why = f"{type(error).__name__}: {error}"[:500]
        return _fail(held, why, again=row.attempts < background.ATTEMPTS, now=clock.now_or(now))
    now = clock.now_or(now)
    if found is None:  # it stopped for something better: no attempt is counted
        held.move(JudgementStatus.ASKED, now=now, worker="", progress=0, attempts=max(0, row.attempts - 1))
        return False
    answers, run, limited = found
    if run.fault is not None:
        why = f"the bot failed: {run.fault.kind}: {run.fault.detail}"[:500]
        return _fail(held, why, again=row.attempts < background.ATTEMPTS, now=now)
    return held.move(
        JudgementStatus.DONE,
        now=now,
        answers=[one.plain() for one in answers],
        compiled=COMPILED,
        cpu_s=row.cpu_s + run.cpu_s,
        limited=limited,
        finished=now,
        progress=100,
        reason="",
    )


def _fail(held: Held, why: str, *, again: bool, now: datetime) -> bool:
    """It broke. `again`: it is tried once more, by whoever comes next."""
    why = without_folders(why).replace("\0", "\ufffd")
    if again:
        held.move(JudgementStatus.ASKED, now=now, why=why, reason=why, worker="", progress=0)
    else:
        held.move(JudgementStatus.FAILED, now=now, why=why, reason=why, finished=now)
    return False


class _Conversation:
    """One try at a consultation."""

    def __init__(self, held: Held, stop: Callable[[], bool]) -> None:
        self.held, self.row, self._stop = held, held.row, stop

    def hold(self, box: Sandbox, folder: Path) -> tuple[list[Answer], Rerun, bool] | None:
        """The answers, what came of the bot, and whether the time was over before the last decision. None where it was stopped."""
        row = self.row
        # No worker may read the secret of a tournament
        matches = Match.objects.select_related("pool", "tournament").defer("tournament__secret")
        match = matches.get(pk=row.match_id)
        if replays.reason_closed(match):  # it has been held back since
            return None
        # Given back it would be the first in line again, for ever
        if why := asking.reason_not(match):
            raise why
        sitting = Sitting.objects.select_related("board").get(
            board__match=match, board__number=row.board, number=row.sitting
        )
        sitting.board.match = match
        record = replays.unpack(sitting)
        if "pass" not in record:
            raise Refused("match {match} was played before lines could be made anew", match=match.public_id)
        # Where the bot failed in the match there is nothing to go on from
        lines = [one for one in exchanges([record]) if one.seat == row.seat and not one.fault]
        asked = sum(one.step >= 0 and one.answer is not None for one in lines)
        if not lines or lines[0].step >= 0:  # it never came to the table
            return [], Rerun(), False
        version = BotVersion.objects.select_related("bot", "package").get(pk=row.version_id)
        bot = packages.spec(version, folder)
        done = 0

        def count() -> None:
            nonlocal done
            self.held.progress = 100 * done // asked
            done += 1

        run = rerun(
            bot,
            box,
            lines,
            Limits(**match.limits).lenient(),
            party=0,
            sitting=row.sitting,
            pause=count,
            stop=lambda: self.held.lost or self._stop(),
            most_s=MOST_S,
        )
        if run is None:
            return None
        places = {one.step: (one.state.deal_no, ply_of(one.state)) for one in decisions(record)}
        found = [
            Answer(at.step, *places[at.step], at.answer or "", reply.now)
            for reply in run.replies
            if (at := reply.exchange).step in places
        ]
        return found, run, len(run.replies) < asked
