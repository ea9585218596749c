"""Random playouts against a rival, alternating: OpenSpiel's hearts if pyspiel is installed, else a loop that does next to nothing.

The loop is what an author would write: `legal_actions`, a uniform choice, `apply`, over whole matches with dealing, auctions, songs, counting and
payments. A claim is never chosen at random: it would end the game at once, mostly wrongly. Both loops are general: ours plays every game and checks
at each step for a claim; the rival's is the loop of OpenSpiel's examples and checks for chance nodes. A loop written for hearts, which deals
separately, is measured in the same rounds and reported too. Time is the CPU time of this process. Rounds of rival and engine alternate, and each
ratio compares two rates of one round.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import engine
from engine.cards.actions import CLAIM
from engine.cards.chance import Dice
from engine.cli.output import print_json, print_table, progress
from engine.cli.problem import OK
from engine.runner.cores import pinned

FLOOR = "x = (x * 1103515245 + 12345) & 0x7fffffff"
RIVAL = "hearts(pass_cards=false)"
ROUNDS = 7
NAMES = (
    *("per_s", "recorded_per_s", "rival_per_s", "tuned_per_s", "clone", "length"),
    *("rollout_per_s", "playout_per_s", "play_many_per_s"),
)
clock = time.process_time


def floor(rounds: int) -> int:
    """Run `rounds` rounds of the loop `FLOOR`."""
    x = 1
    for _ in range(rounds):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def playouts(game: engine.Game, seconds: float, record: bool, seed: int) -> tuple[int, int, float]:
    """Play random whole matches for about `seconds` of CPU time. Return (decisions, matches, seconds)."""
    draw = random.Random(seed).random
    decisions = matches = 0
    began = clock()
    while True:
        state = game.new_match(seed=seed + matches, record=record)
        while not state.is_over:
            legal = state.legal_actions()
            action = legal[int(draw() * len(legal))]
            while action == CLAIM:
                action = legal[int(draw() * len(legal))]
            state.apply(action)
            decisions += 1
        matches += 1
        spent = clock() - began
        if spent >= seconds:
            return decisions, matches, spent


def floor_rate(seconds: float) -> float:
    """Return the floor's rounds per second."""
    rounds, began = 0, clock()
    while (spent := clock() - began) < seconds:
        floor(10_000)
        rounds += 10_000
    return rounds / spent


class OpenSpiel:
    """Hearts of OpenSpiel. It deals by chance nodes, one per card; they count as time, not as decisions."""

    def __init__(self) -> None:
        import pyspiel

        self.game = pyspiel.load_game(RIVAL)
        self._spiel = pyspiel
        self.version: str = getattr(pyspiel, "__version__", "")

    def driven_rate(self, seconds: float) -> float:
        """Return decisions per second of random games in the loop of OpenSpiel's Python examples, which plays any of its games."""
        draw = random.random
        decisions, began = 0, clock()
        while (spent := clock() - began) < seconds:
            state = self.game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                if not state.is_chance_node():
                    decisions += 1
                state.apply_action(legal[int(draw() * len(legal))])
        return decisions / spent

    def tuned_rate(self, seconds: float) -> float:
        """Return decisions per second of a loop written for hearts: the deal has a loop of its own, so plays need no check for chance nodes."""
        draw = random.random
        decisions, began = 0, clock()
        while (spent := clock() - began) < seconds:
            state = self.game.new_initial_state()
            while state.is_chance_node():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                decisions += 1
        return decisions / spent

    def rollout_rate(self, seconds: float) -> float:
        """Return plays per second of OpenSpiel's own random rollouts, without Python in the loop.

        Python cannot call the evaluator, so this is one simulation of its tree search whose leaf does 100 rollouts of 52 plays.
        """
        state = self.game.new_initial_state()
        while state.is_chance_node():
            legal = state.legal_actions()
            state.apply_action(legal[int(random.random() * len(legal))])
        evaluator = self._spiel.RandomRolloutEvaluator(100, 7)
        searcher = self._spiel.MCTSBot(self.game, evaluator, 1.0, 1, 64, False, 3, False)
        plays, began = 0, clock()
        while (spent := clock() - began) < seconds:
            searcher.mcts_search(state)
            plays += 5200
        return plays / spent


def open_spiel() -> OpenSpiel | None:
    """Return the rival, or None if pyspiel cannot be imported (it comes with the extra `learn`)."""
    try:
        return OpenSpiel()
    except ImportError:
        return None


def clone_in_plays(game: engine.Game, per_s: float, seconds: float) -> float:
    """Return the time of one `clone()` in the middle of a deal, as a multiple of the time of a decision."""
    state = game.new_match(seed=1, record=False)
    draw = random.Random(1)
    for _ in range(12):
        legal = [a for a in state.legal_actions() if a != CLAIM]
        if not legal:
            break
        state.apply(draw.choice(legal))
    clones, began = 0, clock()
    while (spent := clock() - began) < seconds:
        for _ in range(100):
            state.clone()
        clones += 100
    return spent / clones * per_s


def batch_rates(game: engine.Game, seconds: float, seed: int) -> tuple[float, float]:
    """Return decisions per second of `playout` (from the first action of a one-deal match) and of `play_many` (whole matches).

    The decisions are counted outside the measured time, by playing the same dice through `apply`.
    """
    start = game.new_match(seed=1, deals=1, record=False)
    playouts_done, began = 0, clock()
    while (spent := clock() - began) < seconds:
        for number in range(playouts_done, playouts_done + 20):
            engine.playout(start, number)
        playouts_done += 20
    sample = min(playouts_done, 40)
    length = sum(_decisions(start.clone(), Dice(number)) for number in range(sample)) / sample
    single = playouts_done * length / spent
    matches, began = 0, clock()
    while (spent := clock() - began) < seconds:
        engine.play_many(game, 5, seed)
        matches += 5
    dice = Dice(seed)
    length = sum(_decisions(game.new_match(seed=seed, record=False, dice=dice), dice) for _ in range(5)) / 5
    return single, matches * length / spent


