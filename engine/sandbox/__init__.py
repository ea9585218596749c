"""Run untrusted programs so that they can harm nothing. Independent of the card games; standard library only."""

from engine.sandbox.cgroups.groups import available as control_groups
from engine.sandbox.errors import FAULT_KINDS, BotFault, NoFreeUser, SandboxError, SandboxUnavailable, TurnStopped
from engine.sandbox.files.runtimes import Runtime
from engine.sandbox.policy import Policy
from engine.sandbox.process.bot import BotProcess, Reply
from engine.sandbox.tiers.building import BuildLimits, BuildRun
from engine.sandbox.tiers.building import run as run_build
from engine.sandbox.tiers.canary import TierReport
from engine.sandbox.tiers.choosing import TIERS, Sandbox, check, is_weaker, tier_called, why_no_builds

__all__ = [
    "FAULT_KINDS",
    "TIERS",
    "BotFault",
    "BotProcess",
    "BuildLimits",
    "BuildRun",
    "NoFreeUser",
    "Policy",
    "Reply",
    "Runtime",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "TierReport",
    "TurnStopped",
    "check",
    "control_groups",
    "is_weaker",
    "run_build",
    "tier_called",
    "why_no_builds",
]
