"""A control group for each live bot, if this machine lets the worker create one: v2 if a group was delegated, else v1, else none.

A group is a second barrier behind the limits of the process itself. The kernel limits memory and processes and counts CPU time for the group as a
whole, and it kills the whole group: no process in it escapes. A kind is used only after a group of that kind was created here and its limits were
written and read back; from then on no bot is started without a group.

Groups are used only if the operator sets SANDBOX_CONTROL_GROUPS=1: entering a group waits for all cores (an RCU grace period), which makes every
start 5 to 20 ms longer; and a bot is a single process, whose clock, limits and end are exact without a group.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.sandbox.errors import SandboxError
from engine.sandbox.policy import MIB, Policy

# In addition to the bot's own memory: the runtime's files that it touches first, thread stacks, page tables, the wrapper.
ROOM_MB = 64
SWITCH = "SANDBOX_CONTROL_GROUPS"
_WORKERS = "tute-worker"  # In v2 the processes of a group with subgroups must themselves be in a subgroup.
_PREFIX = "tute-bot"
_EMPTY_S = 5.0
_NEEDED = ("memory", "pids")  # Without these controllers control groups are not used.
_ALSO = ("cpuacct",)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class ControlGroup:
    """The group of one bot. paths: controller -> its directory; v2 has one, named "unified"."""

    paths: dict[
        str, str
    ]  # Paths are text, because every start creates, fills and removes one, and pathlib is slower than the kernel.

    @property
    def places(self) -> list[str]:
        """The directories; the launcher enters each of them."""
        return list(self.paths.values())

    @property
    def directories(self) -> dict[str, Path]:
        """The same directories as Path objects."""
        return {kind: Path(place) for kind, place in self.paths.items()}

    def differences(self, pid: int) -> list[str]:
        """Return what is wrong with a process that should be in this group, as the kernel reports it. Raise OSError."""
        with open(f"/proc/{pid}/cgroup") as file:  # noqa: PTH123
            inside = _own_groups(file.read())
        name = next(iter(self.paths.values())).rpartition("/")[2]
        return [
            f"it is in the {kind} control group {inside.get(kind)}, expected {name}"
            for kind in self.paths
            if not (inside.get(kind) or "").endswith(f"/{name}")
        ]

    def cpu_s(self) -> float:
        """Return the CPU seconds of everything that ever ran in the group; 0 if the kernel does not count them."""
        with contextlib.suppress(OSError):
            if "unified" in self.directories:
                return int(_field(self.directories["unified"] / "cpu.stat", "usage_usec")) / 1e6
            if "cpuacct" in self.directories:
                return int((self.directories["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        return 0.0

    def out_of_memory(self) -> bool:
        """Return True if the kernel has killed a process of the group at its memory limit."""
        place, name = (
            (self.directories["unified"], "memory.events")
            if "unified" in self.directories
            else (self.directories["memory"], "memory.oom_control")
        )
        with contextlib.suppress(OSError):
            return int(_field(place / name, "oom_kill")) > 0
        return False

    def remove(self) -> None:
        """Kill the processes left in the group and remove it. May be called again. Raise SandboxError if that fails."""
        until = time.monotonic() + _EMPTY_S
        for place in self.paths.values():
            while True:
                try:
                    os.rmdir(place)  # noqa: PTH106
                    break
                except FileNotFoundError:
                    break
                except OSError as error:
                    if time.monotonic() > until:
                        raise SandboxError(f"cannot remove the control group {place}: {error}") from error
                    self._kill()
                    time.sleep(0.001)

    def _kill(self) -> None:
        unified = self.directories.get("unified")
        if unified and (unified / "cgroup.kill").exists():
            (unified / "cgroup.kill").write_text("1")
            return
        # pids.max bounds how many processes can start meanwhile, and the caller repeats this until the group is empty.
        for pid in _inhabitants(unified or self.directories["pids"]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True)
class GroupKind:
    """The control groups that this machine offers.

    name: "v2", "v1" or "none"; parents: controller -> directory for groups; note: what the groups count, or why there are none.
    """

    name: str
    parents: dict[str, Path]
    note: str

    def make(self, policy: Policy) -> ControlGroup | None:
        """Create a group with the policy's limits; return None if this machine offers none. Raise SandboxError if that fails."""
        if not self.parents:
            return None
        name = f"{_PREFIX}-{_owner(os.getpid())}-{next(_numbers)}"
        group = ControlGroup({kind: f"{parent}/{name}" for kind, parent in self.parents.items()})
        try:
            for place in group.paths.values():
                os.mkdir(place)  # noqa: PTH102
            for path, value in _limits(group, policy):
                _write(path, value)
        except OSError as error:
            group.remove()
            raise SandboxError(
                f"cannot create the control group of a bot: {error}. Run `tute sandbox check`."
            ) from error
        except SandboxError:
            group.remove()
            raise
        return group


