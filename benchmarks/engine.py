"""The table of docs/performance.md: `tute bench engine` with the rules as Python source and compiled, as Markdown.

    .venv/bin/python benchmarks/engine.py [-g GAME ...] [--seconds 2]

OpenSpiel is the rival if it is installed (extra `learn`). engine/cli/bench/engine.py does the measuring.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median

# `-P` needs the path. It is not the first one, because a file here has the name of a package of the engine.
sys.path.append(str(Path(__file__).resolve().parent))

import variants

COLUMNS = (
    ("driven", "ratio", ".2f"),
    ("recorded", "recorded_ratio", ".2f"),
    ("clone, plays", "clone_in_plays", ".1f"),
    ("`playout`", "playout_ratio", ".2f"),
    ("`play_many`", "play_many_ratio", ".2f"),
)


def main() -> None:
    """Measure every game as source and compiled, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument("--seconds", default="2", help="CPU time for each game and variant (2)")
    chosen = parser.parse_args()
    arguments = ["--seconds", chosen.seconds, *(word for game in chosen.game for word in ("-g", game))]
    for variant, folder in variants.copies():
        results = json.loads(variants.run(folder, ["-m", "engine.cli", "bench", "engine", "--json", *arguments]))
        columns = [column for column in COLUMNS if column[1] in results["games"][0]]
        print(f"\n{variant}; rival {results['rival']}")
        if results["open_spiel"]:
            tuned = median(row["tuned_factor"] for row in results["games"])
            print(f"against a loop that knows hearts: driven and recorded times {tuned:.2f}")
        print()
        print("| game |", " | ".join(title for title, _, _ in columns), "|")
        print("| --- |", " | ".join("---:" for _ in columns), "|")
        for row in results["games"]:
            print(f"| {row['game']} |", " | ".join(format(row[key], form) for _, key, form in columns), "|")


if __name__ == "__main__":
    main()
