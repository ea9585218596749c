"""Measure a decision between sandboxed bots against the same bytes over bare pipes.

The floor is fair only if everything else is equal: the requests of a real match are recorded and sent, byte for byte and in order, to fresh
processes of the same runtime and bot, one for each seat, pinned to the same core, without sandbox, clock, freezing, encoding, parsing of
answers, or rules.

Time is the CPU time of the worker and all its descendants (bots, wrappers, the forkserver) while decisions are made: on one core this is the cost of
a decision, and other programs of the machine do not count.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

import engine
from engine.cli import table
from engine.cli.bench import bare_process
from engine.cli.output import print_json, print_table, progress
from engine.cli.problem import OK, Problem
from engine.runner import BotSpec, MatchSpec, load_package, runtimes
from engine.runner.cores import pinned
from engine.runner.match import play_match
from engine.sandbox import BotProcess, Policy, Runtime, Sandbox
from engine.sandbox.process import watch

ROWS = (
    ("floor: same bytes, bare pipes", "floor_us"),
    ("sandboxed, unwatched, no rules", "pipes_us"),
    ("sandboxed, clock and freezing, no rules", "asked_us"),
    ("match, neither freezing nor clock", "unwatched_us"),
    ("match, clock, no freezing", "clock_us"),
    ("match, everything", "runner_us"),
)
BOARDS = 16
PLAIN_BOT = b"""import json, sys
out = sys.stdout
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "act":
        out.write(json.dumps({"id": m["id"], "do": m["legal"][0]}) + "\\n")
        out.flush()
    elif m["type"] == "hello":
        out.write('{"type":"ready"}\\n')
        out.flush()
    else:
        break
