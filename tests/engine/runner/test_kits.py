"""Every runtime in the sandbox: the kits, built as a league does, play matches in every tier that holds here."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from engine.packages import archive, building
from engine.runner import BotSpec, Infrastructure, Limits, bot_spec, runtimes
from engine.runner.match import play_match
from engine.runner.spec import POSSIBLE
from engine.sandbox import Sandbox, check
from tests.engine.sandbox.test_languages import RUST
from tests.support import languages
from tests.support.bots import match
from tests.support.parts import mostly_slow

KITS = Path(__file__).resolve().parents[3] / "bots" / "kits"


# The tool of each kit, and the runtime in which it plays.
TOOLS = {
    "c": ("cc", "binary"),
    "cpp": ("c++", "binary"),
    "go": ("go", "binary"),
    "rust": ("rustc", "binary"),
    "java": ("javac", "java"),
    "javascript": ("node", "node"),
    "typescript": ("tsc", "node"),
}
# With few libraries: a build compiles them all
GO = """package main
import ("bufio"; "os"; "strings")
func main() {
    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
        if strings.HasPrefix(lines.Text(), "hello") { os.Stdout.WriteString("ready\\n") }
        if _, legal, asked := strings.Cut(lines.Text(), "; legal "); asked {
            first, _, _ := strings.Cut(legal, ", ")
            os.Stdout.WriteString(first + "\\n")
        }
    }
}
"""
PYTHON = """import json, sys
import fast
assert fast.__file__.endswith(".so")
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": print('{"type": "ready"}', flush=True)
    if message["type"] == "act": print(json.dumps({"id": message["id"], "do": fast.choose(message["legal"])}), flush=True)
"""
CSHARP = """using System;
public static class Program {
    public static void Main() {
        for (string line; (line = Console.ReadLine()) != null;) {
            if (line.StartsWith("hello")) Console.WriteLine("ready");
            int at = line.IndexOf("; legal ");
            if (at >= 0) Console.WriteLine(Choose.First(line.Substring(at + 8)));
        }
    }
}
"""
CHOOSE = """using System.Collections.Generic;
using System.Linq;
public static class Choose {
    static readonly Dictionary<string, int> seen = new Dictionary<string, int>();
    public static string First(string legal) { ACT seen[legal] = 1; return legal.Split(',').OrderBy(word => 0).First(); }
}
"""
# What a bot in C# does at its first decision -> the faults that may end it. One thread ends before the other, so memory may count as a crash.
ACTS = {
    "": "",
    "var all = new List<byte[]>(); for (;;) all.Add(Enumerable.Repeat((byte)1, 1 << 20).ToArray());": "memory crash",
    "for (;;) new System.Threading.Thread(() => System.Threading.Thread.Sleep(-1)).Start();": "crash",
    'System.IO.File.ReadAllText("/etc/passwd");': "crash",
    "new System.Net.Sockets.Socket(System.Net.Sockets.SocketType.Stream, 0);": "crash",
}
# The compiled part of a bot in Python, for each way to compile it.
PARTS = {
    "cython": {"fast.pyx": "from part.inner import first\ndef choose(list legal):\n    cdef str best = first(legal)\n    return best\n",
               "cython.py": "raise SystemExit(1)", "part/__init__.py": "", "part/inner.pyx": "def first(list legal):\n    return legal[0]\n"},
    "pybind11": {"fast.cpp": """#include <pybind11/stl.h>
