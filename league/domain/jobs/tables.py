"""The tables of people that a worker runs beside its job, with their bots frozen except on their turn.

A table takes no match's place, because it mostly waits for its person, and its bots think for milliseconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import connection

from engine.runner import MatchSpec
from engine.runner.spec import POSSIBLE
from engine.runner.table import Advise, Question, Taken, play_table
from engine.sandbox import NoFreeUser
from league.domain.bots import house, packages
from league.domain.core import transitions
from league.domain.core.queue import LeaseLost
from league.domain.jobs.beside import WorkBeside
from league.domain.tables import holding, people
from league.domain.tables.holding import TableLease
from league.service import listening

log = logging.getLogger("league.tables")
AGAIN_S = 1.0  # Seconds between two checks for an answer at a shared table, which has a clock, if notifications arrive
ALONE_S = 5.0  # The same at a table for one person
DEAF_S = 0.05  # Seconds between two checks for an answer if no notification arrives
STOP_S = 1.0  # Seconds between two checks if the worker must stop
# After this many seconds a worker tries again to start a table, because all users for bots were in use
FULL_S = 5.0
CROWDED_S = 10.0  # If a person thinks longer, their table yields to one that waits for a worker
# After this many seconds a table is given back at its person's next turn, to continue with new processes
MOST_S = 1800.0


class PutDown(Exception):
    """The signal to give the table back while its person thinks."""


class WorkerTables(WorkBeside[TableLease]):
    """The tables of one worker."""

    _full_until = 0.0  # By the monotonic clock: this machine has no users for the bots of another table.

    def most(self) -> int:
        """Return the most tables at a time."""
        return settings.TABLES_PER_WORKER if settings.TABLES else 0

    def is_awaited(self) -> bool:
        """Return True if a table waits. One query."""
        return holding.is_awaited()

    def is_full(self) -> bool:
        """Return True if there is room for no other table, or were no users for its bots."""
        return super().is_full() or time.monotonic() < self._full_until

    def claim(self) -> TableLease | None:
        """Lease the next table."""
        return holding.claim(self.name)

    def renew(self, leases: Sequence[TableLease]) -> None:
        """Renew these leases, in two queries."""
        holding.beat(leases)

    def run(self, lease: TableLease) -> None:
        """Run a table until it is over or given back."""
        try:
            with listening.LISTENER.subscribe(transitions.subject(lease.row), listening.WORKER) as moved:
                self._play(lease, moved)
        except PutDown:
            log.info("%s: its player thinks", lease)
        except NoFreeUser:
            self._full_until = time.monotonic() + FULL_S
            holding.release(lease, holding.NO_SEATS)
        except LeaseLost:
            log.info("%s is no longer held here", lease)
        except Exception as error:
            connection.close()
            holding.fail(lease, error)

    def _play(self, lease: TableLease, moved: listening.ChangeSubscription) -> None:
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
            parties=tuple(house.loaded(version) or packages.spec(version, self.folder) for version in versions),
            sealing=POSSIBLE,
        )
        actions, places = holding.taken(row), holding.places(row)
        count = len(actions)

        def stop() -> bool:
            return lease.lost or self._leaving()

        def ask(question: Question, actions_since: Sequence[Taken], advise: Advise) -> str:
            nonlocal count
            holding.ask(lease, question, actions_since)
            advisor = advise if question.seat in party else None
            answer = self._answer(lease, question, advisor, moved, stop, until)
            count = question.number + 1
            return answer

        seating = [party.get(seat, 0) for seat in range(row.pool.players)]
        result = play_table(
            spec, seating, places, self.proven_sandbox(), taken=actions, ask=ask, stop=stop, delay=people.delay(row)
        )
        if result is not None:
            holding.finish(lease, result, count)
        elif not lease.lost:
            holding.release(lease, f"worker {self.name} was told to stop")

    def _answer(
        self,
        lease: TableLease,
        question: Question,
        advise: Advise | None,
        moved: listening.ChangeSubscription,
        stop: Callable[[], bool],
        until: float,
    ) -> str:
        """Wait for the person, or for the bot behind them. Raise PutDown if they think for a long time, LeaseLost if the lease is lost."""
        number = question.number
        began = looked = time.monotonic()
        again_s = AGAIN_S if lease.row.shared else ALONE_S
        if not lease.row.shared:  # There the bot behind the person may have to answer at once.
            _pause(moved, stop, again_s)
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
                looked, due = now, self.is_full() and self.is_awaited()
            if stop():
                holding.release(lease, f"worker {self.name} was told to stop")
                raise PutDown
            if (due or thinks > settings.TABLE_REST_S or now > until) and holding.rest(lease, number):
                raise PutDown
            _pause(moved, stop, again_s)


def _pause(moved: listening.ChangeSubscription, stop: Callable[[], bool], again_s: float) -> None:
    """Wait until the table may have changed, or the next check is due."""
    until = time.monotonic() + (again_s if listening.LISTENER.is_listening else DEAF_S)
    while not stop() and (seconds_left := until - time.monotonic()) > 0:
        if moved.wait(min(seconds_left, STOP_S)):
            return
