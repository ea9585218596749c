"""Copied runtimes: complete, reproducible, built once, free of the project's own environment."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.sandbox import BotFault, Policy, Sandbox, SandboxError
from engine.sandbox.files import runtimes, tree
from tests.engine.sandbox.support import REPOSITORY, StateDirectory
from tests.support import languages
from tests.support.bots import without_segments

POLICY = Policy(memory_mb=256)
# read(0, stack, 4096), write it back, again; exit when the input ends
ECHO_CODE = bytes.fromhex(
    "31c0 31ff 4889e6 4881ee00100000 ba00100000 0f05 85c0 7e10 89c2 bf01000000 b801000000 0f05 ebd8 31ff b83c000000 0f05"
)


def static_program() -> bytes:
    """Return a static executable that echoes: hand-made where the machine allows, else by the C compiler."""
    if platform.machine() != "x86_64":
        process = subprocess.run(
            [languages.find("cc"), "-static", "-xc", "-", "-o", "/dev/stdout"],
            input=b"#include <unistd.h>\nint main(){char b[4096];int n;while((n=read(0,b,4096))>0)write(1,b,n);}",
            capture_output=True,
            check=True,
        )
        return process.stdout
    start = 0x400000
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += (2).to_bytes(2, "little") + (62).to_bytes(2, "little") + (1).to_bytes(4, "little")
    header += (start + 120).to_bytes(8, "little") + (64).to_bytes(8, "little") + bytes(12)
    header += b"".join(n.to_bytes(2, "little") for n in (64, 56, 1, 0, 0, 0))
    size = (120 + len(ECHO_CODE)).to_bytes(8, "little")
    segment = (1).to_bytes(4, "little") + (5).to_bytes(4, "little") + bytes(8)
    segment += start.to_bytes(8, "little") * 2 + size * 2 + (4096).to_bytes(8, "little")
    return header + segment + ECHO_CODE


REPORT = """
import asyncio, json, sys, ssl, sqlite3, decimal, zoneinfo, hashlib, threading
import league_rules, league_rules.part, tute_helper
hashlib.sha256(b"").digest()
seen = []
threading.Thread(target=seen.append, args=(1,)).start()
asyncio.run(asyncio.to_thread(seen.append, 2))
input()
print(json.dumps({"version": sys.version.split()[0], "path": sys.path, "prefix": sys.prefix, "seen": seen,
                  "answer": league_rules.part.ANSWER + tute_helper.ANSWER}), flush=True)
