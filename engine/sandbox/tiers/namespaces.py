"""The tier of bubblewrap: namespaces of its own for user, process, network, IPC, host name and mounts, around the same filter.

Inside there is one process and a read-only tree; no /proc, no writable file, no device but null and urandom.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from engine.sandbox.cgroups import attest
from engine.sandbox.cgroups.placing import BotPlace
from engine.sandbox.cgroups.rights import SYS_ADMIN, effective
from engine.sandbox.errors import SandboxError, SandboxUnavailable
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel import filter as call_filter
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.policy import Policy, user_wide_processes
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.process.spawn import FIRST_KEPT, HANDSHAKE_S, launch, memory_file
from engine.sandbox.process.waiting import readable
from engine.sandbox.process.wrapper import WrappedChild
from engine.sandbox.sealed import host
from engine.sandbox.tiers.tier import BY_LAUNCHER, NO_PROGRAM, Tier

_SEALED = "/dev/sealed"
_NOBODY = "65534"
# --as-pid-1: the bot is the init process of its namespace; when it ends, everything in the namespace ends.
_FIRST_PROCESS = 1
_WRAPPER = "bwrap"
_SET_UP_S = 0.003  # Median time of bubblewrap's setup; an earlier look would delay it.
_NEXT_LOOK_S = 0.0005
_FILTER, _INFO, _GO, _PROGRAM = range(FIRST_KEPT, FIRST_KEPT + 4)  # Numbers of the descriptors in bubblewrap.
_BEGAN = b'"exit-code"'  # Bubblewrap reports this only after it has started the program.


def bubblewrap() -> str:
    """Return the path of the bwrap program. Raise SandboxUnavailable with how to install it."""
    program = _on_path(os.environ.get("PATH", ""))
    if not program:
        raise SandboxUnavailable(
            "bubblewrap is not installed. Install the package `bubblewrap` (apt, dnf, apk, pacman)."
        )
    return program


@cache
def _on_path(path: str) -> str | None:
    return shutil.which(_WRAPPER, path=path)


@cache
def _blocked(runtime: Path) -> Path | None:
    """Return `unreachable(runtime)`, cached: if a directory is closed later, bubblewrap fails to start anyway."""
    return unreachable(runtime)


def unreachable(path: Path) -> Path | None:
    """Return the first directory on the way to ``path`` that other users may not enter, or None. A slot user must enter all of them."""
    return next((step for step in reversed([path, *path.parents]) if not step.stat().st_mode & 0o001), None)


def command(place: BotPlace, runtime: Runtime, entry: str, *, own_network: bool, sealed: bool) -> list[str]:
    """Return the bubblewrap command line. own_network: bubblewrap starts in a network of its own and need not create one.

    sealed: the program to run is in the descriptor _PROGRAM.
    """
    words = [bubblewrap()]
    words += [f"--unshare-{name}" for name in ("user", "pid", "ipc", "uts", "cgroup-try")]
    words += [] if own_network else ["--unshare-net"]
    words += ["--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "bot"]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    for name, value in runtime.environ("", "/bot").items():
        words += ["--setenv", name, value]
    words += ["--ro-bind", str(runtime.root), "/"]
    for device in ("/dev/null", "/dev/urandom"):
        words += ["--dev-bind", device, device]
    words += ["--ro-bind", str(place.bot), "/bot", "--chdir", "/bot"]
    words += ["--seccomp", str(_FILTER), "--json-status-fd", str(_INFO), "--block-fd", str(_GO)]
    argv = runtime.argv("", "/bot", entry)
    if sealed:
        words += ["--perms", "0555", "--ro-bind-data", str(_PROGRAM), _SEALED]
        argv[0] = _SEALED
    return [*words, "--", *argv]


def start(place: BotPlace, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> BotProcess:
    """Start a bot. If any step fails, raise SandboxError and leave no process behind."""
    blocked = _blocked(runtime.root) if place.slot else None
    if blocked:
        raise SandboxUnavailable(
            f"the bot's own user cannot pass the directory {blocked}. Put the state directory where every user may "
            "pass (chmod o+x), such as /var/lib/tute-league, or run the worker as an ordinary user."
        )
    processes = policy.threads + 2  # The limit counts the wrapper itself, too.
    limits = policy.limits(processes=processes if place.slot else user_wide_processes())
    # The launcher creates the network; a spare does so ahead.
    own_network = place.slot is not None and effective(SYS_ADMIN)
    open_here: set[int] = set()
    try:
        info_in, info_out = os.pipe()
        open_here |= {info_in, info_out}
        go_in, go_out = os.pipe()
        open_here |= {go_in, go_out}
        if runtime.gate:  # The bot's own code waits at its gate anyway.
            os.write(go_out, b"\n")
        filter_fd = memory_file(
            "filter", call_filter.build(pipes=runtime.needs_pipes, sealing=policy.sealed).for_pid(_FIRST_PROCESS)
        )
        open_here.add(filter_fd)
        keep, at_first = [filter_fd, info_out, go_in], limits
        if policy.sealed:
            program = host.program(runtime, place.bot / entry)
            open_here.add(program)
            keep.append(program)
            at_first = [_room_for(program) if limit[0] == resource.RLIMIT_FSIZE else limit for limit in limits]
        steps: dict[str, Any] = {
            "groups": place.groups,
            "own_network": own_network,
            "core": core,
            "limits": at_first,
            "root": None,
            "user": place.slot.user if place.slot else None,
            "refuse_root": True,
            "drop_capabilities": True,
            "no_new_privileges": True,
            "directory": "/",
            "landlock": None,
            "filter": None,
            "program": None,
            "numbers": {"capset": this_architecture().numbers["capset"]},
            "argv": command(place, runtime, entry, own_network=own_network, sealed=policy.sealed),
            "environment": {"PATH": "/usr/bin:/bin"},
        }
        started = launch(steps, keep=keep, timeless=policy.sealed)
        for fd in (info_out, go_in):
            os.close(fd)
            open_here.remove(fd)
        try:
            time.sleep(_SET_UP_S)  # Bubblewrap shares our core, so looking sooner or more often would delay it.
            pid = inner_pid(info_in)
            wrapper = Path(bubblewrap()).stat()
            await_stage(lambda: is_another_program(pid, wrapper) if runtime.gate else is_set_up(pid))
            # In both cases no code of the bot has run yet: it is at its runtime's gate, or bubblewrap has not started it.
            started.child, started.pid = child_and_pid = WrappedChild(started.child, pid, info_in), pid
            if not place.slot:
                # Set from inside the namespace, which counts from zero; set earlier, the limit would count all the user's programs.
                limits = policy.limits(processes=processes)
                resource.prlimit(pid, resource.RLIMIT_NPROC, (processes, processes))
            if not runtime.gate:
                os.write(go_out, b"\n")
                await_stage(lambda: is_another_program(pid, wrapper))
            if _program(pid) is None and not _has_begun(child_and_pid[0]):
                raise SandboxError("it did not start the bot")
        except (OSError, ValueError, SandboxError) as error:
            output = started.discard()
            raise SandboxError(f"bubblewrap could not start a bot: {output or error}") from error
    finally:
        for fd in open_here:
            os.close(fd)
    expected = attest.Expectation(
        user=place.user, limits=limits, core=core, own_namespaces=True, group=place.group, sealed=policy.sealed
    )
    return BotProcess(started, policy, expected, gated=bool(runtime.gate), on_close=place.give_back)


def _room_for(program: int) -> tuple[int, int, int]:
    """Return a file size limit that lets bubblewrap write this program; the sealed program lowers the limit first of all."""
    size = os.fstat(program).st_size
    return resource.RLIMIT_FSIZE, size, size


def inner_pid(info: int) -> int:
    """Return the bot's process id in our namespace, as bubblewrap reports it. Raise SandboxError if bubblewrap ends without a report."""
    text = b""
    while b"}" not in text:
        if not readable([info], HANDSHAKE_S):
            raise SandboxError(f"it reported nothing within {HANDSHAKE_S:g} s")
        piece = os.read(info, 4096)
        if not piece:
            raise SandboxError("it ended without a report")
        text += piece
    pid: int = json.loads(text)["child-pid"]
    return pid


