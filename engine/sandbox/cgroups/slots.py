"""One user id per live bot, for a worker that runs as root. A slot is reserved for the whole machine: see reservations.py.

Two bots with one user id could see and stop each other, and would share one limit of processes.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from engine.sandbox.cgroups import reservations
from engine.sandbox.errors import NoFreeUser, SandboxError

# Distributions, systemd and the sub-ids of containers (from 100000 on) leave these ids alone. A container with a user
# namespace usually has ids below 65536 only; there systemd leaves fewer, and assigns 61184 and above to its services.
USERS = range(66000, 67000)
FEW_USERS = range(60706, 61184)
SHARE = 0.75  # Bots that leave room for others hold at most this part of the users.
WHAT_TO_DO = f"Let the worker write to it, or name another folder by {reservations.SETTING}."
MEMORY = Path("/dev/shm/tute-league-users")  # noqa: S108 - checked below


@dataclass
class Slot:
    """A user id reserved for one bot until ``release``."""

    user: int
    _reservations: list[reservations.Reservation] = field(repr=False)

    def release(self) -> None:
        """Release the id. May be called again."""
        for reservation in self._reservations:
            reservation.release()


def users(uid_map: Path = Path("/proc/self/uid_map")) -> range:
    """Return the user ids of bots on this machine. uid_map: the ids that exist here, as the kernel lists them."""
    lines = [line.split() for line in uid_map.read_text().splitlines()]
    is_mapped = any(int(first) <= USERS[0] and USERS[-1] < int(first) + int(count) for first, _, count in lines)
    return USERS if is_mapped else FEW_USERS


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


def acquire(*, leaves_room: bool = False) -> Slot:
    """Reserve a free user id. Raise NoFreeUser if all are in use, SandboxError if the folder is unusable.

    The id is drawn at random. A bot can read it, and from the order of ids it could tell how many bots the machine runs. Slots of workers in other
    containers are invisible here, and a draw makes a collision unlikely.

    leaves_room: first reserve one of fewer shares, so that such bots never hold all users. The share says nothing of the id, so the bot cannot tell.
    """
    place, ids = folder(), users()
    reserved: list[reservations.Reservation] = []
    try:
        if leaves_room:
            _draw(place, "share", range(int(SHARE * len(ids))), reserved)
        return Slot(_draw(place, "user", ids, reserved), reserved)
    except BaseException as error:
        for reservation in reserved:
            reservation.release()
        if isinstance(error, reservations.NotShared):
            raise SandboxError(str(error)) from error
        raise


def _draw(place: Path, name: str, numbers: range, reserved: list[reservations.Reservation]) -> int:
    """Reserve one of these numbers by chance, and add the reservation. Raise NoFreeUser, NotShared."""
    generator = random.Random(secrets.randbits(128))  # noqa: S311 - a draw by the system costs five times as much
    for number in generator.sample(numbers, len(numbers)):
        if reservation := reservations.reserve(place, f"{name}-{number}"):
            reserved.append(reservation)
            return number
    raise NoFreeUser(
        f"all {len(numbers)} bot users for this bot are in use. "
        "Run fewer workers or tables on this host, or look for matches that do not end."
    )
