"""A program: play a match in this kernel and audit the log of another one. Say as JSON the kernel, the replays, and the verdict.

Arguments: the state directory, a file with the log, the seat that is audited, and the packages of the bots.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

from engine.runner import Limits, load_package
from engine.runner.audit import audit
from engine.runner.match import play_match
from engine.runner.rebuild import passes
from engine.sandbox import Sandbox
from tests.support.bots import match

if __name__ == "__main__":
    state_dir, log = map(Path, sys.argv[1:3])
    bots = [load_package(Path(path), state_dir / "packages") for path in sys.argv[4:]]
    box = Sandbox("namespaces", state_dir)
    result = play_match(match(*bots, game="a_dos", boards=1, limits=Limits()), box)
    verdict = audit(bots[0], box, passes(json.loads(log.read_text()))[0], int(sys.argv[3]), deterministic=True)
    replays = [sitting.replay for board in result.boards for sitting in board.sittings]
    print(json.dumps([platform.release(), replays, verdict and verdict.plain()]))
