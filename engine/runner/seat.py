"""One bot process at one seat for one pass: asked, timed, frozen."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from engine.runner import protocol
from engine.runner.faults import Fault, blamed_on, quoted
from engine.runner.limits import QUIET, Clock, Limits, Noise
from engine.sandbox import BotFault, BotProcess, SandboxError
from engine.sandbox.errors import BrokenOff
from engine.sandbox.process.bot import Reply

END_S = 0.05  # wall seconds that the bots of a pass have after their end lines, all together
EXCERPT_REQUEST = 4000  # characters of the request that a fault report keeps

Tap = Callable[[bytes, bytes], None]  # sees every request and its answer


class Asked(Protocol):
    """Who holds a seat, as the referee's loop sees it: a bot (`Seat`), or a person (`table.Person`)."""

    party: int
    seat: int
    requests: int  # acts asked; the last id
    cpu_us: int  # of the last decision, as `Seat` has them
    took_s: float
    latency_s: float

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision. Returns the line of the answer, unread."""

    def evidence(self) -> tuple[str, str]:
        """The last request and answer, shortened and printable."""


class Seat:
    """The runner's end of the conversation with one process. Every method may raise Fault, or SandboxError, which is ours."""

    def __init__(
        self,
        party: int,
        seat: int,
        process: BotProcess,
        limits: Limits,
        noise: Noise = QUIET,
        pass_s: float = math.inf,
    ) -> None:
        """pass_s: wall-clock seconds that all its answers may take together (`bounds`)."""
        self.party = party
        self.seat = seat
        self.process = process
        self.limits = limits
        self._tap: Tap | None = None
        self.clock = Clock(limits, noise, pass_s)
        self.name = ""
        self.requests = 0  # acts sent; the last id
        self.request = b""  # the last line sent
        self.reply = b""  # the last line received
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.max_cpu_s = 0.0
        self.cpu_us = 0  # of the last decision: CPU time,
        self.took_s = 0.0  # wall time from the writing of the request,
        self.latency_s = 0.0  # and the referee's own view of it
        process.pondering_s = max(process.pondering_s, noise.stop_s)

    def listen(self, tap: Tap) -> None:
        """Let `tap` see every request and its answer from now on, and the last ones."""
        self._tap = tap
        if self.reply:
            tap(self.request, self.reply)

    def start(self, hello: bytes) -> None:
        """Send hello, wait for ready within the start budget, freeze."""
        budget = self.limits.start_s
        try:
            wall_s = min(self.limits.wall_s(budget), self.clock.left_s)
            reply = self._exchange(hello, self.clock.noise.upper_s(budget), wall_s)
        except Fault as fault:
            kind = "start_timeout" if fault.kind == "timeout" else fault.kind
            raise Fault(kind, f"while starting: {fault.detail}") from None
        self.cpu_s += reply.cpu_s
        self.wall_s += reply.wall_s
        self.clock.wait(min(reply.wall_s, self.process.counted_s))
        self.name = protocol.ready(reply.line)

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision. Returns the line that the bot wrote, unread."""
        began = monotonic()
        line = self.put(protocol.act(self.requests + 1, events, legal, self.clock.bank))
        self.latency_s = monotonic() - began - self.process.interlude_s
        return line

    def put(self, request: bytes) -> bytes:
        """Put the next request of a decision to the bot, as it stands. Returns its line, the answer to request number `requests`."""
        self.requests += 1
        clock = self.clock
        try:
            line, used, took = self._exchange(request, clock.upper_s, clock.wall_s)
        except Fault as fault:
            if fault.kind != "timeout" or clock.wall_s < clock.left_s:
                raise
            raise Fault(
                "timeout", f"{fault.detail}: all answers of this pass may take {clock.pass_s:.1f} s together"
            ) from None
        clock.wait(min(took, self.process.counted_s))
        self.cpu_us = cpu_us = int(used * 1e6)  # what the log keeps, so that the bank follows from the log
        self.took_s = took
        self.cpu_s += used
        self.wall_s += took
        if used > self.max_cpu_s:
            self.max_cpu_s = used
        if cpu_us / 1e6 > clock.move_s:
            clock.spend(cpu_us / 1e6)
        return line

    def tell(self, end: bytes) -> None:
        """Tell the bot that the pass is over. What it does from now on counts for nothing."""
        if self._tap is not None:
            self._tap(end, b"")
        try:
            self.process.send(end, 0.0)
            self.process.thaw()
        except (BotFault, SandboxError):
            return

    def leave(self, until: float) -> None:
        """Wait for the process to end by itself, at most until that moment of the monotonic clock."""
        try:
            self.process.read_line(END_S, max(0.0, until - monotonic()), protocol.MAX_LINE)
        except (BotFault, SandboxError):
            return  # it has left, as it should, or its time is over

    def close(self) -> None:
        """Kill the process. Harmless when repeated. Raises SandboxError if it cannot be killed."""
        with blamed_on(self.party):
            self.process.close()

    def _exchange(self, line: bytes, cpu_s: float, wall_s: float) -> Reply:
        self.request = line
        try:
            reply = self.process.ask(line, cpu_s, wall_s, protocol.MAX_LINE)
        except BotFault as fault:
            self.reply = b""
            raise Fault(fault.kind, fault.detail) from None
        except BrokenOff as error:
            error.party = self.party
            raise
        self.reply = reply[0]
        if self._tap is not None:
            self._tap(line, self.reply)
        return reply

    def evidence(self) -> tuple[str, str]:
        """The last request and answer, shortened and printable."""
        request = self.request[:EXCERPT_REQUEST].decode("ascii").rstrip("\n")
        return request, quoted(self.reply) if self.reply else ""
