"""A process that plays matches: proves its sandbox, holds its leases by a heartbeat, reports.

Bots are started in the thread that calls `Machine.look`, which must last as long as the process: the kernel ends a bot when the thread
that started it ends, so that a killed worker leaves nothing behind.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, OperationalError, close_old_connections, connection

from engine.runner import Limits, MatchResult, MatchSpec, noise
from engine.runner.match import play_match
from engine.sandbox import Sandbox, SandboxError, SandboxUnavailable
from league.domain import leases, packages, reports, tournaments, workers
from league.domain.errors import IllegalMove
from league.models import Match

log = logging.getLogger("league.playing")
REPORT_TRIES = (1, 2, 4, 8, 15)  # seconds between tries to report to a database that is away: played matches are dear
STRENGTH = {"none": 0, "landlock": 1, "namespaces": 2}


def open_sandbox() -> Sandbox:
    """The sandbox that the settings ask for, proven by its canary battery. SandboxUnavailable where it would be weaker than allowed."""
    box = Sandbox(tier=settings.SANDBOX_TIER, state_dir=settings.STATE_DIR / "sandbox")
    if STRENGTH[box.tier] < STRENGTH[settings.SANDBOX_MIN_TIER]:
        raise SandboxUnavailable(
            f"the sandbox tier here is {box.tier}, weaker than SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}; "
            "run `tute sandbox check` on this machine and follow its advice"
        )
    return box


@dataclass
class _Work:
    """The match at hand, shared between the playing thread and the pulse."""

    match: Match
    token: int
    progress: int = 0
    lost: bool = False  # the lease is somebody else's by now


class Machine:
    """This process as a player of matches. One match at a time."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        self.pid = os.getpid()
        self.folder = folder  # unpacked bots, by content
        self.refusal = ""
        self.box: Sandbox | None = None
        self.stopping = threading.Event()
        self._work: _Work | None = None
        self._busy = threading.Lock()  # one match at a time, whoever noticed that it waits
        self._leaving = threading.Event()
        self._threads: list[threading.Thread] = []

    def open(self) -> None:
        """Prove the sandbox and register this worker. A refusal is logged, shown in the league and ends nothing: it plays no match."""
        try:
            self.box = open_sandbox()
            noise.of_this_host()  # measured now, while nothing else of ours runs
        except (SandboxError, OSError) as error:
            self.refusal = str(error)
            log.error("this worker plays nothing: %s", error)
        workers.register(self.name, tier=self.box.tier if self.box else "", refusal=self.refusal)
        self._run(self._pulse, "pulse")

    def close(self) -> None:
        """Leave in good order."""
        self.stopping.set()
        self._leaving.set()
        for thread in self._threads:
            thread.join(timeout=15)
        workers.gone(self.name)

    def _run(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    # ---- the pulse: a thread of its own, so that a lease may be short and a match long

    def _pulse(self) -> None:
        while not self._leaving.wait(settings.LEASE_S / 3):
            try:
                self._beat()
            except DatabaseError as error:
                log.warning("heartbeat failed, trying again: %s", error)
                connection.close()
        connection.close()

    def _beat(self) -> None:
        work = self._work
        if work and not leases.heartbeat(work.match.pk, work.token, progress=work.progress):
            work.lost = True
        workers.seen(self.name, match=work.match if work else None)

    # ---- looking for work

    def keep_looking(self, every: float, after: Callable[[], None]) -> None:
        """Look into the queue every so many seconds besides, in a thread of its own: a broker that loses everything makes it slower, no more.

        `after` is called after each match.
        """

        def watch() -> None:
            while not self._leaving.wait(every):
                try:
                    close_old_connections()
                    while self.look(wait=False):
                        after()
                except DatabaseError as error:
                    log.warning("the queue cannot be read, trying again: %s", error)
                    connection.close()
            connection.close()

        self._run(watch, "watch")

    def look(self, prefer: int | None = None, *, wait: bool = True) -> bool:
        """Claim the match `prefer` if it waits, else the next one, and play it; whether there was one.

        While another thread plays, `wait` for it: who has been told of work by a message must not take further messages.
        """
        if not self._busy.acquire(blocking=wait):
            return False
        try:
            if self.refusal or self.stopping.is_set():
                return False
            match = leases.claim(self.name, prefer=prefer)
            if match is None:
                return False
            self.play(match)
            return True
        finally:
            self._busy.release()

    # ---- playing

    def play(self, match: Match) -> reports.Receipt | None:
        """Play a match that this machine has leased, and report it. None: it was given back, or lost to another lease."""
        assert self.box is not None
        work = self._work = _Work(match, match.token)
        try:
            leases.start(match)
            workers.seen(self.name, match=match)
            result = play_match(
                self._spec(match), self.box, progress=self._progress(work), stop=lambda: self._stopped(work)
            )
        except IllegalMove as error:
            log.warning("match %s: %s", match.public_id, error)
            return None
        except Exception as error:  # ours, and costs no bot anything: a bot's faults come as results
            log.exception("match %s: attempt %d failed", match.public_id, match.attempts)
            leases.fail(match.pk, work.token, why=f"{type(error).__name__}: {error}"[:500])
            return None
        finally:
            self._work = None
        if work.lost:
            log.warning("match %s: the lease was lost, the result is dropped", match.public_id)
            return None
        if not all(board.complete for board in result.boards) or len(result.boards) < match.boards_planned:
            leases.release(match.pk, work.token, why=f"worker {self.name} was told to stop")
            return None
        receipt = self._report(match, work.token, result)
        log.info("match %s: %s after %.1f s", match.public_id, receipt, result.seconds)
        if match.tournament_id:
            tournaments.advance(match.tournament)
        return receipt

    @staticmethod
    def _report(match: Match, token: int, result: MatchResult) -> reports.Receipt:
        """Report, again and again while the database is away. A report that was stored and not answered is known by its token."""
        for pause in REPORT_TRIES:
            try:
                return reports.report(match.pk, token, result)
            except OperationalError as error:
                log.warning("match %s cannot be reported, trying again: %s", match.public_id, error)
                connection.close()
                time.sleep(pause)
        return reports.report(match.pk, token, result)

    def _spec(self, match: Match) -> MatchSpec:
        parties = match.parties.select_related("version__bot", "version__package").order_by("number")
        return MatchSpec(
            match_id=match.public_id,
            game=match.pool.game,
            players=match.pool.players,
            options=match.pool.options,
            secret=bytes(match.secret),
            table=match.table,
            boards=range(match.first_board, match.first_board + match.boards_planned),
            parties=tuple(packages.spec(party.version, self.folder) for party in parties),
            limits=Limits(**match.limits),
        )

    def _stopped(self, work: _Work) -> bool:
        return work.lost or self.stopping.is_set()

    @staticmethod
    def _progress(work: _Work) -> Callable[[int, int], None]:
        def note(done: int, total: int) -> None:
            work.progress = min(99, 100 * done // max(1, total))

        return note
