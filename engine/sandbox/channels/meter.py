"""Measures what two bots of one table can tell each other, channel by channel, in whatever way they are started."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from engine.sandbox.channels.bits import Estimate, estimate
from engine.sandbox.errors import BotFault
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel.syscalls import this_machine
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess

Start = Callable[[Path, Runtime, str, Policy, "int | None"], BotProcess]

TRIALS = 200
_BOT = "talker.py"
_POLICY = Policy(memory_mb=256)
_ANSWER_S, _WALL_S = 5.0, 30.0
_SEED = 11  # the same symbols in every run


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A channel.

    name: for people; of: the class in the program that both bots run; symbols: how many are sent; refused: every tier that isolates refuses what it
    needs, so that nothing is left to be measured; awake: the receiver is not frozen while it is sent, as a bot of another match.
    """

    name: str
    of: str
    symbols: int = 2
    refused: bool = False
    awake: bool = False


KINDS = (
    Kind(name="wall clock", of="WallClock", symbols=4),
    Kind(name="time stamp counter", of="TimeStampCounter", symbols=4),
    Kind(name="times of the own input pipe", of="PipeTimes", symbols=4),
    Kind(name="waits with a time limit", of="TimedWait"),
    Kind(name="interval timer", of="IntervalTimer", symbols=4, refused=True),
    Kind(name="timer descriptor", of="TimerDescriptor", symbols=4, refused=True),
    Kind(name="signal with a time limit", of="TimedSignal", refused=True),
    Kind(name="inode numbers of pipes", of="PipeNumbers", symbols=8, refused=True),
    Kind(name="inode numbers of sockets", of="SocketNumbers", symbols=8, refused=True),
    Kind(name="cookies of sockets", of="SocketCookies", symbols=8, refused=True),
    Kind(name="inode numbers of other descriptors", of="DescriptorNumbers", symbols=8),
    Kind(name="shared futex", of="SharedFutex", awake=True, refused=True),
    Kind(name="wake at the end of a thread", of="EndOfThread", awake=True, refused=True),
    Kind(name="numbers of new threads", of="ThreadNumbers", symbols=8),
    Kind(name="priorities of others", of="ThreadsOfOthers", refused=True),
    Kind(name="sessions of others", of="SessionsOfOthers", refused=True),
    Kind(name="directory of another's threads", of="ProcessDirectory"),
    Kind(name="access times of files", of="FileTimes"),
    Kind(name="write hints of files", of="WriteHints", symbols=4, refused=True),
    Kind(name="locks on files", of="Locks", refused=True),
    Kind(name="keys", of="Keys", refused=True),
    Kind(name="page cache", of="PageCache", refused=True),
    Kind(name="processor caches", of="Caches"),
    Kind(name="load", of="Load"),
    Kind(name="memory pressure", of="MemoryPressure"),
    Kind(name="counters of the own use", of="OwnCounters"),
)


@dataclass(frozen=True)
class Finding:
    """What came of a channel: an estimate, or what refused it."""

    kind: Kind
    estimate: Estimate
    refused: str | None = None


_NOTHING = Estimate(0.0, 0.0, 0.0, 0)


class _Refused(Exception):
    """An act of a channel was not to be had."""


def measure(
    start: Start, runtime: Runtime, kinds: Iterable[Kind] = KINDS, *, trials: int = TRIALS, sealed: bool = False
) -> Iterator[Finding]:
    """Each channel between two bots on one core, as at a table: frozen while they are not asked.

    start: how a bot is started, as ``choosing.start`` of a tier; runtime: one of Python; sealed: as ``Policy.sealed``. Raises SandboxError.
    """
    policy = replace(_POLICY, sealed=sealed)
    with ExitStack() as stack:
        pair: _Pair | None = None
        for kind in kinds:
            pair = pair or _pair(stack, start, runtime, policy)
            try:
                yield Finding(kind, estimate(pair.trials(kind, trials), kind.symbols))
            except _Refused as refusal:
                yield Finding(kind, _NOTHING, str(refusal))
            except BotFault as fault:  # such as an instruction that is switched off
                pair = None
                yield Finding(kind, _NOTHING, str(fault))


@dataclass(frozen=True)
class _Pair:
    """Two bots that act as they are told."""

    sender: BotProcess
    receiver: BotProcess

    def trials(self, kind: Kind, number: int) -> list[tuple[int, float]]:
        """(symbol sent, number heard) of so many trials."""
        chance = random.Random(_SEED)  # noqa: S311 - symbols to be sent, no secret
        told = {"channel": kind.of, "numbers": dict(this_machine().numbers), "peer": self.sender.pid}
        found = []
        for _ in range(number):
            symbol = chance.randrange(kind.symbols)
            _act(self.receiver, told | {"act": "prepare"}, awake=kind.awake)
            _act(self.sender, told | {"act": "send", "symbol": symbol})
            found.append((symbol, _act(self.receiver, told | {"act": "hear"})))
        return found


def _pair(stack: ExitStack, start: Start, runtime: Runtime, policy: Policy) -> _Pair:
    core = max(os.sched_getaffinity(0))
    return _Pair(*(stack.enter_context(start(Path(__file__).parent, runtime, _BOT, policy, core)) for _ in range(2)))


def _act(bot: BotProcess, told: dict[str, object], *, awake: bool = False) -> float:
    """What was heard, if that was the act. Raises _Refused and BotFault."""
    request = json.dumps(told).encode() + b"\n"
    if awake:
        bot.thaw()
        bot.send(request)
        reply = bot.read_line(_ANSWER_S, _WALL_S)
    else:
        reply = bot.ask(request, _ANSWER_S, _WALL_S)
    answer = json.loads(reply.line)
    if "refused" in answer:
        raise _Refused(answer["refused"])
    return float(answer["seen"] or 0.0)
