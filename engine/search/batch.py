"""A batch of matches for learners, played side by side: each step takes one action in every match. A finished match restarts at once with new cards.

    batch = Batch(engine.load("partnership"), 1024, seed=7)
    batch.step(batch.random())                    # one decision in each of 1024 matches
    observations = memoryview(batch.observations).cast("B")

The kernel (`engine.search.kernel`) plays the matches. With `quick=False`, and in games that the kernel does not know, `State.apply` plays them, with
the same results. All results of a step are in blocks that never move, so a memoryview shows every later step, too. `engine.adapters.vector` lays
numpy arrays over them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, final

from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.game import Game, check_deals
from engine.match.state import State
from engine.search import encoding
from engine.search.encoding import WORDS
from engine.search.kernel import asking, running
from engine.search.kernel.program import Program
from engine.search.kernel.state import KernelState
from engine.search.masks import block, byte_block
from engine.search.observations import ObservationWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from librt.vecs import vec
    from mypy_extensions import i64, u8

KEEP: Final = -1  # Stands in place of an action for a match that gets none.


class BatchMatch(ABC):
    """A match of a batch, in one of two implementations. Actions are dense numbers."""

    @abstractmethod
    def begin(self) -> None:
        """Start a new match with the dice of this one."""

    @abstractmethod
    def turn(self) -> i64:
        """The seat on turn."""

    @abstractmethod
    def take(self, action: i64) -> bool:
        """Carry out a legal action. Return True if the match is over."""

    @abstractmethod
    def scores(self) -> list[int]:
        """Return the board scores by seat."""

    @abstractmethod
    def write_seen(self, out: vec[i64], start: i64) -> None:
        """Write the observation of the seat on turn, `WORDS` words."""

    @abstractmethod
    def write_legal(self, out: vec[i64], start: i64) -> i64:
        """Write the legal actions. Return their number."""


@final
class InWords(BatchMatch):
    """A match that the kernel plays."""

    def __init__(self, program: Program, writer: ObservationWriter, deals: int, dice: Dice) -> None:
        self.program: Program = program
        self.writer: ObservationWriter = writer
        self.deals: i64 = deals
        self.kernel_state: KernelState = KernelState(program, dice)

    def begin(self) -> None:
        """See `BatchMatch`."""
        running.begin(self.kernel_state, self.program, self.deals)

    def turn(self) -> i64:
        """See `BatchMatch`."""
        return self.kernel_state.turn

    def take(self, action: i64) -> bool:
        """See `BatchMatch`."""
        running.apply(self.kernel_state, action)
        return self.kernel_state.over

    def scores(self) -> list[int]:
        """See `BatchMatch`."""
        return [self.kernel_state.score[seat] for seat in range(self.program.game.players)]

    def write_seen(self, out: vec[i64], start: i64) -> None:
        """See `BatchMatch`."""
        self.writer.write(self.kernel_state, out, start)

    def write_legal(self, out: vec[i64], start: i64) -> i64:
        """See `BatchMatch`."""
        return asking.write(self.kernel_state, out, start)


@final
class ByRules(BatchMatch):
    """A match that `State` plays."""

    def __init__(self, game: Game, deals: int | None, dice: Dice) -> None:
        self.game = game
        self.deals = deals
        self.dice = dice
        self.state: State

    def begin(self) -> None:
        """See `BatchMatch`."""
        self.state = self.game.new_match(seed=bytes(32), deals=self.deals, record=False, dice=self.dice)

    def turn(self) -> i64:
        """See `BatchMatch`."""
        return self.state.turn

    def take(self, action: i64) -> bool:
        """See `BatchMatch`."""
        self.state.apply(encoding.action(self.state, int(action)))
        return self.state.is_over

    def scores(self) -> list[int]:
        """See `BatchMatch`."""
        return self.state.scores()

    def write_seen(self, out: vec[i64], start: i64) -> None:
        """See `BatchMatch`."""
        encoding.write(self.state, self.state.turn, out, start)

    def write_legal(self, out: vec[i64], start: i64) -> i64:
        """See `BatchMatch`."""
        at: i64 = start
        for action in sorted(encoding.legal(self.state)):
            out[at] = action
            at += 1
        return at - start


@final
class Batch:
    """`count` matches of a game, of `deals` deals each (None: one board, `Game.board_deals`).

        observations  WORDS words a match: the observation of the seat on turn, see `engine.search.encoding`
        masks         `width` bytes a match: 1 where the action of that dense number is legal
        turns         a byte a match: the seat on turn
        ended         a byte a match: 1 if the last step ended the match; all other blocks then show the next one
        forfeited     a byte a match: 1 if an illegal action ended it, which brings the worst scores of the game to the seat's side
        scores        a word a seat: the board scores of the match that its last step ended, else 0
        margins       a word a seat: that score less the mean of all seats, times `players`

    Match i has dice of its own, seeded with seed + i, so it gets the same cards in every batch that has a match with that seed. Raises ValueError for
    a count below 1, OptionError for bad deals.
    """

    def __init__(self, game: Game, count: int, *, deals: int | None = None, seed: int = 0, quick: bool = True) -> None:
        if count < 1:
            raise ValueError(f"a batch has 1 match or more, not {count}")
        self.game = game
        self.count = count
        self.deals = game.board_deals if deals is None else deals
        check_deals(self.deals)
        self.width = encoding.width(game)
        self.players = game.players
        self.observations: vec[i64] = block(count * WORDS)
        self.masks: vec[u8] = byte_block(count * self.width)
        self.turns: vec[u8] = byte_block(count)
        self.ended: vec[u8] = byte_block(count)
        self.forfeited: vec[u8] = byte_block(count)
        self.scores: vec[i64] = block(count * game.players)
        self.margins: vec[i64] = block(count * game.players)
        self.actions: vec[i64] = block(count * self.width)  # `width` words a match: the legal actions
        self.ways: vec[i64] = block(count)  # The number of legal actions.
        self.chance = Dice(0)  # the dice of `random`
        self.finished: list[int] = []  # matches that the last step ended
        self.dice = [Dice(0) for _ in range(count)]
        # The dice with which each match began, and its actions: they give the match again (`save`)
        self.starts: list[int] = [0] * count
        self.played: list[list[int]] = [[] for _ in range(count)]
        self.matches: list[BatchMatch] = []
        program = running.program_of(game, running.ORDER) if quick else None
        writer = ObservationWriter(game)
        for dice in self.dice:
            if program is None:
                self.matches.append(ByRules(game, self.deals, dice))
            else:
                self.matches.append(InWords(program, writer, self.deals or 0, dice))
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Restart all matches, with other cards."""
        self._forget()
        self.chance.start(seed ^ 0x5A5A5A5A)
        for number in range(self.count):
            self.dice[number].start(seed + number)
            self._begin(number)

    def save(self) -> tuple[int, list[int], list[list[int]], list[tuple[int, int, list[int]]]]:
        """Return plain data from which `restore` continues, in a batch of the same game and size."""
        results = [
            (
                number,
                int(self.forfeited[number]),
                [int(self.scores[number * self.players + seat]) for seat in range(self.players)],
            )
            for number in self.finished
        ]
        return int(self.chance.x), list(self.starts), [list(actions) for actions in self.played], results

    def restore(self, saved: tuple[int, list[int], list[list[int]], list[tuple[int, int, list[int]]]]) -> None:
        """Play all matches again up to the point at which `save` was called."""
        chance, starts, played, results = saved
        self._forget()
        self.chance.x = chance
        for number in range(self.count):
            self.dice[number].x = starts[number]
            self._begin(number)
            match = self.matches[number]
            for action in played[number]:
                match.take(action)
                self.played[number].append(action)
            self._show(number, match)
        for number, forfeited, scores in results:
            self._score(number, scores)
            self.forfeited[number] = forfeited

    def _begin(self, number: i64) -> None:
        self.starts[number] = int(self.dice[number].x)
        self.played[number] = []
        match = self.matches[number]
        match.begin()
        self._show(number, match)

    def step(self, actions: Sequence[int]) -> int:
        """Take an action, by its dense number, in each match (`KEEP`: none in that match). Return how many matches ended.

        Raises ValueError, changing nothing, unless there are as many actions as matches.
        """
        chosen = list(actions)
        if len(chosen) != self.count:
            raise ValueError(f"{self.count} matches take {self.count} actions, not {len(chosen)}")
        self._forget()
        masks, matches = self.masks, self.matches
        width: i64 = self.width
        number: i64 = 0
        while number < self.count:
            action: i64 = chosen[number]
            if action != KEEP:
                match = matches[number]
                if action < 0 or action >= width or not masks[number * width + action]:
                    self._end(number, self.game.fault_scores(self.game.side[match.turn()]))
                    self.forfeited[number] = 1
                else:
                    self.played[number].append(chosen[number])
                    if match.take(action):
                        self._end(number, match.scores())
                    else:
                        self._show(number, match)
            number += 1
        return len(self.finished)

    def _forget(self) -> None:
        """Clear the results of matches that the last step ended."""
        for number in self.finished:
            self.ended[number] = self.forfeited[number] = 0
            for seat in range(self.players):
                self.scores[number * self.players + seat] = 0
                self.margins[number * self.players + seat] = 0
        self.finished = []

    def _end(self, number: i64, scores: list[int]) -> None:
        self._score(number, scores)
        self._begin(number)

    def _score(self, number: i64, scores: list[int]) -> None:
        self.finished.append(int(number))
        self.ended[number] = 1
        total = sum(scores)
        for seat in range(self.players):
            self.scores[number * self.players + seat] = scores[seat]
            self.margins[number * self.players + seat] = self.players * scores[seat] - total

    def _show(self, number: i64, match: BatchMatch) -> None:
        """Write the observation and the legal actions of a match."""
        self.turns[number] = int(match.turn())
        match.write_seen(self.observations, number * WORDS)
        masks, actions = self.masks, self.actions
        start: i64 = number * self.width
        at: i64 = start
        end: i64 = start + self.ways[number]
        while at < end:
            masks[start + actions[at]] = 0
            at += 1
        ways: i64 = match.write_legal(actions, start)
        self.ways[number] = ways
        at = start
        end = start + ways
        while at < end:
            masks[start + actions[at]] = 1
            at += 1

    def legal(self, number: int) -> list[int]:
        """Return the legal actions of a match, by their dense numbers."""
        start = number * self.width
        return [int(self.actions[start + way]) for way in range(self.ways[number])]

    def random(self) -> list[int]:
        """Return a random legal action for each match; never a claim or an accusation, which would end a game or deal, mostly wrongly."""
        dice, actions, ways = self.chance, self.actions, self.ways
        chosen: list[int] = []
        number: i64 = 0
        start: i64 = 0
        while number < self.count:
            action: i64 = actions[start + dice.below(ways[number])]
            while action == act.CLAIM or act.ACCUSE <= action < act.BID:
                action = actions[start + dice.below(ways[number])]
            chosen.append(int(action))
            number += 1
            start += self.width
        return chosen
