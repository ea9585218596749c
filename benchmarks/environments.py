"""The table of docs/research.md: the learning environments compared with OpenSpiel and its tensors in the same run, as Python source and compiled.

    .venv/bin/python benchmarks/environments.py [-g GAME ...] [--seconds 3] [--matches 64] [--only source|compiled]

Decisions per second of uniformly random play (never a claim), by CPU time of this process; the median of five rounds, in which all take turns:

* batch: `Matches.step(Matches.sample())` of `--matches` matches: rules, observations as bytes, masks, rewards, the next deals
* PettingZoo: the loop of its documentation, with the observation as floats and the mask in each turn
* OpenSpiel: its hearts without passing, in C++, driven from Python with the information state tensor and the mask of legal actions in each turn

OpenSpiel and PettingZoo come with the extra `learn`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

# `-P` needs the path. It is not the first one, because a file here has the name of a package of the engine.
sys.path.append(str(Path(__file__).resolve().parent))

import variants

ROUNDS = 5
# Floors for compiled rules: decisions per second of a batch, and the ratio of PettingZoo to OpenSpiel.
BATCH = {"partnership": 1_000_000}
ANY_BATCH = 300_000
PETTINGZOO = 2
clock = time.process_time


def rate(seconds: float, play: Callable[[], int]) -> float:
    """Return decisions per second. `play` plays some decisions and returns their number."""
    began, decisions = clock(), 0
    while (spent := clock() - began) < seconds:
        decisions += play()
    return decisions / spent


def batch(key: str, matches: int) -> Callable[[], int]:
    """Return a function that steps `matches` matches at once, ten times."""
    from engine.adapters.vector import Matches

    table = Matches(key, matches, seed=1)

    def play() -> int:
        for _ in range(10):
            table.step(table.sample())
        return 10 * matches

    for _ in range(40):  # After some steps the matches are at different points of a deal.
        play()
    return play


def pettingzoo(key: str) -> Callable[[], int]:
    """Return a function that plays one board with random actions."""
    from engine.adapters.pettingzoo import env
    from engine.cards.actions import CLAIM

    table, draw = env(key), random.Random(1)
    table.reset(seed=1)

    def play() -> int:
        decisions = 0
        table.reset()
        for _ in table.agent_iter():
            observation, _, termination, truncation, _ = table.last()
            if termination or truncation:
                table.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0].tolist()
            action = legal[int(draw.random() * len(legal))]
            while action == CLAIM:
                action = legal[int(draw.random() * len(legal))]
            table.step(action)
            decisions += 1
        return decisions

    return play


def openspiel() -> Callable[[], int]:
    """Return a function that plays one game of hearts with random actions."""
    import pyspiel

    game, draw = pyspiel.load_game("hearts(pass_cards=false)"), random.Random(1).random

    def play() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                state.information_state_tensor()
                state.legal_actions_mask()
                decisions += 1
            state.apply_action(legal[int(draw() * len(legal))])
        return decisions

    return play


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure the engine that Python imports."""
    import engine

    rival = openspiel()
    part = chosen.seconds / ROUNDS / 3
    theirs: list[float] = []
    games = []
    for key in chosen.game or engine.games():
        plays = (batch(key, chosen.matches), pettingzoo(key), rival)
        rounds = [[rate(part, play) for play in plays] for _ in range(ROUNDS)]
        ours, petting = (median(row[column] for row in rounds) for column in (0, 1))
        ratios = [median(row[column] / row[2] for row in rounds) for column in (0, 1)]
        theirs += [row[2] for row in rounds]
        games.append({"game": key, "batch": ours, "over": ratios[0], "pettingzoo": petting, "petting_over": ratios[1]})
    return {"games": games, "openspiel": median(theirs)}


def show(variant: str, results: dict[str, Any], matches: int) -> None:
    """Print the table of one variant and, for compiled rules, the floors that it misses."""
    print(f"\n{variant}; {matches} matches a batch; OpenSpiel: {results['openspiel']:,.0f} decisions/s\n")
    print("| game | batch, decisions/s | over OpenSpiel | PettingZoo, decisions/s | over OpenSpiel |")
    print("| --- | ---: | ---: | ---: | ---: |")
    missed = []
    for row in results["games"]:
        print(
            f"| {row['game']} | {row['batch']:,.0f} | {row['over']:.1f} | {row['pettingzoo']:,.0f} | {row['petting_over']:.2f} |"
        )
        if row["batch"] < BATCH.get(row["game"], ANY_BATCH) or row["petting_over"] < PETTINGZOO:
            missed.append(row["game"])
    if variant == "compiled":
        print(f"\nbelow {BATCH} (others {ANY_BATCH:,}) or {PETTINGZOO} times: {', '.join(missed) or 'none'}")


def main() -> None:
    """Measure both variants and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument("--seconds", type=float, default=3, help="CPU time for each game (3)")
    parser.add_argument("--matches", type=int, default=64, help="matches of a batch (64)")
    parser.add_argument("--only", choices=variants.NAMES, help="one variant alone")
    parser.add_argument("--here", action="store_true", help="the engine on the path, as JSON")
    chosen = parser.parse_args()
    if chosen.here:
        print(json.dumps(measure(chosen)))
        return
    words = ["--here", "--seconds", str(chosen.seconds), "--matches", str(chosen.matches)]
    words += [word for game in chosen.game for word in ("-g", game)]
    for variant, folder in variants.copies(chosen.only):
        show(variant, json.loads(variants.run(folder, [__file__, *words])), chosen.matches)


if __name__ == "__main__":
    main()
