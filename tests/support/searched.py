"""Print the results of the search at fixed positions as JSON: `python -m tests.support.searched`. Compiled rules and Python source agree.

The results are the worths of cards by open playouts, for every setting, and the values of exact solving with the nodes that it took. A different
order of moves, a bound that cuts later or a habit that plays another card changes these numbers, even if the results in other tests stay right.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any

import engine
from engine.search.deals import Deal
from engine.search.foresight import ALL, FEATURES, Foresight, knows
from engine.search.masks import INTERPRETED
from engine.search.solving import solve, tricks

TABLES: list[tuple[str, dict[str, Any]]] = [
    *[(key, {}) for key in engine.games() if knows(engine.load(key))],
    ("brisca", {"players": 4}),
    ("cabrero", {"players": 3}),
    ("guinote", {"players": 2}),
    ("partnership", {"hand_songs": "winning_side"}),
    ("partnership", {"undertrump": True}),
]
# The settings: number of tricks with open hands (with a stock, without one), and number of further tricks after which the rest is estimated.
ASKED = ((0, ALL), (0, 1), (1, 2), (2, ALL))
# Distinct numbers in place of learned weights, for three sizes of the stock
WEIGHTS = tuple(tuple((7 * row + 13 * place) % 61 - 30 for place in range(FEATURES)) for row in range(3))
PLAYS = 52
NODES = 20_000


def all_worths() -> dict[str, object]:
    """Return a digest of the worths for every table that the search knows."""
    return {f"{key} {options}": digest(worths(engine.load(key, **options))) for key, options in TABLES}


def all_endings() -> dict[str, object]:
    """Return a digest of the solved endings and their nodes, for every table of two sides."""
    games = {f"{key} {options}": engine.load(key, **options) for key, options in TABLES}
    both = {name: endings(game) for name, game in games.items() if len(game.sides) == 2 and tricks.knows(game)}
    return {
        name: {"values": digest([ending[:2] for ending in results]), "nodes": sum(ending[2] for ending in results)}
        for name, results in both.items()
    }


PARTS = {"worths": all_worths, "endings": all_endings}


def digest(positions: list[Any]) -> str:
    """Return the number of positions and a hash: a difference names its table, and the file stays small."""
    return f"{len(positions)} {hashlib.sha256(json.dumps(positions).encode()).hexdigest()[:16]}"


def moments(game: engine.Game, share: float, seeds: int) -> Iterator[engine.State]:
    """Yield some states in which a seat has a choice between cards, from deals played at random."""
    draw = random.Random(game.key)
    for seed in range(seeds):
        state = game.new_match(seed=f"searched {seed}", deals=2)
        while not state.is_over:
            legal = state.legal_actions()
            plays = [action for action in legal if action < PLAYS]
            if state.phase is None and len(plays) > 1 and draw.random() < share:
                yield state
            # Random words would end most deals early.
            state.apply(draw.choice(plays or legal) if draw.random() < 0.9 else draw.choice(legal))


def worths(game: engine.Game) -> list[Any]:
    """Return, for each position and setting, whether the true deal is allowed and the worth of each card."""
    draw = random.Random(1)
    plain, learned = Foresight(game), Foresight(game, WEIGHTS)
    rows = []
    for number, state in enumerate(moments(game, 0.12, 4)):
        deal = Deal([sorted(state.hand_of(seat)) for seat in range(game.players)], state.stock[:], [])
        cards = [action for action in state.legal_actions() if action < PLAYS]
        for table in (plain, learned) if game.players == 2 else (plain,):
            table.begin(state, *ASKED[number % len(ASKED)])
            for seat in range(game.players):
                table.aim(seat, draw.random() < 0.7)
            if not table.put(deal):
                rows.append(None)
                continue
            cards_left = table.different(cards)
            rows.append([cards_left, [table.worth(card) for card in cards_left], table.led_by_habit(), table.played])
    return rows


def endings(game: engine.Game) -> list[list[int]]:
    """Return for each ending the least and the most that the first camp may gain, and the nodes searched.

    If compiled, the table of positions is larger and nodes may differ; then they are left out.
    """
    rows = []
    for state in moments(game, 0.5, 10):
        hands = sum(len(state.hand_of(seat)) for seat in range(game.players))
        if len(state.stock) + hands <= 4 * game.players:
            solution = solve(state, NODES)
            rows.append([solution.low, solution.high, solution.nodes if INTERPRETED else 0])
    return rows


if __name__ == "__main__":
    print(json.dumps({name: part() for name, part in PARTS.items()}, indent=1))
