"""The bot processes of one pass: start them ahead of the pass, and let them begin when it starts.

Starting a process takes longer than many decisions. So if another core is free, the processes of the next pass are started there while this pass is
played; a worker does the same for its next match. They load their runtime and are frozen before the first instruction of the bot's own code. They run
on one after another when the processes of the previous pass have ended, so no bot can observe another process of its match. A static program has no
runtime that could stop before its first instruction, so it starts only then.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import engine
from engine.runner import bounds, metering, rebuild
from engine.runner.copies import Copies
from engine.runner.cores import on_free_core
from engine.runner.faults import Fault, blamed_on
from engine.runner.limits import LENIENT, Noise
from engine.runner.seat import Seat
from engine.runner.spec import NEVER, BotSpec, MatchSpec
from engine.sandbox import BotFault, BotProcess, Policy, Runtime, Sandbox

# The sandbox logger: kernel messages about a process can be matched with its lines.
log = logging.getLogger("engine.sandbox")


def start_bot(box: Sandbox, bot: BotSpec, runtime: Runtime, policy: Policy, core: int | None = None) -> BotProcess:
    """Start the process of a bot. Raise Fault if its file cannot be executed, SandboxError if the sandbox fails."""
    if bot.metered:
        policy = metering.roomy(policy)
    try:
        process = box.start(bot.path, runtime, bot.entry, policy, core=core)
    except BotFault as fault:
        raise Fault(fault.kind, f"while starting: {fault.detail}") from None
    log.debug("%s is process %d of user %d", bot.name, process.pid, process.user)
    return process


@dataclass(frozen=True)
class NotReady:
    """A bot that never answered `ready`. `evidence`: its last request and answer, if any."""

    party: int
    seat: int
    fault: Fault
    evidence: tuple[str, str] = ("", "")


@dataclass
class BotProcesses:
    """The processes of a pass by seat. After they have begun: the seats in order, and the faults of bots that are not ready.

    copies: the state of the files that they run from, before the first start.
    """

    processes: dict[int, BotProcess] = field(default_factory=dict)
    seats: list[Seat] = field(default_factory=list)
    faults: list[NotReady] = field(default_factory=list)
    copies: Copies | None = None

    def move(self, cores: Collection[int]) -> None:
        """Move the bots to these cores. If that fails, kill them and raise OSError."""
        try:
            for process in self.processes.values():
                process.pin(cores)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kill all processes. May be called again."""
        with ExitStack() as stack:
            for process in self.processes.values():
                stack.callback(process.close)


