"""Choose a tier that holds on this host and start bots in it. A tier that the canary has not tested is not used."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
from collections.abc import Callable
from pathlib import Path

from engine.sandbox.cgroups import groups
from engine.sandbox.cgroups.placing import place, sweep
from engine.sandbox.errors import BotFault, SandboxError, SandboxUnavailable
from engine.sandbox.files import elf, runtimes
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy
from engine.sandbox.process import strays
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.sealed import host
from engine.sandbox.tiers import STRONGEST_FIRST
from engine.sandbox.tiers.canary import TierReport, battery, stopped_clocks
from engine.sandbox.tiers.tier import Tier

TIERS: tuple[Tier, ...] = tuple(importlib.import_module(f"{__package__}.{name}").TIER for name in STRONGEST_FIRST)
_NOT_HELD = "the tier does not hold"
BUILDER = "namespaces"  # The tier whose walls confine builds (building.py).
_BY_NAME = {tier.name: tier for tier in TIERS}


def tier_called(name: str) -> Tier:
    """Return the tier with this name. Raise ValueError with all names."""
    if name not in _BY_NAME:
        raise ValueError(f"tier {name!r} is unknown; expected auto, {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def is_weaker(name: str, than: str) -> bool:
    """Return True if the tier `name` confines less than the tier `than`. Raise ValueError for an unknown tier."""
    return TIERS.index(tier_called(name)) > TIERS.index(tier_called(than))


def table() -> str:
    """Format the tiers as the Markdown table of docs/sandbox.md."""
    lines = ["| tier, strongest first | a bot is held by | it needs | it leaves open |", "|---|---|---|---|"]
    for tier in TIERS:
        name = f"`{tier.name}`" if tier.isolates else f"`{tier.name}`, never chosen by `auto`"
        lines.append(f"| {name} | {tier.held_by} | {tier.needs} | {tier.leaves_open} |")
    return "\n".join(lines) + "\n"


def start(
    tier: str, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None
) -> BotProcess:
    """Start one bot in an untested tier. Only for the canary; everything else uses ``Sandbox``."""
    chosen = tier_called(tier)
    policy = _checked(chosen, bot_dir, runtime, entry, policy)
    where = place(bot_dir, runtime, policy, own_user=chosen.isolates)
    try:
        if runtime.runs_bot_files:
            _look_at_program(bot_dir / entry, entry)
            if where.slot:
                (where.bot / entry).chmod(0o555)
        return chosen.start(where, runtime, entry, policy, core)
    except SandboxError as error:
        where.give_back()
        if runtime.runs_bot_files and chosen.says_no_program(bot_dir / entry, str(error)):
            raise BotFault("crash", f"{entry} cannot be executed by the kernel") from error
        raise
    except OSError as error:
        where.give_back()
        raise SandboxError(f"cannot start a bot: {error}. Check the worker's open files and process limits.") from error
    except BaseException:
        where.give_back()
        raise


def _checked(tier: Tier, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy) -> Policy:
    """Return the policy with the runtime's own limits. Raise SandboxError without an entry file, ValueError with too little memory."""
    if not _is_own_file(bot_dir, entry):
        raise SandboxError(f"{bot_dir} has no file {entry}; name the entry file by its path in the bot's directory")
    if policy.memory_mb < runtime.memory_mb:
        raise ValueError(f"{runtime.name} needs memory_mb of at least {runtime.memory_mb}, not {policy.memory_mb}")
    if policy.sealed:
        refuse_to_seal(tier, runtime, bot_dir / entry)
    if runtime.address_space_mb and policy.address_space_mb is None:
        policy = dataclasses.replace(policy, address_space_mb=runtime.address_space_mb)
    if runtime.threads is not None:
        policy = dataclasses.replace(policy, threads=min(policy.threads, runtime.threads))
    return dataclasses.replace(policy, threads=policy.threads + runtime.own_threads)


def refuse_to_seal(tier: Tier, runtime: Runtime, program: Path | None = None) -> None:
    """Raise SandboxUnavailable with the reason if this tier cannot seal bots of a runtime, or the bot whose file is `program`."""
    reason = tier.unsealed()
    if reason:
        raise SandboxUnavailable(f"no bot is sealed in the tier {tier.name}: {reason}")
    if not runtime.sealable:
        raise SandboxUnavailable(f"{runtime.name} needs threads and the host's clocks, so its bots cannot be sealed")
    host.clocks()
    if program and runtime.runs_bot_files and not tier.own_numbers and elf.is_go(program):
        raise SandboxUnavailable(
            f"{program.name} was made by Go, which needs threads: in the tier {tier.name} their numbers show what other bots do"
        )


def _is_own_file(bot_dir: Path, entry: str) -> bool:
    """Return True if the entry is a file below the bot's directory: neither `..` nor a link leads out of it."""
    if "\0" in entry:
        return False
    real = os.path.realpath(os.path.join(bot_dir, entry))  # noqa: PTH118 - pathlib takes three times as long
    return os.path.isfile(real) and real.startswith(os.path.realpath(bot_dir) + "/")  # noqa: PTH113


