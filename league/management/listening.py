"""Celery's worker as a process of the league runs it: it takes the hints of one queue until it is told to stop, whatever becomes of the broker.

What is asked of a broker here is little: hints may be lost, and the process finds its work without them, only later. So the worker
writes nothing to it (`league.celery`), takes any error for a loss of the connection, and looks for the broker again each second.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
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
HEARD_S = 0.25  # so soon a process that waits without hints hears that it is to stop
AGAIN_S = 1.0  # between two tries to reach the broker


class Listener:
    """Waits for hints in the main thread, where signals arrive."""

    def __init__(self, loops: Loops, stop: Callable[[], None] = lambda: None) -> None:
        """stop: called at once when the process is told to stop; it may run at any place of the main thread."""
        self._loops = loops
        self._stop = stop
        self._told = False
        self._away: float | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._told = True
        self._stop()
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process as it stands

    @property
    def ends(self) -> bool:
        """Whether the process was told to stop, or has lost a loop."""
        return self._told or bool(self._loops.trouble)

    def wait(self) -> None:
        """Wait for the end without taking hints."""
        self._loops.be("hints")
        while not self.ends:
            self._loops.alive()
            time.sleep(HEARD_S)

    def run(self, name: str, tasks: Collection[Task[..., Any]]) -> None:
        """Carry out the hints of the queue `name` that are for one of these tasks by Celery's worker, until the end.

        No others: who may write to a queue, as workers may to that of the scheduler, is not to choose what another process does.
        """
        signals.setup_logging.connect(_leave_logging, weak=False)
        signals.task_prerun.connect(_look_at_connections, weak=False)
        signals.task_failure.connect(self._count, weak=False)
        signals.task_unknown.connect(self._count, weak=False)
        signals.task_rejected.connect(self._count, weak=False)
        # Celery closes the files of this thread's connections by their numbers, as a process that was forked must, and then the connections, which
        # close these numbers again: by then they may be sockets of another thread (celery.fixups.django, on_worker_process_init)
        connections.close_all()
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

    def _count(self, **told: Any) -> None:
        self._loops.count("hints")

    @staticmethod
    def _worker() -> type[Any]:
        class Quiet(celery.app.Worker):  # type: ignore[misc,name-defined]  # made by the app
            """Celery's worker, which leaves the signals to us."""

            def on_start(self) -> None:
                """No banner and no handlers."""

        return Quiet

    def _consumer(self, known: Collection[str]) -> type[Consumer]:
        """Celery's consumer, with the patience of this process."""
        listener = self

        class Patient(Consumer):
            """Goes on after any error of the broker."""

            def __init__(self, *words: Any, **named: Any) -> None:
                super().__init__(*words, **named)
                # A full Redis refuses by an error that Celery would end with
                self.connection_errors = (Exception,)

            def update_strategies(self) -> None:
                """Only for our tasks: Celery drops a message for any other, and says so."""
                super().update_strategies()
                _keep_only(self.strategies, known)  # type: ignore[attr-defined]  # its types lack it

            def ensure_connected(self, conn: Any) -> Any:
                """A connection, tried each second; Celery would wait longer from time to time, half a minute in the end."""
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
                """Hints come."""
                super().on_ready()
                listener.note_there()

            def on_connection_error_after_connected(self, exc: Exception) -> None:
                """The connection is lost."""
                listener.note_away(exc)
                super().on_connection_error_after_connected(exc)

            def perform_pending_operations(self) -> None:
                """Once a round of the loop, and once at the end."""
                if self.blueprint.state == bootsteps.RUN:  # type: ignore[attr-defined]  # its types lack it
                    listener.look()
                super().perform_pending_operations()

        return Patient

    def look(self) -> None:
        """Show that this loop goes on. End Celery's worker where the process is to end. Raises WorkerShutdown."""
        self._loops.alive()
        if self.ends:
            raise WorkerShutdown(0)

    def note_away(self, error: Exception) -> None:
        """No hints come, for this reason."""
        self._loops.broker = f"{type(error).__name__}: {error}"
        if self._away is None:
            self._away = time.monotonic()
            self._loops.count("broker")
            log.warning("no hints come (%s); looking for work without, and trying again", error)

    def note_there(self) -> None:
        """Hints come."""
        if self._away is not None:
            log.warning("hints come again, after %.0f s", time.monotonic() - self._away)
        self._away, self._loops.broker = None, ""

    def close(self) -> None:
        """The end of the process: with code 0 where it was told to stop, 1 where it has lost a loop."""
        if self._loops.trouble:
            sys.exit(f"error: {self._loops.trouble}")


def _keep_only(strategies: dict[str, Any], known: Collection[str]) -> None:
    for name in strategies.keys() - known:
        del strategies[name]


def _look_at_connections(**told: Any) -> None:
    """A connection that is old or dead is opened anew, any other is kept."""
    close_old_connections()


def _leave_logging(**told: Any) -> None:
    """Celery leaves the log to the settings where somebody answers its signal."""
