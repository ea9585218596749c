"""The files that bots run from: unpacked packages and runtimes. They are checked completely before a bot is blamed for a fault."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.runner import runtimes
from engine.runner.spec import BotSpec
from engine.sandbox import Runtime
from engine.sandbox.files import inventory

AGAIN_S = 60.0
MOST_READ = 256
_read: dict[Path, float] = {}  # Monotonic time at which a tree was last read completely.


@dataclass(frozen=True)
class Copies:
    """The trees that the bots of a match are run from, by party, and when each was installed."""

    trees: Mapping[int, tuple[Path, Path]]
    install_tokens: Mapping[Path, str]

    @classmethod
    def snapshot(cls, bots: Iterable[BotSpec], runtimes_by_name: Mapping[str, Runtime]) -> Copies:
        """Record the trees of these bots as they are now."""
        trees = {
            party: (bot.path, runtimes_by_name[bot.runtime].root)
            for party, bot in enumerate(bots)
            if bot.connect is None
        }
        return cls(trees, {root: inventory.install_token(root) for both in trees.values() for root in both})

    def damage(self, parties: Iterable[int]) -> str:
        """Describe what has damaged the trees of these parties since; an empty text if nothing has. A damaged tree is repaired before its next use.

        This reads all files, a tenth of a second for a runtime. Trees read completely within AGAIN_S are checked by size and time only, so that
        failing bots cost little. A tree that another worker has repaired meanwhile counts as damaged.
        """
        messages = [
            self._since(root) for root in sorted({root for party in parties for root in self.trees.get(party, ())})
        ]
        return "; ".join(filter(None, messages))

    def _since(self, root: Path) -> str:
        install_token = self.install_tokens[root]
        if not install_token:  # These are the caller's own files, without an inventory.
            return ""
        if inventory.install_token(root) not in ("", install_token):
            return f"{root} was damaged, and has been repaired meanwhile"
        now = time.monotonic()
        whole = now - _read.get(root, -AGAIN_S) >= AGAIN_S
        if wrong := inventory.find_damage(root, whole=whole):
            inventory.discard(root)
            runtimes.look_again()
        elif whole:
            if len(_read) >= MOST_READ:
                _read.clear()
            _read[root] = now
        return wrong
