"""The tables of people that a worker runs beside its job: each in its own thread, with its bots frozen except on their turn.

A table takes no match's place, because it mostly waits for its person, and its bots think for milliseconds.
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
from engine.runner.spec import POSSIBLE
from engine.runner.table import Advise, Question, Taken, play_table
from engine.sandbox import NoFreeUser, Sandbox
from engine.sandbox.files import keeping
from league.domain.bots import packages
from league.domain.core import transitions
from league.domain.core.queue import LeaseLost
from league.domain.tables import holding, people
from league.domain.tables.holding import TableLease
from league.service import listening

log = logging.getLogger("league.tables")
LOOK_S = 1.0  # Seconds between two checks for waiting tables
AT_ONCE = 5  # The most tables that a worker takes in one check, so that the others get some
AGAIN_S = 1.0  # Seconds between two checks for an answer at a shared table, which has a clock, if notifications arrive
ALONE_S = 5.0  # The same at a table for one person
DEAF_S = 0.05  # Seconds between two checks for an answer if no notification arrives
STOP_S = 0.25  # Seconds between two checks if the worker must stop
# After this many seconds a worker tries again to start a table, because all users for bots were in use
FULL_S = 5.0
CROWDED_S = 10.0  # If a person thinks longer, their table yields to one that waits for a worker
# After this many seconds a table is given back at its person's next turn, to continue with new processes
MOST_S = 1800.0


class PutDown(Exception):
    """The signal to give the table back while its person thinks."""


class WorkerTables:
    """The tables of one worker."""

    def __init__(
        self,
        worker: str,
        folder: Path,
        may_play: Callable[[], bool],
        box: Callable[[], Sandbox],
        leaving: Callable[[], bool],
    ) -> None:
        """folder: of the unpacked bots. may_play: returns True if there is room for a table. leaving: returns True if the worker has to stop."""
        self.worker, self.folder = worker, folder
        self._may_play, self._box, self._leaving = may_play, box, leaving
        self._held: dict[int, tuple[TableLease, threading.Thread]] = {}
        self._lock = threading.Lock()
        self._full_until = 0.0  # By the monotonic clock: this machine has no users for the bots of another table.

    def look(self) -> bool:
        """Take the tables that wait, a few at once, as far as there is room. Return True if there was one."""
        number = 0
        while number < AT_ONCE and self._take():
            number += 1
        return number > 0

    def _take(self) -> bool:
        if not settings.TABLES or self._leaving():
            return False
        if self._is_full():
            return False
        if not holding.is_awaited() or not self._may_play():
            return False
        lease = holding.claim(self.worker)
        if lease is None:
            return False
        thread = threading.Thread(target=self._keep, args=(lease,), name=f"table-{lease.row.public_id}", daemon=True)
        with self._lock:
            self._held[lease.row.pk] = lease, thread
        thread.start()
        return True

    def beat(self) -> None:
        """Renew the leases."""
        with self._lock:
            leases = [lease for lease, _ in self._held.values()]
        for lease in leases:
            lease.beat()

    def close(self, patience: float = 15) -> None:
        """Wait until all tables have been given back; `leaving` already returns True."""
        with self._lock:
            threads = [thread for _, thread in self._held.values()]
        for thread in threads:
            thread.join(patience)

    def _keep(self, lease: TableLease) -> None:
        try:
            self._play(lease)
        except PutDown:
            log.info("table %s: its player thinks", lease.row.public_id)
        except NoFreeUser:
            self._full_until = time.monotonic() + FULL_S
            holding.release(lease, holding.NO_SEATS)
        except LeaseLost:
            log.info("table %s is no longer held here", lease.row.public_id)
        except Exception as error:
            connection.close()
            try:
                holding.fail(lease, error)
            except Exception as again:  # The database is down; the lease expires
                log.error("table %s: it could not be given back", lease.row.public_id, exc_info=again)
        finally:
            connection.close()
            with self._lock:
                del self._held[lease.row.pk]
                if not self._held:
                    keeping.release(self.folder, before=time.monotonic())

    def _play(self, lease: TableLease) -> None:
        row, until = lease.row, time.monotonic() + MOST_S
        bots = holding.seats(row)
        versions = list(dict.fromkeys(seat.version for seat in bots))
        party = {seat.number: versions.index(seat.version) for seat in bots}
        spec = MatchSpec(
            match_id=row.public_id,
            game=row.pool.game,
            players=row.pool.players,
            options=row.pool.options,
            secret=lease.secret,
            table=f"table-{row.deals or row.public_id}",  # The deals follow from it.
            boards=range(1, row.boards + 1),
            parties=tuple(packages.spec(version, self.folder) for version in versions),
            sealing=POSSIBLE,
        )
        actions, places = holding.taken(row), holding.places(row)
        count = len(actions)

        def stop() -> bool:
            return lease.lost or self._leaving()

        def ask(question: Question, actions_since: Sequence[Taken], advise: Advise) -> str:
            nonlocal count
            holding.ask(lease, question, actions_since)
            answer = self._answer(lease, question, advise if question.seat in party else None, stop, until)
            count = question.number + 1
            return answer

        seating = [party.get(seat, 0) for seat in range(row.pool.players)]
        result = play_table(
            spec, seating, places, self._box(), taken=actions, ask=ask, stop=stop, delay=people.delay(row)
        )
        if result is not None:
            holding.finish(lease, result, count)
        elif not lease.lost:
            holding.release(lease, f"worker {self.worker} was told to stop")

    def _answer(
        self, lease: TableLease, question: Question, advise: Advise | None, stop: Callable[[], bool], until: float
    ) -> str:
        """Wait for the person, or for the bot behind them. Raise PutDown if they think for a long time, LeaseLost if the lease is lost."""
        number = question.number
        began = looked = time.monotonic()
        with listening.LISTENER.subscribe(transitions.subject(lease.row)) as moved:
            while True:
                answer = holding.answer(lease, number)
                if answer is not None:
                    return answer
                if advise is not None and lease.row.shared and holding.stands_in(lease, question):
                    action = question.legal[0] if len(question.legal) == 1 else advise()
                    holding.answer_for(lease, question, action)
                    continue
                if advise is not None and not lease.row.shared and holding.wants_advice(lease):
                    holding.advise(lease, number, advise())
                    continue
                now = time.monotonic()
                thinks, due = now - began, False
                if thinks > CROWDED_S and now - looked > 1:
                    looked, due = now, self._is_full() and holding.is_awaited()
                if stop():
                    holding.release(lease, f"worker {self.worker} was told to stop")
                    raise PutDown
                if (due or thinks > settings.TABLE_REST_S or now > until) and holding.rest(lease, number):
                    raise PutDown
                _pause(moved, stop, AGAIN_S if lease.row.shared else ALONE_S)

    def _is_full(self) -> bool:
        with self._lock:
            return len(self._held) >= settings.TABLES_PER_WORKER or time.monotonic() < self._full_until


def _pause(moved: listening.ChangeSubscription, stop: Callable[[], bool], again_s: float) -> None:
    """Wait until the table may have changed, or the next check is due."""
    until = time.monotonic() + (again_s if listening.LISTENER.is_listening else DEAF_S)
    while not stop() and (seconds_left := until - time.monotonic()) > 0:
        if moved.wait(min(seconds_left, STOP_S)):
            return
