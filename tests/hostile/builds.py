"""Hostile builds: scripts that run where a compiler would, as a build script of Rust does. Also a program, for an ordinary user.

As a program: builds.py STATE_DIR, names of builds one a line on stdin, one JSON outcome a line on stdout.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.sandbox import BuildLimits, run_build
from engine.sandbox.tiers.building import compilers

MARK = "98761234"  # In the command lines of processes that try to survive.
LIMITS = BuildLimits(memory_mb=200, scratch_mb=64, processes=40, cpu_s=10, wall_s=15, result_mb=1)
SHORT = BuildLimits(memory_mb=200, scratch_mb=64, processes=40, cpu_s=2, wall_s=3, result_mb=1)
SECRETS = "/etc /etc/passwd /proc /proc/self/environ /sys /root /home /var /run /boot /opt /mnt /dev/shm /dev/mem /dev/sda /usr/local /work"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Attack:
    """A script; `excess`: the limit that ends it, or "" if it ends by itself; `says`: what its log must and must not contain."""

    script: str
    excess: str = ""
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ("SEEN", "DONE")
    limits: BuildLimits = LIMITS
    results: tuple[bytes, ...] | None = (b"",)  # None: any


ATTACKS = {
    "nothing": Attack("echo fine >&2; printf program", says=("fine",), results=(b"program",)),
    "look around": Attack(f"for path in {SECRETS}; do [ ! -e $path ] || echo SEEN $path >&2; done; echo looked >&2", says=("looked",)),
    "read the worker's environment": Attack("env >&2; id -u >&2; hostname >&2", says=("65534", "build"), never=("STATE_DIR", "DATABASE")),
    "write outside": Attack(
        "for path in / /src /usr /usr/bin /usr/lib /dev; do touch $path/x && echo DONE $path >&2; done; rm -rf /src/* /usr/bin/ls;"
        " [ -e /src/bot.c ] && ls /src >&2",
        says=("bot.c", "Read-only"),
    ),
    "open a socket": Attack(
        'perl -MSocket -e \'for (AF_INET, AF_INET6, AF_UNIX, 16) { print STDERR (socket(S, $_, SOCK_STREAM, 0) ? "DONE" : "no: $!") }\'',
        says=("no: Address family",),
    ),
    "new namespaces": Attack("unshare -Ur echo DONE >&2; mount -t proc x /tmp && echo DONE >&2; echo end >&2", says=("end",)),
    "trace": Attack("perl -e 'print STDERR (syscall(101, 16, 1, 0, 0) == -1 ? \"no\" : \"DONE\")'", says=("no",)),
    "fork bomb": Attack("bomb() { bomb | bomb & }; bomb; sleep 2", never=("DONE",), limits=SHORT, excess="?"),
    "survive": Attack(f"for i in 1 2 3; do setsid sleep {MARK} & done; printf x", results=(b"x",)),
    "sleep": Attack(f"sleep {MARK}", excess="it took longer than 3 s", limits=SHORT),
    "compute": Attack("for i in 1 2 3 4; do (while :; do :; done) & done; wait", excess="?", limits=SHORT),
    "memory": Attack('perl -e \'$x = "x" x (1 << 30); print STDERR "DONE"\'', says=("emory",)),
    "memory of many": Attack(
        "for i in 1 2 3 4; do perl -e '$x = \"x\" x (120 << 20); sleep 20' & done; wait", excess="it used more than 200 MiB of memory"
    ),
    "fill the disk": Attack("for name in x y; do yes > /tmp/$name && echo DONE >&2; done; ls -s /tmp >&2; echo end >&2", says=("No space", "end")),
    "flood the result": Attack("exec yes", excess="the result is larger than 1 MiB", results=None),
    "flood the log": Attack("exec yes >&2", excess="?", never=(), limits=SHORT),
    "result is a device": Attack("ln -s /dev/urandom /tmp/program; exec cat /tmp/program", excess="the result is larger than 1 MiB", results=None),
    "result is a link": Attack("ln -s /etc/shadow /tmp/program; exec cat /tmp/program", says=("No such file",)),
    "result has rights": Attack("printf x > /tmp/program; chmod 6755 /tmp/program; exec cat /tmp/program", results=(b"x",)),
    "exhaust descriptors": Attack(
        "perl -e 'while (open(my $f, q(<), q(/dev/null))) { push @f, $f } print STDERR @f < 600 ? q(few) : q(DONE)'", says=("few",)
    ),
}  # fmt: skip


def play(name: str, state_dir: Path) -> list[str]:
    """Run a hostile build. Return what is wrong with its end."""
    attack = ATTACKS[name]
    with tempfile.TemporaryDirectory(dir=state_dir) as folder:
        Path(folder).chmod(0o755)
        Path(folder, "bot.c").write_text("")
        end = run_build(
            ["/usr/bin/sh", "-c", attack.script],
            Path(folder),
            state_dir,
            toolchain=compilers(),
            environment=ENVIRONMENT,
            limits=attack.limits,
        )
        left_there = sorted(path.name for path in Path(folder).iterdir())
    if end is None:
        return ["it was stopped"]
    wrong = [f"the log has {text!r}: {end.log[:300]}" for text in attack.never if text in end.log]
    wrong += [f"the log lacks {text!r}: {end.log[:300]}" for text in attack.says if text not in end.log]
    if attack.excess != "?" and end.excess != attack.excess:
        wrong.append(f"it ended by {end.excess!r} with {end.code}, expected {attack.excess!r}: {end.log[:300]}")
    if attack.results is not None and end.result not in attack.results:
        wrong.append(f"its result is {end.result[:80]!r}")
    if len(end.result) > (attack.limits.result_mb << 20) + 1 or len(end.log) > 70_000:
        wrong.append(f"{len(end.result)} bytes of result and {len(end.log)} of log were kept")
    if left_there != ["bot.c"]:
        wrong.append(f"the sources are now {left_there}")
    return wrong + [f"process {pid} lives on" for pid in survivors()]


def survivors() -> list[int]:
    """Return the processes with the mark that live."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"sleep\0{MARK}".encode() in path.read_bytes():
                pids.append(int(path.parent.name))
        except OSError:
            continue
    return pids


if __name__ == "__main__":
    for line in sys.stdin.read().split("\n"):
        if line:
            print(json.dumps([line, play(line, Path(sys.argv[1]))]), flush=True)
