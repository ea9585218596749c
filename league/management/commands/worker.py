"""manage.py worker."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from league import celery, tasks
from league.domain.core.errors import Refused
from league.domain.jobs.handlers.queued import claim
from league.domain.jobs.worker import WorkerLoop
from league.management.base import LeagueCommand
from league.management.listening import HintListener
from league.management.processes import Supervisor, manage


class Command(LeagueCommand):
    """Run a worker."""

    help = (
        "Play matches until stopped (SIGTERM returns the current match to the queue). The worker tests the sandbox first; if it "
        "does not hold, the worker keeps running, plays nothing and reports why. "
        "Exit code of --once: 0 played or nothing to do, 1 not playable here."
    )
    example = "manage.py worker --slots 2"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--slots", type=int, default=1, help="matches at a time: processes of one core each")
        parser.add_argument("--once", action="store_true", help="play one match without a broker, then end")

    def run(self, **options: Any) -> None:
        """Run one Celery worker in this process, or several child processes."""
        if options["slots"] < 1:
            raise Refused(f"--slots must be at least 1, not {options['slots']}")
        if options["once"]:
            self._once()
        elif options["slots"] > 1:
            Supervisor({f"worker-{i}": manage("worker") for i in range(1, options["slots"] + 1)}).run()
        else:
            self._listen()

    def _listen(self) -> None:
        worker = tasks.worker()
        listener = HintListener(worker.loops, stop=worker.stopping.set)
        worker.loops.watchdog.start()
        try:
            if worker.refusal:
                listener.wait()  # Leave the hints to workers that can play.
            else:
                worker.keep_looking(settings.RECONCILE_S)
                listener.run(celery.MATCHES, [tasks.play_match])
        finally:  # However it ends, the league stops counting this worker.
            worker.close()
        listener.close()

    def _once(self) -> None:
        worker = WorkerLoop(settings.STATE_DIR / "bots")
        worker.open()
        try:
            if worker.unable:
                raise Refused(worker.unable)
            jobs = claim(worker.name, most=1)
            if not jobs:
                self.say("no match is queued")
                return
            (job,) = jobs
            receipt = worker.run(job)
            self.say(f"{job}: {receipt or 'returned to the queue'}")
        finally:
            worker.close()
