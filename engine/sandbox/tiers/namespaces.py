"""The tier of bubblewrap: own user, process, network, IPC, host name and mount namespaces around the same filter.

Inside there is one process and a read-only tree; no /proc, no writable file, no device but null and urandom.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Any

from engine.sandbox.cgroups import attest
from engine.sandbox.cgroups.placing import Place
from engine.sandbox.cgroups.rights import SYS_ADMIN, effective
from engine.sandbox.errors import SandboxError, SandboxUnavailable
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel import filter as call_filter
from engine.sandbox.kernel.syscalls import this_machine
from engine.sandbox.policy import Policy, user_wide_processes
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.process.spawn import FIRST_KEPT, HANDSHAKE_S, launch, memory_file
from engine.sandbox.tiers.tier import BY_LAUNCHER, NO_PROGRAM, Tier

_NOBODY = "65534"
_FIRST_PROCESS = 1  # --as-pid-1: the bot is its namespace's init, whose end ends everything in it
_WRAPPER = "bwrap"
_SET_UP_S = 0.003  # what bubblewrap takes from its start to that of the bot, in the median: a look before delays it
_NEXT_LOOK_S = 0.0005
_FILTER, _INFO = FIRST_KEPT, FIRST_KEPT + 1  # descriptors as bubblewrap sees them


def bubblewrap() -> str:
    """Path of the bwrap program. Raises SandboxUnavailable with how to install it."""
    found = _on_path(os.environ.get("PATH", ""))
    if not found:
        raise SandboxUnavailable(
            "bubblewrap is not installed. Install the package `bubblewrap` (apt, dnf, apk, pacman)."
        )
    return found


@cache
def _on_path(path: str) -> str | None:
    return shutil.which(_WRAPPER, path=path)


@cache
def _blocked(runtime: Path) -> Path | None:
    """`unreachable`, once a runtime: were it closed later, bubblewrap would not start."""
    return unreachable(runtime)


def unreachable(path: Path) -> Path | None:
    """The first directory on the way to ``path`` that other users may not pass, or None. A slot user must pass all."""
    return next((step for step in reversed([path, *path.parents]) if not step.stat().st_mode & 0o001), None)


def command(place: Place, runtime: Runtime, entry: str, *, own_network: bool) -> list[str]:
    """The bubblewrap command line. own_network: it is started in a network of its own and need not make one."""
    words = [bubblewrap()]
    words += [f"--unshare-{name}" for name in ("user", "pid", "ipc", "uts", "cgroup-try")]
    words += [] if own_network else ["--unshare-net"]
    words += ["--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "bot"]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    for name, value in runtime.environ("").items():
        words += ["--setenv", name, value]
    words += ["--ro-bind", str(runtime.root), "/"]
    for device in ("/dev/null", "/dev/urandom"):
        words += ["--dev-bind", device, device]
    words += ["--ro-bind", str(place.bot), "/bot", "--chdir", "/bot"]
    words += ["--seccomp", str(_FILTER), "--info-fd", str(_INFO)]
    return [*words, "--", *runtime.argv("", "/bot", entry)]


def start(place: Place, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> BotProcess:
    """Start a bot. Raises SandboxError and leaves no process behind when any step fails."""
    blocked = _blocked(runtime.root) if place.slot else None
    if blocked:
        raise SandboxUnavailable(
            f"the bot's own user cannot pass the directory {blocked}. Put the state directory where every user may "
            "pass (chmod o+x), such as /var/lib/tute-league, or run the worker as an ordinary user."
        )
    processes = policy.threads + 2  # the wrapper itself counts
    limits = policy.limits(processes=processes if place.slot else user_wide_processes())
    own_network = place.slot is not None and effective(SYS_ADMIN)  # the launcher makes it, a spare ahead
    info_in, info_out = os.pipe()
    filter_fd = -1
    try:
        filter_fd = memory_file("filter", call_filter.build().for_pid(_FIRST_PROCESS))
        steps: dict[str, Any] = {
            "groups": place.groups,
            "own_network": own_network,
            "core": core,
            "limits": limits,
            "root": None,
            "user": place.slot.user if place.slot else None,
            "refuse_root": True,
            "drop_capabilities": True,
            "no_new_privileges": True,
            "directory": "/",
            "landlock": None,
            "filter": None,
            "numbers": {"capset": this_machine().numbers["capset"]},
            "argv": command(place, runtime, entry, own_network=own_network),
            "environment": {"PATH": "/usr/bin:/bin"},
        }
        started = launch(steps, keep=(filter_fd, info_out))
        os.close(info_out)
        info_out = -1
        try:
            time.sleep(_SET_UP_S)  # it shares our core: looking sooner or oftener makes it later
            started.pid = _bot_pid(info_in)
            if not place.slot:
                # Set inside the namespace, which counts from zero; before, it would count all the user's programs.
                limits = policy.limits(processes=processes)
                resource.prlimit(started.pid, resource.RLIMIT_NPROC, (processes, processes))
            _await_bot(started.pid)
        except (OSError, ValueError, SandboxError) as error:
            said = started.discard()
            raise SandboxError(f"bubblewrap could not start a bot: {said or error}") from error
    finally:
        for fd in (filter_fd, info_in, info_out):
            if fd >= 0:
                os.close(fd)
    expected = attest.Expectation(user=place.user, limits=limits, core=core, own_namespaces=True, group=place.group)
    return BotProcess(started, policy, expected, wrapped=True, gated=bool(runtime.gate), on_close=place.give_back)


def _bot_pid(info: int) -> int:
    """The bot's process id on our side, from bubblewrap. Raises SandboxError when it ends without telling."""
    text = b""
    while b"}" not in text:
        if not select.select([info], [], [], HANDSHAKE_S)[0]:
            raise SandboxError(f"it said nothing within {HANDSHAKE_S:g} s")
        piece = os.read(info, 4096)
        if not piece:
            raise SandboxError("it ended without a word")
        text += piece
    pid: int = json.loads(text)["child-pid"]
    return pid


def _await_bot(pid: int) -> None:
    """Until bubblewrap has become the bot, or is gone. Raises SandboxError when it takes too long."""
    until = time.monotonic() + HANDSHAKE_S
    try:
        name = os.open(f"/proc/{pid}/comm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        while time.monotonic() < until:
            if os.pread(name, 64, 0).strip() != _WRAPPER.encode():
                return
            time.sleep(_NEXT_LOOK_S)
    except OSError:
        return
    finally:
        os.close(name)
    raise SandboxError(f"it did not start the bot within {HANDSHAKE_S:g} s")


def _prerequisites() -> tuple[str, ...]:
    bubblewrap()
    return ()


TIER = Tier(
    name="namespaces",
    held_by="bubblewrap (a tree of its runtime and its own files, read-only; process, user and network namespaces of its own) "
    "and the system call filter",
    needs="bubblewrap on `PATH` and user namespaces; in a container the system call profile of this project",
    leaves_open="nothing known",
    remedies=(
        "Ubuntu 23.10 and newer: install bubblewrap and its AppArmor profile (package apparmor-profiles).",
        "Docker: give the worker the seccomp profile of this project and apparmor=unconfined; see docs/sandbox.md.",
    ),
    prerequisites=_prerequisites,
    start=start,
    # execvp(3) takes a file that is no program for a script, and there is no shell to run it.
    no_program={**BY_LAUNCHER, "bwrap: execvp": (*NO_PROGRAM, errno.ENOENT)},
)
