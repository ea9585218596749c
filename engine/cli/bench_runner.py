"""A decision between sandboxed bots against the same bytes over bare pipes.

The floor is honest only if everything else is alike: the requests of a real match are recorded and put, byte for byte, to a fresh process of
the same runtime and bot, pinned to the same core, without sandbox, clock, freezing, encoding, reading of answers, or rules.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine
from engine.cli import table
from engine.cli.problem import Problem
from engine.runner import BotSpec, MatchSpec, load_package, runtimes
from engine.runner.cores import pinned
from engine.runner.match import play_match
from engine.sandbox import Policy, Runtime, Sandbox

ROWS = (
    ("floor: same bytes, bare pipes", "floor_us"),
    ("sandbox: asked and frozen, no rules", "sandbox_us"),
    ("runner: a whole match, starts not counted", "runner_us"),
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
Script = list[list[tuple[int, bytes]]]  # per pass: (seat, request) in the order of the match


def measure(
    game: str, seconds: float, bot: str | None, box: Sandbox, advance: Callable[[int, int], None] | None
) -> dict[str, Any]:
    """Alternate rounds of match, floor and bare sandbox for about so many seconds, three rounds at least."""
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
    found: dict[str, list[float]] = {"floor_us": [], "sandbox_us": [], "runner_us": [], "start_ms": [], "match_s": []}
    began = time.monotonic()
    rounds = 0
    decisions = 1
    with pinned() as core:
        if core is None:
            os.sched_setaffinity(0, {core := min(os.sched_getaffinity(0))})
        while rounds < 3 or time.monotonic() - began < seconds:
            found["floor_us"].append(_floor(spec, runtime, script, core))
            us, start_ms = _sandbox(spec, runtime, script, box, core)
            found["sandbox_us"].append(us)
            found["start_ms"].append(start_ms)
            result = play_match(match, box, pin=False, core=core)
            decisions = result.decisions
            found["runner_us"].append(1e6 * result.play_s / decisions)
            found["match_s"].append(result.seconds)
            rounds += 1
            if advance is not None:
                advance(rounds, max(rounds, 3))
    sent = [len(line) for part in script for _, line in part if _asks(line)]
    return {
        "game": game,
        "bot": spec.name,
        "tier": box.tier,
        "core": core,
        "rounds": rounds,
        "boards": BOARDS,
        "decisions": decisions,
        "request_bytes": sum(sent) / len(sent),
        "answer_bytes": answer_bytes,
        **{name: min(values) for name, values in found.items()},  # another program's load only ever adds
    }


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
    """The requests of the match, and the mean length of an answer."""
    script: Script = []
    answers: list[int] = []

    def note(sitting: int, seat: int, request: bytes, reply: bytes) -> None:
        if sitting == len(script):
            script.append([])
        if reply:  # the end line has none
            script[sitting].append((seat, request))
        if _asks(request):
            answers.append(len(reply) + 1)

    result = play_match(match, box, tap=note)
    faults = [fault for party in result.parties for fault in party.faults]
    if faults:
        raise Problem(f"the bot failed by {faults[0].kind}: {faults[0].detail}; measure one that plays")
    return script, sum(answers) / len(answers)


def _floor(bot: BotSpec, runtime: Runtime, script: Script, core: int) -> float:
    """Microseconds a decision when nobody watches: write, read until the newline, next."""
    root = str(runtime.root)
    argv = runtime.argv(root, str(bot.path), bot.entry)
    spent = 0.0
    for part in script:
        seats = 1 + max(seat for seat, _ in part)
        children = [
            subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=runtime.environ(root), cwd=bot.path
            )
            for _ in range(seats)
        ]
        try:
            ends = [(child.stdin.fileno(), child.stdout.fileno()) for child in children if child.stdin and child.stdout]
            for seat, line in part[:seats]:  # the hello lines; children inherit the core
                _ping(*ends[seat], line)
            began = time.perf_counter()
            for seat, line in part[seats:]:
                _ping(*ends[seat], line)
            spent += time.perf_counter() - began
        finally:
            for child in children:
                child.kill()
                child.communicate()
    return 1e6 * spent / _decisions(script)


def _ping(to: int, back: int, line: bytes) -> None:
    os.write(to, line)
    answer = os.read(back, 65536)
    while not answer.endswith(b"\n"):
        more = os.read(back, 65536)
        if not more:
            raise Problem(
                "the bot ended although it had played the same match before; measure one that depends on its input only"
            )
        answer += more


def _sandbox(bot: BotSpec, runtime: Runtime, script: Script, box: Sandbox, core: int) -> tuple[float, float]:
    """(microseconds a decision, milliseconds a start to ready) with sandbox, clock and freezing, without rules and without reading answers."""
    spent = starting = 0.0
    starts = 0
    for part in script:
        seats = 1 + max(seat for seat, _ in part)
        processes = []
        try:
            for seat, line in part[:seats]:
                began = time.perf_counter()
                processes.append(box.start(bot.path, runtime, bot.entry, Policy(), core=core))
                processes[seat].ask(line, 5.0, 20.0)
                processes[seat].freeze()
                starting += time.perf_counter() - began
                starts += 1
            began = time.perf_counter()
            for seat, line in part[seats:]:
                processes[seat].ask(line, 3.5, 16.0)
            spent += time.perf_counter() - began
        finally:
            for process in processes:
                process.close()
    return 1e6 * spent / _decisions(script), 1e3 * starting / starts


def _decisions(script: Script) -> int:
    return sum(_asks(line) for part in script for _, line in part)
