"""The tier that needs nothing installed: Landlock, the system call filter, limits; as root also a slot user and chroot.

An ordinary user's bot runs on the host's file system, where it can read only its runtime and its own files. It can
still learn that other paths exist (stat is not covered by Landlock); as root, chroot hides them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from . import filter as call_filter
from . import landlock, slots, tree
from .attest import Expectation
from .errors import SandboxError
from .policy import Policy
from .process import BotProcess
from .runtimes import Runtime
from .spawn import launch
from .syscalls import this_machine

NAME = "landlock"
# Threads of an ordinary user are counted with all his programs: a wide fence here, the exact count from outside.
_USER_WIDE_PROCESSES = 4096
_CALLS = ("capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp")


def plan(
    bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None, slot: slots.Slot | None
) -> dict[str, Any]:
    """Every step of the launcher, as data. With a slot ``bot_dir`` must lie inside the runtime's tree."""
    support = landlock.support()
    root = str(runtime.root)
    inside, bot = ("", str(bot_dir).removeprefix(root)) if slot else (root, str(bot_dir))
    rights = landlock.READ_AND_EXECUTE
    readable = [(inside + "/lib", rights)] + [
        (f"{inside}/{place.name}", rights) for place in runtime.root.iterdir() if place.name == runtime.name
    ]
    readable.append((bot, rights if runtime.runs_bot_files else landlock.READ))
    if not slot:
        readable += [("/dev/null", landlock.READ), ("/dev/urandom", landlock.READ)]
    filtered = call_filter.build()
    numbers = this_machine().numbers
    return {
        "core": core,
        "limits": policy.limits(processes=policy.threads + 1 if slot else _USER_WIDE_PROCESSES),
        "root": root if slot else None,
        "user": slot.user if slot else None,
        "refuse_root": True,
        "drop_capabilities": True,
        "no_new_privileges": True,
        "directory": bot,
        "landlock": (support.ruleset, [support.rule(path, mask) for path, mask in readable]),
        "filter": (filtered.code, filtered.pid_at),
        "numbers": {name: numbers[name] for name in _CALLS},
        "argv": runtime.argv(inside, bot, entry),
        "environment": runtime.environ(inside),
    }


def place_bot(bot_dir: Path, runtime: Runtime, slot: slots.Slot) -> Path:
    """A copy of the bot's files inside the runtime's tree, readable by its slot user, gone with the slot."""
    target = runtime.root / "bot" / str(slot.user)
    try:
        shutil.rmtree(target, ignore_errors=True)  # of a worker that was killed while it held this slot
        tree.copy(bot_dir, target, shutil.ignore_patterns("__pycache__"))
        tree.open_to_all(target)
    except OSError as error:
        raise SandboxError(f"cannot copy the bot {bot_dir} to {target}: {error}") from error
    return target


def start(bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> BotProcess:
    """Start a bot. Raises SandboxError and leaves nothing behind when any step fails."""
    slot = slots.acquire() if os.getuid() == 0 else None

    def give_back() -> None:
        if slot:
            shutil.rmtree(runtime.root / "bot" / str(slot.user), ignore_errors=True)
            slot.release()

    try:
        place = place_bot(bot_dir, runtime, slot) if slot else bot_dir.resolve()
        steps = plan(place, runtime, entry, policy, core, slot)
        started = launch(steps)
    except BaseException:
        give_back()
        raise
    expected = Expectation(user=slot.user if slot else os.getuid(), limits=steps["limits"], core=core)
    return BotProcess(started, policy, expected, wrapped=False, on_close=give_back)
