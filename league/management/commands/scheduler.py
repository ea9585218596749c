"""manage.py scheduler."""

from __future__ import annotations

import os
import socket
from datetime import datetime
from typing import Any

from celery.beat import ScheduleEntry
from django.conf import settings
from django_celery_beat.schedulers import DatabaseScheduler

from league import celery, tasks
from league.domain.core import clock
from league.domain.core.loops import Loops
from league.domain.matches import outlook
from league.domain.ratings import refits
from league.domain.upkeep import schedulers
from league.management.base import LeagueCommand
from league.management.listening import Listener

FIT_S = 1.0  # between two looks whether a large pool is owed a fit
SUMS_S = 1.0  # between two looks whether something was played that the pages of bots do not count
LADDERS_S = 1.0  # between two looks whether a ladder may go on
SOON_S = 300.0  # what is quick does not take longer
CHECKED_S = 4 * 3600.0  # what the calendar has done at night may take so long in a large league
LETTERS_S = 30.0  # between two looks whether a digest is to be sent
TELL_S = 5.0  # between two reports of this process


class Calendar(DatabaseScheduler):  # type: ignore[misc]  # the library has no types
    """Celery's calendar in the database, whose tasks are carried out here and now: it needs no broker."""

    producer = None  # of messages; none are sent

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        super().__init__(app=celery.app)

    def apply_entry(self, entry: ScheduleEntry, producer: None = None) -> None:
        """Carry out a task that is due. Entries for tasks that are not ours (Celery adds one) are left alone."""
        if entry.task and entry.task.startswith("league.tasks."):
            task = celery.app.tasks[entry.task]
            self._loops.attempt("calendar", lambda: task(*(entry.args or ()), **(entry.kwargs or {})))


class Command(LeagueCommand):
    """The clock of the league."""

    help = "Put the queue right every RECONCILE_S seconds and keep the ratings up to date, until stopped. Two of them at once do no harm."
    example = "manage.py scheduler"
    done: datetime  # when it came round last

    def run(self, **options: Any) -> None:
        """Reconcile, look over the workers, follow the calendar and tell of it in threads of their own; take hints here."""
        name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        schedulers.register(name)
        refits.keep_pools_as(name)
        loops, self.done = Loops("scheduler"), clock.present()
        listener = Listener(loops)
        loops.lost = lambda: schedulers.note(name, loops, reconciled=self.done)
        loops.start("reconcile", self._reconcile, settings.RECONCILE_S, at_once=True, patience=SOON_S)
        loops.start("ratings", tasks.fit_ratings, FIT_S)
        loops.start("ranks", tasks.rank_ratings, FIT_S)
        loops.start("ladders", tasks.play_ladders, LADDERS_S)
        loops.start("sums", tasks.sum_played, SUMS_S)
        if settings.MAIL:
            loops.start("letters", tasks.send_letters, LETTERS_S)
        loops.start("outlook", outlook.keep, outlook.EVERY_S)
        calendar: list[Calendar] = []
        loops.start("calendar", lambda: self._look(calendar, loops), TELL_S, patience=CHECKED_S)
        loops.start("tell", lambda: schedulers.note(name, loops, reconciled=self.done), TELL_S, patience=SOON_S)
        listener.run(celery.UPKEEP, [tasks.advance_tournament, tasks.refresh_ratings])
        loops.leave(patience=5)
        listener.close()

    def _reconcile(self) -> None:
        tasks.reconcile()
        self.done = clock.present()

    @staticmethod
    def _look(calendar: list[Calendar], loops: Loops) -> None:
        """Do what is due. The calendar is read in its thread, again and again while the database is away."""
        if not calendar:
            calendar.append(Calendar(loops))
        while not calendar[0].tick():
            pass
        calendar[0].sync()