input()
"""


@pytest.fixture
def extra(tmp_path: Path) -> dict[str, Path]:
    package = tmp_path / "src" / "league_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "part.py").write_text("ANSWER = 40\n")
    (tmp_path / "src" / "helper.py").write_text("ANSWER = 2\n")
    return {"league_rules": package, "tute_helper.py": tmp_path / "src" / "helper.py"}


def test_a_python_bot_has_the_standard_library_and_the_extra_modules(
    state: StateDirectory, bot: Callable[[str], Path], extra: dict[str, Path], tiers_here: list[str]
) -> None:
    runtime = runtimes.python(state.path, extra)
    for tier in tiers_here:
        with Sandbox(tier, state.path).start(bot(REPORT), runtime, "bot.py", POLICY) as process:
            process.send(b"\n")
            answer = json.loads(process.read_line(5, 20).line)

        assert answer["version"] == runtime.version == platform.python_version()
        assert answer["answer"] == 42
        assert answer["seen"] == [1, 2]
        assert not [path for path in [*answer["path"], answer["prefix"]] if "site-packages" in path or ".venv" in path]


def test_the_same_sources_give_the_same_tree_and_others_another(state: StateDirectory, extra: dict[str, Path]) -> None:
    first, again = (runtimes.python(state.path, extra) for _ in range(2))
    extra["tute_helper.py"].write_text("ANSWER = 3\n")
    changed = runtimes.python(state.path, extra)

    assert first == again
    assert changed.hash != first.hash
    assert len({first.hash, changed.hash, state.python.hash}) == 3
    assert tree.content_hash(first.root).startswith(first.hash)


def test_files_of_a_bot_in_one_tree_get_into_no_other(state: StateDirectory, extra: dict[str, Path]) -> None:
    """A worker that is killed leaves them, and others play at any time: they are no part of the runtime."""
    folder = state.python.root / "bot" / "60999"
    folder.mkdir()
    try:
        (folder / "secret.py").touch()
        (extra["league_rules"] / "more.py").touch()
        built = runtimes.python(state.path, extra)
    finally:
        shutil.rmtree(folder)

    assert list((built.root / "bot").iterdir()) == []
    assert tree.content_hash(built.root).startswith(built.hash)


def test_trees_are_readable_by_all_and_writable_by_none(state: StateDirectory) -> None:
    for path in state.python.root.rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode in ((0o755,) if path.is_dir() else (0o666,) if path.is_char_device() else (0o444, 0o555)), path


def test_two_builders_at_once_build_once(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_text("content")
    built = []

    def build(work: Path) -> None:
        built.append(work)
        shutil.copytree(source, work, dirs_exist_ok=True)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: tree.build_once(tmp_path / "trees", "x", "key", build), range(8)))

    assert len(built) == 1
    assert len(set(results)) == 1
    assert sorted(path.name[0] for path in (tmp_path / "trees").iterdir()) == [
        ".",
        ".",
        ".",
        "x",
    ]  # lock, index, inventory, tree


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build(work: Path) -> None:
        (work / "half").touch()
        raise OSError(28, "No space left on device")

    with pytest.raises(SandboxError, match=r"No space left on device.*200 MB free"):
        tree.build_once(tmp_path, "x", "key", build)

    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_runtime_that_the_disk_has_damaged_is_mended_while_bots_live_in_it(tmp_path: Path) -> None:
    def build(work: Path) -> None:
        (work / "bot").mkdir()
        (work / "lib").mkdir()
        (work / "lib" / "module.py").write_text("x = 1\n")
        (work / "whole.py").write_text("y = 1\n")

    root = tree.build_once(tmp_path, "x", "key", build)
    live = root / "bot" / "61000-live"
    live.mkdir()
    for damaged in ("lib/module.py", "whole.py"):
        (root / damaged).chmod(0o644)
        (root / damaged).write_text("")
    with (root / "whole.py").open() as reading:
        assert tree.build_once(tmp_path, "x", "key", build) == root
        assert reading.read() == ""  # the file that was open is not written to

    assert ((root / "lib" / "module.py").read_text(), (root / "whole.py").read_text()) == ("x = 1\n", "y = 1\n")
    assert live.is_dir()
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == [".", ".", ".", "x"]

    (tmp_path / ".x-key").write_text("")  # the index: the folder itself is no tree
    assert tree.build_once(tmp_path, "x", "key", build) == root


def test_a_static_program_plays(state: StateDirectory, tmp_path: Path, tiers_here: list[str]) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "echo").write_bytes(static_program())
    (tmp_path / "bot" / "echo").chmod(0o755)
    runtime = runtimes.binary(state.path)
    for tier in tiers_here:
        with Sandbox(tier, state.path).start(tmp_path / "bot", runtime, "echo", POLICY) as process:
            process.freeze()
            assert process.ask(b"play 1o\n", 1, 5).line == b"play 1o"


def test_a_file_that_is_no_program_is_the_bots_fault(
    state: StateDirectory, tmp_path: Path, tiers_here: list[str]
) -> None:
    (tmp_path / "bot").mkdir()
    damaged = bytearray(static_program())
    damaged[64:68] = (0x7F).to_bytes(4, "little")  # no segment is loaded
    for content, reason in (
        (b"#!/bin/sh\n", "it is not an ELF executable"),
        (b"PK\x03\x04", "it is not an ELF executable"),  # A jar of Java
        (Path("/usr/bin/env").read_bytes(), r"it is dynamically linked \(needs .*link it statically"),  # So is .NET's.
        (bytes(damaged), ""),
        (without_segments(), "cannot be executed by the kernel"),
    ):
        (tmp_path / "bot" / "echo").write_bytes(content)
        (tmp_path / "bot" / "echo").chmod(0o755)
        for tier in tiers_here:
            with (
                pytest.raises(BotFault, match=f"crash.*{reason}"),
                Sandbox(tier, state.path).start(
                    tmp_path / "bot", runtimes.binary(state.path), "echo", POLICY
                ) as process,
            ):
                process.read_line(1, 5)


def test_a_program_whose_headers_lead_outside_the_file_is_the_bots_fault_and_leaves_nothing(
    state: StateDirectory, tmp_path: Path, tiers_here: list[str]
) -> None:
    (tmp_path / "bot").mkdir()
    runtime = runtimes.binary(state.path)
    for at, size in ((32, 8), (56, 2)):  # place and length of the program table
        damaged = bytearray(static_program())
        damaged[at : at + size] = b"\xff" * size
        (tmp_path / "bot" / "echo").write_bytes(damaged)
        for tier in tiers_here:
            with pytest.raises(BotFault, match="the program table lies outside the file"):
                Sandbox(tier, state.path).start(tmp_path / "bot", runtime, "echo", POLICY)
    assert list((runtime.root / "bot").iterdir()) == []


def test_a_sound_program_that_may_not_be_executed_here_is_never_its_fault(
    state: StateDirectory, tmp_path: Path
) -> None:
    """The file system may be mounted noexec: the host has failed, not the bot."""
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "echo").write_bytes(static_program())
    (tmp_path / "bot" / "echo").chmod(0o644)
    runtime = runtimes.binary(state.path)

    with pytest.raises(SandboxError, match=r"failed at become: .*Permission denied"):
        Sandbox("none", state.path).start(tmp_path / "bot", runtime, "echo", POLICY)


def test_a_node_bot_plays_or_node_is_asked_for(state: StateDirectory, tmp_path: Path, tiers_here: list[str]) -> None:
    if not shutil.which("node"):
        with pytest.raises(SandboxError, match="install the package nodejs"):
            runtimes.node(state.path)
        return
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.js").write_text(
        "require('readline').createInterface({input: process.stdin}).on('line', line => console.log(line))\n"
    )
    for tier in tiers_here:
        with Sandbox(tier, state.path).start(tmp_path / "bot", runtimes.node(state.path), "bot.js", POLICY) as process:
            process.send(b"play 1o\n")
            assert process.read_line(10, 30).line == b"play 1o"


@pytest.mark.parametrize(("name", "tool"), [("java", "javac"), ("mono", "mcs"), ("wasm", "")])
def test_no_file_of_a_bot_takes_the_place_of_its_gate(
    name: str, tool: str, state: StateDirectory, tmp_path: Path, tiers_here: list[str]
) -> None:
    if tool:
        languages.find(tool)
    (tmp_path / "bot").mkdir()
    for file in (f"tute_{name}.py", "ctypes.py", "base64.py", "program"):
        (tmp_path / "bot" / file).write_text("raise SystemExit(7)\n")
    runtime = getattr(runtimes, name)(state.path)
    for tier in tiers_here:
        with Sandbox(tier, state.path).start(tmp_path / "bot", runtime, "program", POLICY) as process:
            process.stand()
            assert process.stderr() == b""


@pytest.mark.parametrize(
    ("name", "words"), [("java", ["--no-such-option", "no.jar"]), ("mono", ["/no/library.so", "no.exe"])]
)
def test_a_gate_that_cannot_start_its_machine_ends(name: str, words: list[str]) -> None:
    """Else a bot's first thread waits for ever, and the bot looks as if it were loading."""
    argv = [sys.executable, "-sS", runtimes.MONO_GATE.with_name(f"{name}.py"), *words]
    process = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)

    assert (process.returncode, process.stdout) == (1, b"")
    assert b"cannot open shared object file" in process.stderr