def _limits(group: ControlGroup, policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield (file, value). The kernel's own wrapper process and the first thread count in addition to the policy's threads."""
    memory, processes = str((policy.memory_mb + ROOM_MB) * MIB), str(policy.threads + 2)
    if "unified" in group.paths:
        place = group.paths["unified"]
        yield f"{place}/memory.max", memory
        if os.access(f"{place}/memory.swap.max", os.F_OK):
            yield f"{place}/memory.swap.max", "0"
        yield f"{place}/memory.oom.group", "1"
        yield f"{place}/pids.max", processes
        return
    place = group.paths["memory"]
    yield f"{place}/memory.limit_in_bytes", memory
    if os.access(f"{place}/memory.memsw.limit_in_bytes", os.F_OK):
        yield f"{place}/memory.memsw.limit_in_bytes", memory
    yield f"{group.paths['pids']}/pids.max", processes


def _write(path: str, value: str) -> None:
    """Set a limit and check it. Raise OSError, SandboxError if the kernel has another value."""
    # Use one write call, because a limit is accepted or refused as a whole.
    fd = os.open(path, os.O_RDWR)
    try:
        os.write(fd, value.encode())
        actual = os.pread(fd, 64, 0).decode().strip()
    finally:
        os.close(fd)
    if actual != value:
        raise SandboxError(f"{path} is {actual} after {value} was written to it. Run `tute sandbox check`.")


def _field(path: Path, name: str) -> str:
    words = (line.split() for line in path.read_text().splitlines())
    return next((pair[1] for pair in words if pair[0] == name), "0")


def _inhabitants(place: Path) -> list[int]:
    try:
        return [int(word) for word in (place / "cgroup.procs").read_text().split()]
    except OSError:
        return []


@cache
def _owner(pid: int) -> str:
    return f"{pid}-{_start_of(pid)}"


def _start_of(pid: int) -> int:
    """Return when a process began, in clock ticks. Together with its number this identifies it. Raise OSError if it is gone."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])


# -- Detection ---------------------------------------------------------------------------------------------


def available() -> GroupKind:
    """Return the kind of control groups that bots of this process use."""
    if os.environ.get(SWITCH) == "1":
        return _detected()
    return GroupKind(
        "none",
        {},
        f"switched off; with {SWITCH}=1 the worker uses the groups that it may create, and each start takes 5 to 20 ms longer",
    )


@cache
def _detected() -> GroupKind:
    """Find out which groups this process may create, by creating one; do it once. If v2 requires it, the process itself moves into a leaf."""
    reasons = []
    for name, find in (("v2", _delegated), ("v1", _by_controller)):
        try:
            parents = find()
            kind = GroupKind(name, parents, "")
            trial = kind.make(Policy())
            if trial:
                trial.remove()
        except (OSError, SandboxError) as error:
            reasons.append(f"{name}: {error}")
            continue
        _sweep(parents)
        counted = "memory, processes and CPU time" if name == "v2" else ", ".join(parents)
        return GroupKind(name, parents, f"each bot is in a group of its own: {counted}")
    return GroupKind("none", {}, "; ".join(reasons))


def _delegated() -> dict[str, Path]:
    """Return the v2 directory under which this process may create groups. Raise OSError, SandboxError with the reason."""
    mounts = _mounts("cgroup2")
    own = _own_groups(Path("/proc/self/cgroup").read_text()).get("unified")
    if not mounts or own is None:
        raise SandboxError("it is not mounted")
    base = _within(mounts[0], own)
    if base.name == _WORKERS:
        base = base.parent
    lacking = [name for name in _NEEDED if name not in (base / "cgroup.controllers").read_text().split()]
    if lacking:
        raise SandboxError(f"{base} has no controller {' and '.join(lacking)}")
    if (base / "cgroup.type").exists():  # The root group is exempt: it may hold both processes and groups.
        _refuse_undelegated(base)
        leaf = base / _WORKERS
        leaf.mkdir(exist_ok=True)
        for pid in _inhabitants(base):
            with contextlib.suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(str(pid))
    (base / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in _NEEDED))
    return {"unified": base}


