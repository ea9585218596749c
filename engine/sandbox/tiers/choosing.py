"""Choose a tier that holds here and start bots in it. What was not proved by the canary on this host is not used."""

from __future__ import annotations

import dataclasses
import errno
import functools
import os
from collections.abc import Callable
from pathlib import Path

from engine.sandbox.cgroups import groups
from engine.sandbox.cgroups.placing import Place, place, sweep
from engine.sandbox.errors import BotFault, SandboxError, SandboxUnavailable
from engine.sandbox.files import elf, runtimes
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.kernel import landlock
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.tiers import landlock as tier_landlock
from engine.sandbox.tiers import namespaces, none
from engine.sandbox.tiers.canary import TierReport, battery

BEST_FIRST = (namespaces.NAME, tier_landlock.NAME)
_TIERS = {tier.NAME: tier for tier in (namespaces, tier_landlock, none)}
# What execve says of a file that is no program; everything else (no memory, no permission, a file system mounted noexec) is ours.
_NO_PROGRAM = (errno.ENOEXEC, errno.EINVAL, errno.ELIBBAD)
_NOT_EXECUTABLE = {
    "failed at become: ": _NO_PROGRAM,
    "bwrap: execvp": (
        *_NO_PROGRAM,
        errno.ENOENT,
    ),  # execvp(3) takes a file that is no program for a script: no shell is there
}
_REMEDIES = {
    namespaces.NAME: [
        "Ubuntu 23.10 and newer: install bubblewrap and its AppArmor profile (package apparmor-profiles).",
        "Docker: give the runner the seccomp profile of this project and apparmor=unconfined; see docs/sandbox.md.",
    ],
    tier_landlock.NAME: [
        "Use Linux 5.13 or newer with landlock in the lsm= boot list (cat /sys/kernel/security/lsm).",
        "Run the worker as an ordinary user, or as root with the capabilities SETUID, SETGID and SYS_CHROOT.",
    ],
}


def start(
    tier: str, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None
) -> BotProcess:
    """Start one bot in a tier that nobody has checked; for everybody but the canary there is ``Sandbox``."""
    if not _is_own_file(bot_dir, entry):
        raise SandboxError(f"{bot_dir} has no file {entry}; name the entry file by its path in the bot's directory")
    if policy.memory_mb < runtime.memory_mb:
        raise ValueError(f"{runtime.name} needs memory_mb of at least {runtime.memory_mb}, not {policy.memory_mb}")
    if runtime.address_space_mb and policy.address_space_mb is None:
        policy = dataclasses.replace(policy, address_space_mb=runtime.address_space_mb)
    where = place(bot_dir, runtime, policy, own_user=tier != none.NAME)
    begin: Callable[[Place, Runtime, str, Policy, int | None], BotProcess] = _TIERS[tier].start
    try:
        if runtime.runs_bot_files:
            _look_at_program(bot_dir / entry, entry)
            if where.slot:
                (where.bot / entry).chmod(0o555)
        return begin(where, runtime, entry, policy, core)
    except SandboxError as error:
        where.give_back()
        if runtime.runs_bot_files and _is_no_program(bot_dir / entry, str(error)):
            raise BotFault("crash", f"{entry} cannot be executed by the kernel") from error
        raise
    except OSError as error:
        where.give_back()
        raise SandboxError(
            f"cannot start a bot: {error}. Look at the worker's open files and process limits."
        ) from error
    except BaseException:
        where.give_back()
        raise


def _is_own_file(bot_dir: Path, entry: str) -> bool:
    """Whether the entry is a file, and one below the bot's directory: neither `..` nor a link leads out of it."""
    if "\0" in entry:
        return False
    real = os.path.realpath(os.path.join(bot_dir, entry))  # noqa: PTH118 - pathlib takes three times as long
    return os.path.isfile(real) and real.startswith(os.path.realpath(bot_dir) + "/")  # noqa: PTH113


def _look_at_program(file: Path, entry: str) -> None:
    reason = elf.why_not_static(file)
    if reason:
        raise BotFault("crash", f"{entry} cannot be executed: {reason}")


def _is_no_program(file: Path, complaint: str) -> bool:
    """Whether the start failed because of what stands in the file."""
    codes = next((codes for step, codes in _NOT_EXECUTABLE.items() if step in complaint), ())
    return file.is_file() and any(os.strerror(code) in complaint for code in codes)


@functools.lru_cache
def _report(tier: str, state_dir: Path) -> TierReport:
    if tier == none.NAME:
        return TierReport(
            tier, True, notes=["no isolation at all: only for bots you trust, only when asked for by name"]
        )
    notes: list[str] = []
    try:
        if tier == tier_landlock.NAME:
            notes += landlock.support().notes
        else:
            namespaces.bubblewrap()
        runtime = runtimes.python(state_dir)
        canaries, failures = battery(functools.partial(start, tier), runtime, state_dir)
    except (SandboxError, NotImplementedError) as error:
        return TierReport(tier, False, [str(error)], list(_REMEDIES[tier]), notes)
    remedies = list(_REMEDIES[tier]) if failures else []
    return TierReport(tier, not failures, failures, remedies, notes, canaries)


def check(state_dir: Path, *, again: bool = False) -> list[TierReport]:
    """One report a tier, the best first, "none" last; proved by the canary once per process, or ``again``."""
    if again:
        _report.cache_clear()
    return [_report(tier, state_dir.resolve()) for tier in (*BEST_FIRST, none.NAME)]


class Sandbox:
    """Starts bots in one tier.

    tier: "namespaces", "landlock", "auto" (the best that holds here) or "none" (no isolation, never chosen by "auto");
    state_dir: where runtimes are kept. Raises SandboxUnavailable when it does not hold, ValueError for another name.
    """

    def __init__(self, tier: str = "auto", state_dir: Path = Path("var")) -> None:
        self.state_dir = state_dir.resolve()
        self.tier = self._choose(tier)
        sweep(runtimes.directory(self.state_dir))

    def _choose(self, tier: str) -> str:
        if tier != "auto" and tier not in _TIERS:
            raise ValueError(f"tier {tier!r} is unknown; expected auto, {', '.join(_TIERS)}")
        refused = []
        for name in BEST_FIRST if tier == "auto" else (tier,):
            report = _report(name, self.state_dir)
            if report.holds:
                return name
            refused += [f"{name}: {reason}" for reason in report.reasons + report.remedies]
        raise SandboxUnavailable(
            "no sandbox holds on this host, so no bot is started. " + " ".join(refused) + " See docs/sandbox.md."
        )

    @property
    def control_groups(self) -> str:
        """The kind every bot is placed in: "v2", "v1" or "none"."""
        return groups.here().name

    @property
    def report(self) -> TierReport:
        """What the canary found in this tier."""
        return _report(self.tier, self.state_dir)

    def start(self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None) -> BotProcess:
        """Start a bot and return once it is confined, attested and running.

        bot_dir: its unpacked files; entry: path of the file to run in it; core: the one it is pinned to, or any.
        May be called early: freeze the process until it is needed. Raises SandboxError when any step fails, BotFault
        when the bot's own file cannot be executed.
        """
        return start(self.tier, bot_dir, runtime, entry, policy, core)
