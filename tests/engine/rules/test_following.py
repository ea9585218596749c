"""The rule of a trick stands once, in `engine.rules.following`: it is the rules book's, and all who play by it play by the same.

The mixtures are of everything that bears on followers, also those that no game offers.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import engine
from engine.cards.pack import NO_SUIT, Pack, pack
from engine.game import ORDINARY, Game, declared
from engine.rules import following, obligations
from engine.rules.parameters import Rules
from engine.search import foresight
from engine.search.kernel import legality, loading, running
from engine.search.kernel.state import KernelState
from engine.search.solving import tricks
from engine.search.solving.exact import Exact
from tests.support import oracle, playing

WORDS = sorted(following.CODES)
RANKS = "13RCS76542"
GAMES = [("partnership", 4), ("guinote", 4), ("individual", 2), ("individual", 3), ("brisca", 3), ("cabrero", 5)]


def mixed(draw: random.Random, rules: Rules) -> Rules:
    """Return the rules with other duties."""
    return replace(
        rules,
        obligation_stock_open=draw.choice(WORDS),
        obligation_stock_empty=draw.choice(["strict", draw.choice(WORDS)]),
        partner_exempt=draw.choice(sorted(following.EXEMPTIONS)),
        undertrump=draw.random() < 0.5,
        beat_after_trumped=draw.random() < 0.5,
        no_load=draw.random() < 0.3,
    )


def by_rule(
    cards: Pack, points: list[int], duty: int, hand: list[int], table: list[int], suits: tuple[int, int], best: int, partner: bool
) -> list[int]:  # fmt: skip
    """Return the legal cards by the rule itself. `suits`: led and trump."""
    led, trump = (mask_of([card for card in cards.cards if cards.suit[card] == suit]) for suit in suits)
    legal = following.followers(duty, mask_of(hand), led, trump, 1 << best, mask_of(table), partner)
    if duty & following.NO_LOAD and not following.winners(legal, 1 << best, led, trump):
        values = sorted({points[card] for card in cards.cards})
        legal = following.lightest(legal, [mask_of([c for c in cards.cards if points[c] == value]) for value in values])
    return [card for card in cards.cards if legal >> card & 1]


def mask_of(cards: list[int]) -> int:
    return sum(1 << card for card in cards)


class Trick:
    """A trick that has begun, a hand and a trump: drawn by chance, from two suits or from all."""

    def __init__(self, draw: random.Random, cards: Pack) -> None:
        suits = draw.choice([(0, 1), (0, 1, 2, 3)])
        deck = [card for card in cards.cards if cards.suit[card] in suits]
        draw.shuffle(deck)
        number = draw.randint(1, 5)
        self.table, self.hand = deck[:number], deck[number : number + draw.randint(1, 10)]
        self.trump = draw.choice([0, 1, 2, 3, NO_SUIT])
        self.led = cards.suit[self.table[0]]
        trumps = [card for card in self.table if cards.suit[card] == self.trump]
        self.best = max(trumps or [card for card in self.table if cards.suit[card] == self.led])
        self.partner = draw.random() < 0.5


def check_oracle(draw: random.Random) -> None:
    """Check that the rule is that of the book, read word for word."""
    cards = pack("es40", RANKS)
    rules, trick, texts = mixed(draw, ORDINARY), Trick(draw, cards), cards.texts
    points = [rules.rank_points.get(rank, 0) for rank in cards.rank]
    word = rules.obligation_stock_empty
    question = oracle.FollowerChoice(
        tuple(texts[card] for card in trick.hand),
        tuple(texts[card] for card in trick.table),
        None if trick.trump == NO_SUIT else cards.suits[trick.trump],
        word,
        rules.undertrump,
        rules.beat_after_trumped,
        rules.no_load,
        rules.partner_exempt,
        trick.partner,
    )
    duty, suits = following.duty_number(rules, word), (trick.led, trick.trump)
    legal = by_rule(cards, points, duty, trick.hand, trick.table, suits, trick.best, trick.partner)
    rule, expected = oracle.legal(question)
    assert {texts[card] for card in legal} == expected, rule
    led, trump = (mask_of([card for card in cards.cards if cards.suit[card] == suit]) for suit in suits)
    for card in trick.hand:
        won = oracle.winner((*question.table, texts[card]), question.trump, RANKS) == len(trick.table)
        assert (following.winners(1 << card, 1 << trick.best, led, trump) != 0) == won


def check_tables(draw: random.Random, cards: Pack) -> None:
    """Check that the ready tables hold what the rule allows. Where they are empty, or the duty is modified, NL is left to `legality`."""
    rules = mixed(draw, ORDINARY)
    points = [rules.rank_points.get(rank, 0) for rank in cards.rank]
    rule = obligations.in_force(rules, rules.obligation_stock_empty, cards, points)
    for _ in range(20):
        trick = Trick(draw, cards)
        hand, led, best = cards.hand(trick.hand), trick.led, trick.best
        tables = (rule.with_partner if trick.partner else rule.tables)[trick.trump]
        if cards.suit[best] == led:
            ftab, htab = tables.follow[best], tables.void
        else:
            ftab = tables.ruffed[max(card for card in trick.table if cards.suit[card] == led)]
            htab = tables.over[best]
        legal = ftab[hand[led]] if hand[led] else htab[hand[trick.trump]]
        duty = rule.duty & ~following.NO_LOAD if rule.modified or not legal else rule.duty
        expected = by_rule(
            cards, points, duty, trick.hand, trick.table, (led, trick.trump), best, trick.partner and rule.modified
        )
        assert list(legal or cards.in_hand(hand)) == expected


def check_match(draw: random.Random) -> int:
    """Check a random match: engine, kernel, playouts and solver play by the rule. Return the number of followers."""
    key, players = draw.choice(GAMES)
    game = Game(mixed(draw, declared(key)), {}, players)
    state, followers = game.new_match(seed=draw.randrange(10**6), deals=1, record=False), 0
    program = running.program_of(game, state.suit_map)
    assert program is not None
    kernel_state = KernelState(program, engine.Dice(0))
    solved = len(game.sides) == 2 and tricks.knows(game)
    playouts = foresight.Foresight(game) if foresight.knows(game) else None
    while not state.is_over:
        legal = [action for action in state.legal_actions() if action < 52]
        if state.in_trick and state.phase is None:
            followers += 1
            expected = by_state(state)
            assert legal == expected
            loading.load(kernel_state, state)
            assert legality.cards(kernel_state, state.turn) == mask_of(expected)
            if playouts is not None:
                playouts.begin(state, 1)
                hand = playouts._hand(list(state.hand_of(state.turn)))
                assert playouts._legal(playouts.root, hand) == playouts._hand(expected)
        if solved and state.phase is None and legal and state.left <= 2 * state.size and draw.random() < 0.2:
            assert tricks.Tricks(game).solve(state, game.sides[0], 10**6) == Exact(state, 10**6).solve()
        state.apply(playing.choose(state, draw))
    return followers


def by_state(state: engine.State) -> list[int]:
    """Return the legal cards of the follower on turn, from what lies on the table alone."""
    cards, rules = state.game.pack, state.rules
    seats, seat = [state.leader], state.leader
    while len(seats) < len(state.table):
        seats.append(seat := state.next[seat])
    led, trump = (
        mask_of([card for card in cards.cards if cards.suit[card] == suit]) for suit in (state.lead, state.trump)
    )
    best, winner = state.table[0], seats[0]
    for seat, card in zip(seats, state.table, strict=True):
        if following.winners(1 << card, 1 << best, led, trump):
            best, winner = card, seat
    assert (state.best, state.winner) == (best, winner)
    duty = following.duty_number(rules, rules.obligation_stock_open if state.n > 0 else rules.obligation_stock_empty)
    partner = state.side[winner] == state.side[state.turn]
    hand = list(state.hand_of(state.turn))
    return by_rule(cards, state.points_of, duty, hand, state.table, (state.lead, state.trump), best, partner)


def check(seed: int, times: int) -> None:
    """Run each check `times` times; at least one follower must occur in a match."""
    draw, followers = random.Random(seed), 0
    for _ in range(times):
        check_oracle(draw)
        check_tables(draw, pack("es40", RANKS))
        followers += check_match(draw)
    assert followers


@pytest.mark.parametrize("seed", range(8))
def test_everybody_plays_by_the_same_rule(seed: int) -> None:
    check(seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 16))
def test_everybody_plays_by_the_same_rule_in_many_mixtures(seed: int) -> None:
    check(seed, 300)
    check_tables(random.Random(seed), pack("fr52", "AKQJT98765432"))
