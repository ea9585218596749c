"""A process that takes the hints of one queue, one after the other, until it is told to stop, whatever becomes of the broker.

Celery's own worker is not used: it cannot be kept from ending, or from falling silent for good, at some failures of Redis. What is
asked of a broker here is little: hints may be lost, and the process finds its work without them, only later.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from celery.app.task import Task
from kombu import Consumer, Queue
from kombu.message import Message

from league import celery
from league.domain.core.loops import Loops

log = logging.getLogger("league.hints")
HEARD_S = 1.0  # so soon a process that waits for hints hears that it is to stop
AGAIN_S = 1.0  # between two tries to reach the broker


class Listener:
    """Waits for hints in the main thread, where signals arrive."""

    def __init__(self, loops: Loops, stop: Callable[[], None] = lambda: None) -> None:
        """stop: called at once when the process is told to stop; it may run at any place of the main thread."""
        self._loops = loops
        self._stop = stop
        self._told = False
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
        while not self.ends:
            time.sleep(HEARD_S / 4)

    def run(self, name: str, tasks: list[Task[..., Any]]) -> None:
        """Carry out the hints of the queue `name` that are for one of these tasks, until the end."""
        known = {task.name: task for task in tasks}

        def take(body: Any, message: Message) -> None:
            self._loops.attempt("hints", lambda: carry_out(body, message))

        def carry_out(body: Any, message: Message) -> None:
            wanted = message.headers.get("task")
            if wanted not in known:
                raise ValueError(f"the queue {name!r} has a message for {wanted!r}, which is none of its tasks")
            words, named, _ = body
            known[wanted](*words, **named)

        away: float | None = None
        while not self.ends:
            try:
                with celery.app.connection_for_read() as link:
                    queue: Queue = celery.app.amqp.queues[name]
                    # Nothing is declared: that would write, which a full broker refuses.
                    with Consumer(link.channel(), [queue], callbacks=[take], auto_declare=False, no_ack=True):
                        if away is not None:
                            log.warning("hints come again, after %.0f s", time.monotonic() - away)
                        away, self._loops.broker = None, ""
                        self._listen(link)
            except Exception as error:
                self._loops.broker = f"{type(error).__name__}: {error}"
                if away is None:
                    away = time.monotonic()
                    self._loops.count("broker")
                    log.warning("no hints come (%s); looking for work without, and trying again", error)
                time.sleep(AGAIN_S)
            except BaseException as error:
                self._loops.lose("hints", error)

    def _listen(self, link: Any) -> None:
        while not self.ends:
            try:
                link.drain_events(timeout=HEARD_S)
            except TimeoutError:
                continue

    def close(self) -> None:
        """The end of the process: with code 0 where it was told to stop, 1 where it has lost a loop."""
        if self._loops.trouble:
            sys.exit(f"error: {self._loops.trouble}")
