"""Rewrite the golden replays of the named games, or of all; with `--missing`, write those of games that have none."""

import sys

import engine
from tests.engine import golden

arguments = sys.argv[1:]
missing = [key for key in engine.games() if not golden.path(key).exists()]
for key in missing if arguments == ["--missing"] else arguments or engine.games():
    golden.write(key)
    print(golden.path(key).name, golden.path(key).stat().st_size, "bytes")
