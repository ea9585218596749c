"""Properties of every game at every table of the registry: a new game or option is covered automatically."""

from __future__ import annotations

import json
import random

import pytest

import engine
from engine.cards import actions as act
from engine.match.trick.windows import WINDOW
from engine.rulebook import LANGUAGES
from engine.search import playouts
from tests.support import playing, tables
from tests.support.folding import Fold

ON_GAMES = tables.on_games(tables.plain(), tables.covering())
ON_ONCE = tables.on_games(tables.of_a_deal())
SOME_DEALS = 2  # deals of a match in the checks that look at every action


def texts(state: engine.State, cards: object) -> set[str]:
    """Return the texts of card numbers."""
    return {state.game.pack.text(card) for card in cards}  # type: ignore[attr-defined]


# ---- the declaration


@pytest.mark.parametrize("key", engine.games())
def test_a_game_says_in_both_languages_what_it_is(key: str) -> None:
    line = engine.load(key).declared.line
    assert set(line) == set(LANGUAGES)
    for text in line.values():
        assert text == text.strip()
        assert text.endswith(".")
        assert 20 < len(text) <= 110


# ---- every table: actions, cards, points


@ON_GAMES
def test_random_play_keeps_cards_and_points(key: str, group: list[tables.Table]) -> None:
    """At every table of every game, every value of every option included."""
    for table in group:
        with tables.note_table(table):
            check_play(table)


def check_play(table: tables.Table) -> None:
    """Legal actions are never empty and hold only cards of the hand; no card and no point is lost; events alone rebuild the table."""
    state = table.load().new_match(seed=f"cover {table}", deals=SOME_DEALS)
    fold = Fold().see(state.events)
    count, rng = len(state.events), random.Random(str(table))
    check_cards(state, fold)
    for _ in range(1500):
        if state.is_over:
            break
        legal = state.legal_actions()
        assert legal
        assert len(set(legal)) == len(legal)
        hand = state.hand_of(state.turn)
        assert all(action in hand for action in legal if action < act.PLAY_END)
        state.apply(playing.choose(state, rng))
        for event in state.events[count:]:
            fold.see([event])
            if event["e"] == "score":
                check_points(state, event, fold)
        count = len(state.events)
        check_cards(state, fold)
    assert state.is_over, "the match did not end"
    assert state.current_seat == -1
    assert state.legal_actions() == ()
    assert fold.over
    assert fold.scores == state.scores()
    assert abs(sum(state.returns())) < 1e-6


def check_cards(state: engine.State, fold: Fold) -> None:
    """Check that the pack is complete, and that the events say the same as the state."""
    hands = [texts(state, state.hand_of(seat)) for seat in range(state.seats)]
    trick = texts(state, state.table) if state.in_trick else set()
    shown_card = texts(state, [state.shown]) if state.shown >= 0 and state.holder < 0 else set()
    laid = texts(state, [state.notes["pending_card"]]) if state.pending >= 0 else set()
    stock = texts(state, state.stock)
    places = [*hands, trick, shown_card, laid, stock, set(fold.taken), fold.put_away]
    assert sum(state.chips) + state.pot == 0  # chips never come from nowhere
    if not state.is_over:
        assert sum(map(len, places)) == len(state.game.pack.cards)
        assert set().union(*places) == texts(state, state.game.pack.cards)
    assert fold.hands == hands
    assert fold.counts == [len(hand) for hand in hands]
    if state.in_trick:
        assert [card for _, card in fold.trick] == [state.game.pack.text(card) for card in state.table]
    assert fold.shown == state.card_text(state.shown)
    assert fold.trump == state.suit_text(state.trump)
    assert fold.stock == state.n
    assert fold.tricks == state.tricks
    assert fold.points == state.cards
    assert fold.songs == state.songs


def check_points(state: engine.State, event: dict, fold: Fold) -> None:
    """Check that the points of a deal that was played out add up to those of the pack."""
    rules = state.rules
    # Bato counts tricks: where loading is forbidden its cards have points to compare, but nobody adds them up.
    if rules.settlement == "points" or not fold.played_out or not state.game.declared.rank_points:
        return
    points = {state.game.pack.text(card): state.game.card_points[card] for card in state.game.pack.cards}
    assert sum(points.values()) == 120
    undealt = sum(
        points[card]
        for card in [*(fold.rest or []), *([fold.shown] if fold.shown and fold.holder is None else [])]
        if card not in fold.taken
    )
    assert sum(event["cards"]) + undealt == 120
    assert event["songs"] == fold.songs
    assert sum(event["bonus"]) in (rules.last_trick_bonus, 0 if rules.last_trick_optional else rules.last_trick_bonus)
    assert event["points"] == [
        c + s + b for c, s, b in zip(event["cards"], event["songs"], event["bonus"], strict=True)
    ]


# ---- what a seat sees


@ON_ONCE
def test_a_viewer_without_rules_sees_what_the_engine_says(key: str, group: list[tables.Table]) -> None:
    """Redacted events alone give a seat its table; the snapshot of the engine says the same."""
    for table in group:
        with tables.note_table(table):
            check_views(table)


def check_views(table: tables.Table) -> None:
    """Check one deal, by every seat after every action."""
    state = table.load().new_match(seed=f"view {table}", deals=1)
    rng = random.Random(str(table))
    folds = [Fold(seat).see(engine.redact(state.events, seat)) for seat in range(state.seats)]
    count = len(state.events)
    while not state.is_over and state.deal_no == 1:
        for seat, fold in enumerate(folds):
            if state.phase is WINDOW and state.window == "before_draw" and state.turn != seat:
                continue  # the snapshot is then that of a window closed in silence, one draw ahead of the events
            check_view(state.observation(seat), fold)
        state.apply(playing.choose(state, rng))
        for seat, fold in enumerate(folds):
            fold.see(engine.redact(state.events[count:], seat))
        count = len(state.events)


def check_view(view: dict, fold: Fold) -> None:
    """Check a snapshot against a fold of the same moment."""
    json.dumps(view)
    assert set(view["hand"]) == fold.hands[view["seat"]]
    assert view["counts"] == fold.counts
    for name in ("trump", "shown", "stock", "tricks", "songs", "totals", "games", "marks"):
        assert view[name] == getattr(fold, name), name
    assert view["cards"] == fold.points
    assert view["pending"] == (dict(zip(("seat", "card"), fold.pending, strict=True)) if fold.pending else None)
    trick = [(play["seat"], play["card"]) for play in view["trick"]]
    assert trick == fold.trick or (not fold.trick and trick == fold.last_trick), (trick, fold.trick, fold.last_trick)


# ---- playouts


@ON_GAMES
def test_playouts_are_ordinary_play(key: str, group: list[tables.Table]) -> None:
    """The quick way through a trick gives the scores that `apply` gives, at every table, and leaves the state alone."""
    for table in group:
        with tables.note_table(table):
            state = table.load().new_match(seed=f"playout {table}", deals=1)
            before = json.dumps([state.observation(seat) for seat in range(state.seats)])
            assert playouts.playout(state, 7, quick=True) == playouts.playout(state, 7, quick=False)
            assert json.dumps([state.observation(seat) for seat in range(state.seats)]) == before
