"""Exact solving against plain minimax over `State.apply`, which knows no pruning, no table and no bound."""

from __future__ import annotations

import os
import random
import time

import pytest

import engine
from engine.cards.chance import Dice
from engine.match.trick import windows
from engine.search.solving import NotTwoSidedError, camps, judge, solve
from engine.search.solving.exact import Exact
from engine.search.solving.judging import Judge, max_n
from engine.search.solving.tricks import Tricks, knows
from engine.search.solving.worth import difference
from tests.support import playing, tables


class TooManyError(Exception):
    """A tree that is too large to be tried without pruning."""


def minimax(
    state: engine.State,
    first: tuple[int, ...],
    between: tuple[tuple[int, ...], tuple[int, ...]],
    deal_no: int,
    before: int,
    room: list[int],
) -> int:
    """Try every line of play to the end of the deal."""
    if state.is_over or state.deal_no != deal_no:
        return difference(state, between) - before
    room[0] -= 1
    if room[0] < 0:
        raise TooManyError
    values = []
    for action in state.legal_actions():
        new = state.clone()
        new.dice = state.dice
        new.apply(action)
        values.append(minimax(new, first, between, deal_no, before, room))
    return max(values) if state.turn in first else min(values)


def plainly(state: engine.State, room: int) -> int:
    root = state.clone()
    root.deals, root.dice = root.deal_no, Dice(0)
    between = camps(root)
    return minimax(root, between[0], between, root.deal_no, difference(root, between), [room])


def two_sided() -> list[tables.Table]:
    """Return every table of a game that may be between two."""
    some = (*tables.plain(), *tables.once())
    return [table for table in some if table.players == 2 or table.rules().sides.startswith(("pairs", "soloist"))]


def ending(table: tables.Table, rng: random.Random, tricks: int) -> engine.State | None:
    """Return a moment near the end of a random deal, with some of the points and songs behind it."""
    state = table.load().new_match(seed=rng.randrange(10**9), record=False)
    for _ in range(rng.randrange(3) if state.rules.target else 0):
        deal = state.deal_no
        while not state.is_over and state.deal_no == deal:
            state.apply(playing.choose(state, rng))
    deal = state.deal_no
    while not state.is_over and state.deal_no == deal:
        if (
            state.left - state.in_trick <= tricks * state.size
            and rng.random() < 0.5
            and state.stage == len(state.game.stages)
        ):
            return state
        state.apply(playing.choose(state, rng))
    return None


def compared(table: tables.Table, rng: random.Random, room: int) -> bool:
    """Check that all ways to solve an ending agree; return False if there was none small enough to try all lines of play."""
    state = ending(table, rng, rng.choice((1, 2, 2, 3, 4)))
    if state is None:
        return False
    try:
        expected = plainly(state, room)
    except (NotTwoSidedError, TooManyError):
        return False
    slow = Exact(state, 10**7)
    assert slow.solve() == (expected, expected)
    solution = solve(state, 10**7)
    assert (solution.low, solution.high) == (expected, expected), (state.hands, state.table, state.stock, state.trump)
    if len(state.legal_actions()) > 1:
        best = max if state.turn in camps(state)[0] else min
        assert best(solution_after.low for solution_after in judge(state, 10**7).values()) == expected
    return True


