"""Send a bot again what it received in a logged match: alone, in a fresh process, byte for byte."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from engine.runner import modules, protocol, runtimes
from engine.runner.bot_processes import start_bot
from engine.runner.copies import Copies
from engine.runner.faults import Fault
from engine.runner.limits import Limits
from engine.runner.noise import measure_noise
from engine.runner.rebuild import Exchange
from engine.runner.result import FaultReport
from engine.runner.seat import Seat
from engine.runner.spec import BotSpec
from engine.sandbox import Policy, Sandbox, SandboxError


@dataclass(frozen=True)
class RepeatedDecision:
    """One repeated decision. now: the bot's new answer, legal or not; request: its number in the conversation, from 1."""

    exchange: Exchange
    now: str
    request: int

    @property
    def legal(self) -> list[str]:
        """The choices that the bot had."""
        choices: list[str] = json.loads(self.exchange.request)["legal"]
        return choices

    @property
    def differs(self) -> bool:
        """True if the log has a different answer, or none."""
        return self.now != self.exchange.answer


@dataclass
class Rerun:
    """One repeated conversation, as far as the bot got."""

    replies: list[RepeatedDecision] = field(default_factory=list)
    fault: FaultReport | None = None
    failed_at: Exchange | None = None  # The line at which the fault happened.
    max_cpu_s: float = 0.0  # CPU time of the slowest decision.
    cpu_s: float = 0.0  # CPU time of the whole conversation.
    stderr: str = ""

    def blame(self, fault: Fault, at: Exchange, party: int, sitting: int, evidence: tuple[str, str]) -> None:
        """Store the fault with which the conversation ended, and where."""
        self.failed_at = at
        self.fault = FaultReport(party, at.seat, at.board, sitting, at.step, fault.kind, fault.detail, *evidence)


def rerun(
    bot: BotSpec,
    box: Sandbox,
    exchanges: Sequence[Exchange],
    limits: Limits,
    *,
    party: int,
    sitting: int,
    progress: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
    most_s: float = math.inf,
) -> Rerun | None:
    """Send the lines of one seat and pass to a fresh process of `bot`. Stop at a fault. Return None if `stop` returned True.

    limits: enforced, whatever the bot's hello line says. The bot plays sealed if it did in the log and this machine can seal. progress: called before
    each decision. most_s: wall seconds after which no further line is sent. Raise SandboxError and OSError for failures that are not the bot's.
    """
    result = Rerun()
    exchange = exchanges[0]
    bot = modules.with_machine_code(bot, box)

    runtime = runtimes.get(bot.runtime, box.state_dir, bot.series)
    copies = Copies.snapshot([bot], {bot.runtime: runtime})

    def blame(fault: Fault, evidence: tuple[str, str] = ("", "")) -> Rerun:
        if damage := copies.damage([0]):
            raise SandboxError(f"{bot.name} was run from damaged files: {damage}")
        result.blame(fault, exchange, party, sitting, evidence)
        return result

    here = box.report.unsealed or box.why_unsealed(runtime, bot.path / bot.entry)
    sealed = exchange.sealed and here is None
    policy = Policy(memory_mb=limits.memory_mb, threads=limits.threads, stderr_kib=limits.stderr_kib, sealed=sealed)
    try:
        process = start_bot(box, bot, runtime, policy)
    except Fault as fault:
        return blame(fault)
    with process:
        seat = Seat(
            party,
            exchange.seat,
            process,
            limits,
            measure_noise(),
            translator=bot.translator(),
            metered=bot.metered,
            parameters=bot.parameters,
        )
        try:
            until = monotonic() + most_s
            for exchange in exchanges:
                if stop():
                    return None
                if monotonic() > until:
                    break
                _send(seat, exchange, result, progress)
        except Fault as fault:
            blame(fault, seat.evidence())
        result.max_cpu_s, result.cpu_s = seat.max_cpu_s, seat.cpu_s
        process.close()
        result.stderr = process.stderr().decode("utf-8", "replace")
    return result


def _send(seat: Seat, exchange: Exchange, result: Rerun, progress: Callable[[], None]) -> None:
    if exchange.step < 0:
        seat.start(exchange.request)
    elif exchange.answer is None:
        seat.tell(exchange.request)
    else:
        progress()
        repeat(seat, exchange, result)


def repeat(seat: Seat, exchange: Exchange, result: Rerun) -> None:
    """Ask for a decision again, and add the answer to the result. Raise Fault."""
    now = protocol.answer(seat.put(exchange.request), seat.requests).do
    reply = RepeatedDecision(exchange, now, seat.requests)
    result.replies.append(reply)
    if reply.differs and now not in reply.legal:
        raise Fault("illegal_action", f"the bot answered {now[:60]!a}; legal were: {', '.join(reply.legal)}")
