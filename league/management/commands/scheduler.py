"""manage.py scheduler."""

from __future__ import annotations

import threading
from typing import Any

from celery.beat import EmbeddedService

from league import celery, tasks
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """The clock of the league."""

    help = "Put the queue right every RECONCILE_S seconds and keep the ratings up to date, until stopped. Two of them at once do no harm."
    example = "manage.py scheduler"

    def run(self, **options: Any) -> None:
        """Celery beat in a thread, the worker of its tasks here, and a thread that does without messages if it must."""
        # A thread, or a process by another argument: its types are those of both.
        beat: Any = EmbeddedService(
            celery.app, thread=True, scheduler_cls="django_celery_beat.schedulers:DatabaseScheduler"
        )
        beat.daemon = True
        beat.start()
        threading.Thread(target=tasks.keep_reconciling, name="reconciler", daemon=True).start()
        words = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO"]
        celery.app.worker_main(["worker", f"--queues={celery.UPKEEP}", "--hostname=upkeep@%h", *words])
