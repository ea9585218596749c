"""Bato: who joins, the shown card that the dealer may take, and the hands of those who are out, which are dealt again."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import engine
from engine.cards import actions as act


def joined(seed: int, **options: object) -> engine.State:
    """Return a deal of bato in which everybody plays, at its change of cards."""
    state = engine.load("bato", **options).new_match(seed=seed, deals=1)
    while state.phase is not None and state.phase.name == "auction":
        state.apply(act.PLAY if act.PLAY in state.legal_actions() else act.JOIN)
    return state


def last(state: engine.State) -> dict[str, object]:
    """Return the last event of the record."""
    return state.events[-1]


@pytest.mark.parametrize("players", [4, 6])
def test_the_dealer_may_take_the_shown_card_and_puts_one_more_away(players: int) -> None:
    state = joined(1, players=players, dealer_takes_shown=True)
    shown_card = state.shown
    while state.turn != state.dealer:
        assert act.TAKE not in state.legal_actions()
        state.apply(state.legal_actions()[0])  # changes nothing
    dealer, hand, stock = state.dealer, state.hand_of(state.dealer), len(state.stock)
    assert act.TAKE in state.legal_actions()

    state.apply(act.TAKE)

    assert last(state) == {"e": "take", "seat": dealer, "card": state.game.pack.texts[shown_card]}
    assert state.shown < 0
    assert sorted(state.hand_of(dealer)) == sorted([*hand, shown_card])
    assert (state.turn, len(state.stock)) == (dealer, stock)
    sizes = {len(act.discarded(action)) for action in state.legal_actions()}
    assert sizes == set(range(1, 1 + min(int(state.rules.discard_draw_max), stock + 1)))
    two_cards = next(action for action in state.legal_actions() if len(act.discarded(action)) == 2)
    state.apply(two_cards)
    assert len(state.hand_of(dealer)) == len(hand)
    assert len(state.stock) == stock - 1, "one card for the two put away: the other was the shown one"


def changed(seed: int) -> Iterator[engine.State]:
    """Return the states of a deal for six, of whom some are out, while everybody changes as many cards as possible."""
    state = engine.load("bato", players=6, stock_exhausted="reshuffle_out_hands").new_match(seed=seed, deals=1)
    rng = random.Random(seed)
    while state.phase is not None and not state.is_over:
        legal = state.legal_actions()
        changes = [action for action in legal if action >= act.DISCARD]
        yield state
        state.apply(max(changes, key=lambda a: len(act.discarded(a))) if changes else rng.choice(legal))
    yield state


def test_hands_of_those_who_are_out_are_dealt_again() -> None:
    """Their cards, shuffled, and no others; each once."""
    dealt_again = 0
    orders = set()
    for seed in range(60):
        thrown: dict[int, list[int]] = {}
        for state in changed(seed):
            places = [place for place, event in enumerate(state.events) if event["e"] == "reshuffle"]
            if not places:
                thrown = {seat: state.hand_of(seat) for seat in state.out}
                continue
            (place,) = places
            ring = [(state.mano + step) % 6 for step in range(6)]
            cards = sorted(card for hand in thrown.values() for card in hand)
            assert state.events[place] == {
                "e": "reshuffle",
                "count": len(cards),
                "seats": [seat for seat in ring if seat in thrown],
            }
            assert not any(state.hand_of(seat) for seat in thrown)
            drawn = [state.game.pack.parse(event["card"]) for event in state.events[place:] if event["e"] == "draw"]
            assert sorted(drawn + state.stock) == cards
        if thrown and places:
            dealt_again += 1
            orders.add(tuple(sorted(range(len(drawn)), key=drawn.__getitem__)))
    assert dealt_again > 5
    assert len(orders) > 5
