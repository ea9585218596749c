"""One bot process at one seat for one pass: asked, timed, frozen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from engine.runner import metering, protocol
from engine.runner.faults import Fault, blamed_on, quoted
from engine.runner.limits import QUIET, Clock, Limits, Noise
from engine.runner.line_protocol import LineTranslator
from engine.sandbox import BotFault, BotProcess, SandboxError
from engine.sandbox.errors import BrokenOff
from engine.sandbox.process.bot import Reply, limit_text

END_S = 0.05  # Wall seconds that all bots of a pass together have to end after their end lines.
EXCERPT_REQUEST = 4000  # Characters of the request quoted in a fault report.

Tap = Callable[[bytes, bytes], None]  # Receives every request and its answer.


class SeatHolder(Protocol):
    """The holder of a seat, as the referee's loop sees it: a bot (`Seat`), or a person (`table.Person`)."""

    party: int
    seat: int
    requests: int  # Number of requests so far, which is the last id.
    cpu_us: int  # CPU time of the last decision, as in `Seat`.
    took_s: float
    latency_s: float

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision. Return the line of the answer, unparsed."""

    def evidence(self) -> tuple[str, str]:
        """Return the last request and answer, shortened and printable."""


class Seat:
    """The runner's end of the conversation with one process. Every method may raise Fault, or SandboxError if the platform fails."""

    def __init__(
        self,
        party: int,
        seat: int,
        process: BotProcess,
        limits: Limits,
        noise: Noise = QUIET,
        pass_s: float = math.inf,
        translator: LineTranslator | None = None,
        *,
        metered: bool = False,
        parameters: Sequence[tuple[str, float]] = (),
    ) -> None:
        """pass_s: wall-clock seconds that all answers may take together (`bounds`); translator: for a bot that speaks the line protocol.

        metered: True if the process counts the bot's instructions; its seconds are then those of `metering`. parameters: the bot's `hello` has
        them, and that of the log has not, so that no opponent learns them from it.
        """
        if metered:
            limits, pass_s = metering.widened(limits), metering.ROOM * pass_s
        self.party = party
        self.seat = seat
        self.process = process
        self.limits = limits
        self._tap: Tap | None = None
        self._translator = translator
        self._metered = metered
        self._parameters = dict(parameters)
        self.clock = Clock(limits, noise, pass_s)
        self.name = ""
        self.requests = 0  # Number of requests so far, which is the last id.
        self.request = b""  # The last line sent.
        self.reply = b""  # The last line received.
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.max_cpu_s = 0.0
        self.cpu_us = 0  # CPU time of the last decision.
        self.took_s = 0.0  # Wall time of the last decision, from the writing of the request.
        self.latency_s = 0.0  # Wall time of the last decision as the referee sees it.
        process.pondering_s = max(process.pondering_s, noise.stop_s)

    def listen(self, tap: Tap) -> None:
        """Let `tap` receive every request with its answer, beginning with the last pair."""
        self._tap = tap
        if self.reply:
            tap(self.request, self.reply)

    def start(self, hello: bytes) -> None:
        """Send hello, wait for ready within the start budget, and freeze the bot."""
        budget = self.limits.start_s
        if self._parameters:
            hello = protocol.with_parameters(hello, self._parameters)
        try:
            wall_s = min(self.limits.wall_s(budget), self.clock.left_s)
            reply = self._exchange(hello, self.clock.noise.upper_s(budget), wall_s, budget)
        except Fault as fault:
            kind = "start_timeout" if fault.kind == "timeout" else fault.kind
            raise Fault(kind, f"while starting: {fault.detail}") from None
        self.cpu_s += reply.cpu_s
        self.wall_s += reply.wall_s
        self.clock.wait(min(reply.wall_s, self.process.counted_s))
        self.name = protocol.ready(self._translator.ready(reply.line) if self._translator else reply.line)

    def ask(self, events: list[str], legal: str) -> bytes:
        """Ask for one decision. Return the line that the bot wrote, unparsed."""
        began = monotonic()
        line = self.put(protocol.act(self.requests + 1, events, legal, self.clock.bank))
        self.latency_s = monotonic() - began - self.process.interlude_s
        return line

    def put(self, request: bytes) -> bytes:
        """Send the next request of a decision unchanged. Return the bot's line, the answer to request number `requests`."""
        self.requests += 1
        clock = self.clock
        try:
            line, used, took = self._exchange(request, clock.upper_s, clock.wall_s, clock.move_s + clock.bank_s)
        except Fault as fault:
            if fault.kind != "timeout" or clock.wall_s < clock.left_s:
                raise
            raise Fault(
                "timeout", f"{fault.detail}: all answers of this pass may take {clock.pass_s:.1f} s together"
            ) from None
        clock.wait(min(took, self.process.counted_s))
        self.cpu_us = cpu_us = int(used * 1e6)  # Rounded as in the log, so that the bank can be rebuilt from the log.
        self.took_s = took
        self.cpu_s += used
        self.wall_s += took
        if used > self.max_cpu_s:
            self.max_cpu_s = used
        if cpu_us / 1e6 > clock.move_s:
            clock.spend(cpu_us / 1e6)
        return self._translator.answer(line, self.requests) if self._translator else line

    def tell(self, end: bytes) -> None:
        """Send the bot the end of the pass. Its later actions do not count."""
        if self._translator:
            end = self._translator.request(end)
        if self._tap is not None:
            self._tap(end, b"")
        if self._metered:
            end = metering.request(end, self.clock.move_s)
        try:
            self.process.send(end, 0.0)
            self.process.thaw()
        except (BotFault, SandboxError):
            return

    def leave(self, until: float) -> None:
        """Wait for the process to end by itself, at most until this monotonic time."""
        try:
            self.process.read_line(END_S, max(0.0, until - monotonic()), protocol.MAX_LINE)
        except (BotFault, SandboxError):
            return  # The process has ended, as it should, or its time is over.

    def close(self) -> None:
        """Kill the process. May be called again. Raise SandboxError if it cannot be killed."""
        with blamed_on(self.party):
            self.process.close()

    def _exchange(self, line: bytes, cpu_s: float, wall_s: float, budget_s: float) -> Reply:
        if self._translator:
            line = self._translator.request(line)
        self.request = line
        try:
            if self._metered:
                reply = metering.ask(self.process, line, budget_s, wall_s)
            else:
                reply = self.process.ask(line, cpu_s, wall_s, protocol.MAX_LINE)
        except BotFault as fault:
            self.reply = b""
            # The cap allows for the clocks of this host; its author knows the limit without that.
            raise Fault(fault.kind, fault.detail.replace(limit_text(cpu_s), limit_text(budget_s))) from None
        except BrokenOff as error:
            error.party = self.party
            raise
        self.reply = reply[0]
        if self._tap is not None:
            self._tap(line, self.reply)
        return reply

    def evidence(self) -> tuple[str, str]:
        """Return the last request and answer, shortened and printable."""
        request = self.request[:EXCERPT_REQUEST].decode("ascii").rstrip("\n")
        return request, quoted(self.reply) if self.reply else ""
