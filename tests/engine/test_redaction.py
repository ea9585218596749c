"""No seat is ever shown what it has no right to know: checked on bytes, and by moving hidden cards about."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest

import engine
from engine import actions as act
from tests.support import playing, tables
from tests.support.knowing import Knowledge, cards_in

ON_GAMES = pytest.mark.parametrize(
    ("key", "group"),
    tables.by_game(tables.of_a_deal()),
    ids=lambda value: value if isinstance(value, str) else "",
)


def viewers(state: engine.State) -> list[int | None]:
    """All seats, and a spectator."""
    return [*range(state.seats), None]


@ON_GAMES
def test_no_card_is_shown_to_a_seat_that_may_not_know_it(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.named(table):
            check_redaction(table)


def check_redaction(table: tables.Table, attempt: int = 0) -> None:
    """One deal, looked at after every action by every seat and a spectator."""
    state = table.load().new_match(seed=f"redact {table} {attempt}", deals=1)
    rng = random.Random(f"{table} {attempt}")
    knowledge = Knowledge(state)
    check_events(state, knowledge, 0)
    while not state.is_over and state.deal_no == 1:
        action = playing.choose(state, rng)
        seen = len(state.events)
        knowledge.before(action)
        state.apply(action)
        if state.deal_no > 1:
            break
        knowledge.after(action)
        check_events(state, knowledge, seen)
        for seat in range(state.seats):
            view = state.observation(seat)
            # the calls that a seat may make name cards without saying where they are
            view["legal"] = [text for text in view.get("legal", ()) if not text.startswith("call ")]
            assert cards_in(view) <= knowledge.allowed(seat), (seat, cards_in(view) - knowledge.allowed(seat))


RARE = [
    ("look", "subastado", 4, {"censor": True}),
    ("takeover", "subastado", 4, {"censor": True}),
    ("song", "guinote", 4, {"hide_arrastre_twenty": True}),
    ("song", "guinote", 2, {"hide_arrastre_twenty": True}),
    ("song", "partnership", 4, {"hand_songs": "winning_side"}),
    ("reshuffle", "bato", 6, {"stock_exhausted": "reshuffle_out_hands"}),
    ("take", "bato", 4, {"dealer_takes_shown": True}),
    ("discard", "bato", 3, {}),
    ("partner", "codillo", 5, {"call_own_card": "solo"}),
    ("exchange", "cabrero", 3, {}),
    ("return", "corriente", 2, {}),
    ("exchange", "guinote", 4, {}),
    ("capote", "habanero", 2, {}),
]


@pytest.mark.parametrize(("kind", "key", "players", "options"), RARE)
def test_rare_events_show_no_more_than_they_should(
    kind: str, key: str, players: int, options: dict[str, object]
) -> None:
    """Deals are tried until this event has come up twice; where it can be secret, secret."""
    table = tables.Table(key, players, tuple(options.items()))
    game = table.load()
    found = 0
    for attempt in range(400):
        state = game.new_match(seed=f"redact {table} {attempt}", deals=1)
        rng = random.Random(f"{table} {attempt}")
        while not state.is_over and state.deal_no == 1:
            state.apply(playing.choose(state, rng))
        wanted = [event for event in state.events if event["e"] == kind]
        if "hide_arrastre_twenty" in options:
            wanted = [event for event in wanted if "secret" in event]
        if wanted:
            check_redaction(table, attempt)
            found += 1
        if found == 2:
            return
    pytest.fail(f"no {kind} in 400 deals")


def check_events(state: engine.State, knowledge: Knowledge, first: int) -> None:
    """New events name only cards that were known when they happened; the redaction of an event does not depend on the others."""
    new = state.events[first:]
    for seat in viewers(state):
        shown = engine.redact(new, seat)
        assert cards_in(shown) <= knowledge.allowed(seat), (seat, cards_in(shown) - knowledge.allowed(seat), shown)
        assert shown == engine.redact(state.events, seat)[first:]


@ON_GAMES
def test_hidden_cards_make_no_difference(key: str, group: list[tables.Table]) -> None:
    """Two worlds that differ only in where two hidden cards lie look the same, byte for byte, until one of these cards is seen."""
    for table in group:
        with tables.named(table):
            check_worlds(table)


def check_worlds(table: tables.Table) -> None:
    """Some pairs of worlds at one table."""
    rng = random.Random(f"worlds {table}")
    game = table.load()
    compared = 0
    for attempt in range(2):
        here = game.new_match(seed=f"worlds {table} {attempt}", deals=1)
        for seat in rng.sample(viewers(here), 2):
            swap = hidden_pair(here, seat, rng)
            if swap is not None:
                compared += compare_worlds(here.clone(), swapped(here, *swap), here.events, seat, swap, rng)
    assert compared or game.key == "podrida", "nothing was compared"


def places(state: engine.State) -> list[tuple[str, list[int]]]:
    """The hands, and the face-down stock."""
    hands = [(f"hand {seat}", list(state.hand_of(seat))) for seat in range(state.seats)]
    return [*hands, ("stock", list(state.stock))]


def hidden_pair(state: engine.State, seat: int | None, rng: random.Random) -> tuple[int, int] | None:
    """Two cards in different places that this seat does not see. Cards that a first deal names are left alone."""
    named = {state.shown, *(card for card in state.game.pack.cards if state.game.pack.text(card) in ("2o", "4o"))}
    there = [
        (place, card)
        for place, cards in places(state)
        if place != f"hand {seat}"
        for card in cards
        if card not in named
    ]
    pairs = [(a, b) for (p, a), (q, b) in combinations(there, 2) if p != q]
    return rng.choice(pairs) if pairs else None


def swapped(state: engine.State, a: int, b: int) -> engine.State:
    """The same deal with two cards in each other's place."""
    world = state.clone()
    exchange = {a: b, b: a}
    for seat in range(world.seats):
        world.hands[seat] = world.game.pack.hand(exchange.get(card, card) for card in state.hand_of(seat))
    world.hand = world.hands[world.turn]
    world.stock = [exchange.get(card, card) for card in state.stock]
    world.legal = None
    return world


