"""The same deals at several tables of people: until when they stay hidden, who has seen them, and the comparison of the results.

Nobody watches such a table, and no replay of it opens while others may play its cards. A person with two accounts could still look at the cards
first; therefore no such table is rated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people.guests import lock
from league.domain.ratings import pools
from league.domain.tables import people
from league.domain.tables.people import Sitter, TableView
from league.enums import TableStatus
from league.models import Table, TablePerson
from league.models.tables import LIVE

FOR = timedelta(days=1)  # How long others may play the cards of a table.
MOST = 24  # Tables that play the same cards.


@dataclass(frozen=True)
class SideResult:
    """A side of a table. points: 2 for each other table where the same seats scored less on a board, 1 for each with the same score, by board."""

    view: TableView
    seats: tuple[int, ...]
    scores: list[int]
    points: list[int]

    @property
    def total(self) -> int:
        """Return the points of all boards."""
        return sum(self.points)


def tables(key: str) -> QuerySet[Table]:
    """Select the tables with the same deals. The index table_of_deals has them."""
    return Table.objects.filter(deals=key).exclude(deals="")


def are_open(row: Table, *, now: datetime | None = None) -> bool:
    """Return True if nobody may still play the deals of this table, so that everybody may see them. At most one query."""
    if not row.deals:
        return True
    is_closed = row.deals_until is not None and row.deals_until <= clock.now_or(now)
    return is_closed and not tables(row.deals).filter(status__in=LIVE).exists()


def has_seen(sitter: Sitter | None, key: str) -> bool:
    """Return True if a person has had cards of these deals."""
    return sitter is not None and people.seats(sitter).filter(table__deals=key).exclude(events=[]).exists()


def check(sitter: Sitter, row: Table) -> None:
    """Raise Refused if the person has seen the deals of this table at another one."""
    if row.deals and has_seen(sitter, row.deals):
        raise Refused("you have seen these cards at another table, so you cannot play them again")


def close(sitter: Sitter, key: str, *, now: datetime | None = None) -> None:
    """Let nobody else play the deals, as the host of the first table, so that everybody sees them. Raise Refused while a table plays them."""
    now = clock.now_or(now)
    lock()
    first = people.own(sitter).filter(public_id=key, deals=key).first()
    if first is None or not people.view(first, sitter).is_host:
        raise Refused("only the host of the first table can do this")
    if tables(key).filter(status__in=LIVE).exists():
        raise Refused("another table plays these cards; wait until it has ended")
    tables(key).filter(deals_until__gt=now).update(deals_until=now)


def views(key: str) -> list[TableView]:
    """Return the tables with these deals as a stranger sees them, oldest first. Five queries."""
    rows = tables(key).select_related("pool").prefetch_related("people__player", "seats__version__bot")
    return [
        TableView(
            row,
            {person.number: person for person in sorted(row.people.all(), key=_number)},
            {seat.number: seat.version.bot.slug for seat in row.seats.all()},
            None,
        )
        for row in rows.defer("secret", "spectated", "records", "hand", "seen", "legal").order_by("pk")
    ]


def _number(person: TablePerson) -> int:
    return person.number


def compare(all_views: Sequence[TableView]) -> list[list[SideResult]]:
    """Return the sides of all tables that have played all boards, best first, separately for each side of the game."""
    finished = [view for view in all_views if view.row.status == TableStatus.FINISHED and not view.row.fault]
    finished = [view for view in finished if len(view.row.scores) == view.row.boards]
    if not finished:
        return []
    answer = []
    for side in pools.game_of(finished[0].row.pool).sides:
        scores = [[board[side[0]] for board in view.row.scores] for view in finished]
        results = []
        for place, (view, own) in enumerate(zip(finished, scores, strict=True)):
            others = scores[:place] + scores[place + 1 :]
            points = [
                sum(1 + (score > other[board]) - (score < other[board]) for other in others)
                for board, score in enumerate(own)
            ]
            results.append(SideResult(view, tuple(side), own, points))
        answer.append(sorted(results, key=lambda result: (-result.total, result.view.row.pk)))
    return answer
