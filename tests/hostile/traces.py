"""The traces that a bot could leave on a machine: processes, descriptors, files, control groups, mounts, kernel objects."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engine.sandbox.cgroups import groups as cgroups
from engine.sandbox.cgroups import slots
from engine.sandbox.process import spawn

_BOT_USERS = slots.users()


def open_files() -> set[str]:
    """Return the descriptors of this process and what they are."""
    spawn.ready()
    files = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            files.add(f"{entry.name}:{entry.readlink()}")
        except OSError:
            continue  # the directory's own
    return {entry for entry in files if "/fd" not in entry}


def children() -> set[str]:
    """Our child processes and those of the process that starts bots, without those that it keeps ready."""
    forkserver = str(spawn.ready())
    pids = (str(os.getpid()), forkserver)
    child_pids = {child for pid in pids for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    return {child for child in child_pids if child == forkserver or not _is_spare(child, _name(forkserver))}


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _is_spare(pid: str, newborn: str) -> bool:
    """Wait up to a second while the process still has the name of its birth; return True if it is a spare, or gone."""
    until = time.monotonic() + 1
    while _name(pid) == newborn and time.monotonic() < until:
        time.sleep(0.001)
    return _name(pid) in ("tute-spare", "")


def groups() -> set[str]:
    """Control groups that this process made."""
    parents = cgroups.available().parents.values()
    return {str(place) for parent in parents for place in parent.glob(f"tute-bot-{os.getpid()}-*")}


def mounts(state_dir: Path) -> set[str]:
    """Return the mounts that show something of our state directory."""
    return {line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(state_dir) in line}


def kernel_objects() -> set[str]:
    """Shared memory, semaphores and queues of System V that belong to a bot's user."""
    objects = set()
    for kind in ("shm", "sem", "msg"):
        path = Path(f"/proc/sysvipc/{kind}")
        lines = path.read_text().splitlines() if path.is_file() else []
        for line in lines[1:]:
            names = dict(zip(lines[0].split(), line.split(), strict=False))
            if int(names["uid"]) in _BOT_USERS:
                objects.add(f"{kind} {line.split()[1]}")
    return objects


def shared_files() -> set[str]:
    """Return the files of a bot's user in the places where everybody may write."""
    paths = set()
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"):
        for path in Path(folder).iterdir() if Path(folder).is_dir() else []:
            try:
                if path.lstat().st_uid in _BOT_USERS:
                    paths.add(str(path))
            except OSError:
                continue
    return paths


def collect(state_dir: Path) -> set[str]:
    """Return all traces as text: what is there afterwards and was not before was left behind."""
    return {
        f"{what}: {entry}"
        for what, entries in {
            "child process": children(),
            "descriptor": open_files(),
            "control group": groups(),
            "mount": mounts(state_dir),
            "kernel object": kernel_objects(),
            "file": shared_files(),
        }.items()
        for entry in entries
    }
