"""Invariances: the viewer, the seat at which a deal starts and the names of the suits do not matter; copies are independent."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import engine
from engine.cards import actions as act
from engine.match import flow, steps
from tests.support import playing, tables

ON_GAMES = tables.on_games(tables.plain(), tables.once())


def snapshot(state: engine.State) -> str:
    """Return all that can be asked of a state, as text."""
    return json.dumps(
        [
            [state.observation(seat) for seat in range(state.seats)],
            state.scores(),
            state.current_seat,
            list(state.legal_actions()),
            state.stock,
            [list(state.hand_of(seat)) for seat in range(state.seats)],
            repr(sorted(state.notes.items())),
        ]
    )


# ---- clones


@ON_GAMES
def test_a_clone_is_independent_and_equal(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            check_clone(table)


def check_clone(table: tables.Table) -> None:
    """Check that a copy goes its own way, and the same way if asked to."""
    state = table.load().new_match(seed=f"clone {table}", deals=2)
    rng = random.Random(str(table))
    for _ in range(rng.randrange(60)):
        if not state.is_over:
            state.apply(playing.choose(state, rng))
    before, events = snapshot(state), json.dumps(state.events)
    clone = state.clone()
    assert snapshot(clone) == before
    other = state.clone()
    for _ in playing.play(other, "away", limit=150):
        pass
    assert snapshot(state) == before
    assert json.dumps(state.events) == events
    actions = list(playing.play(clone, "same", limit=400))
    assert snapshot(state) == before
    for action in actions:
        state.apply(action)
    assert snapshot(state) == snapshot(clone)


def test_a_clone_records_nothing_and_says_so() -> None:
    clone = engine.load("partnership").new_match(seed=1).clone()
    for question in ("events", "actions"):
        with pytest.raises(ValueError, match="record=True"):
            getattr(clone, question)


@ON_GAMES
def test_recording_changes_nothing(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            check_recording(table)


def check_recording(table: tables.Table) -> None:
    """Check that a match is the same with and without a record."""
    recorded = table.load().new_match(seed=f"record {table}", deals=1)
    silent = table.load().new_match(seed=f"record {table}", deals=1, record=False)
    for action in playing.play(recorded, table, limit=400):
        assert silent.current_seat != -1
        silent.apply(action)
    assert snapshot(silent) == snapshot(recorded)


# ---- seats


def dealt_from(game: engine.Game, seed: str, place: int) -> engine.State:
    """Return the second deal of a match as if everything before had happened around this seat."""
    state = game.new_match(seed=seed, deals=2)
    state.dealer = state.mano = state.last_trick = place
    flow.run(state, steps.DEAL)
    return state


def turned(values: Any, shift: int) -> list[Any]:
    """Return a list by seat, turned round the table."""
    values = list(values)
    return [values[(seat - shift) % len(values)] for seat in range(len(values))]


@ON_GAMES
def test_seats_are_alike(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            check_turned(table)


def seat_on(action: int, shift: int, seats: int) -> int:
    """Return an action with the seat that it names, if any, turned round the table."""
    is_accusation = act.ACCUSE <= action < act.BID
    return act.ACCUSE + (action - act.ACCUSE + shift) % seats if is_accusation else action


def check_turned(table: tables.Table) -> None:
    """Check that the same deal, turned round the table, goes the same way with everybody in the next seat."""
    game = table.load()
    n = game.players
    rng = random.Random(f"turn {table}")
    place, shift = rng.randrange(n), rng.randrange(1, n)
    here = dealt_from(game, f"turn {table}", place)
    turned_state = dealt_from(game, f"turn {table}", (place + shift) % n)
    for _ in range(400):
        assert turned_state.turn == (here.turn + shift) % n
        assert {seat_on(action, shift, n) for action in here.legal_actions()} == set(turned_state.legal_actions())
        for name in ("cards", "songs", "tricks", "chips", "marks"):
            assert turned(getattr(here, name), shift) == list(getattr(turned_state, name)), name
        assert turned(map(here.hand_of, range(n)), shift) == list(map(turned_state.hand_of, range(n)))
        if here.is_over or here.deal_no > 2:
            break
        action = playing.choose(here, rng)
        here.apply(action)
        turned_state.apply(seat_on(action, shift, n))
    assert here.is_over == turned_state.is_over
    assert turned(here.scores(), shift) == turned_state.scores()


# ---- ranks

JACK_HIGH = str.maketrans("CS", "SC")
WITH_ORDERS = [
    table
    for table in tables.plain()
    if table.load().rules.rank_order.translate(JACK_HIGH) in table.load().declared.options.get("rank_order", ())
]


def jack_high(value: Any) -> Any:
    """Return part of a record with the other name of each horse and jack."""
    if isinstance(value, dict):
        return {name: jack_high(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [jack_high(part) for part in value]
    return value.translate(JACK_HIGH) if isinstance(value, str) and re.fullmatch("[CS][oceb]?", value) else value


@pytest.mark.parametrize("table", WITH_ORDERS, ids=str)
def test_in_the_ranks_of_guinote_horse_and_jack_change_places(table: tables.Table) -> None:
    """The same match goes the same way (004:204), with the other name of each horse and jack in its record."""
    usual = table.load()
    other = engine.load(table.key, players=table.players, rank_order=usual.rules.rank_order.translate(JACK_HIGH))
    for seed in range(6):
        state = usual.new_match(seed=f"match {seed}", deals=2)
        other_state = other.new_match(seed=f"match {seed}", deals=2)
        for action in playing.play(state, seed, limit=600):
            other_state.apply(other.parse_action(usual.action_text(action).translate(JACK_HIGH)))
        assert jack_high(state.events[1:]) == json.loads(json.dumps(other_state.events[1:]))
        assert state.scores() == other_state.scores()


# ---- suits


def renamed(game: engine.Game, action: int, names: dict[str, str]) -> int:
    """Return an action with its suits called otherwise."""
    verb, *objects = game.action_text(action).split(" ")
    if verb in ("bid", "predict", "tute", "accuse"):
        return action
    return game.parse_action(" ".join([verb, *(text[:-1] + names[text[-1]] for text in objects)]))


@ON_GAMES
def test_names_of_suits_do_not_matter(key: str, group: list[tables.Table]) -> None:
    for table in group:
        if not table.load().suits_named:
            with tables.note_table(table):
                check_renamed(table)


def check_renamed(table: tables.Table) -> None:
    """Check that the same seed with its suits exchanged is the same match with other names."""
    game = table.load()
    rng = random.Random(f"suits {table}")
    letters = list(game.pack.suits)
    rng.shuffle(letters)
    names = dict(zip(game.pack.suits, letters, strict=True))
    here = game.new_match(seed=f"suits {table}", deals=2)
    renamed_state = game.new_match(seed=f"suits {table}", deals=2, suits="".join(letters))
    for _ in range(500):
        assert here.turn == renamed_state.turn
        legal = {renamed(game, action, names) for action in here.legal_actions()}
        assert legal == set(renamed_state.legal_actions())
        if here.is_over:
            break
        action = playing.choose(here, rng)
        here.apply(action)
        renamed_state.apply(renamed(game, action, names))
    assert here.scores() == renamed_state.scores()
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(renamed_state))))


def test_names_of_suits_do_not_matter_when_hands_are_shuffled_in() -> None:
    """Bato: the hands of those who are out become new undealt cards, the same ones whatever the suits are called."""
    game = engine.load("bato", players=6, stock_exhausted="reshuffle_out_hands")
    names = dict(zip("oceb", "cobe", strict=True))
    shuffled_in = 0
    for seed in range(40):
        rng = random.Random(seed)
        here = game.new_match(seed=seed, deals=1)
        renamed_state = game.new_match(seed=seed, deals=1, suits="cobe")
        while not here.is_over:
            legal = here.legal_actions()
            assert {renamed(game, action, names) for action in legal} == set(renamed_state.legal_actions())
            changes = [action for action in legal if action >= act.DISCARD]
            action = max(changes, key=lambda a: len(act.discarded(a))) if changes else rng.choice(legal)
            here.apply(action)
            renamed_state.apply(renamed(game, action, names))
        shuffled_in += any(event["e"] == "reshuffle" for event in here.events)
    assert shuffled_in > 5


def test_named_suits_cannot_be_exchanged() -> None:
    for key, options in (
        ("cabrero", {}),
        ("variable_trump", {"coins_start": True}),
        ("cabrero", {"trump_source": "rotating"}),
        ("brisca", {"players": 3, "deck": "es39"}),
    ):
        game = engine.load(key, **options)
        assert game.suits_named
        with pytest.raises(engine.OptionError, match="names a suit"):
            game.new_match(seed=1, suits="cobe")


def test_announcements_before_a_card_do_not_outlive_it() -> None:
    """An announcement offered to one seat is not offered to the next."""
    state = engine.load("cabrero", illegal_move="accuse").new_match(seed=3)
    for _ in range(2):
        others = [act.ACCUSE + seat for seat in range(4) if seat != state.turn]
        assert [action for action in state.legal_actions() if action >= act.ACCUSE] == others
        state.apply(next(action for action in state.legal_actions() if action < act.PLAY_END))