def _decisions(state: engine.State, dice: Dice) -> int:
    state.dice = dice
    count = 0
    while not state.is_over:
        legal = [action for action in state.legal_actions() if action != CLAIM]
        state.apply(legal[dice.below(len(legal))])
        count += 1
    return count


def measure(key: str, seconds: float, rival: OpenSpiel | None = None) -> dict[str, Any]:
    """Return the rates of one game at its default table, and their ratios to the rival or the floor, round by round."""
    game = engine.load(key)
    slice_s = seconds / ROUNDS / 5
    playouts(game, slice_s / 4, False, 0)
    against: Callable[[float], float] = rival.driven_rate if rival else floor_rate
    samples: dict[str, list[float]] = {name: [] for name in NAMES}
    for number in range(ROUNDS):
        samples["rollout_per_s"].append(rival.rollout_rate(slice_s / 2) if rival else 0.0)
        samples["tuned_per_s"].append(rival.tuned_rate(slice_s / 2) if rival else 0.0)
        samples["rival_per_s"].append(against(slice_s / 2))
        decisions, matches, spent = playouts(game, slice_s, False, number * 100_000)
        samples["per_s"].append(decisions / spent)
        samples["length"].append(decisions / matches)
        samples["rival_per_s"][-1] = (samples["rival_per_s"][-1] + against(slice_s / 2)) / 2
        decisions, _, spent = playouts(game, slice_s, True, number * 100_000)
        samples["recorded_per_s"].append(decisions / spent)
        samples["clone"].append(clone_in_plays(game, samples["per_s"][-1], slice_s / 8))
        playout, many = batch_rates(game, slice_s / 2, number)
        samples["playout_per_s"].append(playout)
        samples["play_many_per_s"].append(many)
    row: dict[str, Any] = {
        "game": key,
        "players": game.players,
        "per_s": median(samples["per_s"]),
        "recorded_per_s": median(samples["recorded_per_s"]),
        "rival_per_s": median(samples["rival_per_s"]),
        "ratio": median(map(_over, samples["per_s"], samples["rival_per_s"])),
        "recorded_ratio": median(map(_over, samples["recorded_per_s"], samples["rival_per_s"])),
        "clone_in_plays": median(samples["clone"]),
        "playout_per_s": median(samples["playout_per_s"]),
        "play_many_per_s": median(samples["play_many_per_s"]),
        "decisions_per_match": median(samples["length"]),
    }
    if rival:
        row["rollout_per_s"] = median(samples["rollout_per_s"])
        row["tuned_factor"] = median(map(_over, samples["rival_per_s"], samples["tuned_per_s"]))
        row["playout_ratio"] = median(map(_over, samples["playout_per_s"], samples["rollout_per_s"]))
        row["play_many_ratio"] = median(map(_over, samples["play_many_per_s"], samples["rollout_per_s"]))
    return row


def _over(ours: float, theirs: float) -> float:
    return ours / theirs


def run(args: argparse.Namespace) -> int:
    """Measure the rules of each game and print a table."""
    rows = []
    keys = args.game or engine.games()
    rival = open_spiel()
    with progress("engine") as advance, pinned() as core:
        for finished, key in enumerate(keys):
            advance(finished, len(keys))
            rows.append(measure(key, args.seconds, rival))
    against = f"OpenSpiel {RIVAL}" if rival else FLOOR
    if args.json:
        head = {"format": "tute-bench-engine/2", "compiled": engine.COMPILED, "core": core, "rival": against}
        print_json({**head, "open_spiel": rival is not None, "games": rows})
        return OK
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "game": lambda row: row["game"],
        "decisions/s": lambda row: f"{row['per_s']:,.0f}",
        "x rival": lambda row: f"{row['ratio']:.2f}",
        "recorded x rival": lambda row: f"{row['recorded_ratio']:.2f}",
        "clone in plays": lambda row: f"{row['clone_in_plays']:.1f}",
        "playout/s": lambda row: f"{row['playout_per_s']:,.0f}",
        "play_many/s": lambda row: f"{row['play_many_per_s']:,.0f}",
    }
    if rival:
        columns["playout x rollouts"] = lambda row: f"{row['playout_ratio']:.2f}"
        columns["play_many x rollouts"] = lambda row: f"{row['play_many_ratio']:.2f}"
    print_table(tuple(columns), [tuple(cell(row) for cell in columns.values()) for row in rows])
    how = "compiled" if engine.COMPILED else "Python source"
    print(f"\nengine: {how}; random play of whole matches, deals included; CPU time, core {core}")
    if rival is None:
        print("pyspiel is not installed (extra `learn`), so the comparison is with a floor: one round of a plain loop,")
        print(against)
        return OK
    tuned = median(row["tuned_factor"] for row in rows)
    print(f"rival: {against}, whole games driven from Python, {rows[-1]['rival_per_s']:,.0f} decisions/s in this run")
    print(f"to compare with a loop written for hearts alone, multiply every 'x rival' by {tuned:.2f}")
    print(
        f"rollouts: OpenSpiel's own random rollouts of it, in C++, {rows[-1]['rollout_per_s']:,.0f} plays/s in this run"
    )
    return OK
