"""Packs: numbers, texts, ranks, and the ready tables against their definition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards.pack import NO_SUIT, Pack, pack
from engine.errors import EngineError

PACKS = [
    pack("es40", "13RCS76542"),
    pack("es40", "13RSC76542"),
    pack("es40", "1RCS765432"),
    pack("es36", "13RCS76542"),
    pack("es36", "13RCS7654"),
    pack("es39", "13RCS76542"),
    pack("fr52", "AKQJT98765432"),
]
ON_PACK = pytest.mark.parametrize("pack", PACKS, ids=lambda p: f"{p.name}-{p.ranks[::-1]}")


@ON_PACK
def test_every_card_has_a_text_and_a_number(pack: Pack) -> None:
    assert len(pack.cards) == int(pack.name[2:])
    assert [pack.parse(pack.text(card)) for card in pack.cards] == pack.cards
    assert len({pack.text(card) for card in pack.cards}) == len(pack.cards)
    for card in pack.cards:
        assert pack.card(pack.rank[card], pack.suit[card]) == card
        assert pack.text(card) == pack.rank[card] + pack.suits[pack.suit[card]]


@ON_PACK
def test_what_is_no_card_is_refused(pack: Pack) -> None:
    for number in (-1, 52, 60, 1000, *(set(range(52)) - set(pack.cards))):
        with pytest.raises(EngineError, match="no card number"):
            pack.text(number)
    for text in ("", "1", "o", "o1", "1x", "8o", "1oo", " 1o", "1O", "10o"):
        with pytest.raises(EngineError, match="a card is a rank of"):
            pack.parse(text)
    for text in ("", "x", "oc", "O"):
        with pytest.raises(EngineError, match="suits are"):
            pack.parse_suit(text)


def test_cards_that_are_left_out() -> None:
    assert {"2o", "2c", "2e", "2b"} == set(PACKS[0].texts) - {PACKS[3].text(card) for card in PACKS[3].cards}
    assert {"2c"} == set(PACKS[0].texts) - {PACKS[5].text(card) for card in PACKS[5].cards}
    assert PACKS[3].card("2", 0) == -1
    assert PACKS[5].card("2", 1) == -1
    assert PACKS[0].card("7", NO_SUIT) == -1
    assert PACKS[0].card("8", 0) == -1
    with pytest.raises(EngineError, match="unknown card '2c'"):
        PACKS[5].parse("2c")


def test_the_rank_order_is_the_order_of_numbers() -> None:
    for deck in PACKS:
        order = deck.ranks[::-1]
        for suit in range(4):
            texts = [deck.text(card) for card in sorted(deck.cards, reverse=True) if deck.suit[card] == suit]
            assert [text[0] for text in texts] == [rank for rank in order if rank + deck.suits[suit] in texts]


@settings(max_examples=150)
@given(st.data())
def test_tables_say_what_their_names_say(data: st.DataObject) -> None:
    deck = data.draw(st.sampled_from([PACKS[0], PACKS[6]]))
    cards = data.draw(st.sets(st.sampled_from(deck.cards), max_size=14))
    hand = deck.hand(cards)
    assert deck.in_hand(hand) == tuple(sorted(cards))
    assert hand[NO_SUIT] == 0
    card = data.draw(st.sampled_from(deck.cards))
    suit = deck.suit[card]
    holding = tuple(sorted(other for other in cards if deck.suit[other] == suit))
    above = tuple(other for other in holding if other > card)
    assert deck.all[suit][hand[suit]] == holding
    assert deck.higher[card][hand[suit]] == above
    assert deck.follow[card][hand[suit]] == (above or holding)
    assert deck.nothing[hand[suit]] == ()


def test_masks_of_ranks() -> None:
    deck = PACKS[0]
    pair = deck.mask("RC")
    assert deck.hand([deck.parse("Ro"), deck.parse("Co")])[0] == pair
    assert deck.mask("") == 0
