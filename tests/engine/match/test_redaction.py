"""No seat is ever shown what it has no right to know: checked on bytes, and by moving hidden cards about."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest

import engine
from engine.cards import actions as act
from engine.match.trick import windows
from tests.support import playing, tables
from tests.support.knowing import AllowedCards, cards_in
from tests.support.parts import mostly_slow

ON_GAMES = tables.on_games(tables.of_a_deal())


def viewers(state: engine.State) -> list[int | None]:
    """Return all seats, and None for a spectator."""
    return [*range(state.seats), None]


@ON_GAMES
def test_no_card_is_shown_to_a_seat_that_may_not_know_it(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            check_redaction(table)


def check_redaction(table: tables.Table, attempt: int = 0) -> None:
    """Check one deal, after every action, for every seat and a spectator."""
    state = table.load().new_match(seed=f"redact {table} {attempt}", deals=1)
    rng = random.Random(f"{table} {attempt}")
    knowledge = AllowedCards(state)
    check_events(state, knowledge, 0)
    while not state.is_over and state.deal_no == 1:
        action = playing.choose(state, rng)
        first = len(state.events)
        knowledge.before(action)
        state.apply(action)
        if state.deal_no > 1:
            break
        knowledge.after(action)
        check_events(state, knowledge, first)
        for seat in range(state.seats):
            view = state.observation(seat)
            # the calls that a seat may make name cards without saying where they are
            view["legal"] = [text for text in view.get("legal", ()) if not text.startswith("call ")]
            allowed = knowledge.allowed(seat) | coming(state, seat)
            assert cards_in(view) <= allowed, (seat, cards_in(view) - allowed)


def coming(state: engine.State, seat: int) -> set[str]:
    """Return the card that a seat is about to draw while another is asked before the draw: its snapshot is that of a window closed in silence."""
    if state.phase is not windows.WINDOW or state.window != "before_draw" or state.turn == seat:
        return set()
    place = (state.active.index(seat) - state.active.index(state.winner)) % state.size
    face_down = state.stock[::-1]
    return {state.game.pack.text(face_down[place] if place < len(face_down) else state.shown)}


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


QUICK = ("exchange", "guinote", 4, {}), ("discard", "bato", 3, {})


@pytest.mark.parametrize(("kind", "key", "players", "options"), mostly_slow(RARE, QUICK.__contains__))
def test_rare_events_show_no_more_than_they_should(
    kind: str, key: str, players: int, options: dict[str, object]
) -> None:
    """Deals are tried until this event has come up twice; where it can be secret, secret."""
    table = tables.Table(key, players, tuple(options.items()))
    game = table.load()
    times = 0
    for attempt in range(400):
        state = game.new_match(seed=f"redact {table} {attempt}", deals=1)
        rng = random.Random(f"{table} {attempt}")
        while not state.is_over and state.deal_no == 1:
            state.apply(playing.choose(state, rng))
        events = [event for event in state.events if event["e"] == kind]
        if "hide_arrastre_twenty" in options:
            events = [event for event in events if "secret" in event]
        if events:
            check_redaction(table, attempt)
            times += 1
        if times == 2:
            return
    pytest.fail(f"no {kind} in 400 deals")


def check_events(state: engine.State, knowledge: AllowedCards, first: int) -> None:
    """Check that new events name only cards known when they happened, and that the redaction of an event does not depend on the others."""
    new = state.events[first:]
    for seat in viewers(state):
        redacted = engine.redact(new, seat)
        assert cards_in(redacted) <= knowledge.allowed(seat), (
            seat,
            cards_in(redacted) - knowledge.allowed(seat),
            redacted,
        )
        assert redacted == engine.redact(state.events, seat)[first:]


@ON_GAMES
def test_hidden_cards_make_no_difference(key: str, group: list[tables.Table]) -> None:
    """Two worlds that differ only in where two hidden cards lie look the same, byte for byte, until one of these cards is seen."""
    for table in group:
        with tables.note_table(table):
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
    """Return the hands and the face-down stock."""
    hands = [(f"hand {seat}", list(state.hand_of(seat))) for seat in range(state.seats)]
    return [*hands, ("stock", list(state.stock))]


def hidden_pair(state: engine.State, seat: int | None, rng: random.Random) -> tuple[int, int] | None:
    """Return two cards in different places that this seat does not see. Cards that a first deal names are left alone."""
    fixed = {state.shown, *(card for card in state.game.pack.cards if state.game.pack.text(card) in ("2o", "4o"))}
    movable = [
        (place, card)
        for place, cards in places(state)
        if place != f"hand {seat}"
        for card in cards
        if card not in fixed
    ]
    pairs = [(a, b) for (p, a), (q, b) in combinations(movable, 2) if p != q]
    return rng.choice(pairs) if pairs else None


def swapped(state: engine.State, a: int, b: int) -> engine.State:
    """Return the same deal with two cards in each other's place."""
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
    twin: engine.State,
    events: list[dict],
    seat: int | None,
    swap: tuple[int, int],
    rng: random.Random,
) -> int:
    """Play both worlds alike; return the number of moments at which the views were compared."""
    names = {here.game.pack.text(card) for card in swap}
    here.log, twin.log = [], []  # both begin a record here
    deal = next(event for event in events if event["e"] == "deal")
    exchange = dict(zip(sorted(names), sorted(names, reverse=True), strict=True))
    moved = deal | {
        "hands": [[exchange.get(card, card) for card in hand] for hand in deal["hands"]],
        "rest": [exchange.get(card, card) for card in deal["rest"]],
    }
    assert json.dumps(engine.redact([deal], seat)) == json.dumps(engine.redact([moved], seat))
    for moment in range(1, 300):
        if here.is_over or here.turn != twin.turn:
            return moment
        if here.turn == seat:
            # between its turns a seat gets events only: a window may be waiting for somebody in one of the worlds
            assert json.dumps(here.observation(seat)) == json.dumps(twin.observation(seat))
        action = playing.choose(here, rng)
        if action not in twin.legal_actions() or cards_in(here.game.action_text(action)) & names:
            return moment
        here.apply(action)
        twin.apply(action)
        same_snapshot(here, twin, seat, names)
        catch_up(here, twin)
        catch_up(twin, here)
        if here.deal_no > 1 or cards_in([here.events, twin.events]) & names:
            return moment
        assert json.dumps(engine.redact(here.events, seat)) == json.dumps(engine.redact(twin.events, seat))
    return 300


