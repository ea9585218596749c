"""Awkward states: what a bot meets once in a hundred boards, sought out so that it can be put to a bot on purpose.

Boards are searched, by playing them out with a player who announces whatever may be announced, for the decisions that a game can ask for: every word
of `legal`, windows after a trick, the last choice of a deal, tables with eliminated seats. The search takes seconds and knows no bot, so what it
finds stands in `awkward.json`; `python -m engine.runner.awkward` (in `make texts`) searches anew. `trial` plays these boards with a bot.
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

SEARCHED = 240  # boards; every 12th is played for several deals, every 48th to the end of its match
SEVERAL = 6  # deals
LONGEST = 800  # actions of a board that is searched
KEPT = 4  # boards for each situation and seat
WINDOW, LAST, OUT, BOTH = "window", "last choice", "eliminated seats", "announcement or card"
WEIGHTS = {"claim": 0.02, "capote": 0.1, "accuse": 0.01, "pass": 4.0, "take": 4.0, "play": 1.0, "tute": 1.0}
ANNOUNCED = 12.0  # of every other word


def situations(state: engine.State, legal: Sequence[str]) -> set[str]:
    """What is special about a decision; the words of its actions at least."""
    words = {text.split()[0] for text in legal}
    found = set(words)
    if state.window:
        found.add(WINDOW)
    if state.out:
        found.add(OUT)
    if "play" in words and len(words) > 1 and any(" " in text for text in legal if text.startswith("play")):
        found.add(BOTH)
    if words == {"play"} and sum(state.hand[:4]).bit_count() <= 2 and len(legal) == 2:
        found.add(LAST)
    return found


def choose(legal: Sequence[str], dice: random.Random) -> str:
    """Announce what may be announced; cut a deal short seldom."""
    return draw_weighted(legal, [WEIGHTS.get(text.split()[0], ANNOUNCED) for text in legal], dice)


@dataclass(frozen=True)
class RandomBoard:
    """One that may be played again: its number is its seed."""

    number: int
    deals: int | None

    def begin(self, game: engine.Game, *, record: bool) -> engine.State:
        """Dealt, before the first action."""
        return game.new_match(seed=f"awkward {self.number}", deals=self.deals, record=record)

    def dice(self) -> random.Random:
        """For the player who announces everything."""
        return random.Random(self.number)


def random_board(game: engine.Game, number: int) -> RandomBoard:
    """The board of that number."""
    return RandomBoard(number, None if number % 48 == 0 else SEVERAL if number % 12 == 0 else game.board_deals)


def boards(game: engine.Game) -> Iterator[RandomBoard]:
    """Those that are searched."""
    for number in range(1, SEARCHED + 1):
        yield random_board(game, number)


def search(game: engine.Game) -> dict[str, dict[int, list[RandomBoard]]]:
    """Situation -> seat -> boards on which that seat came to it."""
    found: dict[str, dict[int, list[RandomBoard]]] = defaultdict(lambda: defaultdict(list))
    for board in boards(game):
        for seat, names in _course(game, board):
            for name in names:
                if board not in found[name][seat]:
                    found[name][seat].append(board)
    return found


def _course(game: engine.Game, board: RandomBoard) -> Iterator[tuple[int, set[str]]]:
    """Each decision of a board on which everybody announces what may be announced: whose it is, and what is special about it."""
    state, dice = board.begin(game, record=False), board.dice()
    for _ in range(LONGEST):
        if state.is_over:
            return
        actions = state.legal_actions()
        texts = [game.action_text(action) for action in actions]
        if len(actions) > 1:
            yield state.current_seat, situations(state, texts)
        state.apply(actions[texts.index(choose(texts, dice))])


FOUND = Path(__file__).with_name("awkward.json")


@lru_cache
def _kept() -> dict[str, dict[str, list[list[int]]]]:
    kept: dict[str, dict[str, list[list[int]]]] = json.loads(FOUND.read_text(encoding="ascii"))
    return kept


def known(game: engine.Game) -> dict[str, dict[int, list[RandomBoard]]]:
    """As `search`, from what was found before; searched now for a table that is not known."""
    kept = _kept().get(f"{game.key} {game.players}")
    if kept is None:
        return search(game)
    return {
        name: {
            seat: [random_board(game, number) for number in numbers] for seat, numbers in enumerate(seats) if numbers
        }
        for name, seats in kept.items()
    }


def met(game: engine.Game, board: RandomBoard, seat: int) -> set[str]:
    """The situations that a seat comes to on a board on which everybody announces what may be announced."""
    return set().union(*(names for place, names in _course(game, board) if place == seat))


def stale(game: engine.Game) -> list[str]:
    """Situations whose first known board leads to them no longer, because the rules have changed since."""
    return [
        name
        for name, seats in known(game).items()
        for seat, boards in list(seats.items())[:1]
        if name not in met(game, boards[0], seat)
    ]


def keep() -> None:
    """Write into `FOUND` what is known of every table of every game; search those that are missing or stale."""
    lines = []
    for key in games():
        for players in declared(key).players:
            game = engine.load(key, players=players)
            there = search(game) if f"{key} {players}" not in _kept() or stale(game) else known(game)
            rows = [
                f"  {json.dumps(name)}: "
                + json.dumps([[board.number for board in seats.get(seat, [])[:KEPT]] for seat in range(players)])
                for name, seats in sorted(there.items())
            ]
            lines.append(f'"{key} {players}": {{\n' + ",\n".join(rows) + "}")
    FOUND.write_text("{" + ",\n".join(lines) + "}\n", encoding="ascii")


if __name__ == "__main__":
    keep()
