"""A program: say as JSON what each tier is worth to the user that runs it. Argument: the state directory."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from engine.sandbox import check

if __name__ == "__main__":
    for report in check(Path(sys.argv[1])):
        print(json.dumps(dataclasses.asdict(report)))
