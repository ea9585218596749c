"""Machine code in a process of Python: a compiled module of a hostile bot reaches nothing that a program in C does not, sealed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.packages import archive, building
from engine.sandbox.files import inventory
from tests.engine.sandbox.support import StateDirectory
from tests.hostile import arena
from tests.hostile.attacks import Attack
from tests.hostile.test_battery import PLAYED_AT, verdict
from tests.support import languages

# Its constructor runs while the loader opens the module, before Python knows of it; then calls go to the kernel past Python and the C library.
EVIL = """
cdef extern from *:
    '''
    #include <errno.h>
    #include <fcntl.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>
    static long raw(long n, long a, long b, long c, long d) {
    #ifdef __x86_64__
        register long r10 __asm__("r10") = d;
        long r;
        __asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
        return r;
    #else
        long r = syscall(n, a, b, c, d);
        return r < 0 ? -errno : r;
    #endif
    }
    static long first = -1;
    __attribute__((constructor)) static void begin(void) { first = raw(SYS_socket, 2, 1, 0, 0); }
    static long ticks(void) {
    #ifdef __x86_64__
        unsigned low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        return low | high;
    #else
        return 0;
    #endif
    }
    static long read_clock(void) {  // Past the C library: raw calls of every clock but those of CPU time
        struct timespec t;
        for (int clock = 0; clock < 12; clock++)
            if (clock != 2 && clock != 3 && raw(SYS_clock_gettime, clock, (long)&t, 0, 0) >= 0) return 100 + clock;
        return -1;
    }
    static long overwrite(void *code) {  // Shared with all processes of the runtime, if it were not copied at the first write
        char *page = (char *)((long)code & -4096L);
        if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC)) return -1;
        char one = *page;
        *page = one + 1;
        *page = one;
        return 0;
    }
    static long map_shared(const char *path) {
        int file = open(path, O_RDONLY);
        return file < 0 ? -1 : mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED ? -1 : 0;
    }
    '''
    long raw(long n, long a, long b, long c, long d)
    long first, ticks(), read_clock(), overwrite(void *code), map_shared(const char *path)
    void PyErr_SetNone(object kind)

def attack(goal):
    cdef dict numbers = goal["numbers"]
    cdef list got = []
    def attempt(what, long result):
        if result >= 0:
            got.append(f"{what}: {result}")
    attempt("socket before Python", first)
    for path in (goal["sentinel"], "/etc/passwd", "/proc/self/maps", "/proc/self/mem", "/dev/mem"):
        name = path.encode()
        attempt("open " + path, raw(numbers["openat"], -100, <long><char *>name, 0, 0))
    for file in (b"evil.pyx", b"/tmp/x", b"new"):
        attempt("write", raw(numbers["openat"], -100, <long><char *>file, 0o102, 0o600))
    for family in (1, 2, 10, 16, 17, 40):
        attempt("socket", raw(numbers["socket"], family, 1, 0, 0))
    attempt("trace me", raw(numbers["ptrace"], 0, 0, 0, 0))
    attempt("trace the worker", raw(numbers["ptrace"], 16, goal["worker"], 0, 0))
    attempt("signal the worker", raw(numbers["kill"], goal["worker"], 0, 0, 0))
    attempt("file in memory", raw(numbers["memfd_create"], <long><char *>b"x", 0, 0, 0))
    attempt("fork", raw(numbers["clone"], 17, 0, 0, 0))
    attempt("another program", raw(numbers["execve"], <long><char *>b"/bin/sh", 0, 0, 0))
    attempt("shared page of its own file", map_shared(b"evil.pyx"))
    if overwrite(<void *>PyErr_SetNone):
        got.append("its own copy of the interpreter cannot be written, so this shows nothing")
    return got

def clocks(goal):
    return [str(value) for value in (ticks() or -1, read_clock()) if value >= 0]
"""
ATTACK = "import evil\ngot += evil.attack(goal)\n"


@pytest.fixture(scope="module")
def parts(state: StateDirectory, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of the bot as a league builds them."""
    languages.find("python")
    folder: Path = tmp_path_factory.mktemp("evil")
    (folder / "bot.toml").write_text('name = "evil"\nbuild = "cython"\nentry = "bot.py"\n')
    (folder / "bot.py").write_text("")
    (folder / "evil.pyx").write_text(EVIL)
    package = archive.read_path(folder)
    built = building.build(package, package.unpack(state.path / "packages" / package.sha256), state.path)
    assert built is not None
    assert built.package is not None, built.log
    return {name: data for name, data in built.package.files.items() if name.startswith("evil")}


@pytest.mark.slow
def test_compiled_module_is_contained(state: StateDirectory, parts: dict[str, bytes]) -> None:
    wrong, sealed_in = {}, []
    for tier in (name for name in PLAYED_AT if state.reports[name].holds):
        for sealed in (False, True) if state.reports[tier].unsealed is None else (False,):
            attack = Attack(name="evil", source=ATTACK + "got += evil.clocks(goal)\n" * sealed)
            outcome = arena.play_attack(attack, tier, state.path, state.python, beside=parts, sealed=sealed)
            wrong[tier, sealed] = verdict(attack, outcome)
            sealed_in += [tier] * sealed

    assert sealed_in
    assert {place: what for place, what in wrong.items() if what} == {}
    assert not inventory.find_damage(state.python.root, whole=True)
