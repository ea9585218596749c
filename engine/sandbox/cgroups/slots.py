"""One user id per live bot, for a worker that runs as root. A slot is reserved for the whole machine: see reservations.py.

Two bots with one user id could see and stop each other, and would share one limit of processes.
"""

from __future__ import annotations

import contextlib
import os
import random
import stat
from dataclasses import dataclass, field
from pathlib import Path

from engine.sandbox.cgroups import reservations
from engine.sandbox.errors import SandboxError

FIRST_USER = 61000
LAST_USER = 61183  # systemd assigns 61184 and above to its dynamic services.
WHAT_TO_DO = f"Let the worker write to it, or name another folder by {reservations.SETTING}."
MEMORY = Path("/dev/shm/tute-league-users")  # noqa: S108 - checked below


@dataclass
class Slot:
    """A user id reserved for one bot until ``release``."""

    user: int
    _reservation: reservations.Reservation = field(repr=False)

    def release(self) -> None:
        """Release the id. May be called again."""
        self._reservation.release()


def folder() -> Path:
    """Return the folder for slots: one of the machine or, in a container without MACHINE_DIR, of that container.

    Raise SandboxError unless the folder belongs to root alone: another user could exchange a file, and two workers would get the same slot.
    """
    place = MEMORY
    if os.environ.get(reservations.SETTING) and (shared := reservations.shared_folder()):
        place = shared / "users"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        facts = place.lstat()
    except OSError as error:
        raise SandboxError(f"cannot create {place}: {error.strerror or error}. {WHAT_TO_DO}") from error
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise SandboxError(f"{place} does not belong to this user alone. Remove it. {WHAT_TO_DO}")
    return place


def acquire() -> Slot:
    """Reserve a free user id. Raise SandboxError if all are in use.

    The id is drawn at random. A bot can read it, and from the order of ids it could tell how many bots the machine runs. Slots of workers in other
    containers are invisible here, and a draw makes a collision unlikely.
    """
    users = list(range(FIRST_USER, LAST_USER + 1))
    random.SystemRandom().shuffle(users)
    place = folder()
    try:
        for user in users:
            if reservation := reservations.reserve(place, f"user-{user}"):
                return Slot(user, reservation)
    except reservations.NotShared as error:
        raise SandboxError(str(error)) from error
    raise SandboxError(
        f"all {len(users)} bot users ({FIRST_USER} to {LAST_USER}) are in use. "
        "Run fewer workers on this host, or look for matches that do not end."
    )
