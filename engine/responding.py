"""A player that searches for the best response to one bot, using a model of that bot's habits.

`ChoiceModel` says how a player chooses; it learns from observed choices. `Responder` tries each of its actions in deals that agree with what its seat
knows: its opponents continue by the habits of the bot, its own side by its own habits, which learn from its choices in turn. So each round of playing
and learning is one step of policy improvement against a fixed opponent.

It sees only what a bot sees. It counts its work in deals instead of seconds, so the same seed gives the same choices.
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

RATE = 0.2  # Learning rate.
DEALS = 12  # Sampled deals per decision; only the better half of the actions gets the second half of them.
FINE = 1 << 30
RARE = -4.0  # Initial weight of a claim: most claims are false.
ROLES, LEVELS, WORTHS, TRICKS, ORDERS, HOLDINGS = 9, 17, 4, 5, 5, 12
# Class of a card, indexed by its points: nothing, a figure, the three, the ace.
_WORTH = (0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3)
# Offset of each kind of feature in the list of weights.
BY_LEVEL = 0
BY_TRICK = BY_LEVEL + ROLES * 2 * LEVELS
BY_ORDER = BY_TRICK + ROLES * 2 * TRICKS * WORTHS
BY_STOCK = BY_ORDER + ROLES * 2 * ORDERS * ORDERS
BY_SUIT = BY_STOCK + ROLES * 4 * WORTHS
WORDS = BY_SUIT + HOLDINGS * LEVELS * 2
WORD_PLACES, PROGRESS = 512, 16
SIZE = WORDS + WORD_PLACES * PROGRESS

Features = tuple[int, ...]  # Indexes of the weights that apply to an action.


class ObservedChoice(NamedTuple):
    """One observed choice: the features of each legal action, and the index of the chosen one."""

    actions: list[Features]
    taken: int


def features(state: State, legal: Sequence[int]) -> list[Features]:
    """Return the features of each legal action of the seat to move, from its own hand and open information only."""
    facts, trump, hand = state.facts, state.trump, state.hand
    role, best, best_suit, following = 0, state.best, state.best_suit, state.in_trick
    if following:
        own_side_wins = state.side[state.winner] == state.side[state.turn]
        role = 1 + 2 * own_side_wins + 4 * (len(state.table) + 1 >= state.size)
    on_table = state.table_points if following else 0
    trick = 0 if not on_table else 1 if on_table < 5 else 2 if on_table < 10 else 3 if on_table < 14 else 4
    stock = 1 if state.stock else 0
    cards = sorted((facts[action][2], action) for action in legal if action < PLAY_END)
    last = len(cards) - 1
    place = {action: number for number, (_, action) in enumerate(cards)}
    rows: list[Features] = []
    progress = -1
    for action in legal:
        if action >= PLAY_END:
            if progress < 0:
                progress = min(PROGRESS - 1, state.side_points()[state.side[state.turn]] // 10)
            rows.append((WORDS + (action - PLAY_END) % WORD_PLACES * PROGRESS + progress,))
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
        suit_length = hand[suit].bit_count()
        rows.append(
            (
                BY_LEVEL + both * LEVELS + level,
                BY_TRICK + (both * TRICKS + trick) * WORTHS + worth,
                BY_ORDER + (both * ORDERS + min(below, ORDERS - 1)) * ORDERS + min(above, ORDERS - 1),
                BY_STOCK + (both * 2 + stock) * WORTHS + worth,
                BY_SUIT + (suit_length * LEVELS + level) * 2 + following,
            )
        )
    return rows


class ChoiceModel:
    """A model of how a player chooses: a probability for each legal action (multinomial logistic regression)."""

    def __init__(self) -> None:
        self.weights = [0.0] * SIZE
        first = WORDS + (CLAIM - PLAY_END) % WORD_PLACES * PROGRESS
        self.weights[first : first + PROGRESS] = [RARE] * PROGRESS

    def chances(self, actions: Iterable[Features]) -> list[float]:
        """Return the probability of each action."""
        weights = self.weights
        sums = [add_up([weights[feature] for feature in action]) for action in actions]
        most = max(sums)
        powers = [exp(value - most) for value in sums]
        whole = add_up(powers)
        return [power / whole for power in powers]

    def choose(self, state: State, legal: Sequence[int], dice: Dice) -> int:
        """Draw one of the legal actions by its probability."""
        mark = dice.below(FINE) / FINE
        for action, chance in zip(legal, self.chances(features(state, legal)), strict=True):
            mark -= chance
            if mark < 0:
                return action
        return legal[-1]

    def learn(self, choices: Sequence[ObservedChoice], dice: Dice, times: int = 1) -> None:
        """Learn from observed choices: `times` passes over all of them, in random order."""
        weights = self.weights
        for _ in range(times):
            for number in dice.shuffle(range(len(choices))):
                actions, taken = choices[number]
                for place, (action, chance) in enumerate(zip(actions, self.chances(actions), strict=True)):
                    step = RATE * ((place == taken) - chance)
                    for feature in action:
                        weights[feature] += step

    def foreseen(self, choices: Sequence[ObservedChoice]) -> float:
        """Return the share of choices that were the most likely actions; 0 if there are no choices."""
        right = 0
        for actions, taken in choices:
            chances = self.chances(actions)
            right += chances[taken] == max(chances)
        return right / len(choices) if choices else 0.0


class Responder:
    """A seat at the table, like `engine.runner.seat.SeatHolder`, that tries each of its actions against the habits of its opponents."""

    cpu_us = 0
    took_s = latency_s = 0.0

    def __init__(
        self, game: Game, seat: int, ours: ChoiceModel, theirs: ChoiceModel, seed: int, deals: int = DEALS
    ) -> None:
        self.party = 1
        self.seat = seat
        self.requests = 0
        self.game = game
        self.ours, self.theirs = ours, theirs
        self.deals = deals
        self.dice = Dice(seed)
        self.knowledge = Knowledge(game, seat, game.board_deals)

    def ask(self, events: list[str], legal: str) -> bytes:
        """Answer one request of the protocol."""
        self.requests += 1
        choices = json.loads(f"[{legal}]")
        self.knowledge.follow(json.loads(event) for event in events)
        self.knowledge.asked(choices)
        return json.dumps({"id": self.requests, "do": self.best(choices)}).encode()

    def evidence(self) -> tuple[str, str]:
        """Return no evidence: there is no process."""
        return "", ""

    def best(self, choices: Sequence[str]) -> str:
        """Return the action with the best mean; after half of the deals only the better half of the actions continues."""
        deals, dice = self.knowledge.deals(), self.dice
        worth = dict.fromkeys(choices, 0.0)
        remaining = list(choices)
        for half in (self.deals // 2, self.deals - self.deals // 2):
            for _ in range(half):
                state = self.knowledge.state(deals.deal(dice))
                for choice in remaining:
                    worth[choice] += self.outcome(state, choice)
            remaining.sort(key=lambda choice: -worth[choice])
            remaining = remaining[: max(2, (len(remaining) + 1) // 2)]
        return max(remaining, key=lambda choice: worth[choice])

    def outcome(self, before: State, choice: str) -> float:
        """Play the deal out once after an action; return the lead of its own side, in units of the board score."""
        state, dice = before.clone(), self.dice
        state.dice = dice
        own_side, ours, theirs = state.side[self.seat], self.ours, self.theirs
        deal = state.deal_no
        state.apply(state.game.parse_action(choice))
        while not state.is_over and state.deal_no == deal:
            legal = state.legal_actions()
            if len(legal) == 1:
                state.apply(legal[0])
            else:
                habits = ours if state.side[state.turn] == own_side else theirs
                state.apply(habits.choose(state, legal, dice))
        return lead(state, own_side)


def lead(state: State, side: int) -> float:
    """Return a side's lead over the other: by the score of a finished match, else by games and by carried points."""
    if state.is_over:
        scores = state.scores()
        own, other = (scores[seats[0]] for seats in (state.game.sides[side], state.game.sides[1 - side]))
        return float(own - other)
    size = state.game.origin.score_size
    points = state.totals[side] - state.totals[1 - side]
    return size * (state.games[side] - state.games[1 - side]) + size * points / POINTS_OF_A_GAME


POINTS_OF_A_GAME = 200.0  # Carried points that equal one game: more than any target, so that a won game counts most.


def two_sided(game: Game) -> bool:
    """Return True if a board of this game is between two sides."""
    return len(game.sides) == 2
