"""Gives each live bot its place: a control group, where this machine has them, and under a worker that is root a user of its own.

That user gets a copy of the bot's files, which only it can read.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from engine.sandbox.cgroups import groups as cgroups
from engine.sandbox.cgroups import slots
from engine.sandbox.errors import SandboxError
from engine.sandbox.files import inventory, tree
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy

_COPIES = "bot"  # directory of a runtime's tree
_LONGER_THAN_A_MATCH_S = 7 * 86400


@dataclass
class Place:
    """Where one bot runs.

    user: its kernel user id; bot: its files; slot and lock: held by it, if the worker is root and the files are a copy;
    group: its control group, if this machine has them.
    """

    user: int
    bot: Path
    slot: slots.Slot | None
    lock: int = -1
    group: cgroups.Group | None = None

    @property
    def groups(self) -> list[str]:
        """Directories of control groups to enter."""
        return self.group.places if self.group else []

    def give_back(self) -> None:
        """Remove the copy and the control group, let the user id go. Harmless when repeated. Raises SandboxError."""
        if self.slot:
            shutil.rmtree(self.bot, ignore_errors=True)
            os.close(self.lock)
            self.slot.release()
            self.slot = None
        if self.group:
            group, self.group = self.group, None
            group.remove()


def place(bot_dir: Path, runtime: Runtime, policy: Policy, *, own_user: bool) -> Place:
    """Find a place for a bot. As root, with own_user: a slot and a copy in the runtime's tree, else its own directory.

    Raises SandboxError when there is no free slot, a link among the files, or the copy or the control group fails.
    """
    where = _files(bot_dir, runtime, own_user=own_user)
    try:
        where.group = cgroups.available().make(policy)
    except BaseException:
        where.give_back()
        raise
    return where


def _files(bot_dir: Path, runtime: Runtime, *, own_user: bool) -> Place:
    if os.getuid() != 0 or not own_user:
        with contextlib.suppress(OSError):  # another user's files: then that user sees to it
            tree.still(bot_dir)
        return Place(os.getuid(), bot_dir.resolve(), None)
    slot = slots.acquire()
    copies = runtime.root / _COPIES
    lock = -1
    try:
        target, lock = _claim(copies, slot.user)
        tree.copy_plain(bot_dir, target)
    except BaseException as error:
        if lock >= 0:
            shutil.rmtree(target, ignore_errors=True)
            os.close(lock)
        slot.release()
        if isinstance(error, OSError):
            raise SandboxError(f"cannot copy the bot {bot_dir} into {copies}: {error}") from error
        raise
    return Place(slot.user, target, slot, lock)


def _claim(copies: Path, user: int) -> tuple[Path, int]:
    """A new directory, whose name is never used again, that no ``sweep`` takes away while the descriptor is open. Raises OSError."""
    while True:
        target = Path(tempfile.mkdtemp(prefix=f"{user}-{inventory.kernel()}-", dir=copies))
        lock = -1
        try:
            lock = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            target.stat()
        except (FileNotFoundError, BlockingIOError):  # a sweep was faster
            if lock >= 0:
                os.close(lock)
        except BaseException:
            if lock >= 0:
                os.close(lock)
            raise
        else:
            return target, lock


def sweep(runtimes: Path) -> int:
    """Remove the copies that killed workers have left in the trees below ``runtimes``; their number.

    The kernel lets a worker's lock go when it dies, in whichever container it was; a copy that is locked belongs to a bot
    that lives or is just being started. Another kernel's locks cannot be seen (a host that was restarted, a virtual machine
    with the same volume): its copies go when they are older than any match.
    """
    gone = 0
    for copy in runtimes.glob(f"*/{_COPIES}/*"):
        with contextlib.suppress(OSError):  # another worker's sweep was faster, or its owner has it
            if (
                f"-{inventory.kernel()}-" not in copy.name
                and time.time() - copy.stat().st_mtime < _LONGER_THAN_A_MATCH_S
            ):
                continue
            lock = os.open(copy, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(copy, ignore_errors=True)
                gone += 1
            finally:
                os.close(lock)
    return gone