def test_a_link_among_the_files_of_a_bot_is_refused(state: StateDirectory, bot: Callable[[str], Path]) -> None:
    directory = bot("print(open('secret').read(), flush=True)")
    (directory / "secret").symlink_to("/etc/passwd")

    if os.getuid() == 0:
        with pytest.raises(SandboxError, match="secret is a link or a special file"):
            Sandbox("auto", state.path).start(directory, state.python, "bot.py", POLICY)
    else:
        with (
            Sandbox("auto", state.path).start(directory, state.python, "bot.py", POLICY) as process,
            pytest.raises(BotFault, match="crash"),
        ):
            process.read_line(5, 10)


def test_an_interpreter_that_is_none_is_refused(state: StateDirectory) -> None:
    with pytest.raises(SandboxError, match="does not run as a Python interpreter"):
        runtimes.python(state.path, interpreter=Path("/bin/false"))


def test_the_copied_interpreter_is_this_one(state: StateDirectory) -> None:
    assert state.python.version == ".".join(map(str, sys.version_info[:3]))


def test_reading_a_tree_leaves_no_mark(tmp_path: Path) -> None:
    """Else a bot could tell another one, or itself in a later match, what to remember: one bit a file and day."""

    def build(work: Path) -> None:
        (work / "lib").mkdir()
        (work / "lib" / "module.py").write_text("x = 1\n")
        os.utime(work / "lib" / "module.py", (0, 0))  # The next reading would change it

    root = tree.build_once(tmp_path, "x", "key", build)
    paths = [root, root / "lib", root / "lib" / "module.py"]
    before = [path.stat().st_atime_ns for path in paths]
    assert (paths[2].read_text(), list(paths[1].iterdir())) == ("x = 1\n", [paths[2]])

    assert [path.stat().st_atime_ns for path in paths] == before


