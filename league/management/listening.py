"""A Celery worker inside a process of the league. It takes the hints of one queue until it must stop, and survives all errors of the broker.

The broker is optional: without hints the process finds its work later. So the worker writes nothing to the broker (`league.celery`), treats any
error as a lost connection, and reconnects every second.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

from celery import bootsteps, signals
from celery.app.task import Task
from celery.exceptions import WorkerShutdown
from celery.worker.consumer import Consumer
from django.db import close_old_connections, connections

from league import celery
from league.domain.core.loops import Loops

log = logging.getLogger("league.hints")
HEARD_S = 0.25  # Seconds between two checks for a signal while waiting without hints.
AGAIN_S = 1.0  # Seconds between two attempts to reach the broker.


class HintListener:
    """A listener for hints in the main thread, where signals arrive."""

    def __init__(self, loops: Loops, stop: Callable[[], None] = lambda: None) -> None:
        """Install the signal handlers. A signal calls `stop` at once, at any point of the main thread."""
        self._loops = loops
        self._stop = stop
        self._signalled = False
        self._away: float | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        self._stop()
        signal.signal(number, signal.SIG_DFL)  # A second signal ends the process at once.

    @property
    def ends(self) -> bool:
        """Return True after a signal, or after the loss of a loop."""
        return self._signalled or bool(self._loops.trouble)

    def wait(self) -> None:
        """Wait for the signal without taking hints."""
        self._loops.be("hints")
        while not self.ends:
            self._loops.alive()
            time.sleep(HEARD_S)

    def run(self, name: str, tasks: Collection[Task[..., Any]]) -> None:
        """Run a Celery worker for the queue `name` until the signal. It accepts only these tasks.

        Otherwise anyone who can write to a queue could choose the work of another process; workers can write to the scheduler's queue.
        """
        signals.setup_logging.connect(_leave_logging, weak=False)
        signals.task_prerun.connect(_look_at_connections, weak=False)
        signals.task_failure.connect(self._count, weak=False)
        signals.task_unknown.connect(self._count, weak=False)
        signals.task_rejected.connect(self._count, weak=False)
        # Celery first closes the file numbers of this thread's connections, as after a fork, and then the connections, which close the same numbers
        # again. By that time they may be sockets of another thread (celery.fixups.django, on_worker_process_init).
        connections.close_all()
        # Celery warns root that tasks may bring other people's code. Ours bring no code, and bots run as separate users.
        warnings.filterwarnings("ignore", message="(?s).*superuser privileges")
        self._loops.be("hints")
        try:
            worker = self._worker()(
                queues=[name],
                hostname=f"{name}@%h",
                consumer_cls=self._consumer({task.name for task in tasks}),
                use_eventloop=False,
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=True,
                quiet=True,
            )
            worker.start()
        except BaseException as error:
            self._loops.lose("hints", error)
            return
        if not self.ends:
            self._loops.lose("hints", RuntimeError(f"Celery's worker ended by itself, with {worker.exitcode}"))

    def _count(self, **details: Any) -> None:
        self._loops.count("hints")

    @staticmethod
    def _worker() -> type[Any]:
        class Quiet(celery.app.Worker):  # type: ignore[misc,name-defined]  # Built by the app at run time.
            """A Celery worker that leaves the signals to us."""

            def on_start(self) -> None:
                """Skip the banner and the signal handlers."""

        return Quiet

    def _consumer(self, accepted: Collection[str]) -> type[Consumer]:
        """Return a Celery consumer class that survives the loss of the broker."""
        listener = self

        class Patient(Consumer):
            """A consumer that continues after any error of the broker."""

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                # A full Redis raises an error that would end Celery.
                self.connection_errors = (Exception,)

            def update_strategies(self) -> None:
                """Accept only our tasks; Celery drops and logs a message for any other."""
                super().update_strategies()
                _keep_only(self.strategies, accepted)  # type: ignore[attr-defined]  # its types lack it

            def ensure_connected(self, conn: Any) -> Any:
                """Connect, with an attempt every second; Celery's own pauses would grow to half a minute."""
                while True:
                    listener.look()
                    try:
                        conn.connect()
                    except Exception as error:
                        listener.note_away(error)
                        time.sleep(AGAIN_S)
                        continue
                    self.first_connection_attempt = False
                    return conn

            def on_ready(self) -> None:
                """Note that hints arrive."""
                super().on_ready()
                listener.note_there()

            def on_connection_error_after_connected(self, exc: Exception) -> None:
                """Note that the connection is lost."""
                listener.note_away(exc)
                super().on_connection_error_after_connected(exc)

            def perform_pending_operations(self) -> None:
                """Report the loop as alive in each round."""
                if self.blueprint.state == bootsteps.RUN:  # type: ignore[attr-defined]  # its types lack it
                    listener.look()
                super().perform_pending_operations()

        return Patient

    def look(self) -> None:
        """Report the loop as alive. Raise WorkerShutdown if the process must stop."""
        self._loops.alive()
        if self.ends:
            raise WorkerShutdown(0)

    def note_away(self, error: Exception) -> None:
        """Record why no hints arrive."""
        self._loops.broker = f"{type(error).__name__}: {error}"
        if self._away is None:
            self._away = time.monotonic()
            self._loops.count("broker")
            log.warning("the broker does not answer (%s); finding work without hints, and reconnecting", error)

    def note_there(self) -> None:
        """Record that hints arrive."""
        if self._away is not None:
            log.warning("the broker is back after %.0f s", time.monotonic() - self._away)
        self._away, self._loops.broker = None, ""

    def close(self) -> None:
        """Exit with code 1 if a loop was lost; return after a signal."""
        if self._loops.trouble:
            sys.exit(f"error: {self._loops.trouble}")


def _keep_only(strategies: dict[str, Any], accepted: Collection[str]) -> None:
    for name in strategies.keys() - accepted:
        del strategies[name]


def _look_at_connections(**details: Any) -> None:
    """Close old and dead database connections; the next query reconnects."""
    close_old_connections()


def _leave_logging(**details: Any) -> None:
    """Do nothing: with a receiver of its signal, Celery leaves logging to the settings."""
