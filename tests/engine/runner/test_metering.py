"""Modules of WebAssembly: their instructions are counted, and the same match comes out everywhere."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import wasmtime

from engine.packages import archive, building
from engine.runner import BotSpec, Limits, MatchResult, bot_spec, load_package, runtimes
from engine.runner.audit import DIFFERS, SAME, audit
from engine.runner.bot_processes import start_bot
from engine.runner.faults import Fault
from engine.runner.match import play_match
from engine.runner.metering import RATE
from engine.runner.modules import with_machine_code
from engine.runner.rebuild import passes
from engine.runner.seat import Seat
from engine.runner.spec import POSSIBLE
from engine.sandbox import Policy, Sandbox, check
from tests.engine.runner.test_audit import log_of
from tests.support import languages, uml
from tests.support.bots import match

LIMITS = Limits(start_s=1.0, move_s=0.05, bank_s=0.0)
HELLO, ACT = b'{"type":"hello"}\n', b'{"type":"act","id":1,"events":[],"legal":["x"],"bank_s":0.0}\n'
TOML = 'name = "module"\nruntime = "wasm"\nentry = "bot.wasm"\n'
WASI = '(import "wasi_snapshot_preview1"'
# It says that it is ready and hears the next line; then comes what a test adds.
PROGRAM = """(module
 (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
 (memory (export "memory") 2)
 (data (i32.const 1024) "{\\"type\\":\\"ready\\"}\\n")
 (func $hear (i32.store (i32.const 0) (i32.const 4096)) (i32.store (i32.const 4) (i32.const 60000))
  (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8))))
 (func $say (param i32) (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (local.get 0))
  (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
 (func $deep (result i32) (i32.add (call $deep) (i32.const 1)))
 (func (export "_start") (call $hear) (call $say (i32.const 17)) (call $hear)
  %s))"""
SAY = "(call $say (i32.const 17))"
# What a module does when it should answer -> the fault, and what its author reads.
FAULTS = {
    "endless loop": ("(loop (br 0))", "timeout", "used all of its 100000000 instructions for this answer"),
    "thinks after its answer": (f"{SAY} (loop (br 0))", "timeout", "used all of its 100000000 instructions"),
    "copies for ever": (
        "(loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br 0))",
        "timeout",
        "used all of its 100000000 instructions",
    ),
    "calls for ever": (
        "(loop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)) drop (br 0))",
        "timeout",
        "used all",
    ),
    "endless recursion": ("(drop (call $deep))", "crash", "call stack exhausted"),
    "trap": ("(unreachable)", "crash", "wasm `unreachable` instruction executed"),
    "division": ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "crash", "integer divide by zero"),
    "beyond its memory": ("(drop (i32.load (i32.const -8)))", "crash", "out of bounds memory access"),
    "a call beyond its memory": (
        "(drop (call $write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 8)))",
        "crash",
        "a system call got an address outside of its memory",
    ),
    "a line without end": (
        "(memory.fill (i32.const 1024) (i32.const 65) (i32.const 60000)) (loop (call $say (i32.const 60000)) (br 0))",
        "output_flood",
        "longer than 65536 bytes",
    ),
    "hears on": ("(call $hear)", "timeout", "no answer: it waits for its next line"),
    "returns": ("", "crash", "ended before the end of the dialogue"),
    "exits": ("(call $exit (i32.const 3))", "crash", "ended with status 3"),
    "speaks twice": (SAY + SAY, "protocol", "although nothing was asked"),
}
# Modules that do not start -> the fault, and what its author reads.
UNFIT = {
    "import": (
        '(module (import "env" "now" (func)))',
        "crash",
        "it imports env.now; a bot may import functions of wasi_snapshot_preview1",
    ),
    "imported memory": ('(module (import "env" "memory" (memory 1)))', "crash", "it imports env.memory"),
    "wrong type": (
        f'(module {WASI} "fd_close" (func (param f64) (result i32))))',
        "crash",
        "it imports fd_close with another type",
    ),
    "unknown call": (f'(module {WASI} "fd_fly" (func (result f32))))', "crash", "it imports fd_fly with another type"),
    "no start": ('(module (memory (export "memory") 1))', "crash", "it does not export _start and memory"),
    "much memory": (
        '(module (memory (export "memory") 2049) (func (export "_start")))',
        "memory",
        "memory minimum size of 2049 pages",
    ),
    "trap at the start": (
        "(module (func $f unreachable) (start $f))",
        "crash",
        "wasm `unreachable` instruction executed",
    ),
    "loop at the start": (
        "(module (func $f (loop (br 0))) (start $f))",
        "start_timeout",
        "used all of its 2000000000 instructions",
    ),
    "threads": (
        '(module (memory (export "memory") 1 1 shared) (func (export "_start")))',
        "crash",
        "it is no module that runs here",
    ),
    "damaged": (b"\0asm\1\0\0\0\7\7\7\7", "crash", "it is no module that runs here"),
}
Module = Callable[..., BotSpec]


@pytest.fixture
def module(tmp_path: Path, state_dir: Path) -> Module:
    def make(text: str | bytes, more: str = "") -> BotSpec:
        (tmp_path / "bot.toml").write_text(TOML + more)
        (tmp_path / "bot.wasm").write_bytes(text if isinstance(text, bytes) else wasmtime.wat2wasm(text))
        return load_package(tmp_path, state_dir / "packages")

    return make


def converse(bot: BotSpec, box: Sandbox, requests: int) -> list[tuple[bytes, float]]:
    """Return the answers to `hello` and further requests, each with its counted seconds."""
    runtime = runtimes.get(bot.runtime, box.state_dir)
    with start_bot(box, with_machine_code(bot, box), runtime, Policy(sealed=box.report.unsealed is None)) as process:
        seat = Seat(0, 0, process, LIMITS, metered=bot.metered)
        seat.start(HELLO)
        return [(seat.reply, seat.cpu_s), *((seat.put(ACT), seat.cpu_us / 1e6) for _ in range(requests))]


def fault_of(bot: BotSpec, box: Sandbox) -> Fault:
    with pytest.raises(Fault) as caught:
        converse(bot, box, 2)
    return caught.value


@pytest.mark.parametrize("case", FAULTS)
def test_a_module_that_breaks_a_rule_ends_with_a_fault_that_says_which(case: str, module: Module, box: Sandbox) -> None:
    body, kind, detail = FAULTS[case]
    fault = fault_of(module(PROGRAM % body), box)
    assert (fault.kind, detail in fault.detail) == (kind, True), fault


@pytest.mark.parametrize("case", UNFIT)
def test_a_module_that_does_not_fit_is_told_so_at_its_start(case: str, module: Module, box: Sandbox) -> None:
    text, kind, detail = UNFIT[case]
    fault = fault_of(module(text), box)
    assert (fault.kind, detail in fault.detail) == (kind, True), fault


def test_memory_is_refused_to_a_module_that_has_enough(module: Module, box: Sandbox) -> None:
    grow = "(if (i32.ne (memory.grow (i32.const %d)) (i32.const %d)) (then (unreachable)))"
    bot = module(PROGRAM % (grow % (2000, 2) + grow % (47, -1) + SAY))
    assert converse(bot, box, 1)[1][0] == b'{"type":"ready"}'


def test_instructions_are_counted_as_time(module: Module, box: Sandbox) -> None:
    count = "(i32.store (i32.const 12) (i32.add (i32.load (i32.const 12)) (i32.const 1)))"
    loop = f"(loop {count} (br_if 0 (i32.lt_u (i32.load (i32.const 12)) (i32.const 5000000))))"
    runs = [converse(module(PROGRAM % (loop + SAY + "(call $hear)" + SAY)), box, 2) for _ in range(2)]
    assert runs[0] == runs[1]
    assert 5_000_000 * 8 < runs[0][1][1] * RATE < 5_000_000 * 14
    assert runs[0][2][1] < 0.001


def test_who_listens_to_a_module_hears_no_counts(module: Module, box: Sandbox) -> None:
    bot, lines = with_machine_code(module(PROGRAM % SAY), box), list[tuple[bytes, bytes]]()
    with start_bot(box, bot, runtimes.get(bot.runtime, box.state_dir), Policy()) as process:
        seat = Seat(0, 0, process, LIMITS, metered=True)
        seat.start(HELLO)
        seat.listen(lambda *line: lines.append(line))
        seat.put(ACT)
        seat.tell(b'{"type":"end"}\n')
    ready = b'{"type":"ready"}'
    assert lines == [(HELLO, ready), (ACT, ready), (b'{"type":"end"}\n', b"")]


# It decides by how far it comes in some time, by floating point and by random bytes: by all in which machines differ.
SENSITIVE = """
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(void) {
    static char line[1 << 16];
    double x = SALT;
    while (fgets(line, sizeof line, stdin)) {
        char *legal = strstr(line, "; legal ");
        if (!strncmp(line, "hello", 5)) puts("ready");
        if (!legal) continue;
        unsigned char noise[4];
        unsigned long rounds = 0;
        for (double began = now(); now() - began < 0.004; rounds++)
            for (int step = 0; step < 500; step++) x = sin(x + (double)rounds) + sqrt(fabs(x));
        getentropy(noise, sizeof noise);
        int choices = 1;
        for (char *at = legal += 8; *at; at++) choices += *at == ',';
        for (unsigned long skip = (rounds + noise[0] + SALT + (unsigned long)fabs(x * 1e9)) % choices; skip; skip--) legal = strchr(legal, ',') + 2;
        printf("%.*s # %lu %.17g %d\\n", (int)strcspn(legal, ",\\n"), legal, rounds, x, noise[0]);
    }
}
"""


def sensitive(folder: Path, state_dir: Path, salt: int) -> BotSpec:
    folder.mkdir()
    (folder / "bot.c").write_text(f"#define SALT {salt}{SENSITIVE}")
    (folder / "bot.toml").write_text(f'name = "bot {salt}"\nbuild = "c-wasm"\nentry = "bot.c"\nprotocol = "line"\n')
    languages.find("clang")
    package = archive.read_path(folder)
    build = building.build(package, package.unpack(state_dir / "packages" / package.sha256), state_dir)
    assert build is not None
    assert build.package is not None, build.log
    return bot_spec(build.package, state_dir / "packages")


def replays(result: MatchResult) -> list[dict[str, Any]]:
    """Return the log of a match, as it comes back from a file."""
    return [json.loads(json.dumps(sitting.replay)) for board in result.boards for sitting in board.sittings]


def transcript(sittings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what must not depend on the machine: all but the times that the referee read from a clock, and if it had pinned the bots."""
    return [
        sitting
        | {
            "timings": sitting["timings"]["cpu"],
            "pass": {key: value for key, value in sitting["pass"].items() if key not in ("pinned", "sealed")},
        }
        for sitting in sittings
    ]


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keep each processor busy several times over."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_match_is_the_same_on_every_machine_and_an_audit_finds_what_is_not(
    state_dir: Path, box: Sandbox, tmp_path: Path
) -> None:
    bot, other = (sensitive(tmp_path / str(salt), state_dir, salt) for salt in (1, 2))
    assert bot.deterministic, "its bot.toml says nothing"
    tiers = [report.name for report in check(state_dir) if report.holds and report.name != "none"]

    result = play_match(match(bot, other, game="a_dos", boards=1, limits=Limits(), sealing=POSSIBLE), box)
    with busy_machine():
        again = play_match(match(bot, other, game="a_dos", boards=1, limits=Limits()), Sandbox(tiers[-1], state_dir))

    assert [party.faults for party in result.parties] == [[], []]
    first = transcript(replays(result))
    assert first == transcript(replays(again))
    assert {time > 4000 for sitting in first for time in sitting["timings"]} == {True}
    group = log_of(result)[0]
    seat = group[0]["meta"]["seating"].index(0)
    assert getattr(audit(bot, box, group, seat, deterministic=True), "verdict", None) == SAME
    stranger = audit(other, box, group, seat, deterministic=True)
    assert stranger is not None
    assert (stranger.verdict, stranger.run_odd) == (DIFFERS, 0), "the two runs agree with one another"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_match_is_the_same_in_another_kernel_and_so_is_its_audit(
    state_dir: Path, box: Sandbox, tmp_path: Path
) -> None:
    bots = [sensitive(tmp_path / str(salt), state_dir, salt) for salt in (1, 2)]
    result = play_match(match(*bots, game="a_dos", boards=1, limits=Limits()), box)
    log = state_dir / "log"
    log.write_text(json.dumps(replays(result)))
    seat = log_of(result)[0][0]["meta"]["seating"].index(0)
    words = [sys.executable, "-m", "tests.engine.runner.say_match", state_dir, log, seat, *(bot.path for bot in bots)]

    printed = uml.run(f"cd {languages.TOP}\n{shlex.join(map(str, words))}", 600, memory_mb=2000)

    kernel, same, verdict = json.loads(next(line for line in printed.splitlines() if line.startswith("[")))
    assert kernel != platform.release()
    assert [party.faults for party in result.parties] == [[], []]
    assert transcript(same) == transcript(replays(result))
    assert (verdict["verdict"], verdict["decisions"] > 0) == (SAME, True)
    own = audit(bots[0], box, log_of(result)[0], seat, deterministic=True)
    assert own is not None
    assert own.plain() == verdict
    answers = audit(bots[0], box, passes(same)[0], seat, deterministic=True)
    assert getattr(answers, "verdict", None) == SAME
