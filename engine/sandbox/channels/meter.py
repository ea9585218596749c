"""Measure how much two bots of one table can communicate, channel by channel, for any way of starting them."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from engine.sandbox.channels.bits import BitEstimate, estimate
from engine.sandbox.errors import BotFault
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess

Start = Callable[[Path, Runtime, str, Policy, "int | None"], BotProcess]

TRIALS = 200
_BOT = "channel_probe.py"
_POLICY = Policy(memory_mb=256)
_ANSWER_S, _WALL_S = 5.0, 30.0
_SEED = 11  # The same symbols in every run.


@dataclass(frozen=True, kw_only=True)
class ChannelKind:
    """A channel between two bots.

    name: for people; channel: its class in the program that both bots run; symbols: the number of different symbols; refused: True if every isolating
    tier refuses a call that the channel needs, so that there is nothing to measure; awake: True if the receiver runs while the symbol is sent, as it
    would if the two bots played in different matches.
    """

    name: str
    channel: str
    symbols: int = 2
    refused: bool = False
    awake: bool = False


KINDS = (
    ChannelKind(name="wall clock", channel="WallClock", symbols=4),
    ChannelKind(name="time stamp counter", channel="TimeStampCounter", symbols=4),
    ChannelKind(name="times of the own input pipe", channel="PipeTimes", symbols=4),
    ChannelKind(name="waits with a time limit", channel="TimedWait"),
    ChannelKind(name="interval timer", channel="IntervalTimer", symbols=4, refused=True),
    ChannelKind(name="timer descriptor", channel="TimerDescriptor", symbols=4, refused=True),
    ChannelKind(name="signal with a time limit", channel="TimedSignal", refused=True),
    ChannelKind(name="inode numbers of pipes", channel="PipeNumbers", symbols=8, refused=True),
    ChannelKind(name="inode numbers of sockets", channel="SocketNumbers", symbols=8, refused=True),
    ChannelKind(name="cookies of sockets", channel="SocketCookies", symbols=8, refused=True),
    ChannelKind(name="inode numbers of other descriptors", channel="DescriptorNumbers", symbols=8),
    ChannelKind(name="shared futex", channel="SharedFutex", awake=True, refused=True),
    ChannelKind(name="wake at the end of a thread", channel="EndOfThread", awake=True, refused=True),
    ChannelKind(name="numbers of new threads", channel="ThreadNumbers", symbols=8),
    ChannelKind(name="priorities of others", channel="ThreadsOfOthers", refused=True),
    ChannelKind(name="sessions of others", channel="SessionsOfOthers", refused=True),
    ChannelKind(name="directory of another's threads", channel="ProcessDirectory"),
    ChannelKind(name="access times of files", channel="FileTimes"),
    ChannelKind(name="write hints of files", channel="WriteHints", symbols=4, refused=True),
    ChannelKind(name="locks on files", channel="Locks", refused=True),
    ChannelKind(name="keys", channel="Keys", refused=True),
    ChannelKind(name="page cache", channel="PageCache", refused=True),
    ChannelKind(name="processor caches", channel="Caches"),
    ChannelKind(name="flushed pages of shared files", channel="FlushedPages"),
    ChannelKind(name="load", channel="Load"),
    ChannelKind(name="memory pressure", channel="MemoryPressure"),
    ChannelKind(name="counters of the own use", channel="OwnCounters"),
)


@dataclass(frozen=True)
class ChannelResult:
    """The result for a channel: an estimate, or the reason why it was refused. blind: True if no clock of the bot sees what the channel changes."""

    kind: ChannelKind
    estimate: BitEstimate
    refused: str | None = None
    blind: bool = False

    @property
    def text(self) -> str:
        """The result as a cell of a table."""
        if self.refused:
            return "refused"
        if self.blind:
            return "not told: no clock sees it"
        if not self.estimate.conclusive:
            return "not told: too few trials"
        return f"{self.estimate.bits:.2f} ({self.estimate.low:.2f} to {self.estimate.high:.2f})"


_NOTHING = BitEstimate(0.0, 0.0, 0.0, 0)


class _Refused(Exception):
    """The kernel refused an act of a channel."""


def measure(
    start: Start, runtime: Runtime, kinds: Iterable[ChannelKind] = KINDS, *, trials: int = TRIALS, sealed: bool = False
) -> Iterator[ChannelResult]:
    """Measure each channel between two bots on one core, frozen while they are not asked, as at a table.

    start: starts a bot, like ``choosing.start`` of a tier; runtime: one for Python; sealed: as in ``Policy``. Raise SandboxError.
    """
    policy = replace(_POLICY, sealed=sealed)
    with ExitStack() as stack:
        pair: _Pair | None = None
        for kind in kinds:
            pair = pair or _pair(stack, start, runtime, policy)
            try:
                blind = not pair.sees(kind)
                yield ChannelResult(kind, estimate(pair.trials(kind, trials), kind.symbols), blind=blind)
            except _Refused as refusal:
                yield ChannelResult(kind, _NOTHING, str(refusal))
            except BotFault as fault:  # The bot was killed, for example by an instruction that is switched off.
                pair = None
                yield ChannelResult(kind, _NOTHING, str(fault))


@dataclass(frozen=True)
class _Pair:
    """Two bots that act on command."""

    sender: BotProcess
    receiver: BotProcess

    def _message(self, kind: ChannelKind) -> dict[str, object]:
        return {"channel": kind.channel, "numbers": dict(this_architecture().numbers), "peer": self.sender.pid}

    def sees(self, kind: ChannelKind) -> bool:
        """Return True if the receiver has a clock, or whatever it measures with, that sees what the channel changes."""
        return bool(_act(self.receiver, self._message(kind) | {"act": "sees"}, awake=kind.awake))

    def trials(self, kind: ChannelKind, number: int) -> list[tuple[int, float]]:
        """Return (symbol sent, number received) for `number` trials."""
        chance = random.Random(_SEED)  # noqa: S311 - symbols to be sent, no secret
        message = self._message(kind)
        results = []
        for _ in range(number):
            symbol = chance.randrange(kind.symbols)
            _act(self.receiver, message | {"act": "prepare"}, awake=kind.awake)
            _act(self.sender, message | {"act": "send", "symbol": symbol})
            results.append((symbol, _act(self.receiver, message | {"act": "hear"})))
        return results


def _pair(stack: ExitStack, start: Start, runtime: Runtime, policy: Policy) -> _Pair:
    core = max(os.sched_getaffinity(0))
    return _Pair(*(stack.enter_context(start(Path(__file__).parent, runtime, _BOT, policy, core)) for _ in range(2)))


def _act(bot: BotProcess, message: dict[str, object], *, awake: bool = False) -> float:
    """Carry out one act; return the number heard, if the act is "hear". Raise _Refused and BotFault."""
    request = json.dumps(message).encode() + b"\n"
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
