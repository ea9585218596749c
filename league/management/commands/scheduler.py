"""manage.py scheduler."""

from __future__ import annotations

import os
import socket
import threading
from datetime import datetime
from typing import Any

from celery.beat import ScheduleEntry
from django.conf import settings
from django_celery_beat.schedulers import DatabaseScheduler

from league import celery, tasks
from league.domain.core import clock
from league.domain.core.loops import Loops
from league.domain.matches import snapshot
from league.domain.ratings import refits
from league.domain.upkeep import schedulers
from league.management.base import LeagueCommand
from league.management.listening import HintListener

FIT_S = 1.0  # Seconds between two checks for a large pool that needs a refit.
SUMS_S = 1.0  # Seconds between two checks for results to add to the totals on the pages of bots.
LADDERS_S = 1.0  # Seconds between two checks if the ladders need tables.
IDLE_S = 10.0  # Seconds between two such checks while nothing changes.
RECONCILE_ROUNDS = 3  # While nothing changes and nothing is played, it reconciles in one of this many rounds.
SOON_S = 300.0  # A quick task must finish within this time.
CHECKED_S = 4 * 3600.0  # Nightly tasks of a large league must finish within this time.
LETTERS_S = 30.0  # Seconds between two checks for letters to send.
WEBHOOKS_S = 5.0  # Seconds between two checks for events to send to webhooks.
TELL_S = 5.0  # Seconds between two reports of this process.


class DatabaseCalendar(DatabaseScheduler):  # type: ignore[misc]  # The library has no types.
    """The Celery calendar in the database. It runs due tasks itself and so needs no broker."""

    producer = None  # Sends no messages.

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self.wants_data = threading.Event()  # Set when the open data is due.
        super().__init__(app=celery.app)

    def apply_entry(self, entry: ScheduleEntry, producer: None = None) -> None:
        """Run a due task, or let the loop of the open data run it. Skip entries for other tasks; Celery adds one."""
        if entry.task == tasks.publish_data.name:
            self.wants_data.set()
        elif entry.task and entry.task.startswith("league.tasks."):
            task = celery.app.tasks[entry.task]
            self._loops.attempt("calendar", lambda: task(*(entry.args or ()), **(entry.kwargs or {})))


class Command(LeagueCommand):
    """Run the scheduler."""

    help = "Reconcile the queue every RECONCILE_S seconds and keep the ratings up to date, until stopped. Two schedulers at once do no harm."
    example = "manage.py scheduler"
    last_round: datetime  # The time of the last reconciliation.

    def run(self, **options: Any) -> None:
        """Run each duty in its own thread, and take hints in this one."""
        name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        schedulers.register(name)
        refits.keep_pools_as(name)
        loops, self.last_round = Loops("scheduler"), clock.present()
        listener = HintListener(loops)
        loops.lost = lambda: schedulers.note(name, loops, reconciled=self.last_round)
        every = settings.RECONCILE_S
        loops.start("reconcile", self._reconcile, every, at_once=True, patience=SOON_S, idle=RECONCILE_ROUNDS * every)
        loops.start("ratings", tasks.fit_ratings, FIT_S, idle=IDLE_S)
        loops.start("ranks", tasks.rank_ratings, FIT_S, idle=IDLE_S)
        loops.start("ladders", tasks.play_ladders, LADDERS_S, idle=IDLE_S)
        loops.start("arenas", tasks.play_arenas, settings.ARENA_DRAW_S)
        loops.start("sums", tasks.sum_played, SUMS_S, idle=IDLE_S)
        if settings.MAIL:
            loops.start("letters", tasks.send_letters, LETTERS_S)
        loops.start("webhooks", tasks.send_webhooks, WEBHOOKS_S)
        loops.start("outlook", snapshot.update, snapshot.EVERY_S, idle=IDLE_S)
        calendar: list[DatabaseCalendar] = []
        loops.start("calendar", lambda: self._look(calendar, loops), TELL_S, patience=CHECKED_S)
        # Apart from the calendar, because a month of a large league takes hours.
        loops.start("open data", lambda: self._publish(calendar, loops), TELL_S)
        loops.start("tell", lambda: schedulers.note(name, loops, reconciled=self.last_round), TELL_S, patience=SOON_S)
        loops.watchdog.start()
        listener.run(celery.UPKEEP, [tasks.advance_tournament, tasks.refresh_ratings])
        loops.leave(patience=5)
        listener.close()

    def _reconcile(self) -> bool:
        has_work = tasks.reconcile()
        self.last_round = clock.present()
        return has_work

    @staticmethod
    def _publish(calendar: list[DatabaseCalendar], loops: Loops) -> None:
        """Write the open data if it is due."""
        if calendar and calendar[0].wants_data.is_set():
            calendar[0].wants_data.clear()
            tasks.publish_data(alive=loops.alive)

    @staticmethod
    def _look(calendar: list[DatabaseCalendar], loops: Loops) -> None:
        """Run due tasks. This thread reads the calendar, and tries again while the database is down."""
        if not calendar:
            calendar.append(DatabaseCalendar(loops))
        while not calendar[0].tick():
            pass
        calendar[0].sync()
