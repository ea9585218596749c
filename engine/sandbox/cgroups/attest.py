"""Inspect a started bot from outside and refuse it unless every restriction is in force.

A process cannot prove anything about itself; the kernel's account in /proc can. This costs about 0.3 ms per start.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.sandbox.cgroups.groups import ControlGroup
from engine.sandbox.errors import SandboxError

_CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")
_ENDING_S = 0.5
_SEALING_S = 20.0  # Limit for the rest of a start; sealing takes 0.0001 s.
_NEXT_LOOK_S = 0.0002
_NAMESPACES = ("user", "pid", "net", "ipc", "uts", "mnt")
_LIMIT_NAMES = {
    resource.RLIMIT_CPU: "Max cpu time",
    resource.RLIMIT_FSIZE: "Max file size",
    resource.RLIMIT_DATA: "Max data size",
    resource.RLIMIT_STACK: "Max stack size",
    resource.RLIMIT_CORE: "Max core file size",
    resource.RLIMIT_NPROC: "Max processes",
    resource.RLIMIT_NOFILE: "Max open files",
    resource.RLIMIT_MEMLOCK: "Max locked memory",
    resource.RLIMIT_AS: "Max address space",
    resource.RLIMIT_MSGQUEUE: "Max msgqueue size",
}


@dataclass(frozen=True)
class Expectation:
    """The restrictions that a confined process must have.

    user: the id as real, effective, saved and file system user; limits: as ``Policy.limits``; core: the core to which the process is pinned, if any;
    filtered: system calls are filtered and rights dropped; own_namespaces: the process shares no namespace with us; group: its control group, if this
    machine has them; sealed: the process seals itself with its first instructions.
    """

    user: int
    limits: Sequence[tuple[int, int, int]]
    core: int | None = None
    filtered: bool = True
    own_namespaces: bool = False
    group: ControlGroup | None = None
    sealed: bool = False


def status(pid: int) -> dict[str, str]:
    """Return the fields of /proc/<pid>/status.

    Raise ProcessLookupError or FileNotFoundError if the process is gone, SandboxError if it is hidden.
    """
    try:
        with open(f"/proc/{pid}/status") as file:  # noqa: PTH123 - read at every start, and pathlib takes as long as the kernel
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        raise
    except OSError as error:
        raise SandboxError(
            f"cannot inspect the bot's process {pid}: {error}. Is /proc mounted with hidepid?"
        ) from error
    return {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def differences(pid: int, expected: Expectation) -> list[str]:
    """Return a line for each difference from the expectation; an empty list if the bot is confined."""
    if expected.sealed:
        _await_seal(pid)
    fields = status(pid)
    wrong: list[str] = []
    if set(fields["Uid"].split()) != {str(expected.user)}:
        wrong.append(f"user ids are {fields['Uid']}, expected {expected.user}")
    if expected.filtered:
        wrong += _rights(fields, expected)
    if expected.core is not None and fields["Cpus_allowed_list"] != str(expected.core):
        wrong.append(f"it may run on cores {fields['Cpus_allowed_list']}, expected {expected.core}")
    if expected.own_namespaces:
        wrong += _shared_namespaces(pid, fields)
    if expected.group:
        outside = expected.group.differences(pid)
        if outside and _is_ending(pid):  # A process that is ending has already left its group.
            raise ProcessLookupError(f"process {pid} has ended")
        wrong += outside
    return wrong + _wrong_limits(pid, expected.limits)


def _await_seal(pid: int) -> None:
    """Wait until a bot has installed its second filter behind the first, which is the last step of sealing.

    Raise ProcessLookupError if the bot has ended, SandboxError if it does not become sealed.
    """
    until = time.monotonic() + _SEALING_S
    while time.monotonic() < until:
        fields = status(pid)
        if int(fields["Seccomp_filters"]) == _own_filters() + 2:
            return
        if fields["State"][0] in "ZX":
            raise ProcessLookupError(f"process {pid} has ended")
        time.sleep(_NEXT_LOOK_S)
    raise SandboxError(f"a bot did not seal itself within {_SEALING_S:g} s. Run `tute sandbox check`.")


@cache
def _own_filters() -> int:
    """Return the number of system call filters around this process, which every bot inherits."""
    return int(status(os.getpid())["Seccomp_filters"])


def _rights(fields: dict[str, str], expected: Expectation) -> list[str]:
    wrong = []
    if fields["Seccomp"] != "2":
        wrong.append(f"system calls are not filtered (Seccomp {fields['Seccomp']})")
    if fields["NoNewPrivs"] != "1":
        wrong.append("it may gain privileges (NoNewPrivs 0)")
    wrong += [f"{name} is {fields[name]}, expected none" for name in _CAPABILITY_SETS if int(fields[name], 16)]
    if expected.user == 0:
        wrong.append("it runs as root")
    if expected.user != os.getuid() and set(fields["Groups"].split()) - {str(expected.user)}:
        wrong.append(f"it has kept the groups {fields['Groups']}")
    return wrong


def _shared_namespaces(pid: int, fields: dict[str, str]) -> list[str]:
    wrong = []
    depth, ours = _own_namespaces(os.getpid())
    if len(fields["NSpid"].split()) < depth + 1:
        wrong.append("it has no process namespace of its own")
    for name in _NAMESPACES:
        try:
            if os.readlink(f"/proc/{pid}/ns/{name}") == ours[name]:  # noqa: PTH115 - six a start
                wrong.append(f"it shares our {name} namespace")
        except OSError as error:
            if _is_ending(pid):  # A process that is ending has already left its namespaces.
                raise ProcessLookupError(f"process {pid} has ended") from error
            wrong.append(f"its {name} namespace cannot be seen: {error.strerror}")
    return wrong


@cache
def _own_namespaces(pid: int) -> tuple[int, dict[str, str]]:
    """Return the depth of process namespaces and the link of each namespace of this process; neither changes while it runs."""
    links = {name: str(Path(f"/proc/{pid}/ns/{name}").readlink()) for name in _NAMESPACES}
    return len(status(pid)["NSpid"].split()), links


def _is_ending(pid: int) -> bool:
    """Return True if a process has ended or ends within a short time; a process that is ending may still look alive."""
    until = time.monotonic() + _ENDING_S
    while time.monotonic() < until:
        try:
            if status(pid)["State"][0] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.001)
    return False


def _wrong_limits(pid: int, limits: Sequence[tuple[int, int, int]]) -> list[str]:
    with open(f"/proc/{pid}/limits") as file:  # noqa: PTH123
        text = file.read()
    actual_limits = {line[:25].strip(): line[25:].split()[:2] for line in text.splitlines()[1:]}
    wrong = []
    for number, soft, hard in limits:
        name = _LIMIT_NAMES[number]
        if actual_limits.get(name) != [str(soft), str(hard)]:
            wrong.append(f"{name} is {actual_limits.get(name)}, expected {soft}, {hard}")
    return wrong


def attest(pid: int, expected: Expectation) -> None:
    """Raise SandboxError that lists every difference, ProcessLookupError if the process is gone."""
    try:
        wrong = differences(pid, expected)
    except (FileNotFoundError, ProcessLookupError) as error:
        raise ProcessLookupError(f"process {pid} has ended") from error
    except (OSError, KeyError) as error:
        wrong = [f"it cannot be inspected: {error!r}"]
    if wrong:
        raise SandboxError(
            "a bot was started but is not confined as required, so it was stopped: " + "; ".join(wrong) + ". "
            "Run `tute sandbox check`."
        )
