"""The themes of a puzzle: what it is about, by rules over its position, its choices and its best choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.analysis import AUCTION, END
from engine.game import Game, load
from engine.puzzles import Puzzle

HIGH = 10  # The least points of a card that is worth giving to a partner: aces and threes.
STREAK = 5  # The tricks in a row from the start of a deal after which one side may take all.


@dataclass(slots=True)
class _Scene:
    """A puzzle, and what its seat sees: the cards on the table by seat, trump, and the seats that took the tricks of this deal."""

    puzzle: Puzzle
    game: Game
    trump: str = ""
    table: list[tuple[int, str]] = field(default_factory=list)
    takers: list[int] = field(default_factory=list)

    def ours(self, seat: int) -> bool:
        """Return True for the seat of the puzzle and its partners."""
        return any(seat in side and self.puzzle.seat in side for side in self.game.sides)

    def winner(self, card: str = "") -> int:
        """Return the seat that leads the trick, after `card` of the puzzle's seat if there is one."""
        table = [*self.table, (self.puzzle.seat, card)] if card else self.table
        pack, led = self.game.pack, table[0][1][-1]
        return max(table, key=lambda laid: (laid[1][-1] == self.trump, laid[1][-1] == led, pack.parse(laid[1])))[0]

    def points(self, card: str) -> int:
        """Return the points of a card."""
        return self.game.rules.rank_points.get(card[:-1], 0)


def _scene(puzzle: Puzzle) -> _Scene:
    scene = _Scene(puzzle, load(puzzle.game, players=puzzle.players, **puzzle.options))
    for event in puzzle.events:
        if event["e"] == "deal":
            scene.takers, scene.table = [], []
        if event["e"] in ("deal", "trump"):
            scene.trump = event.get("suit") or event.get("trump") or ""
        elif event["e"] == "play":
            scene.table.append((event["seat"], event["card"]))
        elif event["e"] == "trick":
            scene.takers.append(event["seat"])
            scene.table = []
    return scene


def _cards(texts: list[str]) -> list[str]:
    return [text[5:] for text in texts if text.startswith("play ")]


def _is_about(verb: str) -> Callable[[_Scene, list[str], list[str]], bool]:
    return lambda scene, best, others: any(text.partition(" ")[0] == verb for text in scene.puzzle.legal)


def _is_all_tricks(scene: _Scene, best: list[str], others: list[str]) -> bool:
    takers = scene.takers
    has_all = len(takers) >= STREAK and (all(map(scene.ours, takers)) or not any(map(scene.ours, takers)))
    return "capote" in scene.puzzle.legal or (has_all and scene.game.rules.capote != "none")


def _draws_trumps(scene: _Scene, best: list[str], others: list[str]) -> bool:
    is_trump = {card: card[-1] == scene.trump for card in (*best, *others)}
    return not scene.table and all(is_trump[card] for card in best) and not all(is_trump.values())


def _leads(scene: _Scene, best: list[str], others: list[str]) -> bool:
    return not scene.table and not any(card[-1] == scene.trump for card in best)


def _ruffs(scene: _Scene, best: list[str], others: list[str]) -> bool:
    is_trump = {card: card[-1] == scene.trump for card in (*best, *others)}
    follows_plain = bool(scene.table) and scene.table[0][1][-1] != scene.trump
    return follows_plain and all(is_trump[card] for card in best) and not all(is_trump.values())


def _takes(scene: _Scene, best: list[str], others: list[str]) -> bool:
    def wins(card: str) -> bool:
        return scene.winner(card) == scene.puzzle.seat

    return bool(scene.table) and all(map(wins, best)) and not all(map(wins, others))


def _ducks(scene: _Scene, best: list[str], others: list[str]) -> bool:
    def wins(card: str) -> bool:
        return scene.winner(card) == scene.puzzle.seat

    return bool(scene.table) and not any(map(wins, best)) and any(map(wins, others))


def _feeds(scene: _Scene, best: list[str], others: list[str]) -> bool:
    if not scene.table or scene.winner() == scene.puzzle.seat or not scene.ours(scene.winner()):
        return False
    stays = all(scene.winner(card) == scene.winner() and scene.points(card) >= HIGH for card in best)
    return stays and any(scene.points(card) < HIGH for card in others)


_CARDS: dict[str, Callable[[_Scene, list[str], list[str]], bool]] = {
    "trumps": _draws_trumps,
    "lead": _leads,
    "ruff": _ruffs,
    "take": _takes,
    "duck": _ducks,
    "feed": _feeds,
}
_ANY: dict[str, Callable[[_Scene, list[str], list[str]], bool]] = {
    "auction": lambda scene, best, others: scene.puzzle.phase == AUCTION,
    "sing": _is_about("sing"),
    "exchange": _is_about("exchange"),
    "capote": _is_all_tricks,
    "last": lambda scene, best, others: scene.puzzle.phase == END,
}
THEMES = (*_ANY, *_CARDS)


def themes(puzzle: Puzzle) -> tuple[str, ...]:
    """Return the themes of a puzzle, in the order of THEMES; none if no rule holds.

    auction, sing, exchange: it is asked for. capote: one side has taken all tricks so far, or may announce it. last: the last tricks.

    Of cards, if all best choices are cards: trumps: lead one though you need not; lead: choose a plain suit to lead; ruff: trump a plain suit
    though you need not; take or duck: take the trick, or leave it; feed: give points to the trick of your partner.
    """
    scene = _scene(puzzle)
    best = _cards(puzzle.best)
    others = [card for card in _cards(puzzle.legal) if card not in best]
    rules = dict(_ANY)
    if len(best) == len(puzzle.best) and others:
        rules |= _CARDS
    return tuple(name for name, holds in rules.items() if holds(scene, best, others))
