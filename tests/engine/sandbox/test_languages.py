"""Programs of every language that can be linked statically here play in every tier, sealed and not.

Not among them, because neither Debian nor the package index has a compiler that links them statically: Rust with musl, Java, .NET.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.runner import BotSpec, Limits
from engine.runner.match import play_match
from engine.runner.spec import NEVER, POSSIBLE
from engine.sandbox import BotFault, Policy, Sandbox
from engine.sandbox.files import elf, runtimes
from tests.engine.sandbox.support import StateDirectory
from tests.support import languages
from tests.support.bots import match

MUSL, TCC = Path("/usr/lib/x86_64-linux-musl"), Path("/usr/lib/x86_64-linux-gnu/tcc")
# Each program answers a request by an action, allocates memory, asks for the time, and uses what its language brings along.
C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(void) {
    static char line[1 << 16], action[64];
    while (fgets(line, sizeof line, stdin)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        free(memset(malloc(100000), 1, 100000));
        char *id = strstr(line, "\\"id\\":"), *legal = strstr(line, "\\"legal\\":[\\"");
        if (strstr(line, "\\"type\\":\\"hello\\"")) puts("{\\"type\\":\\"ready\\"}");
        else if (id && legal && sscanf(legal + 10, "%63[^\\"]", action) == 1)
            printf("{\\"id\\":%d,\\"do\\":\\"%s\\"}\\n", atoi(id + 5), action);
        fflush(stdout);
    }
}
"""
CPP = """
#include <chrono>
#include <iostream>
#include <string>
int main() {
    for (std::string line; std::getline(std::cin, line);) {
        auto now = std::chrono::steady_clock::now();
        try { if (now.time_since_epoch().count() >= 0) throw line; } catch (const std::string &) {}
        auto id = line.find("\\"id\\":"), legal = line.find("\\"legal\\":[\\"");
        if (line.find("\\"type\\":\\"hello\\"") != line.npos) std::cout << "{\\"type\\":\\"ready\\"}" << std::endl;
        else if (id != line.npos && legal != line.npos)
            std::cout << "{\\"id\\":" << std::stoi(line.substr(id + 5)) << ",\\"do\\":\\""
                      << line.substr(legal + 10, line.find('"', legal + 10) - legal - 10) << "\\"}" << std::endl;
    }
}
"""
RUST = """
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (_now, _date) = (std::time::Instant::now(), std::time::SystemTime::now());
        let _caught = std::panic::catch_unwind(|| std::hint::black_box(vec![1u8; 100_000]).len());
        if line.contains("\\"type\\":\\"hello\\"") { println!("{{\\"type\\":\\"ready\\"}}"); }
        else if let (Some(id), Some(legal)) = (line.split("\\"id\\":").nth(1), line.split("\\"legal\\":[\\"").nth(1)) {
            let id: String = id.chars().take_while(char::is_ascii_digit).collect();
            println!("{{\\"id\\":{id},\\"do\\":\\"{}\\"}}", legal.split('"').next().unwrap());
        }
    }
}
"""
GO = """
package main
%s
import ("bufio"; "encoding/json"; "fmt"; "os"; "runtime"; "time")
func main() {
    lines := bufio.NewScanner(os.Stdin)
    lines.Buffer(nil, 1 << 16)
    for lines.Scan() {
        var m struct { Type string; Id int; Legal []string }
        json.Unmarshal(lines.Bytes(), &m)
        done := make(chan time.Time)
        go func() { runtime.GC(); time.Sleep(time.Millisecond); done <- time.Now() }()
        <-done
        if m.Type == "hello" { fmt.Println(`{"type":"ready"}`) }
        if m.Type == "act" { out, _ := json.Marshal(map[string]any{"id": %s, "do": m.Legal[0]}); fmt.Println(string(out)) }
    }
}
"""
ZIG = """
const std = @import("std");
pub fn main() !void {
    const out = std.io.getStdOut().writer();
    var buffer: [1 << 16]u8 = undefined;
    while (try std.io.getStdIn().reader().readUntilDelimiterOrEof(&buffer, '\\n')) |line| {
        std.mem.doNotOptimizeAway(std.time.nanoTimestamp() + (try std.time.Instant.now()).timestamp.tv_nsec);
        if (std.mem.indexOf(u8, line, "\\"type\\":\\"hello\\"") != null) {
            try out.print("{{\\"type\\":\\"ready\\"}}\\n", .{});
        } else if (std.mem.indexOf(u8, line, "\\"id\\":")) |id| {
            if (std.mem.indexOf(u8, line, "\\"legal\\":[\\"")) |legal| {
                const number = std.mem.sliceTo(std.mem.sliceTo(line[id + 5 ..], ','), '}');
                try out.print("{{\\"id\\":{s},\\"do\\":\\"{s}\\"}}\\n", .{ number, std.mem.sliceTo(line[legal + 10 ..], '"') });
            }
        }
    }
}
"""
SUFFIXES = {"c++": ".cc", "rustc": ".rs", "go": ".go", "zig": ".zig"}
Build = tuple[
    str, str, Callable[[str], list[str]]
]  # The tool, the program's text, and the command that compiles it to ./player.
STATIC = ["-O2", "-static", "-o", "player"]
TCC_LIBRARIES = (
    [str(MUSL / "crt1.o"), str(MUSL / "crti.o")],
    [str(MUSL / "libc.a"), str(TCC / "libtcc1.a"), str(MUSL / "crtn.o")],
)
BUILDS: dict[str, Build] = {
    "C": ("cc", C, lambda tool: [tool, *STATIC, "source.c"]),
    "C, at any address": ("cc", C, lambda tool: [tool, "-O2", "-static-pie", "-o", "player", "source.c"]),
    "C with musl": ("musl-gcc", C, lambda tool: [tool, *STATIC, "source.c"]),
    "Tiny C": (
        "tcc",
        C,
        lambda tool: [
            *(tool, "-nostdinc", "-nostdlib", "-static", "-I/usr/include/x86_64-linux-musl", f"-I{TCC}/include"),
            *("-o", "player", *TCC_LIBRARIES[0], "source.c", *TCC_LIBRARIES[1]),
        ],
    ),
    "C++": ("c++", CPP, lambda tool: [tool, *STATIC, "source.cc"]),
    "Rust": ("rustc", RUST, lambda tool: [tool, "-O", "-C", "target-feature=+crt-static", "-o", "player", "source.rs"]),
    "Go": ("go", GO % ("", "m.Id"), lambda tool: ["env", "CGO_ENABLED=0", tool, "build", "-o", "player", "source.go"]),
    "Go with C": (
        "go",
        GO % ('// #include <stdlib.h>\nimport "C"', "C.abs(C.int(m.Id))"),
        lambda tool: [
            *("env", "CGO_ENABLED=1", tool, "build", "-o", "player"),
            *("-ldflags", "-linkmode external -extldflags -static", "source.go"),
        ],
    ),
    "Zig": ("zig", ZIG, lambda tool: [tool, "build-exe", "-OReleaseSafe", "-femit-bin=player", "source.zig"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", BUILDS)
def test_a_program_of_this_language_plays_in_every_tier_sealed_and_not(
    language: str, state: StateDirectory, tiers_here: list[str], tmp_path: Path
) -> None:
    player = build(language, tmp_path)
    assert elf.is_go(player.path / player.entry) == language.startswith("Go")

    for tier in tiers_here:
        for sealing in (NEVER, POSSIBLE):
            box = Sandbox(tier, state.path)
            spec = replace(match(player, player, game="partnership", boards=1, limits=Limits()), sealing=sealing)
            result = play_match(spec, box)

            seals = sealing == POSSIBLE and not box.report.unsealed and (tier == "namespaces" or "Go" not in language)
            logs = [party.stderr[-500:] for party in result.parties]
            assert [(party.faults, party.sealed) for party in result.parties] == [([], seals)] * 2, (
                tier,
                sealing,
                logs,
            )
            assert all(board.complete for board in result.boards)


UNFLUSHED = {
    "C": '#include <stdio.h>\nint main(void) { char line[9999]; while (fgets(line, 9999, stdin)) printf("%s", line); }\n',
    "Go": """package main
import ("bufio"; "os")
func main() { in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout); for in.Scan() { out.Write(in.Bytes()) } }
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("language", UNFLUSHED)
def test_a_program_that_does_not_flush_is_told_so_before_its_time_is_up(
    language: str, state: StateDirectory, tiers_here: list[str], tmp_path: Path
) -> None:
    player = build(language, tmp_path, UNFLUSHED[language])

    for tier in tiers_here:
        with Sandbox(tier, state.path).start(
            player.path, runtimes.binary(state.path), player.entry, Policy()
        ) as process:
            process.freeze()
            with pytest.raises(BotFault, match=r"waits for its next line .*; it wrote nothing: stdout is not flushed"):
                process.ask(b"hello\n", 60, 600)


THREADS = """package main
import "C"
import ("bufio"; "fmt"; "os"; "runtime")
func main() {
    started := make(chan bool)
    for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("ready") {
        for i := 0; i < 9; i++ {
            go func() { runtime.LockOSThread(); started <- true; select {} }()
            <-started
        }
    }
}
"""


@pytest.mark.slow
def test_a_program_of_go_with_c_may_start_many_threads(
    state: StateDirectory, tiers_here: list[str], tmp_path: Path
) -> None:
    player = build("Go with C", tmp_path, THREADS)

    for tier in tiers_here:
        with Sandbox(tier, state.path).start(
            player.path, runtimes.binary(state.path), player.entry, Policy()
        ) as process:
            assert process.ask(b"start\n", 60, 600).line == b"ready", tier


def build(language: str, folder: Path, text: str = "") -> BotSpec:
    """Compile a program in a language, by default the one that plays, and return it as a bot."""
    tool, player, command = BUILDS[language]
    folder.chmod(0o755)
    work = folder / "work"
    work.mkdir()
    (work / f"source{SUFFIXES.get(tool, '.c')}").write_text(text or player)
    # The libraries of a language are compiled once, and stay
    caches = {name: str(languages.TOP / "var" / "test" / name.lower()) for name in ("GOCACHE", "ZIG_GLOBAL_CACHE_DIR")}
    own = {name: str(work / name) for name in ("GOPATH", "ZIG_LOCAL_CACHE_DIR")}
    environment = {**os.environ, **caches, **own, "GOTOOLCHAIN": "local"}
    subprocess.run(command(languages.find(tool)), check=True, cwd=work, env=environment)
    bot = folder / "bot"
    bot.mkdir()
    (work / "player").rename(bot / "player")
    return BotSpec(language, bot, "binary", "player")
