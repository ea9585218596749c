"""Playouts in machine words: held to the rules of the engine, and to those of the house bot `counting`, whose habits they have."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from math import tanh
from operator import mul
from typing import Any

import pytest

import engine
from engine.search.deals import Deal
from engine.search.foresight import (
    ALL,
    CUT,
    END,
    FEATURES,
    GUESSED,
    HANDS,
    LAID,
    LIVE,
    POINTS,
    SANG,
    SEAT,
    TOOK,
    TUTE,
    Foresight,
    knows,
)
from engine.search.solving import judge
from tests.bots.harness import house, play

house("counting")  # its modules are on the path from here on
Model = sys.modules["playout"].Model
Numbering = sys.modules["deals"].Numbering
worth_of = sys.modules["worth"].worth_of
LOSERS = sys.modules["tute_sense"].LOSERS

PLAYS = 52
MORE_DEALS = {"podrida": 5}  # a game whose first deal leaves no choice of cards
TABLES: list[tuple[str, dict[str, Any]]] = [
    *[(key, {}) for key in engine.games() if knows(engine.load(key))],
    ("brisca", {"players": 4}),
    ("cabrero", {"players": 3}),
    ("codillo", {"players": 5}),
    ("gana_pierde_4_5", {"players": 5}),
    ("guinote", {"players": 2}),
    ("partnership", {"hand_songs": "winning_side"}),
]
EventRecord = Callable[[engine.State, Any, list[int], Deal], None]


def at_moments(key: str, options: dict[str, Any], visit: EventRecord, share: float = 0.2, seeds: int = 4) -> None:
    """Calls `visit` with moments of random play: the state, the view of the seat on turn, the cards that it may play, and the true deal."""
    game, draw = engine.load(key, **options), random.Random(key)

    def watch(state: engine.State, seats: list) -> None:
        seated = seats[state.current_seat]
        for event in seated.tell(state):
            seated.view.see(event)
        cards = [action for action in state.legal_actions() if action < PLAYS]
        if state.phase is None and len(cards) > 1 and draw.random() < share:
            hands = [sorted(state.hand_of(seat)) for seat in range(game.players)]
            visit(state, seated.view, cards, Deal(hands, state.stock[:], []))

    for seed in range(seeds):
        play(game, [house("random")] * game.players, seed, deals=MORE_DEALS.get(key, 1), watch=watch)


@pytest.mark.parametrize(("key", "options"), [*TABLES, ("partnership", {"undertrump": True})])
def test_every_seat_plays_by_the_rules(key: str, options: dict[str, Any]) -> None:
    decisions = 0
    table = Foresight(engine.load(key, **options))

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        nonlocal decisions
        decisions += 1
        table.begin(state, 1)
        assert table.put(deal)
        allowed = table._legal(table.root, table.root[HANDS + table.root[SEAT]])
        assert [bit // 16 * 10 + bit % 16 for bit in range(64) if allowed >> bit & 1] == sorted(cards)
        assert set(table.different(cards)) <= set(cards)

    at_moments(key, options, visit, share=1)
    assert decisions > 10


@pytest.mark.parametrize(("key", "options"), TABLES)
def test_habits_are_those_of_counting(key: str, options: dict[str, Any]) -> None:
    """A playout by habit comes to what counting's own comes to, to the end and estimated after two tricks."""
    texts, decisions, draw = engine.load(key, **options).pack.texts, 0, random.Random(1)
    table = Foresight(engine.load(key, **options))

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        nonlocal decisions
        if state.pending >= 0:  # counting's playouts know nothing of the card that lies
            return
        numbering = Numbering(view)
        stock = [numbering.number[texts[card]] for card in deal.stock]
        if len(stock) < state.n:
            stock.insert(0, numbering.number[texts[state.shown]])
        for ahead in (ALL, 2):
            table.begin(state, 0, ahead)
            assert table.put(deal)
            aims = [draw.choice((1, -1)) if view.rule("result") in LOSERS else 1 for _ in range(view.seats)]
            for seat, aim in enumerate(aims):
                table.aim(seat, aim > 0)
            model, worth = Model(view, numbering.suit, aims), worth_of(view)
            for card in cards:
                laid = numbering.number[texts[card]]
                hands = [numbering.masks([texts[card] for card in hand]) for hand in deal.hands]
                if model.soloist is not None:
                    model.pair_up(hands, numbering.number[view.called])
                hands[view.seat][laid >> 4] ^= 1 << (laid & 15)
                trick = [(seat, numbering.number[text]) for seat, text in view.table] + [(view.seat, laid)]
                outcome = model.play(hands, stock[:], model.next[view.seat], trick, ahead)
                decisions += 1
                # thousandths; what stands in halves and tables is cut off
                assert abs(table.worth(card) - 1000 * worth(outcome)) <= 1000

    at_moments(key, options, visit)
    assert decisions > 10