def compare_worlds(
    here: engine.State,
    there: engine.State,
    events: list[dict],
    seat: int | None,
    swap: tuple[int, int],
    rng: random.Random,
) -> int:
    """Plays both worlds alike; returns the number of moments at which the views were compared."""
    names = {here.game.pack.text(card) for card in swap}
    here.log, there.log = [], []
    deal = next(event for event in events if event["e"] == "deal")
    exchange = dict(zip(sorted(names), sorted(names, reverse=True), strict=True))
    moved = deal | {
        "hands": [[exchange.get(card, card) for card in hand] for hand in deal["hands"]],
        "rest": [exchange.get(card, card) for card in deal["rest"]],
    }
    assert json.dumps(engine.redact([deal], seat)) == json.dumps(engine.redact([moved], seat))
    for moment in range(1, 300):
        if here.is_over or here.turn != there.turn:
            return moment
        if here.turn == seat:
            # between its turns a seat gets events only: a window may be waiting for somebody in one of the worlds
            assert json.dumps(here.observation(seat)) == json.dumps(there.observation(seat))
        action = playing.choose(here, rng)
        if action not in there.legal_actions() or cards_in(here.game.action_text(action)) & names:
            return moment
        here.apply(action)
        there.apply(action)
        catch_up(here, there)
        catch_up(there, here)
        if here.deal_no > 1 or cards_in([here.log, there.log]) & names:
            return moment
        assert json.dumps(engine.redact(here.log, seat)) == json.dumps(engine.redact(there.log, seat))
    return 300


def catch_up(world: engine.State, other: engine.State) -> None:
    """Declines what only this world offers; nobody else notices that."""
    while world.phase is not None and asked(world) != asked(other) and len(world.log) <= len(other.log):
        if act.PASS not in world.legal_actions() or world.phase.name not in ("window", "exchange"):
            return
        world.apply(act.PASS)


def asked(world: engine.State) -> tuple[object, ...]:
    """Who is asked what."""
    return world.phase, world.turn, world.window
