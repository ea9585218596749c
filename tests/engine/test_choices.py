"""The types of hands follow from the rules of a table, and the choices of a deal from its record."""

from __future__ import annotations

import random

import pytest

import engine
from engine import choices


@pytest.mark.parametrize(
    ("game", "cards", "trump", "expected"),
    [
        ("partnership", "1o Ro Co 7c Rc Cc 4e 5e 6b 7b", "o", "t3-h2-p3"),
        ("partnership", "1o 3o 2o 4o 5o 6o 7o 7c 4e 5e", "o", "t5-h3-p0"),
        ("partnership", "1c 3c Rc Cc 4e 5e 6b 7b 2b 4b", "o", "t0-h0-p1"),
        ("partnership", "3o Ro Co 4e 5e 6b 7b 2b 4b 2e", "o", "t3-h1-p2"),
        ("brisca", "1o Ro Co", "o", "t3-h2"),  # no songs, so pairs do not matter
        ("subastado", "1o 3o 7c Rc Cc 4c 4e 5e 6b 7b 5b", None, "l4-h0-p2"),
        # Of two longest suits the one with the higher honours
        ("gana_pierde_3", "3o 4o 5o 1c 4c 5c 4e 5e 6e", None, "l3-h2"),
        ("podrida", "1o 4c", "o", "n2-t1-h2"),
    ],
)
def test_the_type_of_a_hand(game: str, cards: str, trump: str | None, expected: str) -> None:
    terms = engine.load(game)
    hand = terms.pack.hand(map(terms.pack.parse, cards.split()))
    assert choices.hand_type(terms, hand, terms.pack.parse_suit(trump) if trump else None) == expected


@pytest.mark.parametrize(
    ("card", "trump", "expected"),
    [
        ("1o", "o", "t1"),
        ("3c", "o", "o3"),
        ("Ro", "o", "tf"),
        ("4c", "o", "ox"),
        ("4c", None, "lx"),
        ("1o", None, "o1"),
    ],
)
def test_the_class_of_a_card_that_is_led(card: str, trump: str | None, expected: str) -> None:
    terms = engine.load("partnership")
    hand = terms.pack.hand(map(terms.pack.parse, ("1o", "Ro", "3c", "4c", "5c")))
    suit = terms.pack.parse_suit(trump) if trump else None
    assert choices.card_class(terms, hand, terms.pack.parse(card), suit) == expected


def test_the_choices_of_an_auction_with_their_places_and_worth() -> None:
    hands = [["1o", "3o", "Ro", "Co"], ["1c", "4e", "5e", "6e"], ["4o", "4c", "7e", "4b"]]
    events = [
        {"e": "match"},
        {"e": "deal", "deal": 4, "out": [], "trump": None, "hands": hands},
        {"e": "call", "seat": 0, "call": "pass"},
        {"e": "call", "seat": 1, "call": "bid 70"},
        {"e": "call", "seat": 2, "call": "bid 75"},
        {"e": "call", "seat": 1, "call": "pass"},
        {"e": "trump", "seat": 2, "suit": "b"},
        {"e": "play", "seat": 0, "card": "Ro"},
        {"e": "score", "scores": [60, 60, -120], "marks": [0, 0, 0]},
        {"e": "deal", "deal": 5, "out": [], "trump": None, "hands": hands},  # never scored
        {"e": "call", "seat": 0, "call": "pass"},
    ]
    choices_read = list(choices.read({"game": "subastado", "players": 3, "options": {}, "events": events}))
    assert choices_read == [
        choices.OpeningChoice("call.first", "l4-h3-p2", "pass", 0, 4, 1, 180),
        choices.OpeningChoice("call.first", "l3-h0-p0", "bid 60-79", 1, 4, 2, 180),
        choices.OpeningChoice("call.after", "l1-h0-p0", "bid 60-79", 2, 4, 3, -360),
        choices.OpeningChoice("lead.defence", "t0-h0-p1", "of", 0, 4, 6, 180),
    ]


@pytest.mark.parametrize("game", engine.games())
def test_every_game_has_choices_and_their_worth_adds_up_to_nothing(game: str) -> None:
    state = engine.load(game).new_match(seed=bytes(16))
    rng = random.Random(game)
    while not state.is_over:
        state.apply(rng.choice(state.legal_actions()))
    events = list(state.events)
    choices_read = list(choices.read(engine.replay.make(state)))
    leads = [choice for choice in choices_read if choice.kind.startswith("lead")]
    assert len(leads) == sum(a["e"] == "deal" for a in events) - sum(
        a.get("why") in ("passed", "alone") for a in events
    )
    assert {choice.kind for choice in choices_read} <= set(choices.KINDS)
    for choice in (choice for choice in choices_read if choice.step):
        start = next(place for place, event in enumerate(events) if event.get("deal") == choice.deal)
        assert events[start + choice.step]["seat"] == choice.seat
    assert max(len(choice.hand) for choice in choices_read) <= 20
    assert max(len(choice.choice) for choice in choices_read) <= 20
