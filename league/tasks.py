"""Celery tasks: each is short, takes ids as arguments, and may run twice. A management command does the same."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from celery import shared_task
from django.conf import settings
from django.db.utils import InterfaceError, OperationalError

from league import celery
from league.domain.arenas import playing
from league.domain.bots import totals, tries
from league.domain.core import clock, hints
from league.domain.notices import letters, webhooks
from league.domain.ratings import idle, refits
from league.domain.tournaments import circuits, progress
from league.domain.upkeep import invariants, open_data, retention
from league.domain.upkeep import reconcile as upkeep
from league.models import Pool, Tournament

if TYPE_CHECKING:
    from league.domain.jobs.worker import WorkerLoop

log = logging.getLogger("league.tasks")
HINTS = 64  # The most messages in the queue of matches: enough to wake every worker, too few to accumulate.
REST_S = 3.0  # After a failure no hint is sent for this many seconds.
# A task that finds no database is no news: the loops of the scheduler report that, and do the work when it is back.
LOST = (OperationalError, InterfaceError)
LAST_S = 0.2  # When a process ends, it waits this many seconds for its last hints to be sent.


class _Process:
    worker: WorkerLoop | None = None


def worker() -> WorkerLoop:
    """Return the worker of this process; its sandbox is checked on first use."""
    from league.domain.jobs.worker import (
        WorkerLoop,  # Imported late: web processes send tasks and never load the sandbox.
    )

    this_process = _Process.worker
    if this_process is None or this_process.pid != os.getpid():
        this_process = WorkerLoop(settings.STATE_DIR / "bots", after=wake)
        this_process.open()
        _Process.worker = this_process
    return this_process


@shared_task(name="league.tasks.play_match", throws=LOST)
def play_match(match_id: int | None = None) -> None:
    """Play the match `match_id` if it is queued, else the next one. By hand: `manage.py worker --once`."""
    this_process = worker()
    if this_process.refusal:
        log.error("a match is queued, but this worker refuses to play: %s", this_process.refusal)
        return
    this_process.look(match_id)


def reconcile() -> bool:
    """Repair whatever was lost. Return True if the next round is due soon. By hand: `manage.py reconcile`."""
    result = upkeep.reconcile()
    if any(result.counts().values()):
        log.info("reconciled: %s", result)
    wake()
    return upkeep.has_work()


def play_ladders() -> None:
    """Continue the standing ladders. By hand: `manage.py reconcile`."""
    upkeep.play_ladders()


def play_arenas() -> None:
    """Count, pause and pair the people of the arenas. By hand: `manage.py reconcile`."""
    playing.run()


def sum_played() -> None:
    """Add a few finished matches to the totals on the pages of their bots. By hand: `manage.py reconcile`."""
    totals.count_new()


def send_letters() -> int:
    """Send the due letters; return the number of sent ones. By hand: `manage.py send_letters`."""
    from league.web.people import letters as writing  # Imported late: only the scheduler writes letters.

    return letters.send_due(writing.write)


def send_webhooks() -> int:
    """Send the events that players' webhooks wait for; return the number of those that arrived. By hand: `manage.py send_letters`."""
    return webhooks.run()


@shared_task(name="league.tasks.open_seasons", throws=LOST)
def open_seasons() -> None:
    """Open the due seasons. Celery's calendar calls it; by hand, also for missed ones: `manage.py reconcile`."""
    if circuits.open_due():
        wake()


@shared_task(name="league.tasks.refresh_ratings", throws=LOST)
def refresh_ratings(pool_id: int) -> None:
    """Add new results of a pool to its ratings. By hand: `manage.py refresh_ratings`."""
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:  # A message may outlive the database to which it refers.
        log.warning("ratings of pool %s are not refreshed: the pool does not exist", pool_id)
        return
    refits.count_new(pool)


def fit_ratings() -> None:
    """Count results that no hint announced in large pools, and refit all strengths there. By hand: `manage.py refresh_ratings`."""
    refits.count_waiting()
    refits.fit_due()


def rank_ratings() -> None:
    """Compute intervals, ranks and superiority of large pools. By hand: `manage.py refresh_ratings`."""
    refits.rank_due()


@shared_task(name="league.tasks.advance_tournament", throws=LOST)
def advance_tournament(tournament_id: int) -> None:
    """Insert the next matches of a tournament, or finish it. The scheduler does it, because workers may not. By hand: `manage.py reconcile`."""
    tournament = Tournament.objects.filter(pk=tournament_id).select_related("pool").first()
    if tournament is not None:
        progress.advance(tournament)


