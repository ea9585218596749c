"""Celery tasks: thin, ids in, safe to run twice. Each has a management command that does the same by hand."""

from __future__ import annotations

import logging
import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from celery import shared_task
from celery.signals import celeryd_after_setup, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from kombu.exceptions import OperationalError

from league import celery
from league.domain.core import clock, hints
from league.domain.ratings import ratings
from league.domain.tournaments import circuits
from league.domain.upkeep import invariants
from league.domain.upkeep import reconcile as upkeep
from league.models import Pool

if TYPE_CHECKING:
    from league.domain.playing.process import Machine

log = logging.getLogger("league.tasks")
HINTS = 64  # most messages that wait in the queue of the matches: enough to wake every worker, too few to pile up


class _Process:
    machine: Machine | None = None
    reconciled: float = 0.0  # when `reconcile` ran here last, by the monotonic clock


def machine() -> Machine:
    """This process as a player of matches; its sandbox is proven on first use."""
    from league.domain.playing.process import Machine  # here, since web processes send tasks and never load the sandbox

    here = _Process.machine
    if here is None or here.pid != os.getpid():
        here = Machine(settings.STATE_DIR / "bots", after=wake)
        here.open()
        _Process.machine = here
    return here


@shared_task(name="league.tasks.play_match")
def play_match(match_id: int | None = None) -> None:
    """Play the match `match_id` if it waits, else the next one, else nothing. By hand: `manage.py worker --once`."""
    here = machine()
    if here.refusal:
        log.error("a match waits, but this worker plays nothing: %s", here.refusal)
        return
    here.look(match_id)


@shared_task(name="league.tasks.reconcile")
def reconcile() -> None:
    """Put right what was lost. By hand: `manage.py reconcile`."""
    _Process.reconciled = time.monotonic()
    found = upkeep.reconcile()
    if any(found.counts().values()):
        log.info("reconciled: %s", found)
    wake()


def keep_reconciling() -> None:
    """Reconcile in a thread of this process whenever no message has asked for it for a while: a broker may lose every message."""
    while True:
        time.sleep(settings.RECONCILE_S)
        if time.monotonic() - _Process.reconciled < 2 * settings.RECONCILE_S:
            continue
        try:
            close_old_connections()
            reconcile()
        except DatabaseError as error:
            log.warning("the queue could not be put right, trying again: %s", error)
            connection.close()


@shared_task(name="league.tasks.open_seasons")
def open_seasons() -> None:
    """Open the seasons that are due. Called by Celery's calendar; by hand, and for what it missed: `manage.py reconcile`."""
    if circuits.open_due():
        wake()


@shared_task(name="league.tasks.refresh_ratings")
def refresh_ratings(pool_id: int) -> None:
    """Take new results of a pool into its ratings. By hand: `manage.py refresh_ratings`."""
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:  # a message may outlive the database that it speaks of
        log.warning("ratings of pool %s are not refreshed: there is no such pool", pool_id)
        return
    ratings.refresh(pool)


@shared_task(name="league.tasks.check_invariants")
def check_invariants(hours: float | None = None) -> None:
    """Look whether what must hold does; matches that finished more than so many `hours` ago are trusted. By hand: `manage.py check_invariants`."""
    now = clock.present()
    invariants.check_all(since=None if hours is None else now - timedelta(hours=hours), now=now)


def wake() -> None:
    """Send hints until there are as many as matches wait, at most HINTS. A broker that is away is no failure: the scheduler comes again."""
    waiting = upkeep.count_waiting(most=HINTS)
    if not waiting:
        return
    try:
        with celery.app.connection_for_write() as link:
            channel: Any = link.default_channel  # its types leave out what every channel can
            there = channel.queue_declare(queue=celery.MATCHES, durable=True).message_count
        for _ in range(waiting - there):
            play_match.apply_async()
    except (OperationalError, OSError) as error:
        log.warning("no hint could be sent (%s); the scheduler sends it when the broker is back", error)


def _rating_hint(pool_id: int) -> None:
    try:
        refresh_ratings.apply_async((pool_id,))
    except (OperationalError, OSError) as error:
        log.warning("no hint could be sent (%s); the scheduler refreshes the pool", error)


hints.register(work=wake, rating=_rating_hint)


@celeryd_after_setup.connect
def _prove(sender: str, instance: object, **kwargs: object) -> None:
    """A worker of the matches proves its sandbox before it takes the first message."""
    queues = celery.app.amqp.queues
    if celery.MATCHES in queues.consume_from and machine().refusal:
        queues.deselect([celery.MATCHES])  # the hints are left to workers that can follow them
    elif celery.MATCHES in queues.consume_from:
        machine().keep_looking(settings.RECONCILE_S)


@worker_shutting_down.connect
def _stop(**kwargs: object) -> None:
    """SIGTERM: the match at hand is given back at once and played elsewhere, rather than cut off when patience ends."""
    if _Process.machine:
        _Process.machine.stopping.set()


@worker_shutdown.connect
def _leave(**kwargs: object) -> None:
    if _Process.machine:
        _Process.machine.close()
