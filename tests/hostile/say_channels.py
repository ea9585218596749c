"""A program that prints, for the user who runs it, which channels a tier refuses: STATE TIER, one name and reason a line."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

from engine.sandbox.channels.meter import KINDS, ChannelResult, measure
from engine.sandbox.files import runtimes
from engine.sandbox.tiers import choosing

FEW = 4


def findings(tier: str, state_dir: Path, *, sealed: bool = False, trials: int = FEW) -> list[ChannelResult]:
    """Try every channel in a tier."""
    start = functools.partial(choosing.start, tier)
    return list(measure(start, runtimes.python(state_dir), KINDS, trials=trials, sealed=sealed))


if __name__ == "__main__":
    for finding in findings(sys.argv[2], Path(sys.argv[1])):
        print(json.dumps({"name": finding.kind.name, "refused": finding.refused}))