@shared_task(name="league.tasks.check_invariants", throws=LOST)
def check_invariants(hours: float | None = None) -> None:
    """Check the invariants; matches that finished more than `hours` ago are trusted. By hand: `manage.py check_invariants`."""
    now = clock.present()
    invariants.check_all(since=None if hours is None else now - timedelta(hours=hours), now=now)


@shared_task(name="league.tasks.mark_idle", throws=LOST)
def mark_idle() -> None:
    """Mark bots as idle in the tables where they have not played for a long time."""
    idle.mark()


@shared_task(name="league.tasks.let_go", throws=LOST)
def let_go() -> None:
    """Remove expired replays (KEEP_..._DAYS) and old tries."""
    retention.remove_expired()
    tries.let_go()


@shared_task(name="league.tasks.publish_data", throws=LOST)
def publish_data(alive: Callable[[], object] = lambda: None) -> None:
    """Write the missing files of open data of the last month. By hand: `manage.py publish_data`."""
    for file in open_data.write_missing(alive=alive):
        log.info("open data: %s, %s matches", file, file.matches)


class Sender:
    """A thread that sends hints, so that no other thread waits for a broker. The scheduler also finds work without a hint."""

    def __init__(self) -> None:
        self._more = threading.Condition()
        self._pid = 0  # The process that has the thread.
        self._work = 0  # Queued matches.
        self._pools: set[int] = set()
        self._tournaments: set[int] = set()
        self._sending = False
        self._away_since: float | None = None
        self._rests_until = 0.0

    def send(self, *, work: int = 0, pool: int | None = None, tournament: int | None = None) -> None:
        """Soon tell the workers that matches are queued, or the scheduler that a pool or a tournament has results."""
        with self._more:
            if self._pid != os.getpid():
                self._begin()
            if time.monotonic() < self._rests_until:
                return
            self._work = max(self._work, work)
            if pool is not None:
                self._pools.add(pool)
            if tournament is not None:
                self._tournaments.add(tournament)
            self._more.notify_all()

    def _begin(self) -> None:
        self._pid, self._sending = os.getpid(), False
        threading.Thread(target=self._keep_sending, name="hints", daemon=True).start()
        atexit.register(self._finish)

    def _finish(self) -> None:
        with self._more:
            self._more.wait_for(lambda: not (self._has_more() or self._sending), LAST_S)

    def _has_more(self) -> bool:
        return bool(self._work or self._pools or self._tournaments)

    def _keep_sending(self) -> None:
        while True:
            with self._more:
                self._sending = False
                self._more.notify_all()
                self._more.wait_for(self._has_more)
                (work, pools), self._work, self._pools = (self._work, self._pools), 0, set()
                cups, self._tournaments = self._tournaments, set()
                self._sending = True
            try:
                self._send(work, pools, cups)
            except Exception as error:
                self._rests_until = time.monotonic() + REST_S
                if self._away_since is None:
                    self._away_since = time.monotonic()
                    log.warning("no hint could be sent (%s); the scheduler finds the work anyway", error)
            else:
                if self._away_since is not None:
                    log.warning("hints are sent again, after %.0f s", time.monotonic() - self._away_since)
                self._away_since = None

    @staticmethod
    def _send(work: int, pools: set[int], cups: set[int]) -> None:
        with celery.app.connection_for_write() as link:
            if work:
                channel: Any = link.default_channel  # The type stubs of kombu lack this attribute.
                work -= channel.queue_declare(queue=celery.MATCHES, durable=True).message_count
            producer = celery.app.amqp.Producer(link, auto_declare=False)
            for _ in range(work):
                play_match.apply_async(producer=producer, retry=False)
            for cup in sorted(cups):  # Tournaments first, because their players wait for the next match.
                advance_tournament.apply_async((cup,), producer=producer, retry=False)
            for pool in sorted(pools):
                refresh_ratings.apply_async((pool,), producer=producer, retry=False)


_sender = Sender()


def wake() -> None:
    """Send hints until there are as many as queued matches, at most HINTS. This waits for the database, but never for a broker."""
    if waiting := upkeep.count_waiting(most=HINTS):
        _sender.send(work=waiting)


hints.register(
    work=wake,
    rating=lambda pool_id: _sender.send(pool=pool_id),
    tournament=lambda tournament_id: _sender.send(tournament=tournament_id),
)
