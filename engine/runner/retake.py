"""Play one seat of a logged pass again, so that its bot cannot tell this from a match.

The table is that of the match: as many processes, started in the same order, on one core, with the same limits of the kernel, and asked in the logged
order. Stand-ins hold the other seats. Each takes about the time that the bot in its place took in the match, drawn for each answer: the pace is that
of a match, but nothing that a partner said by its time is repeated.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import engine
from engine.runner import runtimes, timings
from engine.runner.bot_processes import BotProcesses, Starter
from engine.runner.cores import pinned
from engine.runner.faults import Fault
from engine.runner.limits import Clock, Limits
from engine.runner.match import starter_of
from engine.runner.rebuild import Exchange, exchanges
from engine.runner.rerun import Rerun, repeat
from engine.runner.seat import Seat
from engine.runner.spec import POSSIBLE, BotSpec, MatchSpec, load_package
from engine.sandbox import Sandbox, SandboxError, TurnStopped

STAND_IN = Path(__file__).with_name("stand_in.py")
STAND_IN_MB = 64  # Memory of a stand-in at least: a match of small static programs may allow less than Python needs.
SLEEPS_US = 5000  # A seat sleeps, and is not only kept waiting by a busy machine, if all its answers took so much more than their CPU time.
THREAD_US = 150  # CPU time of starting a thread and waiting for its end.
LEAST_US = 250  # CPU time of an answer of a stand-in without work.
READINGS = 500
SIZES = (14, 20)  # Powers of two: from 16 KiB to 1 MiB.


@cache
def reading_us() -> float:
    """Return about how many microseconds of CPU time a stand-in needs to read the text of `hello` once."""
    text = json.dumps({"type": "hello", "options": {}, "sides": [[0, 2], [1, 3]], "limits": asdict(Limits())})
    began = time.thread_time()
    for _ in range(READINGS):
        json.loads(text)
    return max(1.0, 1e6 * (time.thread_time() - began) / READINGS)


def retake(
    bot: BotSpec,
    box: Sandbox,
    group: Sequence[Mapping[str, Any]],
    seat: int,
    *,
    seed: str,
    stop: Callable[[], bool] = lambda: False,
) -> Rerun | None:
    """Play one seat of a pass again; `group` is one item of `rebuild.passes`. Stop at a fault. Return None if `stop` returned True.

    The bot is sent the lines of the log byte for byte, but its own time left: it could compare that with the time that it has used. The referee
    allows twice the limits of `hello`, because speed does not count. seed: draws the times of the stand-ins. Raise ReplayError and
    ValueError for an invalid log, SandboxError, Infrastructure and OSError for failures that are not the bot's.
    """
    return _Retake(bot, box, [dict(replay) for replay in group], seat, random.Random(seed), stop).play()  # noqa: S311 - a pace is no secret


@dataclass
class _Retake:
    bot: BotSpec
    box: Sandbox
    group: list[dict[str, Any]]
    seat: int
    dice: random.Random
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        first = self.group[0]
        self.record = first["pass"]
        self.party, self.sitting = first["meta"]["seating"][self.seat], first["meta"]["sitting"]
        self.limits = Limits(**self.record["limits"])
        self.shown = Clock(self.limits)  # The clock whose bank the bot is sent.
        self.times = {
            replay["meta"]["board"]: timings.summed(
                replay["timings"], players=replay["players"], move_s=self.limits.move_s
            )
            for replay in self.group
        }
        self.game = engine.replay.begin(first).game.origin
        self.starter = self._starter()
        # Bytes that each stand-in reads at every turn: bots differ in how much they push others out of the processor's caches.
        self.sizes = [round(2 ** self.dice.uniform(*SIZES)) for _ in range(self.game.players)]
        # Threads that it starts at every turn: where the kernel numbers them for the whole host, a bot can count those of others.
        self.threads = [0 if sealed else self.dice.randrange(3) for sealed in self.starter.sealed]
        self.result = Rerun()

    def _starter(self) -> Starter:
        """Return the starter of this table: the bot is the party with the number of its seat, stand-ins are the others."""
        bot, box, places = self.bot, self.box, range(self.game.players)
        sealed = self.record.get("sealed") or [False] * self.game.players
        reason = box.report.unsealed if any(sealed) else None
        if sealed[self.seat] and not reason:
            reason = box.why_unsealed(runtimes.get(bot.runtime, box.state_dir), bot.path / bot.entry)
        if reason:
            raise SandboxError(f"this machine cannot seal the bots of this match: {reason}")
        stand_in = load_package(STAND_IN, box.state_dir / "stand-in")
        spec = MatchSpec(
            match_id=self.group[0]["meta"]["match"],
            game=self.game.key,
            secret=b"",
            table="",
            boards=self.record["boards"],
            parties=tuple(bot if place == self.seat else stand_in for place in places),
            limits=replace(self.limits, memory_mb=max(self.limits.memory_mb, STAND_IN_MB)),
            sealing=POSSIBLE,
        )
        memory_mb = {self.seat: self.limits.memory_mb}
        starter = starter_of(spec, self.game, box)
        return replace(starter, sealed=sealed, memory_mb=memory_mb, lenient=True, stop=self.stop)

    def play(self) -> Rerun | None:
        """Play the pass."""
        seating = range(self.game.players)
        with pinned(self.record.get("pinned", True)) as core:
            bots = self.starter.start(seating, core)
            try:
                self.starter.begin(bots, self.record, seating, core)
                return self._converse(bots)
            except TurnStopped:
                return None
            finally:
                bots.close()

    def _converse(self, bots: BotProcesses) -> Rerun | None:
        seats = {seat.seat: seat for seat in bots.seats}
        failures = {failure.seat: failure for failure in bots.faults}
        for exchange in exchanges(self.group):
            if self.stop():
                return None
            if exchange.seat != self.seat:
                self._stand_in(seats[exchange.seat], exchange)
                continue
            if exchange.fault:  # In the match the bot's part ended here.
                break
            try:
                if exchange.step >= 0:
                    self._repeat(seats[self.seat], exchange)
                elif self.seat in failures:
                    raise failures[self.seat].fault
            except Fault as fault:
                self._blame(fault, exchange, seats.get(self.seat))
                break
        if own := seats.get(self.seat):
            self.result.max_cpu_s, self.result.cpu_s = own.max_cpu_s, own.cpu_s
            own.close()
            self.result.stderr = own.process.stderr().decode("utf-8", "replace")
        return self.result

    def _repeat(self, own: Seat, exchange: Exchange) -> None:
        """Send the bot a line of the log."""
        if exchange.answer is None:
            own.tell(exchange.request)
            return
        before_bank, name, _ = exchange.request.rpartition(b'"bank_s":')
        repeat(own, replace(exchange, request=before_bank + name + self.shown.bank.encode() + b"}\n"), self.result)
        self.shown.book(own.cpu_us / 1e6)

    def _stand_in(self, seat: Seat, exchange: Exchange) -> None:
        """Let a stand-in take the time of a decision."""
        if exchange.step < 0 or exchange.answer is None:
            return
        cpu_us, sleep_us = self._draw(exchange)
        try:
            threads = self.threads[exchange.seat]
            readings = round(max(0, cpu_us - LEAST_US - threads * THREAD_US) / reading_us())
            seat.put(b"%d %d %d %d\n" % (readings, self.sizes[exchange.seat], sleep_us, threads))
        except Fault as fault:
            raise SandboxError(f"a stand-in failed: {fault}") from None

    def _draw(self, exchange: Exchange) -> tuple[int, int]:
        """Draw a decision of this seat on this board. Return its CPU time, and the time that it slept, in microseconds."""
        times, seat = self.times[exchange.board], exchange.seat
        if "spread" not in times:  # An older log has the mean only.
            return times["cpu"][seat] // max(1, times["asked"][seat]), 0
        spread = times["spread"][seat] or [[0, 0]]
        sleeps = min(wall_us - cpu_us for cpu_us, wall_us in spread) > SLEEPS_US
        cpu_us, wall_us = self.dice.choice(spread)
        return cpu_us, wall_us - cpu_us if sleeps else 0

    def _blame(self, fault: Fault, exchange: Exchange, own: Seat | None) -> None:
        if damage := self.starter.copies.damage([self.seat]):
            raise SandboxError(f"the bot was run from damaged files: {damage}")
        self.result.blame(fault, exchange, self.party, self.sitting, own.evidence() if own else ("", ""))
