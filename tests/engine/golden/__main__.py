"""Writes the golden replays anew: of the games named, or of all."""

import sys

import engine
from tests.engine import golden

for key in sys.argv[1:] or engine.games():
    golden.write(key)
    print(golden.path(key).name, golden.path(key).stat().st_size, "bytes")
