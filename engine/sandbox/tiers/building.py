"""Run a compiler on the files of a stranger: the walls of the namespaces tier, wider limits, and writable memory that goes with the process.

Inside are the toolchain and the sources, both read-only, and an empty /tmp of limited size; no network, no /proc, no other file of the host. Only
bytes leave: standard output is the result, standard error the log. So a result cannot be a link, a device or a program with rights.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.sandbox.cgroups import attest
from engine.sandbox.cgroups.placing import BotPlace, place
from engine.sandbox.cgroups.rights import SYS_ADMIN, effective
from engine.sandbox.errors import SandboxError, SandboxUnavailable
from engine.sandbox.files import runtimes
from engine.sandbox.kernel import filter as call_filter
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.policy import MIB, Policy, user_wide_processes
from engine.sandbox.process.spawn import FIRST_KEPT, Started, launch, memory_file
from engine.sandbox.process.tail import Tail
from engine.sandbox.process.waiting import readable
from engine.sandbox.tiers import namespaces

SOURCE, SCRATCH = "/src", "/tmp"  # noqa: S108 - the compiler's own
LOG_KIB = 64
# Compilers look for headers, libraries and each other here. Configuration (/etc) and other software (/usr/local, /opt) stay outside.
_SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/include", "/bin", "/lib", "/lib64")
_SAMPLE_S = 0.1
_END_S = 10.0
_CHUNK = 1 << 16
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_FILTER, _INFO, _GO = range(FIRST_KEPT, FIRST_KEPT + 3)  # Numbers of the descriptors in bubblewrap.


@dataclass(frozen=True, kw_only=True)
class BuildLimits:
    """The limits of one build, of all its processes together.

    memory_mb: private memory, and as much again at most for files in /tmp; processes: with threads; cpu_s, wall_s: seconds; result_mb: the result.
    """

    memory_mb: int = 1024
    scratch_mb: int = 512
    processes: int = 128
    cpu_s: int = 240
    wall_s: int = 300
    result_mb: int = 10

    @property
    def policy(self) -> Policy:
        """The limits that the kernel sets for each process."""
        return Policy(
            memory_mb=self.memory_mb,
            threads=self.processes,
            cpu_s=self.cpu_s,
            open_files=512,
            stack_mb=64,
            address_space_mb=16 * self.memory_mb,
        )


@dataclass(frozen=True)
class BuildRun:
    """The end of a build. code: exit status, or minus the signal; excess: the limit that it exceeded, in words, or ""."""

    code: int
    result: bytes
    log: str
    excess: str = ""

    @property
    def succeeded(self) -> bool:
        """True if the compiler ended well and something came out."""
        return not self.code and not self.excess and bool(self.result)


def compilers() -> tuple[Path, ...]:
    """Return the folders where this host keeps compilers and what they need."""
    return tuple(Path(name) for name in _SYSTEM if os.path.lexists(name))


def run(
    argv: Sequence[str],
    folder: Path,
    state_dir: Path,
    *,
    toolchain: Sequence[Path],
    environment: Mapping[str, str],
    compiler: Path | None = None,
    limits: BuildLimits | None = None,
    tell: Callable[[str], None] = lambda log: None,
    stop: Callable[[], bool] = lambda: False,
) -> BuildRun | None:
    """Run the command in a folder of sources. Return None if `stop` returned True.

    toolchain: the visible folders and files of the host; compiler: the target of the link /proc/self/exe, by which some compilers find their
    libraries; tell: called with the log so far. Raise SandboxError.
    """
    limits = limits or BuildLimits()
    where = place(folder, runtimes.binary(state_dir), limits.policy, own_user=True)
    try:
        for path in toolchain if where.slot else ():
            if blocked := namespaces.unreachable(path if path.is_dir() else path.parent):
                raise SandboxUnavailable(f"the user of a build cannot pass {blocked}; install the compiler below /usr")
        started, report = _start(where, argv, toolchain, environment, compiler, limits)
        try:
            return _watch(started, limits, tell, stop)
        finally:
            started.discard()
            os.close(report)
    except OSError as error:
        raise SandboxError(f"cannot run a build: {error}") from error
    finally:
        where.give_back()


def _command(
    where: BotPlace,
    argv: Sequence[str],
    toolchain: Sequence[Path],
    environment: Mapping[str, str],
    compiler: Path | None,
    limits: BuildLimits,
    *,
    own_network: bool,
) -> list[str]:
    words = [namespaces.bubblewrap()]
    words += [f"--unshare-{name}" for name in ("user", "pid", "ipc", "uts", "cgroup-try")]
    words += [] if own_network else ["--unshare-net"]
    words += ["--uid", "65534", "--gid", "65534", "--hostname", "build"]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    words += ["--size", str(limits.scratch_mb * MIB), "--tmpfs", SCRATCH]
    for path in toolchain:
        words += (
            ["--symlink", str(path.readlink()), str(path)] if path.is_symlink() else ["--ro-bind", *[str(path)] * 2]
        )
    words += ["--symlink", str(compiler), "/proc/self/exe"] if compiler else []
    for device in ("/dev/null", "/dev/urandom"):
        words += ["--dev-bind", device, device]
    words += ["--ro-bind", str(where.bot), SOURCE, "--remount-ro", "/", "--chdir", SOURCE]
    words += ["--seccomp", str(_FILTER), "--json-status-fd", str(_INFO), "--block-fd", str(_GO)]
    return [*words, "--", *argv]


def _start(
    where: BotPlace,
    argv: Sequence[str],
    toolchain: Sequence[Path],
    environment: Mapping[str, str],
    compiler: Path | None,
    limits: BuildLimits,
) -> tuple[Started, int]:
    """Start bubblewrap, and attest the first process inside before anything else is read. Raise SandboxError, OSError.

    The caller closes the second descriptor after the end: bubblewrap reports there.
    """
    policy, processes = limits.policy, limits.processes + 2
    size = limits.scratch_mb * MIB
    kernel_limits = [
        (number, size, size) if number == resource.RLIMIT_FSIZE else (number, soft, hard)
        for number, soft, hard in policy.limits(processes=processes if where.slot else user_wide_processes())
    ]
    own_network = where.slot is not None and effective(SYS_ADMIN)
    open_here: set[int] = set()
    try:
        info_in, info_out = os.pipe()
        go_in, go_out = os.pipe()
        rules = memory_file("filter", call_filter.build(building=True).for_pid(1))
        open_here |= {info_in, info_out, go_in, go_out, rules}
        steps: dict[str, Any] = {
            "groups": where.groups,
            "own_network": own_network,
            "core": None,
            "limits": kernel_limits,
            "root": None,
            "user": where.slot.user if where.slot else None,
            "refuse_root": True,
            "drop_capabilities": True,
            "no_new_privileges": True,
            "directory": "/",
            "landlock": None,
            "filter": None,
            "program": None,
            "numbers": {"capset": this_architecture().numbers["capset"]},
            "argv": _command(where, argv, toolchain, environment, compiler, limits, own_network=own_network),
            "environment": {"PATH": "/usr/bin:/bin"},
        }
        started = launch(steps, keep=[rules, info_out, go_in])
        for fd in (info_out, go_in):
            os.close(fd)
            open_here.remove(fd)
        try:
            pid = namespaces.inner_pid(info_in)
            wrapper = Path(namespaces.bubblewrap()).stat()
            namespaces.await_stage(lambda: namespaces.is_set_up(pid))
            if not where.slot:  # Counted from zero in the new user namespace.
                resource.prlimit(pid, resource.RLIMIT_NPROC, (processes, processes))
                kernel_limits = [
                    (number, processes, processes) if number == resource.RLIMIT_NPROC else (number, soft, hard)
                    for number, soft, hard in kernel_limits
                ]
            os.write(go_out, b"\n")
            namespaces.await_stage(lambda: namespaces.is_another_program(pid, wrapper))
            expected = attest.Expectation(user=where.user, limits=kernel_limits, own_namespaces=True, group=where.group)
            with suppress(
                ProcessLookupError
            ):  # It has ended already; so it did nothing unconfined, and the log says why.
                attest.attest(pid, expected)
        except (OSError, ValueError, SandboxError) as error:
            output = started.discard()
            raise SandboxError(f"bubblewrap could not start a build: {output or error}") from error
        open_here.remove(info_in)
        return started, info_in
    finally:
        for fd in open_here:
            os.close(fd)


class _Streams:
    """The output of a build: the result up to its limit, and both ends of the log."""

    def __init__(self, started: Started, most_bytes: int) -> None:
        self.result = bytearray()
        self.log = Tail(LOG_KIB * 1024)
        self.grew = False
        self._open = {started.stdout, started.stderr}
        self._stdout, self._most = started.stdout, most_bytes

    def read(self, timeout_s: float) -> bool:
        """Read what is there. Return False when both streams have ended."""
        ready = readable(self._open, timeout_s)
        for fd in ready:
            try:
                piece = os.read(fd, _CHUNK)
            except BlockingIOError:
                continue
            if not piece:
                self._open.discard(fd)
            elif fd == self._stdout:
                self.result += piece[: self._most + 1 - len(self.result)]
            else:
                self.log.feed(piece)
                self.grew = True
        return bool(self._open)

    def text(self) -> str:
        """Return the log as text without NUL."""
        return self.log.value().decode(errors="replace").replace("\0", "\ufffd")


def _watch(
    started: Started, limits: BuildLimits, tell: Callable[[str], None], stop: Callable[[], bool]
) -> BuildRun | None:
    streams = _Streams(started, limits.result_mb * MIB)
    began = sampled = time.monotonic()
    excess = ""
    while streams.read(_SAMPLE_S) and not excess:
        now = time.monotonic()
        if len(streams.result) > limits.result_mb * MIB:
            excess = f"the result is larger than {limits.result_mb} MiB"
        elif now - began > limits.wall_s:
            excess = f"it took longer than {limits.wall_s} s"
        elif now - sampled >= _SAMPLE_S:
            sampled = now
            excess = _excess(started.pid, limits)
            if stop():
                return None
            if streams.grew:
                streams.grew = False
                tell(streams.text())
    if excess:
        started.child.kill()
    report = started.child.collect(_END_S)
    if report is None:
        started.child.kill()
        report = started.child.collect(_END_S)
    code = os.waitstatus_to_exitcode(report.status) if report else -9
    return BuildRun(code, bytes(streams.result), streams.text(), excess)


def _excess(wrapper: int, limits: BuildLimits) -> str:
    """Return which limit all processes below bubblewrap exceed together, or ""."""
    inside = _family(wrapper)
    cpu_s = sum(each.cpu_s for each in inside)
    memory = sum(each.memory for each in inside)
    if cpu_s > limits.cpu_s:
        return f"it used more than {limits.cpu_s} s of CPU"
    if memory > limits.memory_mb * MIB:
        return f"it used more than {limits.memory_mb} MiB of memory"
    return ""


@dataclass(frozen=True)
class _Member:
    parent: int
    cpu_s: float
    memory: int


def _family(wrapper: int) -> list[_Member]:
    """Return the processes below one. Orphans belong to the first process of their namespace, which is below it, too."""
    everybody: dict[int, _Member] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError, IndexError, ValueError):
                everybody[int(entry.name)] = _look(entry.name)
    inside: dict[int, bool] = {wrapper: True, 0: False}

    def belongs(pid: int) -> bool:
        chain = []
        while pid not in inside:
            if pid in chain:  # A number was given again between two looks.
                pid = 0
                break
            chain.append(pid)
            pid = everybody[pid].parent if pid in everybody else 0
        inside.update(dict.fromkeys(chain, inside[pid]))
        return inside[pid]

    return [process for pid, process in everybody.items() if belongs(pid)]


def _look(pid: str) -> _Member:
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    resident, shared = map(int, Path(f"/proc/{pid}/statm").read_bytes().split()[1:3])
    return _Member(int(fields[1]), sum(map(int, fields[11:15])) / _TICKS, (resident - shared) * _PAGE)