def _refuse_undelegated(base: Path) -> None:
    """Raise SandboxError unless we may divide the group: owned by us or, for root, delegated by systemd or the root of a container."""
    if os.getuid() != 0:
        if base.stat().st_uid != os.getuid() or not os.access(base, os.W_OK):
            raise SandboxError(
                f"{base} is not delegated to this user. Start the worker by `systemd-run --user --scope -p Delegate=yes`, "
                "or from a unit with Delegate=yes."
            )
        return
    marked = any(name.endswith(".delegate") for name in os.listxattr(base))
    if not marked and Path("/run/systemd/system").is_dir():
        raise SandboxError(f"{base} belongs to systemd. Give the worker's unit Delegate=yes.")


def _by_controller() -> dict[str, Path]:
    """Return controller -> this process's own v1 directory. Raise SandboxError with the reason.

    Of several mounts the first counts: later ones, such as those of a root that is being built, may go while we use them.
    """
    own = _own_groups(Path("/proc/self/cgroup").read_text())
    parents = {}
    for root, point, options in _mounts("cgroup"):
        for name in (*_NEEDED, *_ALSO):
            if name in options.split(",") and name in own and name not in parents:
                place = _within((root, point, options), own[name])
                if os.access(place, os.W_OK):
                    parents[name] = place
    lacking = [name for name in _NEEDED if name not in parents]
    if lacking:
        raise SandboxError(f"no {' and '.join(lacking)} directory that this user may write to")
    return parents


def _mounts(kind: str) -> list[tuple[str, str, str]]:
    """Return (root within the hierarchy, mount point, options) of every mount of this file system."""
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == kind:
            mounts.append((before.split()[3], before.split()[4], after.split()[-1]))
    return mounts


def _own_groups(text: str) -> dict[str, str]:
    """Parse /proc/<pid>/cgroup: controller -> path; v2 is named "unified"."""
    paths = {}
    for line in text.splitlines():
        number, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(",") if names else ["unified"] if number == "0" else [], path))
    return paths


def _within(mount: tuple[str, str, str], path: str) -> Path:
    """Return a group's directory as seen through a mount. Raise SandboxError if it is outside."""
    root, point, _ = mount
    inside = path.removeprefix(root.rstrip("/"))
    if ".." in path or not path.startswith(root):
        raise SandboxError(f"the group {path} is outside the hierarchy mounted at {point}")
    return Path(point, inside.lstrip("/"))


def _sweep(parents: dict[str, Path]) -> None:
    """Remove empty groups whose worker and forkserver were both killed."""
    for parent in parents.values():
        for place in parent.glob(f"{_PREFIX}-*"):
            try:
                pid, start = map(int, place.name.split("-")[2:4])
                alive = _start_of(pid) == start
            except OSError:
                alive = False
            except ValueError:
                continue
            if not alive:
                with contextlib.suppress(OSError):  # A process still lives in the group, so we must not remove it.
                    place.rmdir()
