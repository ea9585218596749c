"""The bots of one pass: their processes, made ready ahead, and the beginning of the pass, when they come to their own code.

Starting a process takes longer than many a decision. So where another core is free, the processes of the next pass are started there while this
pass is played, and by a worker those of its next match. They load their runtime and stand frozen before the first instruction of the bot's own
code. They begin when the processes of the pass before have ended, one after another: so no bot hears what another process of its match does.
A static program has no runtime that could stop before its first instruction; it is started when its turn has come.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import engine
from engine.runner import bounds, rebuild
from engine.runner.copies import Copies
from engine.runner.cores import on_free_core
from engine.runner.faults import Fault, blamed_on
from engine.runner.limits import Noise
from engine.runner.seat import Seat
from engine.runner.spec import BotSpec, MatchSpec
from engine.sandbox import BotFault, BotProcess, Policy, Runtime, Sandbox

log = logging.getLogger("engine.sandbox")  # what the kernel says of a process can be found in it


def start_bot(box: Sandbox, bot: BotSpec, runtime: Runtime, policy: Policy, core: int | None = None) -> BotProcess:
    """A process of a bot. Raises Fault where its file cannot be executed, SandboxError where something of ours fails."""
    try:
        process = box.start(bot.path, runtime, bot.entry, policy, core=core)
    except BotFault as fault:
        raise Fault(fault.kind, f"while starting: {fault.detail}") from None
    log.debug("%s is process %d of user %d", bot.name, process.pid, process.user)
    return process


@dataclass(frozen=True)
class Late:
    """A bot that never answered `ready`. `evidence`: the last request and answer, if there were any."""

    party: int
    seat: int
    fault: Fault
    evidence: tuple[str, str] = ("", "")


@dataclass
class Crew:
    """made: the processes of a pass, by seat. Once they have begun: seats in order, and the faults of those that are not ready.

    copies: what they are run from, as it was before the first was started.
    """

    made: dict[int, BotProcess] = field(default_factory=dict)
    seats: list[Seat] = field(default_factory=list)
    faults: list[Late] = field(default_factory=list)
    copies: Copies | None = None

    def move(self, cores: Collection[int]) -> None:
        """Move the bots to these cores. Where that fails it kills them and raises OSError."""
        try:
            for process in self.made.values():
                process.pin(cores)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kill them all. Harmless when repeated."""
        with ExitStack() as stack:
            for process in self.made.values():
                stack.callback(process.close)


@dataclass(frozen=True)
class Starter:
    """Starts the crews of one match, and lets them begin."""

    spec: MatchSpec
    game: engine.Game
    box: Sandbox
    runtimes: Mapping[str, Runtime]
    policy: Policy
    noise: Noise
    sealed: Sequence[bool]  # by party
    copies: Copies
    stop: Callable[[], bool] | None = None  # ends what a bot thinks or waits in, by Stopped
    interlude: Callable[[], Callable[[], None] | None] | None = None  # as `play_match` has it
    absent: Collection[int] = ()  # seats that no bot takes

    def start(self, seating: Sequence[int], core: int | None) -> Crew:
        """Start a process per seat and leave it frozen before its own code. Raises SandboxError."""
        crew = Crew(copies=self.copies)
        try:
            for place, party in enumerate(seating):
                if place in self.absent:
                    continue
                if party not in self.spec.unplayable and self.runtimes[self.spec.parties[party].runtime].gate:
                    crew.made[place] = process = self._process(party, core)
                    with (
                        suppress(BotFault),
                        blamed_on(party),
                    ):  # its runtime has ended: that is found again when it begins
                        process.freeze()
        except BaseException:
            crew.close()
            raise
        return crew

    def begin(self, crew: Crew, number: int, seating: Sequence[int], core: int | None) -> None:
        """Let the bots of pass `number` begin, one after another: each runs until it is ready, and is frozen then.

        All begin, so that where several cannot none gains by coming later. Raises SandboxError, and closes the crew then.
        """
        told = self.told(number, seating)
        try:
            for place, party in enumerate(seating):
                if place in self.absent:
                    continue
                if party in self.spec.unplayable:
                    crew.faults.append(Late(party, place, Fault("unplayable", self.spec.unplayable[party])))
                    continue
                if place not in crew.made:
                    try:
                        crew.made[place] = self._process(party, core)
                    except Fault as fault:
                        crew.faults.append(Late(party, place, fault))
                        continue
                crew.made[place].stop, crew.made[place].interlude = self.stop, self.interlude
                seat = Seat(party, place, crew.made[place], self.spec.limits, noise=self.noise, pass_s=told["pass_s"])
                crew.seats.append(seat)
                try:
                    seat.start(rebuild.hello(told, self.game, place))
                except Fault as fault:
                    crew.faults.append(Late(party, place, fault, seat.evidence()))
        except BaseException:
            crew.close()
            raise

    def _process(self, party: int, core: int | None) -> BotProcess:
        bot = self.spec.parties[party]
        policy = replace(self.policy, sealed=self.sealed[party])
        with blamed_on(party):
            return start_bot(self.box, bot, self.runtimes[bot.runtime], policy, core)

    def told(self, number: int, seating: Sequence[int]) -> dict[str, Any]:
        """What the bots of a pass are told at its start besides the game. It goes into the log, so that their lines can be rebuilt."""
        seeds = [
            engine.bot_seed(self.spec.secret, self.spec.match_id, number, seat) for seat in range(self.game.players)
        ]
        boards, limits = list(self.spec.boards), self.spec.limits
        most = round(bounds.pass_s(limits, self.game, len(boards), self.spec.deals), 3)
        sealed = [self.sealed[party] for party in seating]
        return {"boards": boards, "limits": asdict(limits), "pass_s": most, "seeds": seeds, "sealed": sealed}


class Ahead:
    """Starts one crew in a thread of its own, on a core that no match holds; none where `on_free_core` does nothing."""

    def __init__(self, start: Callable[[int], Crew], cores: Collection[int]) -> None:
        """cores: those that this process may use."""
        self._start = start
        self._cores = cores
        self._crew: Crew | None = None
        self._error: Exception | None = None
        # In the caller's context: what is logged is about the same match
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), name="crew", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._crew = on_free_core(self._start, self._cores)
        except Exception as error:
            self._error = error

    def take(self) -> Crew | None:
        """Wait for the crew; None where none was started. Raises what starting it raised."""
        self._thread.join()
        crew, self._crew = self._crew, None
        if self._error is not None:
            raise self._error
        return crew

    def close(self) -> None:
        """End what was started and is not needed."""
        self._thread.join()
        if self._crew is not None:
            self._crew.close()
            self._crew = None