def await_stage(condition: Callable[[], bool]) -> None:
    """Wait for a stage of bubblewrap. Raise SandboxError if it takes too long."""
    until = time.monotonic() + HANDSHAKE_S
    while not condition():
        if time.monotonic() > until:
            raise SandboxError(f"it did not start the bot within {HANDSHAKE_S:g} s")
        time.sleep(_NEXT_LOOK_S)


def is_set_up(pid: int) -> bool:
    """Return True if bubblewrap's child has dropped its rights, so that its setup is complete. Raise OSError if the child has ended."""
    return not int(attest.status(pid)["CapPrm"], 16)


def is_another_program(pid: int, wrapper: os.stat_result) -> bool:
    """Return True if the process now runs a program other than bubblewrap, whatever its name, or has ended."""
    program = _program(pid)
    return program is None or not os.path.samestat(program, wrapper)


def _program(pid: int) -> os.stat_result | None:
    """Return the file that a process executes; None if it has ended."""
    try:
        return os.stat(f"/proc/{pid}/exe")  # noqa: PTH116 - called repeatedly
    except FileNotFoundError:
        return None


def _has_begun(child: WrappedChild) -> bool:
    """Return True if an ended process had become the bot. Bubblewrap has no threads: a process of which only the first thread has ended is a bot."""
    return child.collect(HANDSHAKE_S) is None or _BEGAN in child.last_word()


def _prerequisites() -> tuple[str, ...]:
    bubblewrap()
    return ()


TIER = Tier(
    name="namespaces",
    held_by="bubblewrap (a tree of its runtime and its own files, read-only; process, user and network namespaces of its own) "
    "and the system call filter",
    needs="bubblewrap on `PATH` and user namespaces; in a container the system call profile of this project",
    leaves_open="clocks (not to sealed bots) and the processor's caches; else nothing known",
    remedies=(
        "Ubuntu 23.10 and newer: install bubblewrap and its AppArmor profile (package apparmor-profiles).",
        "Docker: give the worker the seccomp profile of this project and apparmor=unconfined; see docs/sandbox.md.",
    ),
    prerequisites=_prerequisites,
    start=start,
    own_numbers=True,
    # execvp(3) treats a file that is not a program as a script, and there is no shell to run it.
    no_program={**BY_LAUNCHER, "bwrap: execvp": (*NO_PROGRAM, errno.ENOENT)},
)