@dataclass(frozen=True)
class Starter:
    """Starts the bot processes of one match, and lets them begin."""

    spec: MatchSpec
    game: engine.Game
    box: Sandbox
    runtimes: Mapping[str, Runtime]
    policy: Policy
    noise: Noise
    sealed: Sequence[bool]  # True for each party that plays sealed.
    copies: Copies
    stop: Callable[[], bool] | None = None  # Interrupts a bot's turn by TurnStopped.
    interlude: Callable[[], Callable[[], None] | None] | None = None  # See `play_match`.
    absent: Collection[int] = ()  # Seats without a bot.
    memory_mb: Mapping[int, int] = field(default_factory=dict)  # Limits of parties that differ from those of the match.
    lenient: bool = False  # Allow more than the limits in `hello` (`Limits.lenient`).

    def start(self, seating: Sequence[int], core: int | None) -> BotProcesses:
        """Start one process per seat and leave it frozen before its own code. Raise SandboxError.

        An unsealed bot in a match that seals starts only when its pass begins: it could read from the times of its pipes how long it has waited.
        """
        bots = BotProcesses(copies=self.copies)
        try:
            for place, party in enumerate(seating):
                if place in self.absent:
                    continue
                bot = self.spec.parties[party]
                waits = (
                    bot.connect is None
                    and self.runtimes[bot.runtime].gate
                    and (self.sealed[party] or self.spec.sealing == NEVER)
                )
                if waits and party not in self.spec.unplayable:
                    bots.processes[place] = process = self._process(party, core)
                    # If the runtime has ended, `begin` will notice it again.
                    with suppress(BotFault), blamed_on(party):
                        process.freeze()
        except BaseException:
            bots.close()
            raise
        return bots

    def begin(
        self, bots: BotProcesses, pass_record: Mapping[str, Any], seating: Sequence[int], core: int | None
    ) -> None:
        """Let the bots of a pass begin one after another: each runs until it is ready, and is then frozen. pass_record: what they learn at the start.

        All of them begin even if one fails, so that no bot gains by failing later. If SandboxError is raised, all are killed.
        """
        limits, pass_s = self.spec.limits, pass_record.get("pass_s") or math.inf
        if self.lenient:
            limits, pass_s = limits.lenient(), LENIENT * pass_s
        try:
            for place, party in enumerate(seating):
                if place in self.absent:
                    continue
                if party in self.spec.unplayable:
                    bots.faults.append(NotReady(party, place, Fault("unplayable", self.spec.unplayable[party])))
                    continue
                if place not in bots.processes:
                    try:
                        connect = self.spec.parties[party].connect
                        bots.processes[place] = connect(place) if connect else self._process(party, core)
                    except Fault as fault:
                        bots.faults.append(NotReady(party, place, fault))
                        continue
                bots.processes[place].stop, bots.processes[place].interlude = self.stop, self.interlude
                translator = self.spec.parties[party].translator()
                seat = Seat(
                    party,
                    place,
                    bots.processes[place],
                    limits,
                    self.noise,
                    pass_s,
                    translator,
                    metered=self.spec.parties[party].metered,
                    parameters=self.spec.parties[party].parameters,
                )
                bots.seats.append(seat)
                try:
                    seat.start(rebuild.hello(pass_record, self.game, place))
                except Fault as fault:
                    bots.faults.append(NotReady(party, place, fault, seat.evidence()))
        except BaseException:
            bots.close()
            raise

    def _process(self, party: int, core: int | None) -> BotProcess:
        bot = self.spec.parties[party]
        memory_mb = self.memory_mb.get(party, self.policy.memory_mb)
        policy = replace(self.policy, sealed=self.sealed[party], memory_mb=memory_mb)
        with blamed_on(party):
            return start_bot(self.box, bot, self.runtimes[bot.runtime], policy, core)

    def pass_record(self, number: int, seating: Sequence[int]) -> dict[str, Any]:
        """Return everything that the bots of a pass learn at its start, except the game itself. It is logged, so that their lines can be rebuilt."""
        seeds = [
            engine.bot_seed(self.spec.secret, self.spec.match_id, number, seat) for seat in range(self.game.players)
        ]
        boards, limits = self.spec.boards_of_pass(number, self.game), self.spec.limits
        most = round(bounds.pass_s(limits, self.game, len(boards), self.spec.deals), 3)
        sealed = [self.sealed[party] for party in seating]
        return {"boards": boards, "limits": asdict(limits), "pass_s": most, "seeds": seeds, "sealed": sealed}


class Ahead:
    """Starts the processes of one pass in a thread of its own, on a core that no match uses; starts none if `on_free_core` finds no such core."""

    def __init__(self, start: Callable[[int], BotProcesses], cores: Collection[int]) -> None:
        """cores: the cores that this process may use."""
        self._start = start
        self._cores = cores
        self._bots: BotProcesses | None = None
        self._error: Exception | None = None
        # The caller's context makes log lines name the same match.
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), name="bot processes", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._bots = on_free_core(self._start, self._cores)
        except Exception as error:
            self._error = error

    def take(self) -> BotProcesses | None:
        """Wait for the processes and return them; None if none were started. Raise what starting them raised."""
        self._thread.join()
        bots, self._bots = self._bots, None
        if self._error is not None:
            raise self._error
        return bots

    def close(self) -> None:
        """Kill processes that were started and never taken."""
        self._thread.join()
        if self._bots is not None:
            self._bots.close()
            self._bots = None
