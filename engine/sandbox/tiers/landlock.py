"""The tier that needs nothing installed: Landlock, the system call filter, limits; as root also a slot user and chroot.

An ordinary user's bot runs on the host's file system, where it can read only its runtime and its own files. It can still learn that other
paths exist (Landlock does not cover stat); as root, chroot hides them.
"""

from __future__ import annotations

import os
from typing import Any

from engine.sandbox.cgroups.attest import Expectation
from engine.sandbox.cgroups.placing import BotPlace
from engine.sandbox.files import tree
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel import filter as call_filter
from engine.sandbox.kernel import landlock
from engine.sandbox.kernel.syscalls import this_architecture
from engine.sandbox.policy import Policy, user_wide_processes
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.process.spawn import FIRST_KEPT, launch
from engine.sandbox.sealed import host
from engine.sandbox.tiers.tier import Tier

_CALLS = ("capset", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp")


def plan(place: BotPlace, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> dict[str, Any]:
    """Return the launcher's plan. If the place has a slot, the bot's files must be inside the runtime's tree."""
    support = landlock.support()
    root = str(runtime.root)
    inside, bot = ("", str(place.bot).removeprefix(root)) if place.slot else (root, str(place.bot))
    execute = landlock.READ_AND_EXECUTE
    readable = [(f"{inside}/{part.name}", execute) for part in runtime.root.iterdir() if part.name in runtime.parts]
    readable.append((bot, execute if runtime.runs_bot_files else landlock.READ))
    devices = tree.devices(runtime.root) if place.slot else ["/dev/null", "/dev/urandom"]
    readable += [(path, landlock.READ_AND_WRITE) for path in devices]
    if not place.slot:
        readable += [(str(path), landlock.READ) for path in runtime.host_files]
    filtered = call_filter.build(pipes=runtime.needs_pipes, sealing=policy.sealed)
    numbers = this_architecture().numbers
    return {
        "groups": place.groups,
        "own_network": None,  # The filter allows no call that would use a network.
        "core": core,
        "limits": policy.limits(processes=policy.threads + 1 if place.slot else user_wide_processes()),
        "root": root if place.slot else None,
        "user": place.slot.user if place.slot else None,
        "refuse_root": True,
        "drop_capabilities": True,
        "no_new_privileges": True,
        "directory": bot,
        "landlock": (support.ruleset, [support.rule(path, rights) for path, rights in readable]),
        "filter": (filtered.code, filtered.pid_at),
        "program": FIRST_KEPT if policy.sealed else None,
        "numbers": {name: numbers[name] for name in _CALLS},
        "argv": runtime.argv(inside, bot, entry),
        "environment": runtime.environ(inside, bot),
    }


def start(place: BotPlace, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> BotProcess:
    """Start a bot. If any step fails, raise SandboxError and leave no process behind."""
    steps = plan(place, runtime, entry, policy, core)
    program = host.program(runtime, place.bot / entry) if policy.sealed else -1
    try:
        started = launch(steps, keep=(program,) if policy.sealed else (), timeless=policy.sealed)
    finally:
        if policy.sealed:
            os.close(program)
    expected = Expectation(user=place.user, limits=steps["limits"], core=core, group=place.group, sealed=policy.sealed)
    return BotProcess(started, policy, expected, gated=bool(runtime.gate), on_close=place.give_back)


def _unsealed() -> str | None:
    if os.getuid() == 0:
        return None
    return (
        "an ordinary user's bot can read the times of the host's files, which Landlock does not cover; run the worker as root, or install "
        "bubblewrap"
    )


TIER = Tier(
    name="landlock",
    held_by="Landlock (its runtime and its own files, read-only) and the system call filter; as root also a user of its own and chroot",
    needs="Linux 5.13 or newer with Landlock; it also works in a default container",
    leaves_open="the numbers of new threads, which a counter of the host gives (sealed bots start none); as an ordinary user also whether a path "
    "of the host exists (`stat`); clocks and caches as everywhere",
    remedies=(
        "Use Linux 5.13 or newer with landlock in the lsm= boot list (cat /sys/kernel/security/lsm).",
        "Run the worker as an ordinary user, or as root with the capabilities SETUID, SETGID and SYS_CHROOT.",
    ),
    prerequisites=lambda: landlock.support().notes,
    start=start,
    unsealed=_unsealed,
)
