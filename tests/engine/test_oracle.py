"""The engine against the rules book read word for word (tests/support/oracle.py), at random."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.match import position as pos
from engine.match.scoring import results
from engine.match.trick import tricks
from tests.support import oracle, playing
from tests.support.mixtures import mixtures

# obligation -> a game that has it with these options, and the stock at the lead
TABLES = {
    "strict": ("partnership", {}, 0),
    "strict undertrump": ("partnership", {"undertrump": True}, 0),
    "strict beat": ("partnership", {"beat_after_trumped": True}, 0),
    "strict both": ("partnership", {"beat_after_trumped": True, "undertrump": True}, 0),
    "no_load": ("cabrero", {"no_load": True}, 0),
    "no_load beat": ("partnership", {"no_load": True, "beat_after_trumped": True}, 0),
    "no_load with stock": ("individual", {"no_load": True}, 9),
    "no_load not yet": ("corriente", {"no_load": True}, 9),
    "no_load of bato": ("bato", {"no_load": True}, 0),
    "jack high": ("cabrero", {"rank_order": "13RSC76542", "no_load": True}, 0),
    "no_load undertrump": ("cabrero", {"no_load": True, "undertrump": True}, 0),
    "strict of five": ("cabrero", {"players": 5}, 0),
    "strict with stock": ("individual", {"players": 3}, 9),
    "free": ("brisca", {"players": 4}, 12),
    "free to the end": ("brisca", {"players": 3}, 0),
    "strict at the end": ("brisca", {"players": 4, "obligation_stock_empty": "strict"}, 0),
    "follow_or_trump": ("brisca", {"players": 4, "obligation_stock_open": "follow_or_trump"}, 12),
    "follow_or_trump at the end": ("brisca", {"players": 4, "obligation_stock_empty": "follow_or_trump"}, 0),
    "follow": ("podrida", {"players": 5}, 0),
    "trump_follow": ("americano", {}, 10),
    "strict of two": ("americano", {}, 0),
    "partner all": ("guinote", {}, 0),
    "partner trump_only": ("guinote", {"partner_exempt": "trump_only"}, 0),
    "partner none": ("guinote", {"partner_exempt": "none"}, 0),
    "partner open": ("guinote", {}, 8),
}


def question(
    game: engine.Game, stock: int, trump: str | None, table: tuple[str, ...], hand: tuple[str, ...]
) -> oracle.FollowerChoice:
    """Put the question to the rules book from the parameters of the game alone."""
    rules = game.rules
    best = oracle.winner(table, trump, rules.rank_order) if table else None
    return oracle.FollowerChoice(
        hand,
        table,
        trump,
        rules.obligation_stock_open if stock else rules.obligation_stock_empty,
        undertrump=rules.undertrump,
        beat_after_trumped=rules.beat_after_trumped,
        no_load=rules.no_load,
        partner_exempt=rules.partner_exempt,
        partner_wins=rules.sides == "pairs" and best is not None and best == len(table) - 2,
        order=rules.rank_order,
        points=dict(rules.rank_points),
    )


def check_legal(
    game: engine.Game, stock: int, trump: str | None, table: tuple[str, ...], hand: tuple[str, ...], name: str
) -> str:
    """Ask both; return the rule that applies."""
    state = pos.blank(game)
    pos.set_trump(state, trump)
    state.n = stock
    state.turn = 0
    tricks.lead(state)
    pos.play_trick(state, [f"{seat}:{card}" for seat, card in enumerate(table)])
    pos.give_hand(state, len(table), hand)
    rule, expected = oracle.legal(question(game, stock, trump, table, hand))
    assert {game.pack.text(action) for action in state.legal_actions() if action < 52} == expected, (
        f"{name} ({rule}): trump {trump}, table {table}, hand {hand}"
    )
    return rule


def test_legal_cards() -> None:
    """Any trick so far, any hand, any trump: the legal cards are those of README section 4, and every rule of its table is met."""
    rng = random.Random(4)
    met = set()
    for name, (key, options, stock) in TABLES.items():
        game = engine.load(key, **options)
        pack = [game.pack.text(card) for card in game.pack.cards]
        for _ in range(200):
            suits = rng.choice(["oceb", "oc", "oce"])
            cards = [card for card in rng.sample(pack, len(pack)) if card[1] in suits]
            laid, size = rng.randrange(game.players), rng.randint(1, 10)
            # trump None: a deal without trumps, as the last deal of podrida or the first tricks of gana-pierde for three
            trump = rng.choice([*"oceb", None])
            met.add(check_legal(game, stock, trump, tuple(cards[:laid]), tuple(cards[laid : laid + size]), name))
    assert met == {"P1", "P2", "P3", "P4", "P5", "P6", "P7", "PX", "Q0", "QT", "Q2", "F1", "F2", "F3"}


def test_trick_winner_and_points() -> None:
    rng = random.Random(5)
    for key in ("partnership", "cabrero", "guinote", "brisca", "podrida", "individual"):
        for _ in range(100):
            game = engine.load(key, players=rng.choice(engine.game.declared(key).players))
            state = pos.blank(game)
            trump = rng.choice([*"oceb", None])
            trick = [game.pack.text(card) for card in rng.sample(game.pack.cards, state.size)]
            pos.set_trump(state, trump)
            first = rng.randrange(state.size)
            order = state.active[first:] + state.active[:first]
            pos.play_trick(state, [f"{seat}:{card}" for seat, card in zip(order, trick, strict=True)])
            expected = order[oracle.winner(tuple(trick), trump, game.rules.rank_order)]
            case = f"{game}, trump {trump}: {order} {trick}"
            assert state.last_trick == expected, case
            assert state.cards[expected] == sum(game.rules.rank_points.get(card[0], 0) for card in trick), case
            assert sum(state.cards) == state.cards[expected], case


def test_middle_loses() -> None:
    rng = random.Random(6)
    for _ in range(400):
        players = rng.randint(3, 6)
        options = {
            "tie": rng.choice(["level_lose", "all_takers_lose", "seat_order"]),
            "middle_rule": rng.choice(["all_between", "second", "median"]),
            "capote_spoiled_by_song": rng.random() < 0.5,
        }
        game = engine.load("cabrero", players=players, **options)
        state = pos.blank(game, mano=rng.randrange(players))
        takers = set(rng.sample(state.active, rng.randint(1, len(state.active))))
        sang = set(rng.sample(sorted(takers), rng.randint(0, len(takers))))
        for seat in takers:
            state.tricks[seat] = 1
            state.cards[seat] = rng.randint(0, 4) * 10  # few values: many ties
        for place, seat in enumerate(sorted(sang)):
            pos.sang(state, [f"{seat}:20{'oceb'[place % 4]}"])
        expected = oracle.cabrero_losers(
            dict(enumerate(state.seat_points())),
            state.active,
            takers=takers,
            sang=sang,
            tie=game.rules.tie,
            middle_rule=game.rules.middle_rule,
            spoiled=game.rules.capote_spoiled_by_song,
        )
        assert set(results.middle_loses(state).losers) == expected, f"{options}: {state.cards}, sang {sang}"


@settings(max_examples=80)
@given(mixtures(), st.integers(0, 10**6))
def test_legal_cards_in_real_play(game: engine.Game, seed: int) -> None:
    """The tables that the fast path keeps while cards are played say the same as the rules book, in any mixture of options."""
    if game.rules.on_trump is not None:
        return  # Variable Trump moves the suit to follow.
    state = game.new_match(seed=seed, deals=2, record=False)
    rng = random.Random(seed)
    for _ in range(300):
        if state.is_over:
            break
        if state.phase is None:
            texts = game.pack.text
            trump = state.suit_text(state.trump)
            table = tuple(map(texts, state.table)) if state.in_trick else ()
            position = question(state.game, state.n, trump, table, tuple(map(texts, state.hand_of(state.turn))))
            assert {texts(a) for a in state.legal_actions() if a < 52} == oracle.legal(position)[1]
        state.apply(playing.choose(state, rng))
