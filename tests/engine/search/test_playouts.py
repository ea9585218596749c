"""Playouts in machine words and by `apply` are the same; playouts look at no card of deals to come."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.game import declared
from engine.rules.verdict import Verdict
from engine.search import masks, playouts
from engine.search.kernel import codes, running
from engine.search.kernel.state import KernelState
from tests.support import playing, tables
from tests.support.mixtures import mixtures

ON_GAMES = tables.on_games(tables.plain(), tables.covering())
ON_ONCE = tables.on_games(tables.plain(), tables.once())


# ---- one truth, two ways


def test_no_two_words_of_a_kind_have_one_code() -> None:
    tables_of_words = {name: value for name, value in vars(codes).items() if isinstance(value, dict) and name.isupper()}
    assert len(tables_of_words) > 5
    for name, numbers in tables_of_words.items():
        assert len(set(numbers.values())) == len(numbers), name


# The constants of a kernel state, and scores that are zero at every table of a game
MADE_FOR = {"program", "dice", "seats", "sides", "pairs", "side"}
ZERO = {"totals", "games", "coto_games", "cotos", "chips", "marks", "left_at", "reached", "n_reached"}


def soil(kernel_state: KernelState) -> None:
    """Leave other values in a kernel state than those with which a playout begins."""
    for name in dir(kernel_state):
        if name.startswith("_") or name in MADE_FOR | ZERO:
            continue
        value = getattr(kernel_state, name)
        if isinstance(value, int):
            setattr(kernel_state, name, not value if isinstance(value, bool) else 5)
        else:
            for place in range(len(value)):
                value[place] = 3


def assert_the_same(state: engine.State, seed: int) -> None:
    """Check that both ways give the same scores and throw the dice equally often: they saw the same choices all the way.

    The kernel state that is used again was left by a playout of anything.
    """
    program = running.program_of(state.game, state.suit_map)
    for kernel_state in program.spare if program else ():
        soil(kernel_state)
    quick, slow = Dice(seed), Dice(seed)
    assert playouts.playout(state, quick, quick=True) == playouts.playout(state, slow, quick=False)
    assert quick.x == slow.x


def tight(state: engine.State, rng: random.Random) -> engine.State:
    """Return the same last trick after another deal, one that is rare by chance: seats are even, or just reach what counts."""
    other = state.clone()
    seats, sides = range(state.seats), range(len(state.games))
    some = rng.choices((0, 20, 30, 40, 50, 51, 60, 61, 90, 101, 120), k=2)
    other.cards = [rng.choice(some) if seat in state.active else 0 for seat in seats]
    other.tricks = [rng.randrange(4) if seat in state.active else 0 for seat in seats]
    other.deals = state.deal_no + rng.choice((0, 0, 0, 1))
    if rng.random() < 0.5:
        if state.game_deal > 1:  # A game begins at nought.
            other.totals = tuple(rng.choice((0, 50, 90, 101)) for _ in sides)
        other.games = tuple(rng.randrange(3) for _ in sides)
        other.coto_games, other.cotos = (tuple(rng.randrange(2) for _ in sides) for _ in range(2))
        other.marks = tuple(mark + rng.randrange(2) for mark in state.marks)
    return other


@pytest.mark.slow
@ON_ONCE
def test_both_ways_score_the_same_from_any_moment(key: str, group: list[tables.Table]) -> None:
    """Matches at every table, in which announcements are frequent, are left at every eighth action or so."""
    compared = 0
    for number, table in enumerate(group):
        with tables.note_table(table):
            rng = random.Random(f"moments {table}")
            game = table.load()
            suits = None if game.suits_named else "".join(rng.sample(game.pack.suits, 4))
            state = game.new_match(seed=number, deals=1 + number % 3, record=False, suits=suits)
            for count in itertools.count():
                if state.is_over or count > 150:
                    break
                if rng.random() < 0.15:
                    hands, legal = [hand[:] for hand in state.hands], state.legal_actions()
                    assert_the_same(state, count)
                    assert (state.hands, state.legal_actions()) == (hands, legal)
                    compared += 1
                if 0 < state.left <= state.size and state.phase is None:
                    for trial in range(4):
                        assert_the_same(tight(state, rng), trial)
                state.apply(playing.choose(state, rng))
    assert compared > 2 * len(group)


@ON_ONCE
def test_both_ways_score_the_same_in_whole_matches(key: str, group: list[tables.Table]) -> None:
    for number, table in enumerate(group):
        with tables.note_table(table):
            game = table.load()
            for matches, deals in ((1, None), (6, 1)) if number % 4 == 0 else ((2, 2),):
                quick, slow = Dice(number), Dice(number)
                scores = playouts.play_many(game, matches, quick, deals=deals, quick=True)
                assert scores == playouts.play_many(game, matches, slow, deals=deals, quick=False)
                assert quick.x == slow.x


@ON_GAMES
def test_a_match_begins_in_a_kernel_state_of_any_past(key: str, group: list[tables.Table]) -> None:
    game = group[0].load()
    program = running.program_of(game, running.ORDER)
    if program is None:  # the kernel does not play this game
        assert playouts.play_many(game, 1, 3, deals=3, quick=True) == playouts.play_many(
            game, 1, 3, deals=3, quick=False
        )
        return
    kernel_state = KernelState(program, Dice(3))
    soil(kernel_state)
    running.begin(kernel_state, program, 3)
    playouts.play_on(kernel_state)
    scores = [kernel_state.score[seat] for seat in range(game.players)]
    assert scores == playouts.play_many(game, 1, 3, deals=3, quick=True)


def test_a_kernel_state_of_six_seats_serves_a_table_of_those_who_stayed() -> None:
    state = engine.load("cabrero", players=6, max_losses=1).new_match(seed=1, record=False)
    rng = random.Random(1)
    while state.game.players == 6:
        state.apply(rng.choice(state.legal_actions()))
    playouts.playout(state, 1, quick=True)  # leaves a kernel state of six seats to the program of the smaller table
    scores = playouts.play_many(state.game, 3, 5, deals=2, quick=True)
    assert scores == playouts.play_many(state.game, 3, 5, deals=2, quick=False)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mixtures(), st.integers(0, 10**6))
def test_both_ways_score_the_same_in_any_mixture(game: engine.Game, seed: int) -> None:
    """Seats revoke where that goes unpunished for a while, so some playouts begin before an accusation that would be right."""
    rng = random.Random(seed)
    state = game.new_match(seed=seed, deals=2, record=False)
    for number in range(120):
        if state.is_over:
            break
        if rng.random() < 0.05:
            assert_the_same(state, number)
        illegal = [card for card in state.hand_of(state.turn) if card not in state.legal_actions()]
        revokes = illegal and state.phase is None and game.accuses and rng.random() < 0.3
        state.apply(rng.choice(illegal) if revokes else playing.choose(state, rng))


def functions_of(key: str) -> set[Callable[..., object]]:
    """Return the functions that the declaration of a game names: results, payments, moves of trumps."""
    rules = declared(key)
    options = [choice for choice in rules.options.values() if isinstance(choice, tuple)]
    return {
        value for value in (rules.result, rules.payments, rules.on_trump, *itertools.chain(*options)) if callable(value)
    }


KNOWN = {*codes.RESULTS, *codes.PAYMENTS, "vtt_cycle"}


@ON_GAMES
def test_every_game_of_known_words_is_played_in_machine_words_at_every_table(
    key: str, group: list[tables.Table]
) -> None:
    """A new game may bring a function that the kernel does not know: it is played by `apply` then."""
    for table in group:
        with tables.note_table(table):
            all_known = {function.__name__ for function in functions_of(key)} <= KNOWN
            assert not all_known or running.program_of(table.load(), (0, 1, 2, 3)) is not None


def test_functions_of_the_rules_are_known_by_names_of_their_own() -> None:
    """The kernel knows a result, a payment or a move of trumps by the name of its function: no other may have the same name."""
    by_name: dict[str, set[object]] = {}
    for key in engine.games():
        for function in functions_of(key):
            by_name.setdefault(function.__name__, set()).add(function)
    assert all(len(functions) == 1 for functions in by_name.values())
    assert set(codes.RESULTS) <= set(by_name)


def test_words_of_a_parameter_are_numbered_in_their_order() -> None:
    groups = [
        group for group in vars(codes).values() if isinstance(group, dict) and set(map(type, group.values())) == {int}
    ]
    assert len(groups) >= 15
    assert all(list(group.values()) == list(range(len(group))) for group in groups)


def seat_two_loses(state: engine.State) -> Verdict:
    """Return a result that only this file knows."""
    return Verdict(0, (2,))


def test_rules_that_the_kernel_does_not_know_go_the_ordinary_way() -> None:
    game = engine.Game(replace(declared("gana_pierde_3"), key="toy", result=seat_two_loses, options={}), {}, 3)
    assert running.program_of(game, (0, 1, 2, 3)) is None
    state = game.new_match(seed=1, deals=2, record=False)
    assert playouts.playout(state, 1, quick=True) == [0, 0, -2]
    assert playouts.play_many(game, 3, 1, deals=2, quick=True) == [0, 0, -6]


WHERE_ASKED: list[tuple[str, dict[str, Any]]] = [
    ("guinote", {}),
    ("habanero", {}),
    ("gana_pierde_4_5", {}),
    ("guinote", {"exchange": "before_first_lead"}),
    ("subastado", {"players": 4, "censor": True}),
    ("codillo", {}),
    ("podrida", {}),
    ("bato", {}),
    ("cabrero", {"illegal_move": "accuse"}),
]


def test_a_playout_begins_at_any_question() -> None:
    """Each kind of question, in games that ask it: windows in which seats are asked one by one, promises, the last ten, auctions."""
    rng = random.Random(1)
    counts: Counter[str] = Counter()
    for key, options in WHERE_ASKED:
        for number in range(12):
            state = engine.load(key, **options).new_match(seed=number, deals=1, record=False)
            while not state.is_over:
                if state.phase is not None:
                    counts[state.phase.name] += 1
                    assert_the_same(state, number)
                state.apply(playing.choose(state, rng))
    kinds = (
        "window",
        "capote",
        "last_ten",
        "accusing",
        "exchange",
        "auction",
        "censor",
        "trump",
        "call",
        "prediction",
        "change",
    )
    assert all(counts[kind] > 5 for kind in kinds), counts


def test_a_playout_begins_after_a_revoke_that_nobody_has_accused() -> None:
    rng = random.Random(2)
    game = engine.load("cabrero", illegal_move="accuse")
    compared = 0
    for number in range(8):
        state = game.new_match(seed=number, deals=1, record=False)
        while not state.is_over and compared < 300:
            illegal = [card for card in state.hand_of(state.turn) if card not in state.legal_actions()]
            state.apply(rng.choice(illegal) if illegal and state.phase is None else playing.choose(state, rng))
            if state.revokers and not state.is_over:
                assert_the_same(state, number)
                compared += 1
    assert compared > 20


# ---- what a playout is


def test_play_many_sums_scores_and_repeats() -> None:
    game = engine.load("partnership")
    totals = engine.play_many(game, 50, 7, deals=1)
    assert totals == engine.play_many(game, 50, 7, deals=1) != engine.play_many(game, 50, 8, deals=1)
    assert totals[0] == totals[2]
    assert totals[1] == totals[3]
    assert sum(totals[:2]) >= 50 * 130


@pytest.mark.parametrize("quick", [True, False])
def test_playouts_shuffle_deals_to_come_anew(quick: bool) -> None:
    game = engine.load("two_player")
    trial = game.new_match(seed=1, deals=2, record=False)
    while trial.left > 2:
        trial.apply(trial.legal_actions()[0])
    assert len({tuple(engine.playout(trial, seed, quick=quick)) for seed in range(30)}) > 10
    assert trial.deal_no == 1


@pytest.mark.parametrize("quick", [True, False])
def test_playouts_take_a_seed_or_dice_that_go_on(quick: bool) -> None:
    game = engine.load("partnership")
    state = game.new_match(seed=1, deals=1, record=False)
    dice = Dice(9)
    first, second = (playouts.playout(state, dice, quick=quick) for _ in range(2))
    assert first == playouts.playout(state, 9, quick=quick) == playouts.playout(state, Dice(9), quick=not quick)
    assert second != first
    after = Dice(9)
    for _ in range(2):
        playouts.playout(state, after, quick=not quick)
    assert after.below(1000) == dice.below(1000)
    assert playouts.play_many(game, 2, Dice(4), deals=1, quick=quick) == playouts.play_many(game, 2, 4, deals=1)


# ---- dice, sets of cards


def test_dice_are_fair_and_in_range() -> None:
    dice = Dice(1)
    faces = [dice.below(6) for _ in range(6000)]
    assert set(faces) == set(range(6))
    assert all(850 < faces.count(face) < 1150 for face in range(6))
    assert sorted(dice.shuffle(range(40))) == list(range(40))


def test_dice_throw_away_what_would_favour_a_face() -> None:
    """A third of 3 * 2**29 faces would have two words each and the others three, if no word were thrown away."""
    dice = Dice(2)
    faces = 3 << 29
    results = [dice.below(faces) for _ in range(3000)]
    assert all(0 <= face < faces for face in results)
    thirds = [sum(face % 3 == third for face in results) for third in range(3)]
    assert all(900 < third < 1100 for third in thirds)


def test_what_is_no_choice_throws_no_dice() -> None:
    dice, other = Dice(3), Dice(3)
    assert dice.below(1) == 0
    assert [dice.below(40) for _ in range(5)] == [other.below(40) for _ in range(5)]


def test_sets_of_cards_are_counted_and_picked_by_place() -> None:
    rng = random.Random(1)
    for _ in range(300):
        cards = sorted(rng.sample(range(52), rng.randrange(1, 14)))
        mask = sum(2**card for card in cards)
        assert masks.count(mask) == len(cards)
        assert [masks.places()[masks.pick(mask, i) % masks.FOLD] for i in range(len(cards))] == cards


def test_discards_stand_in_the_order_of_combinations() -> None:
    program = running.program_of(engine.load("bato"), running.ORDER)
    assert program is not None
    for count in range(6):
        subsets = [
            sum(2**card for card in some)
            for size in range(count + 1)
            for some in itertools.combinations(range(count), size)
        ]
        assert [program.deals.by_size[32 * count + place] for place in range(len(subsets))] == subsets
        assert sum(2**subset for subset in subsets) == program.deals.subsets_of[count]


@ON_GAMES
def test_a_policy_chooses_for_all_seats(key: str, group: list[tables.Table]) -> None:
    """A policy that takes the first action plays as if the first one had been applied again and again; chance comes from the dice it is given."""
    game = group[0].load()
    state = game.new_match(seed=1, deals=2, record=False)
    decisions = 0

    def first(trial: engine.State, dice: Dice) -> int:
        nonlocal decisions
        decisions += 1
        legal = [action for action in trial.legal_actions() if action != act.CLAIM]
        return legal[dice.below(2) % len(legal)]

    before = state.legal_actions()
    scores = playouts.playout(state, 4, policy=first)
    assert decisions > 2
    assert state.legal_actions() == before
    dice = Dice(4)
    by_hand = state.clone()
    by_hand.dice = dice
    while not by_hand.is_over:
        legal = by_hand.legal_actions()
        by_hand.apply(legal[0] if len(legal) == 1 else first(by_hand, dice))
    assert scores == by_hand.scores()