@pytest.mark.parametrize(
    ("key", "group"), tables.by_game(two_sided()).items(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_it_is_what_minimax_finds(key: str, group: list[tables.Table]) -> None:
    rng = random.Random(key)
    tried = 0
    for table in group[::2]:
        with tables.note_table(table):
            tried += sum(compared(table, rng, 700) for _ in range(3))
    assert tried


def arranged(state: engine.State, rng: random.Random) -> engine.State:
    """Return the same moment with other hands: four of a rank, or pairs, where they can be, and nothing sung."""
    pack = state.game.pack
    cards_held = [card for seat in state.active for card in state.hand_of(seat)]
    counts = [len(state.hand_of(seat)) for seat in range(state.seats)]
    away = {*state.stock, state.shown} - {*cards_held}
    preferred = [card for rank in rng.choice(("R", "C", "RC")) for card in range(40) if pack.rank[card] == rank]
    cards = [card for card in dict.fromkeys((*preferred, *cards_held)) if card not in away][: len(cards_held)]
    if rng.random() < 0.5:
        rng.shuffle(cards)
    other = state.clone()
    for seat in rng.sample(range(state.seats), state.seats):
        other.hands[seat], cards = pack.hand(cards[: counts[seat]]), cards[counts[seat] :]
    other.hand = other.hands[other.turn]
    other.sung = 0
    other.extra = windows.before_card(other) if state.game.speaks else ()
    other.legal = None
    return other


def known_words() -> list[tables.Table]:
    some = (*tables.plain(), *tables.once())
    return [table for table in some if len(table.load().sides) == 2 and knows(table.load())]


def quick_and_slow(rng: random.Random, group: list[tables.Table], tricks: int, nodes: int) -> bool:
    """Machine words against the rules, where hands can sing and have tutes."""
    table = rng.choice(group)
    state = ending(table, rng, rng.randrange(2, tricks + 1))
    if state is None:
        return False
    if state.phase is None and not state.in_trick and rng.random() < 0.6:
        state = arranged(state, rng)
    bounds = Exact(state, nodes).solve()
    solution = solve(state, 10**8)
    with tables.note_table(table):
        if bounds[0] != bounds[1]:  # The bounds proved by then must be true
            assert bounds[0] <= solution.low <= solution.high <= bounds[1]
            return False
        assert (solution.low, solution.high) == bounds, (state.hands, state.turn, state.table, state.stock, state.trump)
    return True


def test_machine_words_know_songs_and_tutes() -> None:
    group = known_words()
    assert {table.key for table in group} == {"partnership", "two_player", "individual", "brisca"}
    rng = random.Random(5)
    assert sum(quick_and_slow(rng, group, 3, 2500) for _ in range(60)) > 25


def five_each(table: tables.Table, rng: random.Random) -> engine.State | None:
    """Return a moment of a table of two before the last five tricks, if the deal comes to it."""
    state = table.load().new_match(seed=rng.randrange(10**9), record=False)
    while not state.is_over and state.deal_no == 1:
        if state.phase is None and not state.in_trick and not state.stock and state.left == 10:
            return state
        state.apply(playing.choose(state, rng))
    return None


def test_a_tute_is_said_by_whom_a_trick_lets_say_it() -> None:
    """Four kings or knights and a fifth card against any five: the rules and the machine words agree, and some deals are decided by it."""
    group = [table for table in known_words() if table.key == "individual" and not table.load().rules.song_min_stock]
    rng, decided = random.Random(1), [0, 0]
    for _ in range(80):
        state = five_each(table := rng.choice(group), rng)
        if state is None:
            continue
        pack, rank, holder = state.game.pack, rng.choice("RC"), rng.randrange(2)
        four = [card for card in range(40) if pack.rank[card] == rank]
        rest = rng.sample([card for card in range(40) if card not in four], 6)
        state.hands[holder], state.hands[1 - holder] = pack.hand(four + rest[5:]), pack.hand(rest[:5])
        state.hand, state.sung = state.hands[state.turn], 0
        state.extra, state.legal = windows.before_card(state) if state.game.speaks else (), None
        bounds = Exact(state, 20_000).solve()
        solution = solve(state, 10**8)
        with tables.note_table(table):
            assert (solution.low, solution.high) == bounds, (state.hands, state.turn, state.trump)
        decided[holder != state.turn] += abs(bounds[0]) > 100
    assert min(decided) > 1, decided


@pytest.mark.soak
def test_thousands_of_endings() -> None:
    """Every game and option that is between two by all lines of play; machine words with longer endings."""
    rng = random.Random(os.environ.get("SEED", "soak"))
    until = time.monotonic() + float(os.environ.get("SOAK_S", "300"))
    groups = two_sided()
    word_tables = known_words()
    tried = 0
    while time.monotonic() < until:
        with tables.note_table(table := rng.choice(groups)):
            tried += compared(table, rng, 8000)
        tried += quick_and_slow(rng, word_tables, 5, 60_000)
    assert tried > 100


def test_leads_that_differ_by_points_alone_bound_each_other() -> None:
    """Endings of six tricks: nodes in all, which are nearly the same compiled or not. Where such leads share nothing they are 35,000."""
    game = engine.load("partnership")
    nodes = 0
    for seed in range(8):
        rng = random.Random(seed)
        state = game.new_match(seed=f"alike {seed}", record=False)
        while state.left > 6 * state.size:
            state.apply(rng.choice([action for action in state.legal_actions() if action < 52]))
        solution = solve(state)
        assert solution.exact
        nodes += solution.nodes
    assert nodes < 26_000


def test_who_takes_all_tricks_that_are_left_needs_no_search() -> None:
    """The two highest trumps draw all others, and two aces are left."""
    game = engine.load("partnership")
    state = game.new_match(seed=1, record=False)
    rng = random.Random(1)
    while state.left > 4 * state.size or state.in_trick:
        state.apply(rng.choice([action for action in state.legal_actions() if action < 52]))
    trump = state.trump
    first, two, three = [suit for suit in range(4) if suit != trump]
    hands = [
        [(trump, 9), (trump, 8), (first, 9), (two, 9)],
        [(trump, 7), (trump, 0), (first, 8), (three, 9)],
        [(trump, 6), (trump, 1), (three, 1), (three, 2)],
        [(two, 8), (first, 7), (three, 0), (three, 3)],
    ]
    seat = state.turn
    for cards in hands:
        state.hands[seat] = game.pack.hand([suit * 10 + strength for suit, strength in cards])
        seat = state.next[seat]
    state.hand = state.hands[state.turn]
    # nothing more to sing
    state.sung = 15
    state.legal = None
    solution = solve(state)
    assert (solution.low, solution.high) == Exact(state, 10**6).solve()
    assert solution.exact
    assert solution.nodes <= 12, "a node for each bound that was tried"


def whole(seed: int) -> engine.State:
    return engine.load("partnership").new_match(seed=f"whole {seed}", record=False)


def test_what_is_not_solved_is_bounded() -> None:
    """A limit of nodes gives what has been proved: nothing wrong, and ever more."""
    rng = random.Random(3)
    group = [tables.Table("partnership", 4), tables.Table("two_player", 2), tables.Table("guinote", 4)]
    between = 0
    for number in range(12):
        state = None
        while state is None:
            state = ending(group[number % 3], rng, 3)
        true = solve(state, 10**7)
        assert true.exact
        for nodes in (1, 30, 100, 400):
            solution = solve(state, nodes)
            assert solution.low <= true.low <= solution.high
            between += not solution.exact
    assert between > 12
    assert not solve(whole(1), 1000).exact


def test_only_what_is_between_two_has_a_worth() -> None:
    for key, players in (("individual", 3), ("cabrero", 4), ("bato", 4), ("subastado", 3)):
        with pytest.raises(NotTwoSidedError):
            solve(engine.load(key, players=players).new_match(seed=1))


def test_max_n_lets_everybody_look_at_himself() -> None:
    """Nobody can do better by another card, the others playing on as max^n says."""
    rng = random.Random(8)
    tried = 0
    for number in range(40):
        table = tables.Table(*(("cabrero", 4), ("arrastrado", 3), ("podrida", 3), ("individual", 3))[number % 4])
        state = ending(table, rng, 2)
        values = None if state is None else max_n(state, 3000)
        if state is None or values is None:
            continue
        tried += 1
        seat = state.turn
        root = state.clone()
        root.deals, root.dice = root.deal_no, Dice(0)
        after = []
        for action in root.legal_actions():
            new = root.clone()
            new.dice = root.dice
            new.apply(action)
            if new.is_over or new.deal_no != root.deal_no:
                continue
            value = max_n(new, 3000)
            assert value is not None
            after.append(value[seat])
        assert not after or values[seat] >= max(after)
    assert tried > 10


def test_the_table_is_kept_for_a_deal_and_no_longer() -> None:
    """One solver for many deals, asked in any order, answers as a new one."""
    rng = random.Random(2)
    table = tables.Table("partnership", 4)
    states = [state for state in (ending(table, rng, 4) for _ in range(8)) if state is not None]
    solved = [solve(state) for state in states]
    assert [solve(state) for state in reversed(states)] == solved[::-1], "what came before changes not even the nodes"
    alone = [solution.low for solution in solved]
    judges = [Judge(state) for state in states]
    for judge_, state, expected in zip(judges, states, alone, strict=True):
        fresh = Tricks(state.game)
        assert judge_.solve(state).low == expected
        assert fresh.solve(state, camps(state)[0], 10**7) == (expected, expected)