def same_snapshot(here: engine.State, twin: engine.State, seat: int | None, names: set[str]) -> None:
    """Between its turns a seat sees the same whether or not somebody is being asked behind its back in one of the worlds."""
    if seat is None or here.is_over or twin.is_over or seat in (here.turn, twin.turn) or here.deal_no > 1:
        return
    views = [world.observation(seat) for world in (here, twin)]
    if cards_in(views) & names or "score" in {event["e"] for event in (*here.events, *twin.events)}:
        return
    assert json.dumps(views[0]) == json.dumps(views[1])


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("guinote", {}),
        ("guinote", {"exchange_window": "before_draw"}),
        ("partnership", {"hand_songs": "winning_side"}),
        ("variable_trump", {}),
        ("two_player", {"song_trigger": "has_won_any"}),
        ("arrastrado", {}),
    ],
)
def test_a_seat_cannot_tell_that_another_is_being_asked(key: str, options: dict[str, object]) -> None:
    """A seat is asked in a window: to all others it looks as if the window had closed in silence."""
    game = engine.load(key, **options)
    rng = random.Random(key)
    questions = 0
    for number in range(60):
        state = game.new_match(seed=f"asked {number}", deals=1)
        while not state.is_over:
            if state.phase is not None and state.phase.name in ("window", "exchange"):
                silent = state.clone()
                askers = set()
                while not silent.is_over and silent.phase is not None and silent.phase.name in ("window", "exchange"):
                    askers.add(silent.turn)
                    silent.apply(act.PASS)
                for seat in set(range(state.seats)) - askers - {silent.turn}:
                    assert json.dumps(state.observation(seat)) == json.dumps(silent.observation(seat))
                    questions += 1
            state.apply(playing.choose(state, rng))
    assert questions > 20


@pytest.mark.parametrize("players", [2, 4])
def test_a_twenty_is_hidden_only_if_it_was_sung_in_the_arrastre(players: int) -> None:
    """A snapshot with `hide_arrastre_twenty` shows exactly as much of every song as its event did."""
    game = engine.load("guinote", players=players, hide_arrastre_twenty=True)
    rng = random.Random(players)
    visible = hidden = 0
    for number in range(200):
        if min(visible, hidden) > 50:
            return
        state = game.new_match(seed=f"twenty {number}", deals=1)
        while not state.is_over:
            state.apply(playing.choose(state, rng))
            deal = max(n for n, event in enumerate(state.events) if event["e"] == "deal")
            if any(event["e"] == "score" for event in state.events[deal:]):
                continue
            for seat in range(players):
                suits = [e.get("suit") for e in engine.redact(state.events[deal:], seat) if e["e"] == "song"]
                assert [song["suit"] for song in state.observation(seat)["sung"]] == suits
                visible += sum(suit is not None for suit in suits)
                hidden += suits.count(None)
    pytest.fail(f"only {visible} visible and {hidden} hidden songs were seen")


@pytest.mark.parametrize("key", ["cabrero", "chancho"])
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_the_deal_names_the_mano_who_leads(key: str, players: int) -> None:
    """The holder of a card decides who is mano in a first deal: the deal event names that seat, which the next event does not contradict."""
    game = engine.load(key, players=players)
    for number in range(25):
        state = game.new_match(seed=f"mano {number}", deals=2)
        for _ in playing.play(state, f"mano {number}"):
            pass
        deal = -1
        for event in state.events:
            if event["e"] == "deal":
                deal, leads = event["mano"], True
            elif event["e"] == "play" and leads:
                assert event["seat"] == deal
                leads = False


def catch_up(world: engine.State, other: engine.State) -> None:
    """Decline what only this world offers; nobody else notices that."""
    while world.phase is not None and question_of(world) != question_of(other) and len(world.log) <= len(other.log):
        if act.PASS not in world.legal_actions() or world.phase.name not in ("window", "exchange"):
            return
        world.apply(act.PASS)


def question_of(world: engine.State) -> tuple[object, ...]:
    """Return the question and the seat that has to answer."""
    return world.phase, world.turn, world.window
