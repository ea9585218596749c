"""A player that searches for the best response to one bot, using a model of that bot's habits.

`ChoiceModel` says how a player chooses; it learns from observed choices. `Responder` tries each of its actions in deals that agree with what its seat
knows: its opponents continue by the habits of the bot, its own side by its own habits. These learn from its choices in turn, so each round of playing
and learning is one step of policy improvement against a fixed opponent; or `practise` improves them on whole boards against the habits of the bot
(policy gradient).

It sees only what a bot sees. It counts its work in deals instead of seconds, so the same seed gives the same choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import exp, sqrt
from typing import TYPE_CHECKING, NamedTuple

from engine.cards.actions import CLAIM, PLAY_END
from engine.cards.chance import Dice
from engine.match.view import played_masks
from engine.portable import add_up
from engine.search.knowledge import Knowledge

if TYPE_CHECKING:
    from engine.game import Game
    from engine.match.state import State

RATE = 0.2  # Learning rate.
DEALS = 12  # Sampled deals per decision; only the better half of the actions gets the second half of them.
FINE = 1 << 30
RARE = -4.0  # Initial weight of a claim: most claims are false.
PACE = 0.3  # Learning rate of practice, divided by the root of the squares so far (AdaGrad).
BOARDS_A_STEP = 8  # Boards of one step of practice.
TRIES = 4  # Times that practice plays each board with the same cards; the mean of the others tells what the cards were worth.
ROLES, LEVELS, WORTHS, TRICKS, ORDERS, HOLDINGS, ABOVE, OUTSTANDING, PLACES = 9, 17, 4, 5, 5, 12, 5, 4, 3
# Class of a card, indexed by its points: nothing, a figure, the three, the ace.
_WORTH = (0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3)
# Offset of each kind of feature in the list of weights.
BY_LEVEL = 0
BY_TRICK = BY_LEVEL + ROLES * 2 * LEVELS
BY_ORDER = BY_TRICK + ROLES * 2 * TRICKS * WORTHS
BY_STOCK = BY_ORDER + ROLES * 2 * ORDERS * ORDERS
BY_SUIT = BY_STOCK + ROLES * 4 * WORTHS
BY_PRICE = BY_SUIT + HOLDINGS * LEVELS * 2
BY_RANK = BY_PRICE + ROLES * 2 * LEVELS * TRICKS
BY_TRUMPS = BY_RANK + ROLES * 2 * LEVELS * ABOVE
BY_PLACE = BY_TRUMPS + ROLES * 2 * WORTHS * ABOVE * OUTSTANDING
WORDS = BY_PLACE + ROLES * 2 * WORTHS * PLACES * TRICKS * 2
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
    place_in_trick = min(PLACES, len(state.table)) - 1 if following else 0
    on_table = state.table_points if following else 0
    trick = 0 if not on_table else 1 if on_table < 5 else 2 if on_table < 10 else 3 if on_table < 14 else 4
    stock = 1 if state.stock else 0
    played = played_masks(state)
    unseen = [all_cards & ~(played[suit] | hand[suit]) for suit, all_cards in enumerate(state.game.pack.whole)]
    trumps_out = unseen[trump].bit_count()
    outstanding = 0 if not trumps_out else 1 if trumps_out < 3 else 2 if trumps_out < 6 else 3
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
        higher = min(ABOVE - 1, (unseen[suit] >> level).bit_count())
        rows.append(
            (
                BY_LEVEL + both * LEVELS + level,
                BY_TRICK + (both * TRICKS + trick) * WORTHS + worth,
                BY_ORDER + (both * ORDERS + min(below, ORDERS - 1)) * ORDERS + min(above, ORDERS - 1),
                BY_STOCK + (both * 2 + stock) * WORTHS + worth,
                BY_SUIT + (suit_length * LEVELS + level) * 2 + following,
                BY_PRICE + (both * LEVELS + level) * TRICKS + trick,
                BY_RANK + (both * LEVELS + level) * ABOVE + higher,
                BY_TRUMPS + ((both * WORTHS + worth) * ABOVE + higher) * OUTSTANDING + outstanding,
                BY_PLACE + (((both * WORTHS + worth) * PLACES + place_in_trick) * TRICKS + trick) * 2 + stock,
            )
        )
    return rows


class ChoiceModel:
    """A model of how a player chooses: a probability for each legal action (multinomial logistic regression)."""

    def __init__(self) -> None:
        self.weights = [0.0] * SIZE
        self.squares = [1.0] * SIZE  # Of the gradients of practice.
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
        return legal[drawn(self.chances(features(state, legal)), dice)]

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

    def climb(self, gradient: dict[int, float]) -> None:
        """Change the weights by a gradient of what practice is to raise."""
        weights, squares = self.weights, self.squares
        for feature, slope in gradient.items():
            squares[feature] += slope * slope
            weights[feature] += PACE * slope / sqrt(squares[feature])

    def copy(self) -> ChoiceModel:
        """Return a model that learns apart from this one."""
        model = ChoiceModel()
        model.weights, model.squares = self.weights[:], self.squares[:]
        return model

    def become_mean(self, parts: Sequence[ChoiceModel]) -> None:
        """Take over the mean of models that practised apart."""
        for name in ("weights", "squares"):
            setattr(
                self,
                name,
                [add_up(row) / len(parts) for row in zip(*(getattr(part, name) for part in parts), strict=True)],
            )

    def foreseen(self, choices: Sequence[ObservedChoice]) -> float:
        """Return the share of choices that were the most likely actions; 0 if there are no choices."""
        right = 0
        for actions, taken in choices:
            chances = self.chances(actions)
            right += chances[taken] == max(chances)
        return right / len(choices) if choices else 0.0


def drawn(chances: Sequence[float], dice: Dice) -> int:
    """Draw an index by its probability."""
    mark = dice.below(FINE) / FINE
    for number, chance in enumerate(chances):
        mark -= chance
        if mark < 0:
            return number
    return len(chances) - 1


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


def practise(game: Game, ours: ChoiceModel, theirs: ChoiceModel, seed: int, steps: int) -> None:
    """Improve `ours` on `steps` times `BOARDS_A_STEP` boards against the habits `theirs`.

    A choice becomes likelier if the board went better than in the other tries with the same cards, so the luck of the cards does not count.
    """
    dice = Dice(seed)
    for _ in range(steps):
        boards = [_tries(game, ours, theirs, dice) for _ in range(BOARDS_A_STEP)]
        gains = [(result - _mean_without(tries, result), choices) for tries in boards for choices, result in tries]
        size = sqrt(add_up(gain * gain for gain, _ in gains) / len(gains))
        gradient: dict[int, float] = {}
        for gain, choices in gains if size else ():
            for actions, chances, taken in choices:
                for number, (action, chance) in enumerate(zip(actions, chances, strict=True)):
                    slope = gain / size * ((number == taken) - chance)
                    for feature in action:
                        gradient[feature] = gradient.get(feature, 0.0) + slope
        ours.climb(gradient)


# The choices of one side on a board (features of the actions, their chances, the chosen one), and its lead at the end.
_Try = tuple[list[tuple[list[Features], list[float], int]], float]


def _mean_without(tries: Sequence[_Try], result: float) -> float:
    return (add_up(other for _, other in tries) - result) / (len(tries) - 1)


def _tries(game: Game, ours: ChoiceModel, theirs: ChoiceModel, dice: Dice) -> list[_Try]:
    """Play one board several times from the same side; only the choices differ, and the cards of later deals."""
    side, seed = dice.below(2), dice.below(FINE)
    tries: list[_Try] = []
    for _ in range(TRIES):
        state = game.new_match(seed=f"practice {seed}", deals=game.board_deals, record=False)
        state.dice = dice
        choices = []
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) == 1:
                state.apply(legal[0])
            elif state.side[state.turn] != side:
                state.apply(theirs.choose(state, legal, dice))
            else:
                actions = features(state, legal)
                chances = ours.chances(actions)
                taken = drawn(chances, dice)
                choices.append((actions, chances, taken))
                state.apply(legal[taken])
        tries.append((choices, lead(state, side)))
    return tries


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
