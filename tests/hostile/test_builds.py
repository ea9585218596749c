"""Hostile builds are contained: no file, process or address of the host, no more than their limits, nothing left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engine.packages import archive, building
from engine.sandbox import BuildLimits
from tests.engine.sandbox.support import StateDirectory
from tests.hostile import builds
from tests.hostile.builds import ATTACKS
from tests.support import languages
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.timeout(600)
QUICK = ("nothing", "look around", "survive", "write outside")


@pytest.mark.parametrize("name", mostly_slow(ATTACKS, QUICK.__contains__))
def test_hostile_build(name: str, state: StateDirectory) -> None:
    began = time.monotonic()

    assert builds.play(name, state.path) == []
    assert time.monotonic() - began < 60


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="the tests above ran as an ordinary user already")
def test_hostile_builds_of_an_ordinary_user(state: StateDirectory) -> None:
    answers = state.as_ordinary_user("tests.hostile.builds", lines=list(ATTACKS))

    assert answers == [[name, []] for name in ATTACKS]


TEMPLATES = "template <int n> struct A { using t = typename A<n + 1>::t; typename A<n + 2>::t x; };\nA<0>::t main;\n"
GENERICS = "interface N<T> {}\nclass C<X> implements N<N<? super C<C<X>>>> {}\nclass Bot { N<? super C<Byte>> f(C<Byte> c) { return c; } }\n"
SOURCES = {
    "a file of the host": ("c", '#include "/etc/passwd"\nint main(void) {}', "No such file"),
    "the environment": ("c", '#include "/proc/self/environ"\nint main(void) {}', "No such file"),
    "bytes of the host": ("c", '__asm__(".incbin \\"/etc/shadow\\"");\nint main(void) {}', "file not found"),
    "a file that includes itself": ("c", '#include "bot.c"\n', "nested"),
    "an endless program": ("c", "char big[1 << 30] = {1};\nint main(void) {}", ""),
    "gigabytes of errors": ("c", "#define A B B B B B B B B\n#define B C C C C C C C C\n#define C D D D D D D D D\n"
                            "#define D E E E E E E E E\n#define E F F F F F F F F\n#define F G G G G G G G G\n#define G +;+ @\nA\n", ""),
    "endless templates": ("c++", TEMPLATES, "template instantiation depth"),
    "Cython, a file of the host": ("cython", 'include "/etc/passwd"\n', "'/etc/passwd' not found"),
    "Cython, bytes of the host": ("cython", "cdef extern from *:\n    '__asm__(\".incbin \\\\\"/etc/shadow\\\\\"\");'\n", "not found"),
    "mypyc, endless types": ("mypyc", f"x: {'list[' * 3000}int{']' * 3000} = []\n", ""),
    "a module of the host": ("typescript", 'import x from "/etc/passwd";\nconsole.error(x);\n', "error TS2307: Cannot find module"),
    "text of the host": ("typescript", '/// <reference path="/etc/passwd" />\n', "error TS6"),
    "endless generics": ("java", GENERICS, "StackOverflowError"),
    "an endless class": ("java", 'class Bot {\n static final String A = "' + "a" * 60000 + '";\n' + "".join(
        f" static final String {chr(65 + n)} = " + " + ".join([chr(64 + n)] * 50) + ";\n" for n in range(1, 6)) + "}\n", "OutOfMemoryError"),
    "endless types": ("typescript", "type A<N extends unknown[]> = A<[...N, ...N, 1]>;\nlet a: A<[]> = 1;\n", "error TS2"),
}  # fmt: skip


@pytest.mark.parametrize("name", mostly_slow(SOURCES, "a file of the host".__eq__))
def test_hostile_source(name: str, state: StateDirectory, tmp_path: Path) -> None:
    language, text, says = SOURCES[name]
    tool, entry, file = {
        "c": ("cc", "bot.c", "bot.c"),
        "c++": ("c++", "bot.cc", "bot.cc"),
        "java": ("javac", "Bot.java", "Bot.java"),
        "typescript": ("tsc", "bot.mts", "bot.mts"),
        "cython": ("python", "bot.py", "fast.pyx"),
        "mypyc": ("python", "bot.py", "fast.py"),
    }[language]
    languages.find(tool)
    (tmp_path / "bot.toml").write_text(f'name = "x"\nbuild = "{language}"\nentry = "{entry}"\n')
    (tmp_path / entry).write_text("")
    (tmp_path / file).write_text(text)
    package = archive.read_path(tmp_path)
    folder = package.unpack(state.path / "packages" / package.sha256)
    memory_mb = 1024 if tool in ("javac", "tsc") else 400  # Java and Node reserve addresses by the gigabyte.
    limits = BuildLimits(memory_mb=memory_mb, scratch_mb=128, cpu_s=20, wall_s=30)
    began = time.monotonic()
    built = building.build(package, folder, state.path, limits=limits)

    assert time.monotonic() - began < 60
    assert built is not None
    assert built.package is None
    assert built.why
    assert says in built.log
    assert "root:" not in built.log
    assert len(built.log) < 70_000
