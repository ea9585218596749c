"""The result of a hand, over the table: the winner, the points, and where the points come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import engine
from league.models import Table
from league.web.common.words import format_number
from league.web.matches import felt

Moment = Mapping[str, Any]


@dataclass(frozen=True)
class ScoreRow:
    """A row of the addition: its name, and a number for each side."""

    name: str
    values: list[str]


@dataclass(frozen=True)
class Figure:
    """The points of a side in large type. number: of the side, for its colour."""

    number: int
    text: str


@dataclass
class Banner:
    """The result of a hand. figures: the two numbers of the result, if two sides played for points."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    rows: list[ScoreRow] = field(default_factory=list)


def banner(
    row: Table, game: engine.Game, moments: Sequence[Moment], names: Sequence[str], seat: int, *, is_own: bool
) -> Banner | None:
    """Return the result of the hand that the table shows at a seat; None while it is played, and if it was not finished."""
    over = next((moment for moment in reversed(moments) if moment["e"] == "over"), None)
    if over is None or row.fault:
        return None
    sides = _sides(game, seat)
    heads = [felt.side_name(game, number, seat, names) if is_own else _names(game, number, names) for number in sides]
    answer = Banner(_title(game, seat, over["winners"], names, is_own=is_own), heads=heads)
    scores = [over["scores"][game.sides[number][0]] for number in sides]
    if len(sides) == 2 and game.score_unit == "points":
        answer.figures = [Figure(number, fixed(score)) for number, score in zip(sides, scores, strict=True)]
    answer.rows = _rows(game, moments, sides)
    if not answer.figures:
        answer.rows.append(ScoreRow(_total(game), [score_text(game, score) for score in scores]))
    if len(row.scores) > 1:
        totals = [sum(board[game.sides[number][0]] for board in row.scores) for number in sides]
        name = ngettext("%(n)s hand", "%(n)s hands", len(row.scores)) % {"n": len(row.scores)}
        answer.rows.append(ScoreRow(name, [score_text(game, total) for total in totals]))
    return answer


def _sides(game: engine.Game, seat: int) -> list[int]:
    """Return the sides, the side of `seat` first."""
    own = next(number for number, seats in enumerate(game.sides) if seat in seats)
    return [own, *(number for number in range(len(game.sides)) if number != own)]


def _names(game: engine.Game, number: int, names: Sequence[str]) -> str:
    return " + ".join(names[seat] for seat in game.sides[number])


def _title(game: engine.Game, seat: int, winners: Sequence[int], names: Sequence[str], *, is_own: bool) -> str:
    own = _sides(game, seat)[0]
    team = len(game.sides[own])
    if len(winners) == len(game.sides):
        return _("The hand is a draw")
    if not is_own:
        who = " · ".join(_names(game, number, names) for number in winners)
        return ngettext("%(who)s won the hand", "%(who)s won the hand", len(winners)) % {"who": who}
    if own not in winners:
        return ngettext("You lost the hand", "You lost the hand", team)
    return ngettext("You won the hand", "You won the hand", team)


def _rows(game: engine.Game, moments: Sequence[Moment], sides: Sequence[int]) -> list[ScoreRow]:
    """Return where the points of the only deal come from, or, after several deals, the points of each."""
    deals = [moment for moment in moments if moment["e"] == "score" and moment.get("points")]

    def sums(values: Sequence[int]) -> list[int]:
        return [sum(values[seat] for seat in game.sides[number]) for number in sides]

    if len(deals) > 1:
        return [
            ScoreRow(_("Deal %(number)s") % {"number": number}, [fixed(value) for value in sums(deal["points"])])
            for number, deal in enumerate(deals, 1)
        ]
    rows = []
    for deal in deals:
        for name, key in ((_("Cards"), "cards"), (_("Songs"), "songs"), (_("Last trick bonus"), "bonus")):
            values = sums(deal.get(key) or [0] * game.players)
            if any(values):
                rows.append(ScoreRow(name, [fixed(value) for value in values]))
    return rows


def _total(game: engine.Game) -> str:
    return {
        "points": _("Points"),
        "games": _("Games"),
        "rank": _("Places"),
        "chips": _("Chips"),
        "marks": _("Loss marks"),
    }.get(game.score_unit, _("Score"))


def score_text(game: engine.Game, score: int) -> str:
    """Return a score in the unit of the game, in the language of the reader."""
    if game.score_unit == "marks":
        return fixed(-score)
    return fixed(score // game.score_size)


def fixed(number: int) -> str:
    """Return a whole number in the language of the reader."""
    return format_number(number, "d")