def _look_at_program(file: Path, entry: str) -> None:
    reason = elf.why_not_static(file)
    if reason:
        raise BotFault("crash", f"{entry} cannot be executed: {reason}")


@functools.lru_cache
def _report(name: str, state_dir: Path) -> TierReport:
    tier = tier_called(name)
    if not tier.isolates:
        return TierReport(
            name, False, True, notes=[f"no isolation; it leaves open: {tier.leaves_open}"], unsealed=tier.unsealed()
        )
    notes: list[str] = []
    try:
        notes += tier.prerequisites()
        runtime = runtimes.python(state_dir)
        canaries, failures = battery(functools.partial(start, name), runtime, state_dir)
    except (SandboxError, NotImplementedError) as error:
        return TierReport(name, True, False, [str(error)], list(tier.remedies), notes, unsealed=_NOT_HELD)
    remedies = list(tier.remedies) if failures else []
    unsealed = _NOT_HELD if failures else _unsealed(tier, runtime)
    return TierReport(name, True, not failures, failures, remedies, notes, canaries, unsealed)


def _unsealed(tier: Tier, runtime: Runtime) -> str | None:
    """Return why no bot is sealed in a tier that holds, or None."""
    try:
        refuse_to_seal(tier, runtime)
    except SandboxError as error:
        return str(error)
    return proved(functools.partial(stopped_clocks, functools.partial(start, tier.name), runtime))


def proved(look: Callable[[], list[str]]) -> str | None:
    """Call `look` up to three times. Return None as soon as it finds nothing, else what the last call found.

    A clock that leaks does so every time. A look that a busy machine interrupts proves nothing, and should not keep this process from sealing bots.
    """
    reason = ""
    for _ in range(3):
        try:
            reason = "; ".join(look())
        except SandboxError as error:
            reason = str(error)
        if not reason:
            return None
    return reason


def check(state_dir: Path, *, again: bool = False) -> list[TierReport]:
    """Return one report per tier, the strongest first. The canary tests a tier once per process, or ``again``."""
    if again:
        _report.cache_clear()
    return [_report(tier.name, state_dir.resolve()) for tier in TIERS]


def why_no_builds(state_dir: Path) -> str:
    """Return why nothing is built on this machine, or "": a build needs the walls of the strongest tier, whichever tier bots play in.

    A tier that did not hold before is tested again.
    """
    report = _report(BUILDER, state_dir.resolve())
    if not report.holds:
        report = _report.__wrapped__(BUILDER, state_dir.resolve())
    return "" if report.holds else "; ".join(report.reasons + report.remedies)


class Sandbox:
    """Starts bots in one tier.

    tier: the name of one of TIERS, or "auto" for the strongest that holds here and isolates; state_dir: folder of the runtimes. Raise
    SandboxUnavailable if the tier does not hold, ValueError for any other name.
    """

    def __init__(self, tier: str = "auto", state_dir: Path = Path("var")) -> None:
        self.state_dir = state_dir.resolve()
        self.tier = self._choose(tier)
        sweep(runtimes.directory(self.state_dir))
        strays.clear()

    def _choose(self, tier: str) -> str:
        candidates = [each for each in TIERS if each.isolates] if tier == "auto" else [tier_called(tier)]
        refused = []
        for candidate in candidates:
            report = _report(candidate.name, self.state_dir)
            if report.holds:
                return candidate.name
            refused += [f"{candidate.name}: {reason}" for reason in report.reasons + report.remedies]
        raise SandboxUnavailable(
            "no sandbox works on this host, so no bot is started. " + " ".join(refused) + " See docs/sandbox.md."
        )

    @property
    def control_groups(self) -> str:
        """The kind of control groups that bots are placed in: "v2", "v1" or "none"."""
        return groups.available().name

    @property
    def report(self) -> TierReport:
        """The report of this tier."""
        return _report(self.tier, self.state_dir)

    def why_unsealed(self, runtime: Runtime, program: Path) -> str | None:
        """Return why this tier cannot seal the bot whose file is `program`, although it seals bots; None if it can."""
        try:
            refuse_to_seal(tier_called(self.tier), runtime, program)
        except SandboxUnavailable as reason:
            return str(reason)
        return None

    def start(self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None) -> BotProcess:
        """Start a bot and return once it is confined and attested; if its runtime has a gate, its own code begins with the first request.

        bot_dir: the bot's unpacked files; entry: the path in it of the file to run; core: the core to pin the bot to, None for any. A bot may be
        started early: freeze the process, before its own code, until it is needed. Raise SandboxError if any step fails, BotFault if the bot's own
        file cannot be executed.
        """
        return start(self.tier, bot_dir, runtime, entry, policy, core)
