"""Give each live bot its place: a control group, if this machine has them, and under a root worker a user of its own.

That user gets a copy of the bot's files, which only it can read.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from engine.sandbox.cgroups import groups as cgroups
from engine.sandbox.cgroups import slots
from engine.sandbox.errors import SandboxError
from engine.sandbox.files import inventory, tree
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy

_COPIES = "bot"  # The directory in a runtime's tree that holds copies of bots.
_LONGER_THAN_A_MATCH_S = 7 * 86400


@dataclass
class BotPlace:
    """The place where one bot runs.

    user: the bot's kernel user id; bot: its files; slot and lock: both reserved for the bot, if the worker is root and the files are a copy; group:
    the bot's control group, if this machine has them.
    """

    user: int
    bot: Path
    slot: slots.Slot | None
    lock: int = -1
    group: cgroups.ControlGroup | None = None

    @property
    def groups(self) -> list[str]:
        """Directories of control groups to enter."""
        return self.group.places if self.group else []

    def give_back(self) -> None:
        """Remove the copy and the control group, release the user id. May be called again. Raise SandboxError."""
        if self.slot:
            shutil.rmtree(self.bot, ignore_errors=True)
            os.close(self.lock)
            self.slot.release()
            self.slot = None
        if self.group:
            group, self.group = self.group, None
            group.remove()


def place(bot_dir: Path, runtime: Runtime, policy: Policy, *, own_user: bool) -> BotPlace:
    """Find a place for a bot: as root with own_user, a slot and a copy in the runtime's tree; else its own directory.

    Raise NoFreeUser if no slot is free, SandboxError if the files contain a link, or if the copy or the control group fails.
    """
    where = _files(bot_dir, runtime, policy, own_user=own_user)
    try:
        where.group = cgroups.available().make(policy)
    except BaseException:
        where.give_back()
        raise
    return where


def _files(bot_dir: Path, runtime: Runtime, policy: Policy, *, own_user: bool) -> BotPlace:
    if os.getuid() != 0 or not own_user:
        with contextlib.suppress(OSError):  # The files belong to another user, who takes care of them.
            tree.still(bot_dir)
        return BotPlace(os.getuid(), bot_dir.resolve(), None)
    slot = slots.acquire(leaves_room=policy.leaves_room)
    copies = runtime.root / _COPIES
    lock = -1
    try:
        target, lock = _claim(copies)
        tree.copy_plain(bot_dir, target)
    except BaseException as error:
        if lock >= 0:
            shutil.rmtree(target, ignore_errors=True)
            os.close(lock)
        slot.release()
        if isinstance(error, OSError):
            raise SandboxError(f"cannot copy the bot {bot_dir} into {copies}: {error}") from error
        raise
    return BotPlace(slot.user, target, slot, lock)


def _mark(name: str) -> str:
    """Return the second half of a copy's name: it shows this kernel which copies are its own, and shows a bot nothing."""
    return hashlib.sha256(f"{inventory.kernel()} {name}".encode()).hexdigest()[:16]


def _claim(copies: Path) -> tuple[Path, int]:
    """Create a directory with a unique name that no ``sweep`` removes while the returned descriptor is open. Raise OSError."""
    while True:
        name = secrets.token_hex(8)
        target = copies / (name + _mark(name))
        target.mkdir(mode=0o700)
        lock = -1
        try:
            lock = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            target.stat()
        except (FileNotFoundError, BlockingIOError):  # Another worker's sweep has removed the directory already.
            if lock >= 0:
                os.close(lock)
        except BaseException:
            if lock >= 0:
                os.close(lock)
            raise
        else:
            return target, lock


def sweep(runtimes: Path) -> int:
    """Remove the copies that killed workers have left in the trees below ``runtimes``; return their number.

    The kernel releases a worker's lock when it dies, in whichever container it was; a locked copy belongs to a bot that lives or is being started.
    Locks of another kernel are invisible (before a restart of the host, or in a virtual machine with the same volume): copies made under another
    kernel are removed when they are older than any match.
    """
    gone = 0
    for copy in runtimes.glob(f"*/{_COPIES}/*"):
        with contextlib.suppress(OSError):  # Another worker's sweep was faster, or the copy is in use.
            if copy.name[16:] != _mark(copy.name[:16]) and time.time() - copy.stat().st_ctime < _LONGER_THAN_A_MATCH_S:
                continue
            lock = os.open(copy, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(copy, ignore_errors=True)
                gone += 1
            finally:
                os.close(lock)
    return gone
