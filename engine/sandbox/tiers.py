"""Choose a tier and start bots in it."""

from __future__ import annotations

from pathlib import Path

from . import tier_landlock
from .errors import SandboxError
from .policy import Policy
from .process import BotProcess
from .runtimes import Runtime


class Sandbox:
    """Starts bots in one tier."""

    def __init__(self, tier: str = "auto", state_dir: Path = Path("var")) -> None:
        self.tier = "landlock"
        self.state_dir = state_dir

    def start(
        self, bot_dir: Path, runtime: Runtime, entry: str, policy: Policy, core: int | None = None
    ) -> BotProcess:
        """Start one bot."""
        if not (bot_dir / entry).is_file():
            raise SandboxError(f"{bot_dir} has no file {entry}")
        return tier_landlock.start(bot_dir, runtime, entry, policy, core)
