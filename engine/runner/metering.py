"""Bots whose instructions are counted in place of their time: modules of WebAssembly.

One second of a limit is `RATE` instructions. So the referee books the same times on every machine, and a match comes out the same. What the process
says is believed because its gate, engine/sandbox/files/gates/wasm.py, stands between the module and the pipes. Real time is a wall far behind.
"""

from __future__ import annotations

from dataclasses import replace

from engine.runner import protocol
from engine.runner.faults import Fault
from engine.runner.limits import Limits
from engine.sandbox import BotProcess, Policy
from engine.sandbox.errors import FAULT_KINDS
from engine.sandbox.process.bot import Reply

RATE = 2_000_000_000  # Instructions that count as one second.
ROOM = 10  # Real seconds, of CPU and by the wall, that each counted second may take.
_PREFIX_BYTES = 32  # Most that the gate writes before an answer.


def widened(limits: Limits) -> Limits:
    """Return limits by which real time ends no bot whose instructions are counted, unless the machine is much too slow."""
    return replace(limits, wall_factor=ROOM * limits.wall_factor)


def roomy(policy: Policy) -> Policy:
    """Return the policy of a process whose CPU time does not count."""
    return replace(policy, cpu_s=ROOM * policy.cpu_s)


def request(line: bytes, budget_s: float) -> bytes:
    """Return a request with the instructions that its answer may take."""
    return b"%d %s" % (round(budget_s * 1e6) * (RATE // 1_000_000), line)


def ask(process: BotProcess, line: bytes, budget_s: float, wall_s: float) -> Reply:
    """Ask for an answer; its CPU seconds are counted ones. Raise Fault, BotFault, SandboxError."""
    reply = process.ask(request(line, budget_s), ROOM * budget_s, wall_s, protocol.MAX_LINE + _PREFIX_BYTES)
    count, _, answer = reply.line.partition(b" ")
    if count == b"!":
        kind, _, detail = answer.decode("utf-8", "replace").partition(" ")
        raise Fault(kind if kind in FAULT_KINDS else "crash", detail)
    if not count.isdigit():
        raise Fault("protocol", "the process wrote past its gate")
    return Reply(answer, int(count) / RATE, reply.wall_s)
