"""The end of a table, for a person who sat there: the winner and the points, the change of the rating, and the next choices."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from league.domain.core import clock
from league.domain.ratings import pools
from league.domain.tables import guests, standing
from league.domain.tables.people import TableView
from league.domain.tables.standing import RatingEffect
from league.models import Table
from league.models.tables import LIVE


@dataclass(frozen=True)
class TableParty:
    """The seats that win and lose together, with their points over all finished boards."""

    seats: tuple[int, ...]
    total: int
    is_mine: bool  # True if the person sits there.
    won: bool  # True if no other party has as many points.


@dataclass(frozen=True)
class TableScore:
    """The points of a finished table.

    parties: best first; empty if no board was finished. won: True if the person's party won; None if the best parties are level, or no board was
    finished.
    """

    status: str
    boards: int
    unit: str
    parties: list[TableParty]
    won: bool | None

    @property
    def mine(self) -> TableParty | None:
        """Return the person's party."""
        return next((party for party in self.parties if party.is_mine), None)

    @property
    def best_other(self) -> TableParty | None:
        """Return the best of the other parties."""
        return next((party for party in self.parties if not party.is_mine), None)


@dataclass(frozen=True)
class TableEnding(TableScore):
    """The end of a table as a viewer sees it; for people who did not sit there, only its points.

    change: of the rating; None if the table is unrated. again: the fields of a form to `play` that opens another table like this one. may_keep: a
    guest can still keep the table by signing up.
    """

    change: RatingEffect | None = None
    again: dict[str, str] = field(default_factory=dict)
    may_keep: bool = False


def result(row: Table, seat: int) -> TableScore | None:
    """Return the points of a finished table as the person at `seat` sees them; None while it is played. No query."""
    if row.status in LIVE:
        return None
    game = pools.game_of(row.pool)
    totals = {side: sum(scores[side[0]] for scores in row.scores) for side in game.sides} if row.scores else {}
    best = max(totals.values(), default=0)
    even = sum(total == best for total in totals.values()) > 1
    parties = [
        TableParty(tuple(side), total, seat in side, total == best and not even)
        for side, total in sorted(totals.items(), key=lambda item: -item[1])
    ]
    own_party = next((party for party in parties if party.is_mine), None)
    won = None if own_party is None or (own_party.total == best and even) else own_party.won
    return TableScore(row.status, len(row.scores), game.score_unit, parties, won)


def ending(view: TableView, *, now: datetime | None = None) -> TableEnding | None:
    """Return the end of a table; None while it is played. Three queries if the table is rated and the viewer's own."""
    row = view.row
    points = result(row, view.seat)
    if points is None:
        return None
    if view.own is None:
        return TableEnding(**vars(points))
    may_keep = (
        view.own.player_id is None and row.finished is not None and row.finished > clock.now_or(now) - guests.KEEP
    )
    return TableEnding(
        **vars(points),
        change=standing.change(row),
        again={"again": row.public_id},
        may_keep=may_keep,
    )
