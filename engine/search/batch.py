"""Many matches side by side, one action in each at a time: what a learner plays. A match that ends begins anew at once, with other cards.

    batch = Batch(engine.load("partnership"), 1024, seed=7)
    batch.step(batch.random())                    # one decision in each of 1024 matches
    observations = memoryview(batch.observations).cast("B")

The rules are `State.apply`; what the seat on turn may know is kept along as bytes (`engine.search.encoding`). Everything that a step
changes stands in blocks that are never moved, so whatever looks at their memory once sees every later step. `engine.adapters.vector` lays
numpy arrays over them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.match.opening.joining import CHANGE
from engine.match.state import State
from engine.search import encoding
from engine.search.encoding import WORDS, Sight
from engine.search.playouts.words import block, byte_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from librt.vecs import vec
    from mypy_extensions import i64, u8

    from engine.game import Game

KEEP: Final = -1  # instead of an action: this match waits


@final
class Batch:
    """`count` matches of a game, of `deals` deals each (None: one board, `Game.board_deals`).

    observations  WORDS words a match: what the seat on turn may know, see `engine.search.encoding`
    masks         `width` bytes a match: 1 where the action of that dense number is legal
    turns         a byte a match: the seat on turn
    ended         a byte a match: 1 if its last step ended it; what else is seen is of the next match then
    forfeited     a byte a match: 1 if that was by an illegal action, which brings the worst scores of the game to the seat's side
    scores        a word a seat: the board scores of the match that its last step ended, else 0
    margins       a word a seat: that score less the mean of all seats, times `players`

    Match number i is dealt by dice of its own, seeded with seed + i: the same cards in any batch that has a match of that seed.
    Raises ValueError for a count below 1, OptionError for bad deals.
    """

    def __init__(self, game: Game, count: int, *, deals: int | None = None, seed: int = 0) -> None:
        if count < 1:
            raise ValueError(f"a batch has 1 match or more, not {count}")
        self.game = game
        self.count = count
        self.deals = game.board_deals if deals is None else deals
        self.width = encoding.width(game)
        self.players = game.players
        self.observations: vec[i64] = block(count * WORDS)
        self.masks: vec[u8] = byte_block(count * self.width)
        self.turns: vec[u8] = byte_block(count)
        self.ended: vec[u8] = byte_block(count)
        self.forfeited: vec[u8] = byte_block(count)
        self.scores: vec[i64] = block(count * game.players)
        self.margins: vec[i64] = block(count * game.players)
        self.states: list[State] = []
        self.sights: list[Sight] = []
        self.legal: list[tuple[int, ...]] = []  # dense numbers
        self.dice: list[Dice] = []
        self.chance = Dice(0)  # of `random`
        self.finished: list[int] = []  # the matches that the last step ended
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Deals all matches anew."""
        self._forget()
        self.chance.start(seed ^ 0x5A5A5A5A)
        shared = encoding.tables(self.game.pack.size)
        fresh = not self.states
        for number in range(self.count):
            dice = Dice(seed + number)
            state = self._deal(dice)
            if fresh:
                self.states.append(state)
                self.dice.append(dice)
                self.sights.append(Sight(shared))
                self.legal.append(())
            else:
                self.states[number] = state
                self.dice[number] = dice
            self.sights[number].begin(state)
            self._show(number, state)

    def _deal(self, dice: Dice) -> State:
        return self.game.new_match(seed=bytes(32), deals=self.deals, record=False, dice=dice)

    def step(self, actions: Sequence[int]) -> int:
        """Takes an action, by its dense number, in each match (`KEEP`: in that one none). How many matches that has ended.

        Raises ValueError, changing nothing, for another number of actions than of matches.
        """
        chosen = list(actions)
        if len(chosen) != self.count:
            raise ValueError(f"{self.count} matches take {self.count} actions, not {len(chosen)}")
        self._forget()
        masks, states, sights = self.masks, self.states, self.sights
        width: i64 = self.width
        number: i64 = 0
        while number < self.count:
            action: i64 = chosen[number]
            if action != KEEP:
                state = states[number]
                if action < 0 or action >= width or not masks[number * width + action]:
                    self._end(number, self.game.fault_scores(self.game.side[state.turn]))
                    self.forfeited[number] = 1
                else:
                    seat: i64 = state.turn
                    if action >= encoding.DISCARDS and state.phase is CHANGE:
                        action = encoding.action(state, int(action))
                    state.apply(int(action))
                    if state.is_over:
                        self._end(number, state.scores())
                    else:
                        sights[number].after(state, action, seat)
                        self._show(number, state)
            number += 1
        return len(self.finished)

    def _forget(self) -> None:
        """What the last step ended."""
        for number in self.finished:
            self.ended[number] = self.forfeited[number] = 0
            for seat in range(self.players):
                self.scores[number * self.players + seat] = 0
                self.margins[number * self.players + seat] = 0
        self.finished = []

    def _end(self, number: i64, scores: list[int]) -> None:
        self.finished.append(int(number))
        self.ended[number] = 1
        total = sum(scores)
        for seat in range(self.players):
            self.scores[number * self.players + seat] = scores[seat]
            self.margins[number * self.players + seat] = self.players * scores[seat] - total
        state = self._deal(self.dice[number])
        self.states[number] = state
        self.sights[number].begin(state)
        self._show(number, state)

    def _show(self, number: i64, state: State) -> None:
        """Writes what is seen of a match, and what is legal."""
        seat: i64 = state.turn
        self.turns[number] = state.turn
        self.sights[number].write(state, seat, self.observations, number * WORDS)
        masks = self.masks
        start: i64 = number * self.width
        for action in self.legal[number]:
            masks[start + action] = 0
        legal = state.legal_actions() if state.phase is None else encoding.legal(state)
        for action in legal:
            masks[start + action] = 1
        self.legal[number] = legal

    def random(self) -> list[int]:
        """A legal action for each match, each with the same chance; a claim never: at random it would end a game at once, mostly wrongly."""
        dice = self.chance
        found: list[int] = []
        for legal in self.legal:
            action = legal[dice.below(len(legal))]
            while action == act.CLAIM:
                action = legal[dice.below(len(legal))]
            found.append(action)
        return found
