"""No isolation: a bot is a program of the worker's own user. Only for trusted bots, and only if requested by name.

The limits on memory, CPU and output, the clock and the freezing are those of other tiers, so that a bot behaves the same.
"""

from __future__ import annotations

from engine.sandbox.cgroups.attest import Expectation
from engine.sandbox.cgroups.placing import BotPlace
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.process.spawn import launch
from engine.sandbox.tiers.tier import Tier


def start(place: BotPlace, runtime: Runtime, entry: str, policy: Policy, core: int | None) -> BotProcess:
    """Start a bot with limits and nothing else. Raise SandboxError if that fails."""
    limits = policy.limits(processes=None)
    root, bot = str(runtime.root), str(place.bot)
    started = launch(
        {
            "groups": place.groups,
            "own_network": False,
            "core": core,
            "limits": limits,
            "root": None,
            "user": None,
            "refuse_root": False,
            "drop_capabilities": False,
            "no_new_privileges": False,
            "directory": bot,
            "landlock": None,
            "filter": None,
            "program": None,
            "numbers": {},
            "argv": runtime.argv(root, bot, entry),
            "environment": runtime.environ(root, bot),
        }
    )
    expected = Expectation(user=place.user, limits=limits, core=core, filtered=False, group=place.group)
    return BotProcess(started, policy, expected, gated=bool(runtime.gate), on_close=place.give_back)


TIER = Tier(
    name="none",
    held_by="the limits, the clock and the freezing that every tier has",
    needs="nothing",
    leaves_open="files, network and processes of the worker's user: only for bots that you trust",
    start=start,
    unsealed=lambda: "it confines nothing",
    isolates=False,
)
