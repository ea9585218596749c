"""The table of docs/research.md: environments for learning against OpenSpiel with tensors, in the same run, as Markdown.

    .venv/bin/python benchmarks/environments.py [-g GAME ...] [--seconds 3] [--matches 64]

Decisions a second of uniformly random play (never a claim), CPU time of this process, the median of five rounds in which all take turns:

* batch: `Matches.step(Matches.sample())` of so many matches: rules, observations as bytes, masks, rewards, the next deals
* PettingZoo: the loop of its documents, with the observation as floats and the mask in each turn
* OpenSpiel: its hearts without passing, in C++, driven from Python with the information state tensor and the mask of legal actions in each turn

The rules run as they are installed: compiled where `make fast` has been run. OpenSpiel and PettingZoo come with the extra `adapters`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a file, Python looks in benchmarks/ first

import pyspiel

import engine
from engine.adapters.pettingzoo import env
from engine.adapters.vector import Matches
from engine.cards.actions import CLAIM

ROUNDS = 5
clock = time.process_time


def rate(seconds: float, play: Callable[[], int]) -> float:
    """Decisions a second of something that plays some of them and says how many."""
    began, decisions = clock(), 0
    while (spent := clock() - began) < seconds:
        decisions += play()
    return decisions / spent


def batch(key: str, matches: int) -> Callable[[], int]:
    """Ten steps of so many matches at a time."""
    table = Matches(key, matches, seed=1)

    def play() -> int:
        for _ in range(10):
            table.step(table.sample())
        return 10 * matches

    for _ in range(40):  # the matches drift apart
        play()
    return play


def pettingzoo(key: str) -> Callable[[], int]:
    """A board at a time."""
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
    """A game of hearts at a time."""
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


def main() -> None:
    """Measure the games and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], choices=engine.games(), help="only this game")
    parser.add_argument("--seconds", type=float, default=3, help="CPU time for each game (3)")
    parser.add_argument("--matches", type=int, default=64, help="matches of a batch (64)")
    chosen = parser.parse_args()
    print(f"rules: {'compiled' if engine.COMPILED else 'Python source'}; {chosen.matches} matches a batch\n")
    print("| game | batch, decisions/s | over OpenSpiel | PettingZoo, decisions/s | over OpenSpiel |")
    print("| --- | ---: | ---: | ---: | ---: |")
    rival = openspiel()
    part = chosen.seconds / ROUNDS / 3
    theirs: list[float] = []
    for key in chosen.game or engine.games():
        plays = (batch(key, chosen.matches), pettingzoo(key), rival)
        rounds = [[rate(part, play) for play in plays] for _ in range(ROUNDS)]
        ours, petting = (median(one[column] for one in rounds) for column in (0, 1))
        ratios = [median(one[column] / one[2] for one in rounds) for column in (0, 1)]
        theirs += [one[2] for one in rounds]
        print(f"| {key} | {ours:,.0f} | {ratios[0]:.1f} | {petting:,.0f} | {ratios[1]:.2f} |", flush=True)
    print(f"\nOpenSpiel: {median(theirs):,.0f} decisions/s")


if __name__ == "__main__":
    main()
