"""What bots are run from: unpacked files and runtimes, as this machine holds them. Before a bot is blamed they are read whole."""

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
_read: dict[Path, float] = {}  # when a tree was read whole, by the monotonic clock


@dataclass(frozen=True)
class Copies:
    """The trees that the bots of a match are run from, by party, and when each was made ready."""

    trees: Mapping[int, tuple[Path, Path]]
    made: Mapping[Path, str]

    @classmethod
    def of(cls, bots: Iterable[BotSpec], found: Mapping[str, Runtime]) -> Copies:
        """As they are now. found: the runtimes by name."""
        trees = {party: (bot.path, found[bot.runtime].root) for party, bot in enumerate(bots)}
        return cls(trees, {root: inventory.when_made(root) for both in trees.values() for root in both})

    def damage(self, parties: Iterable[int]) -> str:
        """What the disk has done to the trees of these parties since; empty where nothing. What is damaged is made ready anew before its next use.

        Reads all of them, which takes a tenth of a second for a runtime; what was read within AGAIN_S is looked at by size and time, so that
        bots that fail cost no more. A tree that another worker has mended meanwhile was damaged, too.
        """
        told = [self._since(root) for root in sorted({root for party in parties for root in self.trees[party]})]
        return "; ".join(filter(None, told))

    def _since(self, root: Path) -> str:
        made = self.made[root]
        if not made:  # the caller's own files, of which nothing was written down
            return ""
        if inventory.when_made(root) not in ("", made):
            return f"{root} was damaged, and has been mended meanwhile"
        now = time.monotonic()
        whole = now - _read.get(root, -AGAIN_S) >= AGAIN_S
        if wrong := inventory.whats_wrong(root, whole=whole):
            inventory.discard(root)
            runtimes.look_again()
        elif whole:
            if len(_read) >= MOST_READ:
                _read.clear()
            _read[root] = now
        return wrong
