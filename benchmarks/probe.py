"""The table of docs/house-bots-strength.md: how much each house bot can be exploited, as Markdown.

    .venv/bin/python benchmarks/probe.py [-g GAME ...] [--bot BOT ...] [--seconds 60] [--boards 100] [--jobs 2]

Each line is one `tute probe BOT -g GAME --seconds S --boards N --seed house --no-sandbox`. Exit status 1
if random or greedy is not clearly exploited.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GAMES = ("partnership", "two_player", "brisca")
BOTS = ("random", "greedy", "counting", "deep", "champion")
FLOOR = ("random", "greedy")


def measure(bot: str, game: str, chosen: argparse.Namespace) -> dict[str, Any] | None:
    """Return the command's JSON, or None if the bot does not play this game. Raises RuntimeError with the output if the command fails."""
    words = ["probe", bot, "-g", game, "--seconds", str(chosen.seconds), "--boards", str(chosen.boards)]
    words += ["--jobs", str(chosen.jobs), "--seed", "house", "--no-sandbox", "--json"]
    command = [sys.executable, "-m", "engine.cli", *words]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode == 2 and " plays " in process.stderr:
        return None
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {process.stderr}")
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def format_row(result: dict[str, Any]) -> str:
    """Format a row of the table."""
    won = f"{result['ahead']:+.1f} ± {result['margin']:.1f} {result['unit']}"
    verdict = won if result["clear"] else f"{won}, none shown"
    spent = f"{result['trained']} boards, {result['seconds'][0]:.0f} s"
    return f"| {result['game']} | {result['bot']} | {verdict} | {result['response']} | {spent} | {result['boards']} |"


def main() -> int:
    """Measure the requested bots. Return 1 if random or greedy is not clearly exploited."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument("--bot", action="append", default=[], help="only this bot (may be repeated)")
    parser.add_argument("--seconds", type=float, default=60, help="of training (60)")
    parser.add_argument("--boards", type=int, default=100, help="boards of the test (100)")
    parser.add_argument("--jobs", type=int, default=2, help="boards played at a time (2)")
    chosen = parser.parse_args()
    print("| game | bot | exploited by, a board | by | trained on | tested on |\n|---|---|---|---|---|---|", flush=True)
    unclear = False
    for game in chosen.game or GAMES:
        for bot in chosen.bot or BOTS:
            result = measure(bot, game, chosen)
            if result is not None:
                print(format_row(result), flush=True)
                unclear |= bot in FLOOR and not result["clear"]
    return 1 if unclear else 0


if __name__ == "__main__":
    sys.exit(main())