def test_a_laid_card_comes_to_its_seat_as_the_engine_has_it() -> None:
    """Random play of corriente from moments at which a card lies for the shown one: hands and points after each trick, by cards alone."""
    draw, ends = random.Random(1), set()
    table = Foresight(engine.load("corriente"))

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        if state.pending < 0 or state.in_trick or not state.n:
            return
        table.begin(state, 0)
        assert table.put(deal)
        table.root[CUT] = ALL
        at, laid, played, giver = table.root, state.notes["pending_card"], state.clone(), state.pending
        while played.pending >= 0 and not played.is_over and played.deal_no == state.deal_no:
            legal = played.legal_actions()
            cards = [action for action in legal if action < PLAYS]
            action = draw.choice(cards) if cards else legal[-1]
            if cards and not at[LAID]:
                assert [at[HANDS + seat] for seat in range(2)] == [
                    table._hand(list(played.hand_of(seat))) for seat in range(2)
                ]
            if cards:
                table._lay(at, action // 10 * 16 + action % 10)
            played.apply(action)
        if played.deal_no != state.deal_no or played.in_trick:
            return
        assert [at[HANDS + seat] for seat in range(2)] == [table._hand(list(played.hand_of(seat))) for seat in range(2)]
        ends.add(laid in played.hand_of(giver))  # it was given back, or the exchange was made

    at_moments("corriente", {}, visit, share=1, seeds=60)
    assert ends == {True, False}


def test_open_playouts_are_nearer_to_the_truth_than_habits() -> None:
    """Compare the errors in points of both before the last tricks, where the deal with open cards is solved exactly."""
    wrong, positions = {0: 0.0, 4: 0.0}, 0
    table = Foresight(engine.load("partnership"))

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        nonlocal positions
        if sum(map(len, deal.hands)) > 4 * state.size:
            return
        positions += 1
        sign = 1 if state.turn in (0, 2) else -1
        exact = {card: sign * solution.low for card, solution in judge(state).items()}
        for depth in wrong:
            table.begin(state, depth)
            table.put(deal)
            wrong[depth] += sum(abs(table.worth(card) / 1000 - worth) for card, worth in exact.items())

    at_moments("partnership", {}, visit, share=0.5, seeds=8)
    assert positions > 10
    assert wrong[4] < wrong[0] / 2, wrong


def test_deals_with_a_barred_pair_are_refused_for_one_decision() -> None:
    """And what was laid before stands."""
    game = engine.load("partnership")
    state, pack = game.new_match(seed=1), game.pack
    hands = [sorted(state.hand_of(seat)) for seat in range(4)]
    pair = [card for card in range(10) if pack.texts[card][0] in "RC"]
    seat = next(seat for seat in range(4) if seat != state.turn)
    taken = [card for card in hands[seat] if card not in pair][: len(set(pair) - set(hands[seat]))]
    for own_card, card in zip(taken, sorted(set(pair) - set(hands[seat])), strict=True):
        other = next(seat_with_card for seat_with_card in range(4) if card in hands[seat_with_card])
        hands[other][hands[other].index(card)], hands[seat][hands[seat].index(own_card)] = own_card, card
    table, deal = Foresight(game), Deal(hands, [], [])

    table.begin(state, 1)
    table.bar(seat, 1)
    assert not table.put(deal)
    assert not any(table.root[HANDS + some_seat] for some_seat in range(4))
    table.bar(seat, 14)
    assert table.put(deal)
    table.bar(seat, 1)
    table.begin(state, 1)
    assert table.put(deal)


def by_hand(state: engine.State, seat: int, row: tuple[int, ...]) -> int:
    """Return the value of a hand at a table of two by a row of weights, computed with cards as sets."""
    texts, order = state.game.pack.texts, "24567SCR31"
    hand, against = ({texts[card] for card in state.hand_of(side)} for side in (seat, 1 - seat))
    live = hand | against | {texts[card] for card in state.stock} | {texts[state.shown]}
    worth = dict(zip("13RCS", (22, 20, 8, 6, 4), strict=True))
    suits = {
        letter: sorted((card for card in hand if card[1] == letter), key=lambda card: order.index(card[0]))
        for letter in "oceb"
    }
    trump = texts[state.shown][1]
    number = len(suits[trump])
    total = row[32] * number**2 + row[33] * max(0, number - 3) + row[34] * (state.turn == seat)
    for place, (suit, cards) in enumerate(suits.items()):
        plain = suit != trump
        total += sum(row[order.index(card[0]) + 10 * plain] for card in cards)
        if plain:
            total += row[31] * max(0, len(cards) - 2) + row[30] * (not cards and number > 0)
        if cards and cards[-1] == max(
            (card for card in live if card[1] == suit), key=lambda card: order.index(card[0])
        ):
            total += row[20 + (not plain)] + worth.get(cards[-1][0], 0) * row[22 + (not plain)]
        pair = {"R" + suit, "C" + suit}
        if not state.sung >> place & 1:
            if pair <= hand:
                total += row[24 + plain] + row[26 + plain] * (state.turn == seat)
            elif pair & hand and pair <= live and not pair & against:
                total += row[28 + plain]
    return total


def test_learned_weights_are_of_what_they_say() -> None:
    """The estimate with weights, against the features told by sets of cards."""
    draw, sizes = random.Random(1), set()
    weights = tuple(tuple(draw.randrange(-5000, 5000) for _ in range(FEATURES)) for _ in range(12))
    table = Foresight(engine.load("two_player"), weights)

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        if state.in_trick or not state.n:
            return
        sizes.add(state.n)
        table.begin(state, 0)
        assert table.put(deal)
        camp = POINTS + table.camp[state.turn]
        before = table.root[camp]
        table._estimate(table.root)
        row = weights[state.n // 2 - 1]
        lead = by_hand(state, state.turn, row) - by_hand(state, 1 - state.turn, row)
        assert abs(100 * (table.root[camp] - before) - lead) <= 50
        assert sum(map(mul, table.features([]), row)) == lead
        # a card that is drawn by now: as one in the stock
        drawn, *hand = deal.hands[state.turn]
        before_draw = table.features([drawn])
        hands = [hand if seat == state.turn else cards for seat, cards in enumerate(deal.hands)]
        assert table.put(Deal(hands, deal.stock, []))
        table.root[LIVE] |= table._hand([drawn])
        assert table.features([]) == before_draw

    at_moments("two_player", {}, visit, share=1)
    assert sizes == set(range(2, 25, 2))


def test_a_lead_is_of_habit_where_its_seat_would_lead_as_much() -> None:
    """Each card led in random play, against the card that the habits lead: the same, or an equal one with none of the others' between."""
    outcomes: set[bool] = set()
    table, before = Foresight(engine.load("two_player")), Foresight(engine.load("two_player"))
    value = dict(zip("13RCS", (11, 10, 4, 3, 2), strict=True))

    def visit(state: engine.State, view: Any, cards: list[int], deal: Deal) -> None:
        if not state.in_trick:
            return
        texts, led = state.game.pack.texts, state.table[0]
        table.begin(state, 0)
        assert table.put(deal)
        before.begin(state, 0)
        before.put(deal)
        hand = [*deal.hands[1 - state.turn], led]
        at = before.root
        at[SEAT], at[LAID], at[HANDS + 1 - state.turn] = 1 - state.turn, 0, before._hand(hand)
        at[LIVE] = at[LIVE] | before._hand([led])
        usual = before._habit(at)
        card = usual // 16 * 10 + usual % 16
        low, high = sorted((card, led))
        between = set(range(low, high)) - set(hand) - {number for number in range(40) if texts[number] in view.played}
        same = value.get(texts[card][0], 0) == value.get(texts[led][0], 0)
        as_good = card // 10 == led // 10 and same and not between
        assert table.led_by_habit() == as_good
        outcomes.add(as_good)

    at_moments("two_player", {}, visit, share=1, seeds=6)
    assert outcomes == {True, False}


def test_deals_with_a_card_that_a_seat_lacks_are_refused() -> None:
    state = engine.load("two_player").new_match(seed=1)
    hands = [sorted(state.hand_of(seat)) for seat in range(2)]
    table, other = Foresight(state.game), 1 - state.turn
    table.begin(state, 1)
    table.lack(other, hands[other][:1])
    assert not table.put(Deal(hands, state.stock[:], []))
    table.lack(other, hands[1 - other])
    assert table.put(Deal(hands, state.stock[:], []))


# ---- what the end of a deal comes to: numbers that a position may hold, against the rule in plain words


def first_lead(key: str, draw: random.Random) -> engine.State:
    """Return the first moment of a match at which a card is to be led."""
    state = engine.load(key).new_match(seed=draw.randrange(1000))
    while state.phase is not None:
        state.apply(draw.choice(state.legal_actions()))
    return state


def those_who_lose(points: dict[int, int], sang: bool) -> set[int]:
    """Cabrero, by the points (halves) of those with a trick: who is in the middle, or level with another where nobody is."""
    if len(points) == 1:
        return set(points) if sang else set(range(4)) - set(points)
    low, *_, high = sorted(points.values())
    between = {seat for seat, have in points.items() if low < have < high}
    if len(points) == 2 and low != high:
        between = {seat for seat, have in points.items() if have == low}
    return between or {seat for seat, have in points.items() if list(points.values()).count(have) > 1}


def test_who_is_in_the_middle_pays_and_is_far_from_safe() -> None:
    """100 for losing, as much for all others losing, and up to 50 for 30 points of distance; between others it counts against a seat."""
    draw, counts = random.Random(1), set()
    table = Foresight(engine.load("cabrero"))
    table.begin(first_lead("cabrero", draw), 0)
    for _ in range(3000):
        have = [draw.randrange(draw.choice((1, 3, 5, 150))) for _ in range(4)]
        takers = draw.sample(range(4), draw.randint(1, 4))
        sang, tute = draw.random() < 0.5, draw.choice((None, None, None, *range(4)))
        losers = those_who_lose({seat: have[seat] for seat in takers}, sang)
        if tute is not None:
            losers = set(range(4)) - {tute}
        at = table.root
        for seat in range(4):
            at[POINTS + seat] = have[seat]
        at[TOOK] = sum(1 << seat for seat in takers) | (sang << SANG + takers[0])
        at[END] = 0 if tute is None else TUTE + 1 + tute
        counts.add((len(takers), len(losers)))
        for camp in range(4):
            others = [have[seat] for seat in range(4) if seat != camp]
            near = min(60, *(abs(value - have[camp]) for value in others))
            safe = 50_000 * near // 60
            if min(others) < have[camp] <= max(others):
                safe = -safe
            theirs = 100_000 * len(losers - {camp}) // 3
            assert table._score(at, camp) == theirs - 100_000 * (camp in losers) + safe, (have, takers, sang, tute)
    assert {(takers, losers) for takers in (3, 4) for losers in range(1, takers + 1)} <= counts


@pytest.mark.parametrize("key", ["corriente", "americano", "guinote"])
def test_a_game_to_a_target_is_won_or_as_likely_as_the_lead_says(key: str) -> None:
    """100 for the game, 120 for a tute, a half for a half point of lead; a guess is worth its lead, at most the game."""
    draw, ends = random.Random(1), [0] * 3
    state, table = first_lead(key, draw), Foresight(engine.load(key))
    target = 2 * state.game.target
    for _ in range(300):
        state.totals = tuple(draw.randrange(60) for _ in state.totals)
        table.begin(state, 0)
        before = {table.camp[seat]: state.totals[state.side[seat]] for seat in state.active}
        for _ in range(10):
            near = draw.choice((target - 1, target, target + 1))
            have = [draw.choice((near, draw.randrange(2 * target))) for _ in range(2)]
            at = table.root
            for camp in range(2):
                at[POINTS + camp] = have[camp] - 2 * before[camp]
            won, at[GUESSED] = draw.choice((0, 0, 1, 2, TUTE + 1, TUTE + 2)), draw.randrange(2)
            at[END] = won
            for camp, own in enumerate(have):
                other = have[1 - camp]
                ahead = own - other
                if won > TUTE:
                    worth = 120_000 if won == TUTE + 1 + camp else -120_000
                elif won:
                    worth = (100_000 if won == camp + 1 else -100_000) + 500 * ahead
                elif at[GUESSED]:
                    worth = min(100_000, max(-100_000, 500 * ahead))
                elif max(have) >= target:
                    ends[(ahead > 0) - (ahead < 0) + 1] += 1
                    worth = (100_000 if ahead > 0 else -100_000) + 500 * ahead
                else:
                    worth = int(90_000 * tanh(ahead // 2 / 50)) + 500 * ahead
                assert table._score(at, camp) == worth, (have, camp, won, at[GUESSED])
    assert min(ends) > 10


def test_a_lead_beyond_the_table_of_chances_is_worth_its_end() -> None:
    """250 points of lead: more makes no difference but for the points themselves."""
    draw = random.Random(1)
    table = Foresight(engine.load("corriente"))
    table.begin(first_lead("corriente", draw), 0)
    at = table.root
    for ahead in (498, 499, 500, 501, 502, 600, 5000):
        at[POINTS], at[POINTS + 1] = 0, -ahead
        assert table._score(at, 0) == int(90_000 * tanh(min(250, ahead // 2) / 50)) + 500 * ahead
        assert table._score(at, 1) == int(90_000 * tanh(max(-250, -ahead // 2) / 50)) - 500 * ahead


def test_most_points_are_worth_the_lead_and_a_tute_more() -> None:
    table = Foresight(engine.load("partnership"))
    table.begin(first_lead("partnership", random.Random(1)), 0)
    at = table.root
    at[POINTS], at[POINTS + 1] = 130, 131
    assert [table._score(at, camp) for camp in range(2)] == [-500, 500]
    at[END] = TUTE + 2
    assert [table._score(at, camp) for camp in range(2)] == [-130_000, 130_000]


def test_arrastrado_is_a_prize_from_each_of_the_others() -> None:
    """100 from each of them and double from 101 points or by a tute, half of it when another wins; and 0.15 for a half point."""
    draw = random.Random(1)
    table = Foresight(engine.load("arrastrado"))
    table.begin(first_lead("arrastrado", draw), 0)
    at = table.root
    for _ in range(500):
        have = [draw.choice((200, 201, 202, draw.randrange(130))) for _ in range(3)]
        tute = draw.choice((None, None, 0, 1, 2))
        at[POINTS], at[POINTS + 1], at[POINTS + 2] = have
        at[END] = 0 if tute is None else TUTE + 1 + tute
        prize = 200_000 if tute is not None or max(have) >= 202 else 100_000
        for camp, own in enumerate(have):
            won = own == max(have) if tute is None else camp == tute
            assert table._score(at, camp) == (prize if won else -prize // 2) + 150 * own, (have, tute)


def test_a_soloist_plays_for_the_bid() -> None:
    """100 for what was bid, 0.15 for a half point; what is good for one side is bad for the other."""
    state = first_lead("subastado", random.Random(1))
    table, bid = Foresight(state.game), 2 * state.notes["bid"]
    table.begin(state, 0)
    at = table.root
    for have, end, fulfilled in ((bid - 1, 0, False), (bid, 0, True), (bid + 1, 0, True), (4, TUTE + 1, True)):
        at[POINTS], at[END] = have, end
        worth = (100_000 if fulfilled else -100_000) + 150 * have
        assert [table._score(at, camp) for camp in range(2)] == [worth, -worth]
