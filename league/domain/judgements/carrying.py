"""A judgement carried out by a worker that has nothing else to do, under a lease; its result is stored once.

It runs in a process of its own (engine.judging), which is ended as soon as a match waits. What was judged until then is kept, and so is the time
that it took: a judgement takes so many seconds of a core in all, however often it is given back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet

import engine
from engine.analysis import USUAL_NODES
from engine.compiled import COMPILED
from engine.judging import Child, Stopped
from league.domain.core import clock
from league.domain.core.errors import Refused, without_folders
from league.domain.judgements import asking, bodies
from league.domain.matches import background, replays
from league.enums import JudgementStatus
from league.models import Judgement, Match, Sitting

log = logging.getLogger("league.judgements")
SLICE_S = 60.0  # after so long no further sitting is begun: audits, which are asked for by nobody, wait no longer
MOST_S = 600.0  # so long it lasts at most, with the sitting at hand
Held = background.Held[Judgement]


def is_overdue(*, now: datetime | None = None) -> bool:
    """As `background.is_overdue`, of judgements."""
    return background.is_overdue(Judgement, now=now)


def waiting(now: datetime) -> QuerySet[Judgement]:
    """As `background.waiting`, of judgements."""
    return background.waiting(Judgement, now)


def claim(worker: str, *, before_ladders: bool = False, now: datetime | None = None) -> Held | None:
    """As `background.claim`, of judgements."""
    return background.claim(Judgement, worker, before_ladders=before_ladders, now=now)


def expire(*, now: datetime | None = None) -> int:
    """As `background.expire`, of judgements."""
    return background.expire(Judgement, now=now)


class _Attempt:
    """One try at a judgement, from where the one before it has stopped."""

    def __init__(self, held: Held, stop: Callable[[], bool]) -> None:
        self.row, self.held, self._stop = held.row, held, stop
        self.body = bodies.Body()
        self.began = time.monotonic()
        self._child: Child | None = None

    @property
    def cpu_s(self) -> float:
        """Of this and all tries before it; ends the process."""
        self.close()
        return self.row.cpu_s + (self._child.cpu_s if self._child else 0.0)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()

    def _stops(self) -> bool:
        return self.held.lost or time.monotonic() - self.began > MOST_S or self._stop()

    def judge(self) -> bool:
        """All sittings that are left; whether there was time for all of them. Raises Stopped; Refused for what will be no other the next time."""
        self.body = bodies.unpack(bytes(self.row.body))
        matches = Match.objects.select_related("pool", "tournament").defer(
            "tournament__secret"
        )  # no worker may read that
        match = matches.get(pk=self.row.match_id)
        if replays.reason_closed(match):  # it has been held back since
            raise Stopped
        # Given back it would be the first in line again, for ever
        if why := asking.reason_not(match):
            raise why
        left = settings.JUDGE_CPU_S - self.row.cpu_s
        if left <= 0:
            return False
        game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
        self.body.unit, self.body.nodes, self.body.compiled = str(game.score_unit), USUAL_NODES, COMPILED
        rows = Sitting.objects.filter(board__match=match).select_related("board")
        sittings = list(rows.order_by("board__number", "number"))
        child = self._child = Child(fair=self.row.samples or None, cpu_s=left)
        for done, sitting in enumerate(sittings):
            place = (sitting.board.number, sitting.number)
            self.held.progress = 100 * done // len(sittings)
            if place in self.body.sittings:
                continue
            if self._stops() or time.monotonic() - self.began > SLICE_S:
                raise Stopped
            sitting.board.match = match  # one for all: its log is read once
            found, whole = child.judge(replays.unpack(sitting), stop=self._stops)
            self.body.sittings[place] = found
            if not whole:
                return False
        return True


def carry_out(held: Held, *, stop: Callable[[], bool], now: datetime | None = None) -> bool:
    """Judge, and store what came of it; whether it is done. Whatever happens the lease is given back, if it is still held."""
    row, attempt = held.row, _Attempt(held, stop)
    try:
        whole = attempt.judge()
    except Stopped:
        whole = False
        if attempt.cpu_s < settings.JUDGE_CPU_S:
            _give_back(held, attempt, now=clock.now_or(now))
            return False
    except Refused as error:  # what cannot be read will not be so the next time
        _fail(held, attempt, str(error), again=False, now=clock.now_or(now))
        return False
    except Exception as error:
        log.error("judgement %s: attempt %d failed", row.pk, row.attempts, exc_info=error)
        why = f"{type(error).__name__}: {error}"[:500]
        _fail(held, attempt, why, again=row.attempts < background.ATTEMPTS, now=clock.now_or(now))
        return False
    finally:
        attempt.close()
    return _report(held, attempt, whole=whole, now=clock.now_or(now))


def _report(held: Held, attempt: _Attempt, *, whole: bool, now: datetime) -> bool:
    """The result, unless the lease is somebody else's by now; whether it was stored."""
    verdicts = [one for rows in attempt.body.sittings.values() for one in rows]
    return held.move(
        JudgementStatus.DONE,
        now=now,
        cpu_s=attempt.cpu_s,
        body=bodies.pack(attempt.body),
        decisions=len(verdicts),
        judged=sum(one.lost is not None for one in verdicts),
        limited=not whole,
        finished=now,
        progress=100,
        reason="",
    )


def _give_back(held: Held, attempt: _Attempt, *, now: datetime) -> None:
    """It stopped for something better: no attempt is counted, and what was judged is kept."""
    body, attempts = bodies.pack(attempt.body), max(0, held.row.attempts - 1)
    to = JudgementStatus.ASKED
    held.move(to, now=now, worker="", progress=held.progress, body=body, cpu_s=attempt.cpu_s, attempts=attempts)


def _fail(held: Held, attempt: _Attempt, why: str, *, again: bool, now: datetime) -> None:
    """It broke. `again`: it is tried once more, by whoever comes next."""
    why = without_folders(why)
    if again:
        body = bodies.pack(attempt.body)
        to = JudgementStatus.ASKED
        held.move(to, now=now, why=why, reason=why, worker="", body=body, cpu_s=attempt.cpu_s)
    else:
        to = JudgementStatus.FAILED
        held.move(to, now=now, why=why, reason=why, body=b"", cpu_s=attempt.cpu_s, finished=now)
