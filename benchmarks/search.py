"""The tables of docs/search.md as Markdown: solving, dealing the hidden cards and playouts, as Python source and compiled.

    .venv/bin/python benchmarks/search.py [-g GAME ...] [--deals 1000] [--seconds 1] [--only source|compiled]

Time is CPU time of the process. `--deals` is the number of whole deals of partnership to solve if compiled; as source the same number of endings of
four tricks. `--seconds` applies to each game and column of the second table.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

# `-P` needs the path. It is not the first one, because a file here has the name of a package of the engine.
sys.path.append(str(Path(__file__).resolve().parent))

import variants

FLOOR_S = {"mean": 0.2, "p99": 1.0}  # Limits for solving a whole deal of partnership on one core, in seconds.


def quantile(values: list[float], share: float) -> float:
    """Return the value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def solving(deals: int, tricks: int) -> dict[str, Any]:
    """Measure the times to solve `deals` deals of partnership with `tricks` tricks left."""
    import engine
    from engine.search.solving import solve

    game = engine.load("partnership")
    times: list[float] = []
    nodes = unsolved = 0
    for seed in range(deals):
        state = game.new_match(seed=f"solve {seed}", record=False)
        rng = random.Random(seed)
        while state.left > tricks * state.size:
            state.apply(rng.choice([action for action in state.legal_actions() if action < 52]))
        start = time.process_time()
        solution = solve(state, 10**9)
        times.append(time.process_time() - start)
        nodes += solution.nodes
        unsolved += not solution.exact
    return {
        "tricks": tricks,
        "deals": deals,
        "mean": fmean(times),
        **{f"p{share}": quantile(times, share / 100) for share in (50, 95, 99)},
        "worst": max(times),
        "nodes": nodes / sum(times),
        "unsolved": unsolved,
    }


def rate(seconds: float, do: Callable[[], object]) -> float:
    """Return how often per second `do` can be called."""
    start = time.process_time()
    count = 0
    while (now := time.process_time()) < start + seconds:
        do()
        count += 1
    return count / (now - start)


def midway(key: str) -> tuple[Any, Any]:
    """Return a state in the middle of a deal and the knowledge of the seat to move."""
    import engine
    from engine.search.knowledge import Knowledge

    game = engine.load(key)
    for seed in range(1000):
        rng = random.Random(seed)
        state = game.new_match(seed=seed)
        deal, whole = 1, state.left
        while not state.is_over:
            seat = state.turn
            if state.deal_no != deal:  # In podrida, hands grow from deal to deal.
                deal, whole = state.deal_no, state.left
            ready = state.phase is None and len(state.legal_actions()) > 1
            if ready and whole > 3 * state.size and state.left < whole * 0.8:
                knowledge = Knowledge(game, seat)
                knowledge.follow(engine.redact(state.events, seat))
                knowledge.asked([game.action_text(action) for action in state.legal_actions()])
                return state, knowledge
            legal = state.legal_actions()
            state.apply(rng.choice([action for action in legal if action not in (69, 76)]))
    raise LookupError(key)


def rates(keys: list[str], seconds: float) -> list[dict[str, Any]]:
    """Measure, for each game, deals, states and playouts per second from the middle of a deal; `decisions` includes preparing the deals."""
    import engine

    rows = []
    for key in keys or engine.games():
        state, knowledge = midway(key)
        dice, deals = engine.Dice(1), knowledge.deals()
        deal = deals.deal(dice)
        rows.append(
            {
                "game": key,
                "decisions": rate(seconds, lambda knowledge=knowledge, dice=dice: knowledge.deals().deal(dice)),
                "deals": rate(seconds, lambda deals=deals, dice=dice: deals.deal(dice)),
                "states": rate(seconds, lambda knowledge=knowledge, deal=deal: knowledge.state(deal)),
                "playouts": rate(seconds, lambda state=state, dice=dice: engine.playout(state, dice)),
            }
        )
    return rows


def measure(chosen: argparse.Namespace) -> None:
    """Print the rates of the imported engine as JSON."""
    import engine

    results = {
        "solving": [solving(chosen.deals, 10) if engine.COMPILED else None, solving(min(chosen.deals, 200), 4)],
        "rates": rates(chosen.game, chosen.seconds),
    }
    print(json.dumps(results))


def show(variant: str, results: dict[str, Any]) -> None:
    """Print the tables of one variant."""
    print(f"\n{variant}\n\n| tricks | deals | mean ms | p50 | p95 | p99 | worst | M nodes/s | not solved |")
    print("| ---: |" + " ---: |" * 8)
    for row in results["solving"]:
        if row:
            times = " | ".join(f"{1000 * row[name]:.1f}" for name in ("mean", "p50", "p95", "p99", "worst"))
            print(f"| {row['tricks']} | {row['deals']} | {times} | {row['nodes'] / 1e6:.2f} | {row['unsolved']} |")
    if whole := results["solving"][0]:
        of_floor = ", ".join(f"{name} {whole[name] / floor:.2f} of {floor:g} s" for name, floor in FLOOR_S.items())
        print(f"\nwhole deals, as parts of the floor: {of_floor}")
    print(
        "\n| game | first deal of a decision/s | deals/s | states/s | playouts/s |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for row in results["rates"]:
        print(
            f"| {row['game']} |",
            " | ".join(f"{row[name]:,.0f}" for name in ("decisions", "deals", "states", "playouts")),
            "|",
        )


def main() -> None:
    """Measure both variants and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-g", "--game", action="append", default=[], help="only this game (may be repeated)")
    parser.add_argument("--deals", type=int, default=1000, help="whole deals to solve (1000)")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU time for each game and column (1)")
    parser.add_argument("--only", choices=variants.NAMES, help="one variant alone")
    parser.add_argument("--here", action="store_true", help="the engine on the path, as JSON")
    chosen = parser.parse_args()
    if chosen.here:
        measure(chosen)
        return
    words = ["--here", "--deals", str(chosen.deals), "--seconds", str(chosen.seconds)]
    words += [word for game in chosen.game for word in ("-g", game)]
    for variant, folder in variants.copies(chosen.only):
        show(variant, json.loads(variants.run(folder, [__file__, *words])))


if __name__ == "__main__":
    main()
