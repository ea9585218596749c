"""The tables that a worker has beside its match: each in a thread of its own, its bots frozen unless they are asked.

A table takes no match's place: it waits for its person most of the time, and its bots think for milliseconds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import connection

from engine.runner import MatchSpec
from engine.runner.spec import PARTNERS
from engine.runner.table import Advise, Question, Taken, play_table
from engine.sandbox import Sandbox
from engine.sandbox.files import keeping
from league.domain.bots import packages
from league.domain.core import transitions
from league.domain.tables import holding
from league.domain.tables.holding import LeaseLost, TableLease
from league.service import listening

log = logging.getLogger("league.tables")
LOOK_S = 1.0  # between two looks whether a table waits
AGAIN_S = 1.0  # between two looks whether the person has answered, where a wake-up says so
DEAF_S = 0.05  # where none is heard
STOP_S = 0.25  # between two looks whether it is to stop
CROWDED_S = 10.0  # who thinks for so long gives way to who waits for a worker
MOST_S = (
    1800.0  # after so long at one worker a table is given back when its person is asked, to begin with fresh processes
)


class PutDown(Exception):
    """The table is given back while its person thinks."""


class Tables:
    """Those of one process. `may_play`: whether it may take one now; `box`: its proven sandbox; `leaving`: whether it has been told to stop."""

    def __init__(
        self,
        worker: str,
        folder: Path,
        may_play: Callable[[], bool],
        box: Callable[[], Sandbox],
        leaving: Callable[[], bool],
    ) -> None:
        """folder: of the unpacked bots."""
        self.worker, self.folder = worker, folder
        self._may_play, self._box, self._leaving = may_play, box, leaving
        self._held: dict[int, tuple[TableLease, threading.Thread]] = {}
        self._lock = threading.Lock()

    def look(self) -> bool:
        """Take up a table that waits, if there is room for one; whether there was one."""
        if not settings.TABLES or self._leaving():
            return False
        with self._lock:
            if len(self._held) >= settings.TABLES_PER_WORKER:
                return False
        if not holding.is_awaited() or not self._may_play():
            return False
        held = holding.claim(self.worker)
        if held is None:
            return False
        thread = threading.Thread(target=self._keep, args=(held,), name=f"table-{held.row.public_id}", daemon=True)
        with self._lock:
            self._held[held.row.pk] = held, thread
        thread.start()
        return True

    def beat(self) -> None:
        """Renew the leases."""
        with self._lock:
            there = [held for held, _ in self._held.values()]
        for held in there:
            held.beat()

    def close(self, patience: float = 15) -> None:
        """Wait until all are given back: `leaving` says so by now."""
        with self._lock:
            threads = [thread for _, thread in self._held.values()]
        for thread in threads:
            thread.join(patience)

    def _keep(self, held: TableLease) -> None:
        try:
            self._play(held)
        except PutDown:
            log.info("table %s: its player thinks", held.row.public_id)
        except LeaseLost:
            log.info("table %s is not held here any more", held.row.public_id)
        except Exception as error:
            connection.close()
            try:
                holding.fail(held, error)
            except Exception as again:  # the database is away: the lease runs out
                log.error("table %s: it could not be given back", held.row.public_id, exc_info=again)
        finally:
            connection.close()
            with self._lock:
                del self._held[held.row.pk]
                if not self._held:
                    keeping.release(self.folder, before=time.monotonic())

    def _play(self, held: TableLease) -> None:
        row, until = held.row, time.monotonic() + MOST_S
        bots = holding.seats(row)
        versions = list(dict.fromkeys(seat.version for seat in bots))
        party = {seat.number: versions.index(seat.version) for seat in bots}
        spec = MatchSpec(
            match_id=row.public_id,
            game=row.pool.game,
            players=row.pool.players,
            options=row.pool.options,
            secret=held.secret,
            table=f"table-{row.public_id}",
            boards=range(1, row.boards + 1),
            parties=tuple(packages.spec(version, self.folder) for version in versions),
            sealing=PARTNERS,
        )
        known = holding.taken(row)
        count = len(known)

        def stop() -> bool:
            return held.lost or self._leaving()

        def ask(question: Question, made: Sequence[Taken], advise: Advise) -> str:
            nonlocal count
            holding.ask(held, question, made)
            found = self._answer(held, question.number, advise if row.seat in party else None, stop, until)
            count = question.number + 1
            return found

        seating = [party.get(seat, 0) for seat in range(row.pool.players)]
        result = play_table(spec, seating, row.seat, self._box(), taken=known, ask=ask, stop=stop)
        if result is not None:
            holding.finish(held, result, count)
        elif not held.lost:
            holding.release(held, f"worker {self.worker} was told to stop")

    def _answer(
        self, held: TableLease, number: int, advise: Advise | None, stop: Callable[[], bool], until: float
    ) -> str:
        """Wait for the person. Raises PutDown where they think for long, LeaseLost."""
        began = looked = time.monotonic()
        with listening.LISTENER.subscribe(transitions.subject(held.row)) as moved:
            while True:
                found = holding.answer(held, number)
                if found is not None:
                    return found
                if advise is not None and holding.wants_advice(held):
                    holding.advise(held, number, advise())
                    continue
                now = time.monotonic()
                thinks, due = now - began, False
                if thinks > CROWDED_S and now - looked > 1:
                    looked, due = now, self._is_crowded()
                if stop():
                    holding.release(held, f"worker {self.worker} was told to stop")
                    raise PutDown
                if (due or thinks > settings.TABLE_REST_S or now > until) and holding.rest(held, number):
                    raise PutDown
                _pause(moved, stop)

    def _is_crowded(self) -> bool:
        with self._lock:
            full = len(self._held) >= settings.TABLES_PER_WORKER
        return full and holding.is_awaited()


def _pause(moved: listening.Subscription, stop: Callable[[], bool]) -> None:
    """Until the table may have moved, or it is time to look again."""
    until = time.monotonic() + (AGAIN_S if listening.LISTENER.is_listening else DEAF_S)
    while not stop() and (left := until - time.monotonic()) > 0:
        if moved.wait(min(left, STOP_S)):
            return
