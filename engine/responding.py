"""A player that looks for its best response to one bot, of which it has seen what it does.

`Habits` is a model of how somebody chooses, learned from choices that were seen. `Responder` is a player that tries each of its actions out
in deals that agree with what its seat has been told: its opponents go on by the habits learned of the bot, its own side by habits of its own,
which learn in turn from what it chose. So each round of playing and learning is one step of improving a policy against a fixed opponent.

It sees what a bot sees and nothing else. It counts its work in deals and not by the clock, so the same seed gives the same choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from engine.cards.actions import CLAIM, PLAY_END
from engine.cards.chance import Dice
from engine.portable import add_up
from engine.search.knowledge import Knowledge

if TYPE_CHECKING:
    from engine.game import Game
    from engine.match.state import State

RATE = 0.2  # step of learning
DEALS = 12  # of the hidden cards, for a decision; only the better half of the actions meets the second half of them
FINE = 1 << 30
RARE = -4.0  # of a claim before anything is learned: most are false
ROLES, LEVELS, WORTHS, TRICKS, ORDERS, HOLDINGS = 9, 17, 4, 5, 5, 12
_WORTH = (0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3)  # of a card's points: nothing, a figure, the three, the ace
# where each kind of feature begins among the weights
BY_LEVEL = 0
BY_TRICK = BY_LEVEL + ROLES * 2 * LEVELS
BY_ORDER = BY_TRICK + ROLES * 2 * TRICKS * WORTHS
BY_STOCK = BY_ORDER + ROLES * 2 * ORDERS * ORDERS
BY_SUIT = BY_STOCK + ROLES * 4 * WORTHS
WORDS = BY_SUIT + HOLDINGS * LEVELS * 2
WORD_PLACES, PROGRESS = 512, 16
SIZE = WORDS + WORD_PLACES * PROGRESS

Features = tuple[int, ...]  # the weights that speak for an action


class Choice(NamedTuple):
    """A choice that was seen: the features of each action that was legal, and the place of the one that was taken."""

    actions: list[Features]
    taken: int


def features(state: State, legal: Sequence[int]) -> list[Features]:
    """What stands for each legal action of the seat on turn: of its own hand and of what lies open, nothing else."""
    facts, trump, hand = state.facts, state.trump, state.hand
    role, best, best_suit, following = 0, state.best, state.best_suit, state.in_trick
    if following:
        mine = state.side[state.winner] == state.side[state.turn]
        role = 1 + 2 * mine + 4 * (len(state.table) + 1 >= state.size)
    on_table = state.table_points if following else 0
    trick = 0 if not on_table else 1 if on_table < 5 else 2 if on_table < 10 else 3 if on_table < 14 else 4
    stock = 1 if state.stock else 0
    cards = sorted((facts[action][2], action) for action in legal if action < PLAY_END)
    last = len(cards) - 1
    place = {action: number for number, (_, action) in enumerate(cards)}
    found: list[Features] = []
    progress = -1
    for action in legal:
        if action >= PLAY_END:
            if progress < 0:
                progress = min(PROGRESS - 1, state.side_points()[state.side[state.turn]] // 10)
            found.append((WORDS + (action - PLAY_END) % WORD_PLACES * PROGRESS + progress,))
            continue
        suit, bit, points = facts[action]
        trumps = 1 if suit == trump else 0
        kind = role
        if following and ((suit == best_suit and action > best) or (trumps and best_suit != trump)):
            kind += 1
        level = bit.bit_length()
        worth = _WORTH[points] if points < len(_WORTH) else 3
        below, above = place[action], last - place[action]
        both = kind * 2 + trumps
        held = hand[suit].bit_count()
        found.append(
            (
                BY_LEVEL + both * LEVELS + level,
                BY_TRICK + (both * TRICKS + trick) * WORTHS + worth,
                BY_ORDER + (both * ORDERS + min(below, ORDERS - 1)) * ORDERS + min(above, ORDERS - 1),
                BY_STOCK + (both * 2 + stock) * WORTHS + worth,
                BY_SUIT + (held * LEVELS + level) * 2 + following,
            )
        )
    return found


class Habits:
    """How somebody chooses: a chance for each legal action, by weights of its features (multinomial logistic regression)."""

    def __init__(self) -> None:
        self.weights = [0.0] * SIZE
        first = WORDS + (CLAIM - PLAY_END) % WORD_PLACES * PROGRESS
        self.weights[first : first + PROGRESS] = [RARE] * PROGRESS

    def chances(self, actions: Iterable[Features]) -> list[float]:
        """The chance of each action."""
        weights = self.weights
        sums = [add_up([weights[one] for one in action]) for action in actions]
        most = max(sums)
        powers = [exp(one - most) for one in sums]
        whole = add_up(powers)
        return [one / whole for one in powers]

    def choose(self, state: State, legal: Sequence[int], dice: Dice) -> int:
        """One of the legal actions, by chance."""
        mark = dice.below(FINE) / FINE
        for action, chance in zip(legal, self.chances(features(state, legal)), strict=True):
            mark -= chance
            if mark < 0:
                return action
        return legal[-1]

    def learn(self, seen: Sequence[Choice], dice: Dice, times: int = 1) -> None:
        """Move towards the choices that were seen, all of them so many times, in an order that the dice throw."""
        weights = self.weights
        for _ in range(times):
            for number in dice.shuffle(range(len(seen))):
                actions, taken = seen[number]
                for place, (action, chance) in enumerate(zip(actions, self.chances(actions), strict=True)):
                    step = RATE * ((place == taken) - chance)
                    for one in action:
                        weights[one] += step

    def foreseen(self, seen: Sequence[Choice]) -> float:
        """The share of these choices to which the highest chance was given; 0 of none."""
        right = 0
        for actions, taken in seen:
            chances = self.chances(actions)
            right += chances[taken] == max(chances)
        return right / len(seen) if seen else 0.0


class Responder:
    """Sits where a bot would (`engine.runner.seat.Asked`), and tries each of its actions out against the habits of its opponents."""

    cpu_us = 0
    took_s = latency_s = 0.0

    def __init__(self, game: Game, seat: int, ours: Habits, theirs: Habits, seed: int, deals: int = DEALS) -> None:
        self.party = 1
        self.seat = seat
        self.requests = 0
        self.game = game
        self.ours, self.theirs = ours, theirs
        self.deals = deals
        self.dice = Dice(seed)
        self.knowledge = Knowledge(game, seat, game.board_deals)

    def ask(self, events: list[str], legal: str) -> bytes:
        """One decision, in the words of the protocol."""
        self.requests += 1
        choices = json.loads(f"[{legal}]")
        self.knowledge.follow(json.loads(event) for event in events)
        self.knowledge.asked(choices)
        return json.dumps({"id": self.requests, "do": self.best(choices)}).encode()

    def evidence(self) -> tuple[str, str]:
        """Nothing: it is no process of which something could be shown."""
        return "", ""

    def best(self, choices: Sequence[str]) -> str:
        """The action that does best on average; after half of the deals only the better half of the actions goes on."""
        deals, dice = self.knowledge.deals(), self.dice
        worth = dict.fromkeys(choices, 0.0)
        left = list(choices)
        for half in (self.deals // 2, self.deals - self.deals // 2):
            for _ in range(half):
                state = self.knowledge.state(deals.deal(dice))
                for choice in left:
                    worth[choice] += self.outcome(state, choice)
            left.sort(key=lambda choice: -worth[choice])
            left = left[: max(2, (len(left) + 1) // 2)]
        return max(left, key=lambda choice: worth[choice])

    def outcome(self, before: State, choice: str) -> float:
        """What an action comes to for the own side, played out once to the end of the deal, in units of the board score."""
        state, dice = before.clone(), self.dice
        state.dice = dice
        mine, ours, theirs = state.side[self.seat], self.ours, self.theirs
        deal = state.deal_no
        state.apply(state.game.parse_action(choice))
        while not state.is_over and state.deal_no == deal:
            legal = state.legal_actions()
            if len(legal) == 1:
                state.apply(legal[0])
            else:
                habits = ours if state.side[state.turn] == mine else theirs
                state.apply(habits.choose(state, legal, dice))
        return lead(state, mine)


def lead(state: State, side: int) -> float:
    """How far a side is ahead of the other one: by the score of a match that is over, else by games, and by points carried along."""
    if state.is_over:
        scores = state.scores()
        own, other = (scores[seats[0]] for seats in (state.game.sides[side], state.game.sides[1 - side]))
        return float(own - other)
    size = state.game.origin.score_size
    points = state.totals[side] - state.totals[1 - side]
    return size * (state.games[side] - state.games[1 - side]) + size * points / POINTS_OF_A_GAME


POINTS_OF_A_GAME = (
    200.0  # carried points that weigh as much as a game: more than any target, so that a game won counts most
)


def two_sided(game: Game) -> bool:
    """Whether a board of this game is between two sides."""
    return len(game.sides) == 2