#include "part.h"
PYBIND11_MODULE(fast, module) { module.def("choose", first); }
""", "part.h": "inline std::string first(std::vector<std::string> legal) { return legal.at(0); }\n"},
    "mypyc": {"fast.py": "from part.inner import first\ndef choose(legal: list[str]) -> str:\n    return first(legal)\n",
              "part/inner.py": "def first(legal: list[str]) -> str:\n    return legal[0]\n"},
}  # fmt: skip
CARGO = '[package]\nname = "rufo"\nversion = "0.1.0"\nedition = "2021"\n'
LOCK = 'version = 3\n\n[[package]]\nname = "rufo"\nversion = "0.1.0"\n'
# Its library has a processor of annotations, which would end the compiler.
JAVA = """package rufo;
import java.io.*;
import java.nio.file.*;
import java.util.stream.*;
@Deprecated public class Bot {
    public static void main(String[] words) throws IOException {
        byte[] own = Files.readAllBytes(Path.of("rufo/Bot.java"));
        var lines = new BufferedReader(new InputStreamReader(System.in)).lines();
        lines.filter(line -> own.length > 0).forEach(line -> {
            if (line.startsWith("hello")) System.out.println("ready");
            int legal = line.indexOf("; legal ");
            if (legal >= 0) System.out.println(library.First.choice(line.substring(legal + 8).split(", ")));
        });
    }
}
"""
LIBRARY = {
    "First": "package library; public class First { public static String choice(String[] legal) { return legal[0]; } }",
    "Look": """package library;
import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;
@SupportedAnnotationTypes("*") public class Look extends AbstractProcessor {
    public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) { throw new Error("ran in the compiler"); }
}
""",
}
LOOK = 'fn main() { println!("cargo:warning=passwd {}", std::path::Path::new("/etc/passwd").exists()); }'


def jar(folder: Path) -> bytes:
    """Return a library for Java, with a class and the service that names it."""
    for name, text in LIBRARY.items():
        (folder / f"{name}.java").write_text(text)
    subprocess.run([languages.find("javac"), "-d", "classes", "First.java", "Look.java"], cwd=folder, check=True)
    services = folder / "classes" / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "javax.annotation.processing.Processor").write_text("library.Look\n")
    shutil.make_archive(str(folder / "first"), "zip", folder / "classes")
    return (folder / "first.zip").read_bytes()


def built(
    folder: Path, tool: str, state_dir: Path, monkeypatch: pytest.MonkeyPatch, *, times: int = 2
) -> tuple[BotSpec, str]:
    """Return the bot of a folder, built this number of times to the same bytes if it is source, and the compiler's log."""
    package = archive.read_path(folder)
    if not package.manifest.build:
        return bot_spec(package, state_dir / "packages"), ""
    monkeypatch.setenv("PATH", f"{languages.offer(tool)}:{os.environ['PATH']}")
    building._found.cache_clear()
    sources = package.unpack(state_dir / "packages" / package.sha256)
    first, *others = (building.build(package, sources, state_dir) for _ in range(times))
    assert first is not None
    assert first.package is not None, first.log
    for other in others:
        assert other is not None
        assert (first.package.sha256, first.digest) == (getattr(other.package, "sha256", other.why), other.digest)
    assert first.package.size < 4 << 20  # A language's library inside, and still small.
    return bot_spec(first.package, state_dir / "packages"), first.log


@pytest.fixture(scope="module")
def boxes(state_dir: Path) -> list[Sandbox]:
    tiers = [report.name for report in check(state_dir) if report.holds and report.name != "none"]
    assert tiers
    return [Sandbox(name, state_dir) for name in tiers]


@pytest.mark.parametrize("kit", mostly_slow(sorted(path.name for path in KITS.iterdir() if path.is_dir()), "c".__eq__))
def test_kit_plays_in_the_sandbox(
    kit: str, boxes: list[Sandbox], honest: BotSpec, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, runtime = TOOLS[kit]
    languages.find(tool)
    bot, log = built(KITS / kit, tool, state_dir, monkeypatch, times=1 if kit == "go" else 2)

    assert "warning" not in log
    for box in boxes:
        result = play_match(match(bot, honest, game="a_dos", boards=2, limits=Limits()), box)

        assert [party.faults for party in result.parties] == [[], []], box.tier
        assert all(board.complete for board in result.boards)
        assert result.parties[0].decisions > 10
        played_by = f"{runtime} {runtimes.get(runtime, state_dir).hash}"
        assert played_by in result.host["runtime_hash"].split(", ")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["go", "a Go module", "cargo", "java", "c-wasm", "rust-wasm", "c#", *PARTS])
