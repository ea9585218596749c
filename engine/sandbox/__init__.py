"""Run programs of strangers so that they can hurt nobody. Knows nothing of cards; standard library only."""

from .canary import TierReport
from .cgroups import here as control_groups
from .errors import FAULT_KINDS, BotFault, SandboxError, SandboxUnavailable
from .policy import Policy
from .process import BotProcess, Reply
from .runtimes import Runtime
from .tiers import Sandbox, check

__all__ = [
    "FAULT_KINDS",
    "BotFault",
    "BotProcess",
    "Policy",
    "Reply",
    "Runtime",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "TierReport",
    "check",
    "control_groups",
]
