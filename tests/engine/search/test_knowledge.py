"""A state from a seat's events: with the true cards it is the true state, at every decision of every game."""

from __future__ import annotations

import random

import engine
from engine.search.deals import BITS, Deal
from engine.search.knowledge import Knowledge
from tests.support import playing, tables

# Values that a seat cannot know, does not need, or computes again on demand
OTHER = {
    "log", "history", "taken_actions", "seed", "suit_map", "heard", "dice", "legal", "extra", "hand", "stock", "hands", "revokers", "drawn", "deals",
    "queue", "notes", "songs_made", "lead", "leader", "best", "winner", "htab", "ftab", "table", "window", "verdict", "score",
}  # fmt: skip
FOR_FOLLOWERS = {
    "void",
    "over",
    "follow",
    "ruffed",
    "in_force",
    "no_load",
    "modified",
    "watched",
}  # nobody follows before a lead


def true_deal(state: engine.State, seat: int, away: int) -> Deal:
    """Return the true places of the cards."""
    hidden = state.notes.get("put_away", ())
    return Deal([list(state.hand_of(s)) for s in range(state.seats)], state.stock[:], list(hidden[:away]))


def public_notes(state: engine.State) -> dict[str, object]:
    """Return the notes of the deal that every seat knows and that something follows from.

    Cards put away are known to their seats alone, a hand that was shown to the dealer to the dealer, and no event reports a declined exchange.
    """
    return {name: value for name, value in state.notes.items() if name not in ("put_away", "declined", "censored_hand")}


def assert_the_same(state: engine.State, rebuilt: engine.State) -> None:
    """Everything that what comes next depends on."""
    assert rebuilt.legal_actions() == state.legal_actions()
    for name in engine.State.__mro__[1].__slots__:
        if name not in OTHER and (name not in FOR_FOLLOWERS or state.phase is None):
            assert getattr(rebuilt, name) == getattr(state, name), name
    assert [list(hand) for hand in rebuilt.hands] == [list(hand) for hand in state.hands]
    if state.in_trick:
        assert (rebuilt.table, rebuilt.lead, rebuilt.winner) == (state.table, state.lead, state.winner)
    assert rebuilt.songs_made == state.songs_made
    assert public_notes(rebuilt) == public_notes(state)


def watch(table: tables.Table, seed: int, limit: int) -> int:
    """Play at random and compare the seat's knowledge with the truth before each decision; return the number of comparisons."""
    game = table.load()
    rng = random.Random(f"{table} {seed}")
    state = game.new_match(seed=seed, deals=2)
    knowing = [Knowledge(game, seat, deals=2) for seat in range(game.players)]
    counts_of_events = [0] * game.players
    compared = 0
    while not state.is_over and limit:
        limit -= 1
        seat = state.current_seat
        if len(state.legal_actions()) > 1:
            knowledge = knowing[seat]
            knowledge.follow(engine.redact(state.events[counts_of_events[seat] :], seat))
            counts_of_events[seat] = len(state.events)
            knowledge.asked([game.action_text(action) for action in state.legal_actions()])
            deal = true_deal(state, seat, knowledge.away)
            rebuilt = knowledge.state(deal)
            assert_the_same(state, rebuilt)
            facts = knowledge.deals().facts
            for other, cards in enumerate(deal.hands):
                true_cards = sum(BITS[card] for card in cards)
                assert facts.certain[other] & true_cards == facts.certain[other]
                assert not facts.barred[other] & facts.unseen & true_cards, (
                    "a card that the seat holds is said to be barred"
                )
                for most in facts.at_most:
                    assert most.seat != other or (most.cards & true_cards).bit_count() <= most.number
                for who, cards_ in facts.not_all:
                    assert who != other or true_cards & cards_ != cards_
            compared += 1
        state.apply(playing.choose(state, rng))
    return compared


@tables.on_games(tables.plain(), tables.once()[::4])
def test_with_the_true_cards_it_is_the_true_state(key: str, group: list[tables.Table]) -> None:
    compared = 0
    for number, table in enumerate(group):
        with tables.note_table(table):
            compared += watch(table, number, 120)
    assert compared > 12 * len(group)