"""
Script = list[list[tuple[int, bytes]]]  # Per pass: (seat, request) in the order of the match.


class TimedProcess(BotProcess):
    """A process that is timed but never stopped."""

    def _rest(self) -> float:
        return self.cpu()

    def _await_stop(self) -> None:
        return

    def _wake(self) -> None:
        return


class UnwatchedProcess(TimedProcess):
    """A process that is neither stopped nor timed between its answers: the difference is the cost of both."""

    def _rest(self) -> float:
        return self._mark


class Meter(Sandbox):
    """A sandbox that counts the CPU time of this process, of its bots and of every process between them."""

    def __init__(self, box: Sandbox, kind: type[BotProcess] = BotProcess) -> None:
        self.state_dir = box.state_dir
        self.tier = box.tier
        self.kind = kind
        self.clocks: set[int] = set()
        self.started: list[BotProcess] = []

    def start(self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None) -> BotProcess:
        """Start a bot as `Sandbox.start` does, make its process an instance of `kind`, and count its CPU time."""
        process = super().start(bot_dir, runtime, entry, policy, core)
        process.__class__ = self.kind
        self.started.append(process)
        self.count(process.pid)
        return process

    def count(self, pid: int) -> None:
        """Count a process and its ancestors, up to this process, from now on."""
        while pid not in (0, 1, os.getpid()):
            self.clocks.add(watch.clock(pid))
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])

    def seconds(self) -> float:
        """Return the CPU seconds so far. Only differences are meaningful, and only while no counted process starts or ends."""
        total = time.process_time()
        for clock in tuple(self.clocks):
            try:
                total += time.clock_gettime(clock)
            except OSError:
                self.clocks.remove(clock)  # The process has ended.
        return total


def measure(
    game: str, seconds: float, bot: str | None, box: Sandbox, advance: Callable[[int, int], None] | None
) -> dict[str, Any]:
    """Measure all rows for about `seconds`, at least three rounds. Return the best of each row, and its median multiple of the floor."""
    with tempfile.TemporaryDirectory() as folder:
        if bot is None:
            path = Path(folder, "plain.py")
            path.write_bytes(PLAIN_BOT)
            spec = load_package(path, table.state_dir() / "packages")
        else:
            spec = table.find_bot(bot)
    match = _spec(game, spec)
    runtime = runtimes.get(spec.runtime, box.state_dir)
    script, answer_bytes = _script(match, box)
    samples: dict[str, list[float]] = {}
    began = time.monotonic()
    rounds = 0
    with pinned() as core:
        if core is None:
            os.sched_setaffinity(0, {core := min(os.sched_getaffinity(0))})
        while rounds < 3 or time.monotonic() - began < seconds:
            for name, value in _round(match, spec, runtime, script, box, core).items():
                samples.setdefault(name, []).append(value)
            rounds += 1
            if advance is not None:
                advance(rounds, max(rounds, 3))
    for _ in range(rounds):  # As a worker does: it plays them on cores that it chooses itself.
        samples.setdefault("match_s", []).append(play_match(match, box, ahead=False).seconds)
        samples.setdefault("ahead_s", []).append(play_match(match, box).seconds)
    sent = [len(line) for part in script for _, line in part if _asks(line)]
    return {
        "game": game,
        "bot": spec.name,
        "tier": box.tier,
        "core": core,
        "rounds": rounds,
        "boards": BOARDS,
        "decisions": _decisions(script),
        "request_bytes": sum(sent) / len(sent),
        "answer_bytes": answer_bytes,
        # The fastest round is the truest: other programs can only add time.
        **{name: min(values) for name, values in samples.items()},
        "x_floor": {name: median(map(truediv, samples[name], samples["floor_us"])) for _, name in ROWS},
    }


def _round(
    match: MatchSpec, bot: BotSpec, runtime: Runtime, script: Script, box: Sandbox, core: int
) -> dict[str, float]:
    """Measure every row once."""
    row = {"floor_us": _floor(bot, runtime, script, Meter(box))}
    row["pipes_us"], _ = _sandboxed(bot, runtime, script, Meter(box, UnwatchedProcess), core)
    row["asked_us"], row["start_ms"] = _sandboxed(bot, runtime, script, Meter(box), core)
    for name, kind in (("unwatched_us", UnwatchedProcess), ("clock_us", TimedProcess), ("runner_us", BotProcess)):
        meter = Meter(box, kind)
        cpu = time.process_time()
        result = play_match(match, meter, pin=False, core=core, ahead=False, clock=meter.seconds)
        row[name] = 1e6 * result.play_s / result.decisions
        row["match_cpu_s"] = time.process_time() - cpu + sum(process.cpu() for process in meter.started)
    return row


def _asks(line: bytes) -> bool:
    return line.startswith(b'{"type":"act"')


def _spec(game: str, bot: BotSpec) -> MatchSpec:
    parties = len(engine.load(game).sides)
    return MatchSpec(
        match_id="bench",
        game=game,
        secret=bytes(32),
        table="bench",
        boards=range(1, BOARDS + 1),
        parties=(bot,) * parties,
    )


def _script(match: MatchSpec, box: Sandbox) -> tuple[Script, float]:
    """Return the requests of the match, and the mean length of an answer."""
    script: Script = []
    answers: list[int] = []

    def note(sitting: int, seat: int, request: bytes, reply: bytes) -> None:
        if sitting == len(script):
            script.append([])
        if reply:  # The end line has no reply.
            script[sitting].append((seat, request))
        if _asks(request):
            answers.append(len(reply) + 1)

    result = play_match(match, box, tap=note)
    faults = [fault for party in result.parties for fault in party.faults]
    if faults:
        raise Problem(f"the bot failed by {faults[0].kind}: {faults[0].detail}; measure a bot that plays")
    return script, sum(answers) / len(answers)


def _floor(bot: BotSpec, runtime: Runtime, script: Script, meter: Meter) -> float:
    """Return microseconds per decision without supervision: write, read until the newline, next."""
    spent = 0.0
    for part in script:
        with ExitStack() as stack:
            ends = []
            for _ in range(1 + max(seat for seat, _ in part)):  # Children inherit the core.
                child, to, back = bare_process(runtime, bot.path, bot.entry)
                stack.callback(child.communicate)
                stack.callback(child.kill)
                meter.count(child.pid)
                ends.append((to, back))
            for seat, line in part[: len(ends)]:  # Send the hello lines.
                _ping(*ends[seat], line)
            began = meter.seconds()
            for seat, line in part[len(ends) :]:
                _ping(*ends[seat], line)
            spent += meter.seconds() - began
    return 1e6 * spent / _decisions(script)


def _ping(to: int, back: int, line: bytes) -> None:
    os.write(to, line)
    answer = os.read(back, 65536)
    while not answer.endswith(b"\n"):
        more = os.read(back, 65536)
        if not more:
            raise Problem(
                "the bot ended although it had played the same match before; measure a bot that depends on its input only"
            )
        answer += more


def _sandboxed(bot: BotSpec, runtime: Runtime, script: Script, meter: Meter, core: int) -> tuple[float, float]:
    """Return (microseconds per decision, milliseconds from start to ready) in the sandbox, without rules and without parsing answers."""
    spent = starting = 0.0
    starts = 0
    for part in script:
        with ExitStack() as stack:
            processes = []
            for seat, line in part[: 1 + max(seat for seat, _ in part)]:
                began = time.perf_counter()
                processes.append(stack.enter_context(meter.start(bot.path, runtime, bot.entry, Policy(), core=core)))
                processes[seat].ask(line, 5.0, 20.0)
                starting += time.perf_counter() - began
                starts += 1
            began = meter.seconds()
            for seat, line in part[len(processes) :]:
                processes[seat].ask(line, 3.5, 16.0)
            spent += meter.seconds() - began
    return 1e6 * spent / _decisions(script), 1e3 * starting / starts


def _decisions(script: Script) -> int:
    return sum(_asks(line) for part in script for _, line in part)


def run(args: argparse.Namespace) -> int:
    """Measure a decision between sandboxed bots and print a table."""
    box = table.open_sandbox(args.sandbox)
    with progress("runner") as advance:
        result = measure((args.game or ["partnership"])[0], args.seconds, args.bot, box, advance)
    if args.json:
        print_json({"format": "tute-bench-runner/1", **result})
        return OK
    print(
        "{game}, bot {bot}, sandbox {tier}, core {core}: {decisions} decisions per match, {rounds} rounds\n".format(
            **result
        )
    )
    floor = result["floor_us"]
    print_table(
        ("case", "CPU us/decision, best", "x floor, median", "+ us, best"),
        [
            (name, f"{result[key]:.1f}", f"{result['x_floor'][key]:.2f}", f"{result[key] - floor:.1f}")
            for name, key in ROWS
        ],
    )
    print(
        f"\nfloor: {result['request_bytes']:.0f} bytes to the bot and {result['answer_bytes']:.0f} back over bare pipes, same bot, same core"
    )
    print(
        f"bot start to ready: {result['start_ms']:.1f} ms; a match of {result['boards']} boards, starts and ends included: "
        f"{result['match_s']:.2f} s, with {result['match_cpu_s']:.2f} s of CPU time of the worker and its bots; "
        f"with the bots of the second pass started ahead on another core: {result['ahead_s']:.2f} s"
    )
    return OK
