"""Matches in lock step against the same matches played one by one, and against what a seat may not know."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import engine
from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.game import declared
from engine.rules.verdict import Verdict
from engine.search import encoding
from engine.search.batch import KEEP, Batch
from tests.support import playing, tables

ON_GAMES = tables.on_games(tables.plain(), tables.once())


def row(block: object, number: int, size: int) -> bytes:
    """Return the bytes of a match in a block that has `size` bytes for each."""
    return memoryview(block).cast("B")[number * size : (number + 1) * size].tobytes()  # type: ignore[arg-type]


def legal_in(batch: Batch, number: int) -> list[int]:
    return [action for action, legal in enumerate(row(batch.masks, number, batch.width)) if legal]


def scores_of(batch: Batch, number: int) -> list[int]:
    return [batch.scores[number * batch.players + seat] for seat in range(batch.players)]


def cards_in(batch: Batch, number: int) -> int:
    """Return the number of cards of the seat to move."""
    return sum(byte & encoding.OWN for byte in row(batch.observations, number, encoding.SIZE)[:64])


def alone(batch: Batch, dice: Dice) -> engine.State:
    return batch.game.new_match(seed=bytes(32), deals=batch.deals, record=False, dice=dice)


def hidden_exchanged(state: engine.State, seat: int, rng: random.Random) -> engine.State:
    """Return the same moment with the cards that a seat does not see, in other hands and in the stock, in other places."""
    other = state.clone()
    others = [place for place in range(state.seats) if place != seat]
    cards = [card for place in others for card in state.hand_of(place)] + state.stock
    rng.shuffle(cards)
    for seat_with_hand in others:
        hand, cards = cards[: len(state.hand_of(seat_with_hand))], cards[len(state.hand_of(seat_with_hand)) :]
        other.hands[seat_with_hand] = state.game.pack.hand(hand)
    other.stock = cards
    other.legal = None
    return other


@ON_GAMES
def test_matches_side_by_side_are_matches_one_by_one(key: str, group: list[tables.Table]) -> None:
    """At every table: who is on turn, what is legal, what is seen, how it ends; and nothing that is seen hangs on a hidden card."""
    ends = exchanged = 0
    for table in group:
        with tables.note_table(table):
            rng = random.Random(f"batch {table}")
            batch = Batch(table.load(), 2, deals=rng.choice((1, 1, 2, None)), seed=11)
            dice = [Dice(11), Dice(12)]
            states = [alone(batch, seed_dice) for seed_dice in dice]
            for _ in range(70):
                actions = []
                for number, state in enumerate(states):
                    assert batch.turns[number] == state.turn
                    assert legal_in(batch, number) == batch.legal(number) == sorted(encoding.legal(state))
                    observed = row(batch.observations, number, encoding.SIZE)
                    assert observed == encoding.observation(state, state.turn)
                    if rng.random() < 0.3:
                        other = hidden_exchanged(state, state.turn, rng)
                        assert observed == encoding.observation(other, state.turn)
                        assert legal_in(batch, number) == sorted(encoding.legal(other))
                        exchanged += (other.hands, other.stock) != (state.hands, state.stock)
                    action = playing.choose(state, rng)
                    actions.append(encoding.index(state, action))
                    assert encoding.action(state, actions[-1]) == action
                    state.apply(action)
                ended = batch.step(actions)
                assert ended == sum(state.is_over for state in states)
                for number, state in enumerate(states):
                    assert batch.ended[number] == state.is_over
                    assert (scores := scores_of(batch, number)) == (
                        state.scores() if state.is_over else [0] * state.seats
                    )
                    margins = [batch.margins[number * batch.players + seat] for seat in range(batch.players)]
                    assert margins == [state.seats * score - sum(scores) for score in scores]
                    if state.is_over:
                        states[number] = alone(batch, dice[number])
                        ends += 1
    assert ends > 0
    assert exchanged > 20  # Two players without a stock hide nothing


def snapshot(batch: Batch) -> list[bytes]:
    """Return everything that a step changes."""
    blocks = (batch.observations, batch.masks, batch.turns, batch.ended, batch.forfeited, batch.scores, batch.margins)
    return [memoryview(block).tobytes() for block in blocks]


def assert_both_ways_agree(group: list[tables.Table], steps: int) -> None:
    """Play by chance at each table, with a claim or an illegal action now and then."""
    ended = 0
    for number, table in enumerate(group):
        with tables.note_table(table):
            rng = random.Random(f"both ways {table}")
            deals = (None, 1, 2)[number % 3]
            words, rules = (Batch(table.load(), 3, deals=deals, seed=number, quick=quick) for quick in (True, False))
            for _ in range(steps):
                assert snapshot(words) == snapshot(rules)
                actions = words.random()
                assert actions == rules.random()
                for match in range(3):
                    if act.CLAIM in words.legal(match) and rng.random() < 0.05:
                        actions[match] = act.CLAIM
                    elif rng.random() < 0.003:
                        actions[match] = act.PLAY_END - 1
                ended += words.step(actions)
                rules.step(actions)
            assert words.dice[0].x == rules.dice[0].x
    assert ended > 0


@ON_GAMES
def test_words_and_rules_show_the_same(key: str, group: list[tables.Table]) -> None:
    assert_both_ways_agree(group[:2], 250)


@pytest.mark.slow
@ON_GAMES
def test_words_and_rules_show_the_same_at_every_table(key: str, group: list[tables.Table]) -> None:
    assert_both_ways_agree(group, 300)


def test_a_game_with_rules_that_the_words_do_not_know_is_played_by_its_rules() -> None:
    game = engine.Game(replace(declared("gana_pierde_3"), key="toy", result=seat_two_loses, options={}), {}, 3)
    batch = Batch(game, 2, seed=1, deals=1)
    while not batch.step(batch.random()):
        pass
    assert [scores_of(batch, number) for number in range(2)] == [[0, 0, -1]] * 2


def seat_two_loses(state: engine.State) -> Verdict:
    """Return a result that only this file knows."""
    return Verdict(0, (2,))


def test_a_match_is_the_same_in_any_batch() -> None:
    game = engine.load("partnership")
    single, many = Batch(game, 1, seed=9), Batch(game, 4, seed=7)
    for _ in range(90):
        assert row(single.observations, 0, encoding.SIZE) == row(many.observations, 2, encoding.SIZE)
        action = single.legal(0)[0]
        single.step([action])
        many.step([KEEP, KEEP, action, KEEP])
    assert cards_in(many, 0) == 10

    before = row(many.observations, 0, 4 * encoding.SIZE)
    many.reset(7)
    assert row(many.observations, 0, encoding.SIZE) == before[: encoding.SIZE]
    assert row(many.observations, 0, 4 * encoding.SIZE) != before


@pytest.mark.parametrize("illegal", [-2, 39, 10**6])
def test_an_illegal_action_forfeits_the_match_for_its_side(illegal: int) -> None:
    batch = Batch(engine.load("partnership"), 2, seed=3)
    while batch.masks[39] or batch.turns[0] != 1:
        batch.step([batch.random()[0], KEEP])

    assert batch.step([illegal, KEEP]) == 1

    assert list(batch.ended) == list(batch.forfeited) == [1, 0]
    assert scores_of(batch, 0) == batch.game.fault_scores(1)
    assert cards_in(batch, 0) == 10
    assert batch.step([KEEP, KEEP]) == 0
    assert list(batch.ended) == list(batch.forfeited) == scores_of(batch, 0)[:2] == [0, 0]


def test_a_batch_says_what_it_cannot_take() -> None:
    game = engine.load("bato")
    with pytest.raises(ValueError, match="1 match or more"):
        Batch(game, 0)
    with pytest.raises(engine.OptionError, match="deals"):
        Batch(game, 1, deals=0)
    batch = Batch(game, 2)
    with pytest.raises(ValueError, match="2 matches take 2 actions, not 1"):
        batch.step([0])


def test_chance_takes_every_legal_action_but_a_claim() -> None:
    batch = Batch(engine.load("corriente"), 1, seed=1)
    for _ in range(400):
        legal = set(batch.legal(0))
        actions = {batch.random()[0] for _ in range(100)}
        if act.CLAIM in legal:
            break
        assert actions <= legal
        batch.step(batch.random())
    assert actions == legal - {act.CLAIM}


def test_the_observation_is_laid_out_as_documented() -> None:
    """A trick of partnership, byte by byte."""
    state = engine.load("partnership").new_match(seed=3)
    lead = state.legal_actions()[0]
    state.apply(lead)
    seat = state.turn
    observed = encoding.observation(state, seat)
    place = lead // 10 * 16 + lead % 10

    assert [card for card in range(40) if observed[card // 10 * 16 + card % 10] & 1] == list(state.hand_of(seat))
    assert observed[place] & ~encoding.SHOWN == encoding.ON_TABLE + encoding.WINNING
    assert list(observed[64:72]) == [
        0,
        0,
        0,
        lead + 1,
        0,
        0,
        0,
        lead // 10,
    ]  # played by the seat before: three further on
    assert list(observed[72:80]) == [state.trump, (state.dealer - seat) % 4, 7, 0, 0, 1, 4, 0]
    assert sum(observed[80:136]) == 0
    assert list(observed[136:160]) == [0] * 16 + [128] * 4 + [0] * 4
    while state.left > 36:
        state.apply(state.legal_actions()[0])
    observed = encoding.observation(state, seat)
    points = sum(observed[80:87])
    assert points == sum(state.cards) > 0
    assert observed[80 + (state.last_trick - seat) % 4] == points
    assert observed[96 + (state.last_trick - seat) % 4] == 1
    assert sum(1 for card in range(64) if observed[card] & encoding.GONE) == 4


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("key", engine.games())
def test_a_batch_goes_on_from_what_was_saved(key: str, quick: bool) -> None:
    first, second = (Batch(engine.load(key), 3, deals=1, seed=seed, quick=quick) for seed in (5, 8))
    for _ in range(9):
        first.step(first.random())
    second.restore(first.save())
    for _ in range(40):
        chosen = first.random()
        assert second.random() == chosen
        assert [list(block) for block in blocks(first)] == [list(block) for block in blocks(second)]
        first.step(chosen)
        second.step(chosen)


def blocks(batch: Batch) -> tuple[object, ...]:
    return (
        *(batch.observations, batch.masks, batch.turns, batch.ended, batch.forfeited),
        *(batch.scores, batch.margins),
    )
