"""Signs of life of a worker, scheduler or embedded web process: a file for each of its loops, with the time of the last round.

`docker/healthcheck.py` reads them. They say nothing about the database: a process whose database does not answer need not be ended. Standard library
only, because importing Django and a database driver would take longer on a busy host than a health check may.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger("league.loops")
REFUSAL = "refusal"  # In place of a loop's name: the sign that says why the process takes no work.
EVERY_S = 1.0  # The least time between two signs of one loop.
NEVER_S = 1e9


def folder() -> Path:
    """Return the folder of this user's signs, among the temporary files, which each container has for itself."""
    return Path(tempfile.gettempdir()) / f"tute-league-{os.getuid()}"


class Signs:
    """The signs of this process. If the disk accepts none, the log says so, and nothing else changes."""

    def __init__(self, kind: str) -> None:
        """kind: "worker", "scheduler" or "web"."""
        self._kind = kind
        self._place: Path | None = None
        self._files: dict[str, int] = {}
        self._shown: dict[str, tuple[float, str]] = {}

    def show(self, name: str, patience: float, error: str = "") -> None:
        """Note a round of the loop `name`, which promises the next one within `patience` seconds. error: what ended its last round."""
        now = time.monotonic()
        before, last_error = self._shown.get(name, (-NEVER_S, ""))
        if now - before < EVERY_S and error == last_error:
            return
        self._shown[name] = now, error
        try:
            fd = self._files.get(name, -1)
            if fd < 0:
                fd = self._files[name] = self._open(name)
            line = f"{now:.1f} {patience:.0f} {' '.join(error.split())}\n".encode()
            os.pwrite(fd, line, 0)  # A single call writes the whole line, so nobody reads half a sign.
            os.ftruncate(fd, len(line))
        except OSError as failure:
            if name not in self._files:
                log.warning("cannot write a sign of life of the loop %r: %s", name, failure)
                self._files[name] = -1

    def _open(self, name: str) -> int:
        if self._place is None:
            top = folder()
            top.mkdir(mode=0o700, exist_ok=True)
            if top.lstat().st_uid != os.getuid():
                raise PermissionError(f"{top} belongs to somebody else")
            for old in top.iterdir():
                if _process(old) is None:
                    shutil.rmtree(old, ignore_errors=True)
            place = top / f"{self._kind}-{os.getpid()}-{_stat(os.getpid())[1]}"
            place.mkdir(mode=0o700, exist_ok=True)
            self._place = place
        return os.open(self._place / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def close(self) -> None:
        """Remove the signs, because the process ends as it should."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)


@dataclass(frozen=True)
class Sign:
    """The last sign of life of a loop."""

    name: str
    age: float
    patience: float
    error: str


def trouble(kind: str, *, ready: bool = False) -> str:
    """Return why no process of this kind is alive, or what is wrong with one that is; "" if all is well.

    ready: also complain about a loop whose last round ended with an error, and about a process that refuses to work.
    """
    processes = [(place, state) for place in _places(kind) if (state := _process(place)) is not None]
    if not processes:
        return f"no {kind} lives here"
    for place, state in processes:
        pid = place.name.split("-")[1]
        if state in "Tt":
            return f"the {kind} {pid} is stopped"
        signs = _read(place)
        for sign in signs:
            if sign.age > sign.patience:
                return f"the loop {sign.name!r} of the {kind} {pid} has stood still for {sign.age:.0f} s"
        for sign in signs if ready else ():
            if sign.error:
                what = f"the {kind} {pid} refuses to work" if sign.name == REFUSAL else f"the loop {sign.name!r} fails"
                return f"{what}: {sign.error}"
    return ""


def latest(pid: int) -> float | None:
    """Return the time of the latest sign of life of any loop of the process `pid`; None if there is none."""
    with contextlib.suppress(OSError):
        for place in folder().glob(f"*-{pid}-{_stat(pid)[1]}"):
            return max((path.stat().st_mtime for path in place.iterdir()), default=None)
    return None


def _places(kind: str) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(folder().glob(f"{kind}-*"))
    return []


def _read(place: Path) -> list[Sign]:
    now, signs = time.monotonic(), []
    for path in sorted(place.iterdir()):
        with contextlib.suppress(OSError, ValueError):  # The file has just been created or removed.
            stamp, patience, error = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].split(" ", 2)
            signs.append(Sign(path.name, now - float(stamp), float(patience), error))
    return signs


def _process(place: Path) -> str | None:
    """Return the state of the folder's process as a letter; None if the process has ended, even if another one has its number by now."""
    try:
        _, pid, start = place.name.split("-")
        state, began = _stat(int(pid))
    except (OSError, ValueError):
        return None
    return state if began == start and state not in "ZX" else None


def _stat(pid: int) -> tuple[str, str]:
    """Return the state and the start time of a process. Number and start time identify it for good. Raise OSError if it has ended."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return fields[0].decode(), fields[19].decode()