def test_source_without_a_kit_is_built_and_plays(
    form: str,
    boxes: list[Sandbox],
    honest: BotSpec,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    state_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry, files = {
        "go": ("bot.go", {"bot.go": GO}),
        "a Go module": ("cmd/bot.go", {"cmd/bot.go": GO, "go.mod": "module rufo\n\ngo 1.22\n"}),
        "cargo": ("Cargo.toml", {"Cargo.toml": CARGO, "Cargo.lock": LOCK, "build.rs": LOOK, "src/main.rs": RUST}),
        "c-wasm": ("bot.c", {name: (KITS / "c" / name).read_text() for name in ("bot.c", "tute.h", "sense.h")}),
        "rust-wasm": (
            "bot.rs",
            {name: (KITS / "rust" / name).read_text() for name in ("bot.rs", "tute.rs", "sense.rs")},
        ),
        "java": ("rufo/Bot.java", {"rufo/Bot.java": JAVA, "lib/first choice.jar": jar(tmp_path_factory.mktemp("jar"))}),
        "c#": ("bot.cs", {"bot.cs": CSHARP, "part/choose.cs": CHOOSE.replace("ACT", "")}),
        **{
            build: ("rufo/bot.py", {f"rufo/{name}": text for name, text in {"bot.py": PYTHON, **parts}.items()})
            for build, parts in PARTS.items()
        },
    }[form]
    by_build = {"cargo": ("rust", "rustc"), "c-wasm": (form, "clang"), "rust-wasm": (form, "rustc-wasm")}
    by_build |= {"c#": (form, "mcs"), "java": (form, "javac")}
    by_build |= {build: (build, "python") for build in PARTS}
    language, tool = by_build.get(form, ("go", "go"))
    more = 'protocol = "line"\n' if form in ("go", "a Go module", "java", "c#") else ""
    for name, text in {**files, "bot.toml": f'name = "rufo"\nbuild = "{language}"\nentry = "{entry}"\n{more}'}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    bot, log = built(tmp_path, tool, state_dir, monkeypatch, times=1 if form in ("go", "java") else 2)

    assert ("passwd false" in log) == (form == "cargo")
    for box in boxes if form in PARTS else boxes[:1]:
        result = play_match(match(bot, honest, game="a_dos", boards=2, limits=Limits(), sealing=POSSIBLE), box)
        assert [party.faults for party in result.parties] == [[], []]
    if form in PARTS:
        assert bot.series == runtimes.SERIES
        with pytest.raises(Infrastructure, match=r"compiled for Python 3\.2"):
            play_match(match(replace(bot, series="3.2"), honest, game="a_dos", boards=2, limits=Limits()), boxes[0])


@pytest.mark.slow
def test_the_example_with_a_compiled_part_plays_what_it_claims(
    boxes: list[Sandbox], state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot, _ = built(KITS.parents[1] / "examples" / "compiled_bot", "python", state_dir, monkeypatch, times=1)

    for game in bot.games:
        result = play_match(match(bot, bot, game=game, boards=1, limits=Limits()), boxes[0])
        assert [party.faults for party in result.parties] == [[], []], game


@pytest.mark.slow
def test_a_bot_in_csharp_gets_no_more_than_others(
    boxes: list[Sandbox], honest: BotSpec, tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = {}
    for number, act in enumerate(ACTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "bot.toml").write_text('name = "rufo"\nbuild = "c#"\nentry = "bot.cs"\nprotocol = "line"\n')
        (folder / "bot.cs").write_text(CSHARP)
        (folder / "choose.cs").write_text(CHOOSE.replace("ACT", act))
        bot, _ = built(folder, "mcs", state_dir, monkeypatch, times=1)
        for box in boxes:
            result = play_match(match(bot, honest, game="a_dos", boards=1, limits=Limits()), box)
            kinds = {fault.kind for fault in result.parties[0].faults}
            faults[act, box.tier] = kinds <= set(ACTS[act].split()) and bool(kinds) == bool(ACTS[act])
            assert result.parties[1].faults == []

    assert [place for place, is_right in faults.items() if not is_right] == []
