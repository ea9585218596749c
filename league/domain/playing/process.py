"""A process that plays matches: proves its sandbox, holds its leases by a heartbeat, reports."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction

from engine.runner import MatchResult, MatchSpec, noise
from engine.runner.match import first_processes, play_match
from engine.runner.result import BoardResult
from engine.sandbox import Sandbox, SandboxError, SandboxUnavailable, is_weaker
from engine.sandbox.files import keeping
from league.domain.audits import carrying
from league.domain.consultations import carrying as consulting
from league.domain.core.errors import IllegalMove
from league.domain.core.loops import Loops
from league.domain.judgements import carrying as judging
from league.domain.matches import background, leases, reports, validation, workers
from league.domain.playing import tries
from league.domain.playing.room import Room
from league.domain.playing.tables import LOOK_S, Tables
from league.domain.playing.trials import match_spec, play_trials
from league.domain.playing.upcoming import SOON_S, Upcoming, Work, claim
from league.domain.puzzles import finding
from league.enums import MatchKind
from league.models import Match
from league.service import logs

log = logging.getLogger("league.playing")
REPORT_TRIES = (1, 2, 4, 8, 15)  # seconds between tries to report to a database that is away: played matches are dear
PULSE_S = 5.0  # between two signs of life at most: so soon a slow match stands aside
STILL_S = 120.0  # a pulse that has not come for so long stands still
SEARCH_S = 60.0  # so rarely a worker that plays ladders asks for judged matches to look for puzzles in
JUDGING_LOOK_S = 0.5  # so soon a judgement makes way for a match that waits
CARRIED: dict[str, Any] = {MatchKind.AUDIT: carrying, MatchKind.TRY: tries}  # what is no match, and has no spec of one
BUSY_S = 1.0  # between two signs of life of a thread that waits while another one plays
ROUND_S = 60.0  # for so long one match follows another; then whoever called is heard again


def open_sandbox() -> Sandbox:
    """The sandbox that the settings ask for, proven by its canary battery. SandboxUnavailable where it would be weaker than allowed."""
    box = Sandbox(tier=settings.SANDBOX_TIER, state_dir=settings.STATE_DIR / "sandbox")
    if is_weaker(box.tier, than=settings.SANDBOX_MIN_TIER):
        raise SandboxUnavailable(
            f"the sandbox tier here is {box.tier}, weaker than SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER}; "
            "run `tute sandbox check` on this machine and follow its advice"
        )
    return box


class Machine:
    """This process as a player of matches. One match at a time, and the next one made ready."""

    def __init__(self, folder: Path, after: Callable[[], None] = lambda: None) -> None:
        """folder: of the unpacked bots, by content; after: called after each match."""
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}"
        self.pid = os.getpid()
        self.folder = folder
        self.after = after
        self.refusal = ""  # for good: the sandbox does not hold here
        self.full = ""  # until there is room on the disk
        self.room = Room(settings.STATE_DIR, folder)
        self._looking = threading.Lock()
        self.box: Sandbox | None = None
        self.stopping = threading.Event()
        self._works: list[Work] = []  # the match at hand; before it one that stands aside
        self._asked: judging.Held | consulting.Held | None = None  # at hand, where no match is
        self._searches_from = 0.0  # the same of puzzles, for a tenth of its time at most
        self._judges_from = 0.0  # by the monotonic clock: from then on it may judge before matches of ladders
        self._busy = threading.Lock()  # one match at a time, whoever noticed that it waits
        self.loops = Loops("worker")
        self.loops.lost = self._lost
        self.tables = Tables(
            self.name, folder.with_name("table-bots"), self._may_claim, self._proven_sandbox, self.stopping.is_set
        )
        self.upcoming = Upcoming(self.name, self._may_claim, self._ready, os.sched_getaffinity(0), self.loops)

    def open(self) -> None:
        """Prove the sandbox and register this worker. A refusal is logged, shown in the league and ends nothing: it plays no match."""
        self.full = self.room.why_not()
        if self.full:
            log.error("this worker plays nothing for now: %s", self.full)
        else:
            self._open_sandbox()
        workers.register(self.name, tier=self.box.tier if self.box else "", refusal=self.unable)
        self.loops.refuse(self.unable)
        patience = max(STILL_S, 4.0 * settings.LEASE_S)
        self.loops.start("pulse", self._beat, min(settings.LEASE_S / 3, PULSE_S), patience=patience)
        if settings.TABLES and settings.TABLES_PER_WORKER and not self.refusal:
            self.loops.start("tables", self.tables.look, LOOK_S)

    def _open_sandbox(self) -> None:
        try:
            self.box = open_sandbox()
            noise.measure_noise()  # measured now, while nothing else of ours runs
        except (SandboxError, OSError) as error:
            self.refusal = str(error)
            log.error("this worker plays nothing: %s", error)

    @property
    def unable(self) -> str:
        """Why it takes no match at present; empty where it does."""
        return self.refusal or self.full

    def _may_claim(self) -> bool:
        """Look at the disk; note where it has become too full, or has room again. Whether a match may be claimed."""
        if self.refusal:
            return False
        with self._looking:
            before, self.full = self.full, self.room.why_not(after_refusal=bool(self.full))
            if before and not self.full and self.box is None:
                self._open_sandbox()
            if bool(before) != bool(self.full):
                log.error("this worker %s", f"plays nothing for now: {self.full}" if self.full else "has room again")
                workers.change(self.name, tier=self.box.tier if self.box and not self.full else "", refusal=self.unable)
                self.loops.refuse(self.unable)
        return not self.unable

    def close(self) -> None:
        """Leave in good order."""
        self.stopping.set()
        self.upcoming.close()
        self.tables.close()
        self.loops.leave()
        if not self.loops.trouble:
            workers.unregister(self.name)

    def _lost(self) -> None:
        """Without one of its loops this process plays nothing more; whoever looks is told why before it ends."""
        self.stopping.set()
        workers.note_alive(self.name, loops=self.loops)

    # ---- the pulse: a thread of its own, so that a lease may be short and a match long

    def _beat(self) -> None:
        works = list(self._works)
        with transaction.atomic():  # one commit
            for work in works:
                work.beat()
            if (asked := self._asked) is not None:
                asked.beat()
            self.upcoming.beat()
            self.tables.beat()
            match = works[-1].match if works else None
            workers.note_alive(
                self.name, match=match if match and match.kind not in CARRIED else None, free_mb=self.room.free_mb
            )

    # ---- looking for work

    def keep_looking(self, every: float) -> None:
        """Look into the queue every so many seconds besides, in a thread of its own: a broker that loses everything makes it slower, no more."""

        def watch() -> None:
            while self.look(wait=False):
                pass

        self.loops.start("look", watch, every)

    def look(self, prefer: int | None = None, *, wait: bool = True) -> bool:
        """Claim the match `prefer` if it waits, else the next one, and play it, and those claimed ahead meanwhile; whether there was one.

        Where none waits, and no audit, a consultation or a judgement that somebody asked for is work, too, and then puzzles. One that has waited
        long comes before matches of ladders, which nobody waits for and which never end, for half of the time of a worker at most, puzzles for a
        tenth of it.

        While another thread plays, `wait` for it: who has been told of work by a message must not take further messages.
        """
        while not self._busy.acquire(timeout=BUSY_S if wait else 0):
            self.loops.alive()
            if not wait:
                return False
        try:
            if self._judged_before_ladders() or self._searched_before_ladders():
                return True
            until = time.monotonic() + ROUND_S
            work = self._claimed(prefer)
            if work is None:
                return self.consult() or self.judge() or self.search()
            while work is not None:
                if work.match.kind in CARRIED:
                    self.carry_out(work)
                else:
                    self.play(work, ahead=time.monotonic() < until)
                self.after()
                work = None if self.stopping.is_set() else self.upcoming.take()
                keeping.release(self.folder, before=work.since if work else time.monotonic())
            self.room.tidy()
            return True
        finally:
            self._busy.release()

    def _claimed(self, prefer: int | None) -> Work | None:
        if self.stopping.is_set() or not self._may_claim():
            return None
        if work := self.upcoming.take():  # an error came between it and the match before
            return work
        found = claim(self.name, prefer=prefer)
        self.upcoming.line_up(found[1:])
        return found[0] if found else None

    def _ready(self, work: Work, core: int) -> None:
        """Start the bots of a match that is to be played next. What is no match starts its own, when it is begun."""
        if work.match.kind in CARRIED:
            return
        work.spec = match_spec(work.match, self.folder)
        work.crew = first_processes(work.spec, self._proven_sandbox(), core)

    # ---- playing

    def _proven_sandbox(self) -> Sandbox:
        if self.box is None:
            raise RuntimeError(f"a match cannot be played here: {self.unable or 'the sandbox has not been opened'}")
        return self.box

    def play(self, work: Work, *, ahead: bool = False) -> reports.Receipt | None:
        """Play a match that this machine has leased, and report it. None: it was given back, or lost to another lease.

        ahead: claim the next one towards the end, unless this one has failed before.
        """
        with work.about():
            return self._play(work, ahead=ahead)

    def _play(self, work: Work, *, ahead: bool) -> reports.Receipt | None:
        match = work.match
        self._works.append(work)
        try:
            with transaction.atomic():  # one commit
                leases.start(match)
                workers.note_alive(self.name, match=match)
            work.began = time.monotonic()
            result, trials = self._result(work, ahead=ahead)
        except IllegalMove as error:
            log.warning("match %s: %s", match.public_id, error)
            work.release(str(error))
            return None
        except Exception as error:
            work.fail(error)
            return None
        finally:
            self._works.remove(work)
            work.close()
        if work.lost:
            log.warning("match %s: the lease was lost, the result is dropped", match.public_id)
            return None
        if (
            result is None
            or not all(board.complete for board in result.boards)
            or len(result.boards) < match.boards_planned
        ):
            work.release(f"worker {self.name} was told to stop")
            return None
        receipt = self._report(match, match.token, result, trials)
        log.info("match %s: %s after %.1f s", match.public_id, receipt, result.seconds)
        return receipt

    def _result(self, work: Work, *, ahead: bool) -> tuple[MatchResult | None, list[validation.Tried]]:
        """What came of a match, and of each game where it is a validation. None, or incomplete: it was stopped."""
        box = self._proven_sandbox()
        spec = work.spec or match_spec(work.match, self.folder)
        with logs.about(bots=", ".join(bot.name for bot in spec.parties)):
            return self._played(work, spec, box, ahead=ahead)

    def _played(
        self, work: Work, spec: MatchSpec, box: Sandbox, *, ahead: bool
    ) -> tuple[MatchResult | None, list[validation.Tried]]:
        match = work.match
        progress = self._progress(work)

        def stop() -> bool:
            self.loops.alive()
            return work.lost or work.gives_way or self.stopping.is_set()

        if validation.is_validation(match):
            tried = play_trials(match, spec, box, self.folder, first=work.crew, stop=stop, progress=progress)
            return (tried[0].result if tried else None), tried
        closing = self._closing if ahead and match.attempts == 1 else None
        result = play_match(
            spec,
            box,
            progress=progress,
            decided=self._decided(work),
            stop=stop,
            first=work.crew,
            closing=closing,
            interlude=lambda: partial(self._let_pass, work) if work.in_the_way else None,
        )
        return result, []

    def _let_pass(self, work: Work) -> None:
        """Validate an upload that waits, while the slow match at hand stands still. Nothing that goes wrong with it ends the match."""
        work.in_the_way, began = False, time.monotonic()
        try:
            may = not self.stopping.is_set() and self._may_claim()
            found = claim(self.name, most=1, uploads_only=True) if may else []
            if not found:
                return
            (upload,) = found
            if leases.stand_aside(work.match.pk, work.match.token, upload.match):
                self.play(upload)
                self.after()
            else:
                work.lost = True
                upload.release(f"the match at hand of worker {self.name} is no longer its own")
        except Exception as error:  # its lease, if there is one, runs out
            log.warning("match %s: no upload could be validated meanwhile", work.match.public_id, exc_info=error)
            connection.close()
        finally:
            work.began = (work.began or began) + time.monotonic() - began

    def carry_out(self, work: Work) -> bool:
        """Carry out an audit or a try that this machine has leased, and report it; whether that was stored."""
        with work.about():
            return self._carry_out(work)

    def _carry_out(self, work: Work) -> bool:
        match = work.match
        what = CARRIED[match.kind]
        self._works.append(work)
        try:
            leases.start(match)

            def stop() -> bool:
                self.loops.alive()
                return work.lost or work.gives_way or self.stopping.is_set()

            found = what.carry_out(match, self._proven_sandbox(), self.folder, stop=stop)
            if found is None:
                work.release(f"worker {self.name} was told to stop")
                return False
            return bool(what.report(match.pk, match.token, found))
        except IllegalMove as error:
            log.warning("%s %s: %s", match.kind, match.public_id, error)
            work.release(str(error))
            return False
        except Exception as error:
            work.fail(error)
            return False
        finally:
            self._works.remove(work)

    def _judged_before_ladders(self) -> bool:
        began = time.monotonic()
        if (
            began < self._judges_from
            or self.upcoming.holds_some
            or not any(map(background.is_overdue, background.KINDS))
        ):
            return False
        judged = self.consult(before_ladders=True) or self.judge(before_ladders=True)
        now = time.monotonic()
        self._judges_from = now + (now - began)
        return judged

    def judge(self, *, before_ladders: bool = False) -> bool:
        """Carry out the judgement that is next in line, if no match waits; whether one was done. It is given back as soon as a match waits.

        before_ladders: those of ladders count for none.
        """
        free = not self.stopping.is_set() and not self.unable
        held = judging.claim(self.name, before_ladders=before_ladders) if free else None
        if held is None:
            return False
        self._asked = held
        try:
            return judging.carry_out(held, stop=self._makes_way(before_ladders=before_ladders))
        finally:
            self._asked = None

    def consult(self, *, before_ladders: bool = False) -> bool:
        """Put the seat that is next in line to its bot of the house, as `judge` does with a judgement; it is the shorter work, and so comes first."""
        free = self.box is not None and not self.stopping.is_set() and not self.unable
        held = consulting.claim(self.name, before_ladders=before_ladders) if free else None
        if held is None:
            return False
        self._asked = held
        try:
            stop = self._makes_way(before_ladders=before_ladders)
            return consulting.carry_out(held, self._proven_sandbox(), self.folder, stop=stop)
        finally:
            self._asked = None

    def _makes_way(self, *, before_ladders: bool) -> Callable[[], bool]:
        return self._looks_up(partial(background.is_busy, before_ladders=before_ladders))

    def _looks_up(self, waits: Callable[[], bool]) -> Callable[[], bool]:
        """Whether what is done in idle time is to make way, for what `waits`; the database is asked now and then."""
        looked = time.monotonic()

        def stop() -> bool:
            nonlocal looked
            self.loops.alive()
            if time.monotonic() - looked < JUDGING_LOOK_S:
                return self.stopping.is_set()
            looked = time.monotonic()
            return self.stopping.is_set() or waits()

        return stop

    def _searched_before_ladders(self) -> bool:
        began = time.monotonic()
        if began < self._searches_from or self.upcoming.holds_some:
            return False
        searched = self.search(before_ladders=True)
        now = time.monotonic()
        self._searches_from = now + max(SEARCH_S, 9 * (now - began))
        return searched

    def search(self, *, before_ladders: bool = False) -> bool:
        """Look for puzzles in the judged match that is next, if nothing else is to be done; whether there was one. A match that waits ends it.

        before_ladders: those of ladders count for none.
        """
        free = not self.stopping.is_set() and not self.unable
        row = finding.claim(self.name, before_ladders=before_ladders) if free else None
        if row is None:
            return False
        finding.carry_out(row, stop=self._looks_up(partial(finding.makes_way, before_ladders=before_ladders)))
        return True

    def _report(self, match: Match, token: int, result: MatchResult, trials: list[validation.Tried]) -> reports.Receipt:
        """Report, again and again while the database is away. A report that was stored and not answered is known by its token."""
        for pause in REPORT_TRIES:
            try:
                return reports.report(match.pk, token, result, trials, worker=self.name)
            except OperationalError as error:
                log.warning("match %s cannot be reported, trying again: %s", match.public_id, error)
                connection.close()
                time.sleep(pause)
        return reports.report(match.pk, token, result, trials, worker=self.name)

    def _closing(self, seconds_left: float) -> None:
        if seconds_left <= SOON_S and not self.stopping.is_set():
            self.upcoming.begin()

    @staticmethod
    def _decided(work: Work) -> Callable[[Sequence[BoardResult]], None]:
        def note(boards: Sequence[BoardResult]) -> None:
            work.decided = [[board.number, list(board.scores)] for board in boards]

        return note

    @staticmethod
    def _progress(work: Work) -> Callable[[int, int], None]:
        def note(done: int, total: int) -> None:
            work.progress, work.done = min(99, 100 * done // max(1, total)), done

        return note
