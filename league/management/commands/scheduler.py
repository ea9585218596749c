"""manage.py scheduler"""

from __future__ import annotations

from typing import Any

from celery.beat import EmbeddedService

from league import celery
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """The clock of the league."""

    help = "Reconcile every RECONCILE_S seconds and keep the ratings, until stopped. Two of them at once do no harm."
    example = "manage.py scheduler"

    def run(self, **options: Any) -> None:
        """Celery beat in a thread, and the worker of its tasks here."""
        beat = EmbeddedService(celery.app, thread=True, scheduler_cls="celery.beat:Scheduler")
        beat.daemon = True
        beat.start()
        words = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO"]
        celery.app.worker_main(["worker", f"--queues={celery.UPKEEP}", "--hostname=upkeep@%h", *words])
