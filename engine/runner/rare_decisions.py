"""Rare decisions: situations that a bot meets once in a hundred boards, collected so that a trial can test them on purpose.

The search plays boards with a player that announces whenever it can, and records the decisions: every word of `legal`, windows after a trick, the
last choice of a deal, tables with eliminated seats. It takes seconds and does not depend on a bot, so its result is stored in `rare_decisions.json`;
`python -m engine.runner.rare_decisions` (in `make texts`) updates it. `trial` plays these boards with a bot.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import engine
from engine.game import declared, games
from engine.portable import draw_weighted

SEARCHED = 240  # Number of boards searched; every 12th is played for several deals, every 48th to the end of its match.
SEVERAL = 6  # Deals of a board with several.
LONGEST = 800  # Most actions of a searched board.
MOST_BOARDS = 4  # Boards stored for each situation and seat.
WINDOW, LAST, OUT, BOTH = "window", "last choice", "eliminated seats", "announcement or card"
WEIGHTS = {"claim": 0.02, "capote": 0.1, "accuse": 0.01, "pass": 4.0, "take": 4.0, "play": 1.0, "tute": 1.0}
ANNOUNCED = 12.0  # Weight of every word that WEIGHTS lacks.


def situations(state: engine.State, legal: Sequence[str]) -> set[str]:
    """Return the situations of a decision, among them the words of its actions."""
    words = {text.split()[0] for text in legal}
    names = set(words)
    if state.window:
        names.add(WINDOW)
    if state.out:
        names.add(OUT)
    if "play" in words and len(words) > 1 and any(" " in text for text in legal if text.startswith("play")):
        names.add(BOTH)
    if words == {"play"} and sum(state.hand[:4]).bit_count() <= 2 and len(legal) == 2:
        names.add(LAST)
    return names


def choose(legal: Sequence[str], dice: random.Random) -> str:
    """Choose an action at random: announce whenever possible, cut a deal short rarely."""
    return draw_weighted(legal, [WEIGHTS.get(text.split()[0], ANNOUNCED) for text in legal], dice)


@dataclass(frozen=True)
class RandomBoard:
    """A board that can be played again: its number is its seed."""

    number: int
    deals: int | None

    def begin(self, game: engine.Game, *, record: bool) -> engine.State:
        """Deal the board."""
        # The word in the seed must stay: the stored boards depend on it.
        return game.new_match(seed=f"awkward {self.number}", deals=self.deals, record=record)

    def dice(self) -> random.Random:
        """Return the dice of the announcing player."""
        return random.Random(self.number)


def random_board(game: engine.Game, number: int) -> RandomBoard:
    """Return the board with this number."""
    return RandomBoard(number, None if number % 48 == 0 else SEVERAL if number % 12 == 0 else game.board_deals)


def search(game: engine.Game) -> dict[str, dict[int, list[RandomBoard]]]:
    """Search boards. Return, by situation and seat, the boards on which that seat met the situation."""
    boards_by_seat: dict[str, dict[int, list[RandomBoard]]] = defaultdict(lambda: defaultdict(list))
    for board in (random_board(game, number) for number in range(1, SEARCHED + 1)):
        for seat, names in _course(game, board):
            for name in names:
                if board not in boards_by_seat[name][seat]:
                    boards_by_seat[name][seat].append(board)
    return boards_by_seat


def _course(game: engine.Game, board: RandomBoard) -> Iterator[tuple[int, set[str]]]:
    """Yield the seat and the situations of each decision on a board where every player announces whenever it can."""
    state, dice = board.begin(game, record=False), board.dice()
    for _ in range(LONGEST):
        if state.is_over:
            return
        actions = state.legal_actions()
        texts = [game.action_text(action) for action in actions]
        if len(actions) > 1:
            yield state.current_seat, situations(state, texts)
        state.apply(actions[texts.index(choose(texts, dice))])


FILE = Path(__file__).with_name("rare_decisions.json")


@lru_cache
def _stored() -> dict[str, dict[str, list[list[int]]]]:
    stored: dict[str, dict[str, list[list[int]]]] = json.loads(FILE.read_text(encoding="ascii"))
    return stored


def known_boards(game: engine.Game) -> dict[str, dict[int, list[RandomBoard]]]:
    """Return the stored result of `search`; search now if the table has none."""
    stored = _stored().get(f"{game.key} {game.players}")
    if stored is None:
        return search(game)
    return {
        name: {
            seat: [random_board(game, number) for number in numbers] for seat, numbers in enumerate(seats) if numbers
        }
        for name, seats in stored.items()
    }


def stale(game: engine.Game) -> list[str]:
    """Return the situations whose first stored board no longer leads to them, because the rules have changed."""
    return [
        name
        for name, seats in known_boards(game).items()
        for seat, boards in list(seats.items())[:1]
        if not any(name in names for place, names in _course(game, boards[0]) if place == seat)
    ]


def write() -> None:
    """Write the boards of every table of every game into `FILE`; search only where they are missing or stale."""
    lines = []
    for key in games():
        for players in declared(key).players:
            game = engine.load(key, players=players)
            boards = search(game) if f"{key} {players}" not in _stored() or stale(game) else known_boards(game)
            rows = [
                f"  {json.dumps(name)}: "
                + json.dumps([[board.number for board in seats.get(seat, [])[:MOST_BOARDS]] for seat in range(players)])
                for name, seats in sorted(boards.items())
            ]
            lines.append(f'"{key} {players}": {{\n' + ",\n".join(rows) + "}")
    FILE.write_text("{" + ",\n".join(lines) + "}\n", encoding="ascii")


if __name__ == "__main__":
    write()
