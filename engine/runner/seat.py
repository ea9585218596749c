"""One bot process at one seat for one pass: asked, timed, frozen."""

from __future__ import annotations

import time

from engine.runner import protocol
from engine.runner.faults import Fault, quoted
from engine.runner.limits import Clock, Limits
from engine.sandbox import BotFault, BotProcess

EXCERPT_REQUEST = 4000  # characters of the request that a fault report keeps


class Seat:
    """The runner's end of the conversation with one process. Every method may raise Fault, or SandboxError, which is ours."""

    def __init__(self, party: int, seat: int, process: BotProcess, limits: Limits) -> None:
        self.party = party
        self.seat = seat
        self.process = process
        self.limits = limits
        self.clock = Clock(limits)
        self.name = ""
        self.requests = 0  # acts sent; the last id
        self.request = b""  # the last line sent
        self.reply = b""  # the last line received
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.max_cpu_s = 0.0
        self.last_us = (0, 0, 0)  # CPU, wall, and the referee's own view of the last decision

    def start(self, hello: bytes) -> None:
        """Send hello, wait for ready within the start budget, freeze."""
        budget = self.limits.start_s
        try:
            line, cpu_s, wall_s = self._exchange(hello, budget, self.limits.wall_s(budget))
        except Fault as fault:
            kind = "start_timeout" if fault.kind == "timeout" else fault.kind
            raise Fault(kind, f"while starting: {fault.detail}") from None
        self.cpu_s += cpu_s
        self.wall_s += wall_s
        self.name = protocol.ready(line)

    def ask(self, events: list[str], legal: str) -> protocol.Answer:
        """Ask for one decision."""
        self.requests = number = self.requests + 1
        began = time.perf_counter()
        clock = self.clock
        budget = clock.move_s + clock.bank_s
        request = protocol.act(number, events, legal, clock.bank_s)
        line, cpu_s, wall_s = self._exchange(request, budget, self.limits.wall_s(budget))
        clock.spend(cpu_s)
        self.cpu_s += cpu_s
        self.wall_s += wall_s
        if cpu_s > self.max_cpu_s:
            self.max_cpu_s = cpu_s
        self.last_us = (int(cpu_s * 1e6), int(wall_s * 1e6), int((time.perf_counter() - began) * 1e6))
        return protocol.answer(line, number)

    def finish(self, end: bytes) -> None:
        """Tell the bot that the pass is over. Whatever it does now changes nothing."""
        process = self.process
        try:
            process.thaw()
            process.send(end, time.monotonic() + 0.05)
            process.finish()
        except BotFault:
            return

    def _exchange(self, line: bytes, cpu_s: float, wall_s: float) -> tuple[bytes, float, float]:
        process = self.process
        self.request = line
        self.reply = b""
        try:
            process.send(line, time.monotonic() + wall_s)
            process.thaw()
            reply = process.read_line(cpu_s, wall_s, protocol.MAX_LINE)
            process.freeze()
        except BotFault as fault:
            raise Fault(fault.kind, fault.detail) from None
        self.reply = reply.line
        return reply.line, reply.cpu_s, reply.wall_s

    def evidence(self) -> tuple[str, str]:
        """The last request and answer, shortened and printable."""
        request = self.request[:EXCERPT_REQUEST].decode("ascii", "replace").rstrip("\n")
        return request, quoted(self.reply) if self.reply else ""
