"""Random play for tests: every legal action has a chance, but actions that would cut a deal short are rare."""

from __future__ import annotations

import random
from collections.abc import Iterator

import engine
from engine.cards import actions as act

WEIGHTS = {
    act.CLAIM: 0.01,
    act.CAPOTE: 0.05,
    act.PASS: 8.0,
    act.TAKE: 8.0,
    act.PLAY: 4.0,
    act.JOIN: 2.0,
}
ANNOUNCEMENT = 12.0  # Songs and exchanges are rarely legal, so they are nearly always taken.
TUTE = 0.5
ACCUSATION = 0.002


def weight(action: int) -> float:
    """Return the weight of an action; a card has weight 1."""
    if act.SING <= action < act.PASS:
        return TUTE if act.TUTE <= action < act.EXCHANGE_SEVEN else ANNOUNCEMENT
    if action >= act.DISCARD:
        return 1.0 + len(act.discarded(action)) ** 3  # So that the undealt cards sometimes run out.
    return ACCUSATION if act.ACCUSE <= action < act.BID else WEIGHTS.get(action, 1.0)


def choose(state: engine.State, rng: random.Random) -> int:
    """Choose one of the legal actions, by weight."""
    legal = state.legal_actions()
    if len(legal) == 1:
        return legal[0]
    return rng.choices(legal, [weight(action) for action in legal])[0]


def play(state: engine.State, seed: object, limit: int = 6000) -> Iterator[int]:
    """Play a match to its end, or `limit` actions; yield each action after it was taken."""
    rng = random.Random(str(seed))
    for _ in range(limit):
        if state.is_over:
            return
        action = choose(state, rng)
        state.apply(action)
        yield action


def finished(game: engine.Game, seed: object, deals: int | None = None, limit: int = 6000) -> engine.State:
    """Play a match at random."""
    state = game.new_match(seed=f"match {seed}", deals=deals)
    for _ in play(state, seed, limit):
        pass
    return state
