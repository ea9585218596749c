"""Actions: every number has one text, every text one number."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.cards import actions as act
from engine.cards.pack import Pack, pack
from engine.errors import EngineError

PACKS = [
    pack("es40", "13RCS76542"),
    pack("es36", "13RCS7654"),
    pack("es39", "13RCS76542"),
    pack("fr52", "AKQJT98765432"),
]
WORDS = {"pass", "claim", "capote", "take", "decline", "join", "out", "play"}


@pytest.mark.parametrize("pack", PACKS, ids=lambda p: p.name)
def test_every_number_and_its_text(pack: Pack) -> None:
    texts = {}
    for action in range(-5, act.DISCARD):
        try:
            text = act.text(pack, action)
        except EngineError:
            continue
        assert act.parse(pack, text) == action
        texts[text] = action
    cards = [pack.text(card) for card in pack.cards]
    expected = {
        *WORDS,
        *(f"play {card}" for card in cards),
        *(f"call {card}" for card in cards),
        *(f"{verb} {suit}" for verb in ("sing", "trump", "exchange 7", "exchange 2") for suit in pack.suits),
        *(f"tute {rank}" for rank in "RCS"),
        *(f"predict {tricks}" for tricks in range(18)),
        *(f"bid {points}" for points in range(231)),
        *(f"accuse {seat}" for seat in range(6)),
    }
    expected = {text.replace("exchange 7 ", "exchange 7").replace("exchange 2 ", "exchange 2") for text in expected}
    assert set(texts) == expected


@pytest.mark.parametrize("pack", PACKS, ids=lambda p: p.name)
def test_every_discard_of_a_hand(pack: Pack) -> None:
    actions = set()
    for size in range(5):
        for cards in combinations(pack.cards[::3], size):
            action = act.discard(cards)
            assert action >= act.DISCARD
            assert act.discarded(action) == tuple(sorted(cards))
            assert act.parse(pack, act.text(pack, action)) == action
            actions.add(action)
    assert act.text(pack, act.DISCARD) == "discard"
    assert act.discard(tuple(reversed(pack.cards[:4]))) == act.discard(tuple(pack.cards[:4]))


NO_ACTIONS = [
    "", " ", "play 1o 1c", "play  1o", " play 1o", "play 1o ", "PLAY 1o", "Pass", "pass pass", "play 9o", "sing", "sing x",
    "sing oc", "tute", "tute ", "tute RC", "tute RCS", "tute A", "tute 1", "exchange", "exchange 7", "exchange o", "exchange 3o",
    "exchange 7oo", "exchange 77", "trump", "trump oceb", "call", "call o", "bid", "bid 231", "bid 007", "bid -5", "bid +5", "bid 7.0",
    "bid 1000", "bid ٣", "bid ²", "predict 18", "predict -1", "predict 01", "discard 1o 3o Ro Co So", "discard x", "discard ", "fold",
    "take 1o", "accuse", "accuse 6", "accuse 02", "accuse -1", "accuse 1o", "1o", "play\n1o", "play\t1o",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_ACTIONS)
def test_what_is_no_action_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        act.parse(PACKS[0], text)
    part_named = text.split(" ")[-1] if str(caught.value).startswith(("unknown card", "unknown suit")) else text
    assert any(repr(part) in str(caught.value) for part in {part_named, part_named[1:], text})


@settings(max_examples=100)
@given(
    st.text(max_size=20)
    | st.from_regex(r"\A(play|sing|tute|exchange|trump|call|bid|predict|accuse|discard) ?\w{0,4}\Z")
)
def test_any_text_is_an_action_or_an_error(text: str) -> None:
    try:
        action = act.parse(PACKS[0], text)
    except EngineError:
        return
    assert act.parse(PACKS[0], act.text(PACKS[0], action)) == action


@pytest.mark.parametrize("number", [40, 51, 59, 76, 77, 79, 84 + 40, 135, 154, 199, 431, 999, -1, 10**12, 1053])
def test_what_is_no_action_number_is_refused(number: int) -> None:
    with pytest.raises(EngineError, match=r"unknown action|no card number"):
        engine.load("partnership").action_text(number)


@pytest.mark.parametrize("action", [45, 10**9, -1, act.PASS, act.TUTE, act.BID + 70, act.DISCARD])
def test_an_illegal_action_changes_nothing_and_lists_the_legal_ones(action: int) -> None:
    state = engine.load("partnership").new_match(seed=1)
    before = state.observation(0), list(state.events), list(state.actions)
    with pytest.raises(engine.IllegalAction) as caught:
        state.apply(action)
    assert (state.observation(0), list(state.events), list(state.actions)) == before
    for legal in state.legal_actions():
        assert state.game.action_text(legal) in str(caught.value)


def test_a_card_of_another_hand_is_refused_even_where_revokes_are_let_through() -> None:
    state = engine.load("cabrero", illegal_move="two_marks").new_match(seed=1)
    foreign = state.hand_of((state.turn + 1) % 4)[0]
    with pytest.raises(engine.IllegalAction, match="is not legal for seat"):
        state.apply(foreign)


def test_a_finished_match_takes_no_action() -> None:
    state = engine.load("partnership").new_match(seed=1, deals=1)
    while not state.is_over:
        state.apply(state.legal_actions()[0])
    assert state.current_seat == -1
    with pytest.raises(engine.IllegalAction, match="the match is over"):
        state.apply(0)