def test_a_tree_that_bots_live_in_is_not_walked_again(tmp_path: Path) -> None:
    """Their folders come and go: a walk would fail at one that goes, and the runtime would not be had."""

    def build(work: Path) -> None:
        (work / "bot").mkdir()
        (work / "module.py").write_text("x = 1\n")

    root = tree.build_once(tmp_path, "x", "key", build)
    live = root / "bot" / "61000-live"
    live.mkdir()
    os.utime(live, (0, 0))

    assert tree.build_once(tmp_path, "x", "another key", build) == root
    assert live.stat().st_atime_ns == 0


NUMBERS = """
import ctypes, gc, glob, json, os, sys, threading
import numpy as np
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
types = "numpy._typing" in sys.modules
blas = ctypes.CDLL(glob.glob(os.path.dirname(np.__file__) + ".libs/*openblas*")[0])
blas.scipy_openblas_get_corename64_.restype = ctypes.c_char_p
square = np.random.default_rng(1).standard_normal((200, 200))
for line in sys.stdin:
    try:
        threading.Thread(target=int).start()
        threads = "started"
    except RuntimeError as error:
        threads = str(error)
    values = [square @ square, np.exp(square), square.sum(axis=0), np.linalg.inv(square)]
    print(json.dumps({
        "kernels": blas.scipy_openblas_get_corename64_().decode(),
        "threads": [blas.scipy_openblas_get_num_threads64_(), threads],
        "features": [name for name in __cpu_dispatch__ if __cpu_features__[name]],
        "start": [bool(np.ndarray.__doc__), types, gc.isenabled(), gc.get_freeze_count() > 10_000],
        "sums": [value.sum().hex() for value in values],
    }), flush=True)
"""


def test_numpy_has_one_thread_and_the_kernels_of_every_processor(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    answers = []
    for tier in tiers_here:
        box = Sandbox(tier, state.path)
        for sealed in {False, not box.report.unsealed}:
            policy = Policy(memory_mb=state.python_numpy.memory_mb, sealed=sealed)
            with box.start(bot(NUMBERS), state.python_numpy, "bot.py", policy) as process:
                process.stand()
                process.freeze()
                answers.append(json.loads(process.ask(b"\n", 5, 30).line))
                assert json.loads(process.ask(b"\n", 5, 30).line) == answers[-1]
                threads, more = answers[-1].pop("threads")
                assert threads == 1
                counted = os.getuid() == 0 or sealed  # else the limit would count the user's other programs
                assert more == ("can't start new thread" if counted else "started"), (tier, sealed)

    assert answers == [answers[0]] * len(answers)
    kernels, features = {"x86_64": ("Haswell", ["X86_V3"]), "aarch64": ("ARMV8", [])}[platform.machine()]
    assert (answers[0]["kernels"], answers[0]["features"]) == (kernels, features)
    assert answers[0]["start"] == [False, False, True, True], (
        "no help texts or types for checkers; collections skip what was imported"
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("python-numpy", "numpy is not installed on this host; install it (pip install numpy)"),
        ("java", "no Java is installed on this host; install the package default-jdk-headless"),
    ],
)
def test_a_host_without_a_program_has_every_other_runtime(name: str, says: str) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from engine.runner import runtimes
print({name!r} in runtimes.installed(), "python" in runtimes.installed())
runtimes.get({name!r}, None)
"""
    argv = [sys.executable, "-I", "-S", "-c", program]
    process = subprocess.run(argv, capture_output=True, text=True, check=False, env={"PATH": "/nowhere"})

    assert process.stdout == "False True\n"
    assert f"SandboxError: {says}" in process.stderr
