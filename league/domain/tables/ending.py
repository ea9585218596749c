"""How a table ended, for the person who sat there: who won and by what, what it did to the rating, and what can be done next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from league.domain.core import clock
from league.domain.ratings import pools
from league.domain.tables import guests, standing
from league.domain.tables.guests import Sitter
from league.domain.tables.standing import Change
from league.enums import TableStatus
from league.models import Player, Table
from league.models.tables import LIVE


@dataclass(frozen=True)
class Party:
    """The seats that win and lose together, with their points over all finished boards."""

    seats: tuple[int, ...]
    total: int
    mine: bool  # The person sits there.
    won: bool  # No other party has as many points.


@dataclass(frozen=True)
class Ending:
    """The end of a table.

    parties: best first; empty if no board was finished. won: None if the best parties are even, or nothing was played. The rest is only for who sat
    there. change: of the rating; None if the table is unrated. again: the fields of a form to `play` that deals another table like this one.
    may_keep: a guest may still take the table along by signing up.
    """

    status: str
    boards: int
    unit: str
    parties: list[Party]
    won: bool | None
    is_own: bool
    change: Change | None = None
    again: dict[str, str] = field(default_factory=dict)
    may_keep: bool = False

    @property
    def mine(self) -> Party | None:
        """Return the person's party."""
        return next((party for party in self.parties if party.mine), None)

    @property
    def best_other(self) -> Party | None:
        """Return the best of the other parties."""
        return next((party for party in self.parties if not party.mine), None)

    @property
    def is_left(self) -> bool:
        """Return True if the person gave the table up before its end."""
        return self.status in (TableStatus.LEFT, TableStatus.ABANDONED)


def ending(row: Table, sitter: Sitter | None, bots: Mapping[int, str], *, now: datetime | None = None) -> Ending | None:
    """Return how the table ended; None while it is played. bots: by seat (`seating.bots`). Three queries if the table is rated and theirs."""
    if row.status in LIVE:
        return None
    game = pools.game_of(row.pool)
    totals = {side: sum(scores[side[0]] for scores in row.scores) for side in game.sides} if row.scores else {}
    best = max(totals.values(), default=0)
    even = sum(total == best for total in totals.values()) > 1
    parties = [
        Party(tuple(side), total, row.seat in side, total == best and not even)
        for side, total in sorted(totals.items(), key=lambda item: -item[1])
    ]
    mine = next((party for party in parties if party.mine), None)
    won = None if mine is None or (mine.total == best and even) else mine.won
    is_own = guests.owns(sitter, row)
    if not is_own:
        return Ending(row.status, len(row.scores), game.score_unit, parties, won, is_own)
    change = standing.change(row) if isinstance(sitter, Player) else None
    now = clock.now_or(now)
    may_keep = row.player_id is None and row.finished is not None and row.finished > now - guests.KEEP
    again = _again(row, bots, next(side for side in game.sides if row.seat in side))
    return Ending(row.status, len(row.scores), game.score_unit, parties, won, is_own, change, again, may_keep)


def _again(row: Table, bots: Mapping[int, str], own_side: tuple[int, ...]) -> dict[str, str]:
    """Return the settings of the table as fields of the page Play."""
    rival = next((name for seat, name in sorted(bots.items()) if seat not in own_side), "")
    partner = next((name for seat, name in sorted(bots.items()) if seat in own_side and seat != row.seat), "")
    fields = {"game": row.pool.game, "rival": rival, "partner": partner, "boards": str(row.boards)}
    return fields | ({"advice": "on"} if row.seat in bots else {})
