"""The boards of an event shown one after the other, the same at the same moment for everybody who watches.

Nothing is stored for it but when it begins and how long a board is shown (`releases`): which board is shown now follows from the clock, and so
does the table beside it, which knows the boards before that one alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from league.domain.tournaments.standings import Standings, standings_of_boards
from league.enums import MatchStatus
from league.models import Board, Event, Tournament

# In which the boards of an event are shown: by stage and round, a match after the other
ORDER = ("match__tournament__stage", "match__round__number", "match__tournament__group", "match_id", "number")


@dataclass(frozen=True)
class Now:
    """What a show shows at a moment: board `number` (from 1) of `total`, since `begins`. `board` None: it has not begun yet, or is over."""

    total: int
    number: int
    begins: datetime
    pace_s: int
    board: Board | None = None

    @property
    def over(self) -> bool:
        """Whether all boards have been shown."""
        return self.board is None and self.number > self.total


def boards(event: Event) -> QuerySet[Board]:
    """All boards of an event in the order in which they are shown."""
    rows = Board.objects.filter(match__tournament__event=event, match__status=MatchStatus.FINISHED)
    return rows.select_related("match__pool", "match__tournament__pool", "match__log").order_by(*ORDER)


def at(event: Event, *, now: datetime) -> Now | None:
    """What is shown of an event now; None where it is not to be shown board by board, or nobody knows yet when. Two queries."""
    if event.shown_from is None or not event.pace_s:
        return None
    rows = boards(event)
    total = rows.count()
    past = (now - event.shown_from).total_seconds()
    if past < 0:
        return Now(total, 0, event.shown_from, event.pace_s)
    place = int(past // event.pace_s)
    board = rows[place : place + 1].first() if place < total else None
    begins = event.shown_from + timedelta(seconds=place * event.pace_s)
    return Now(total, place + 1 if board else total + 1, begins, event.pace_s, board)


def shown(event: Event, number: int, *, now: datetime) -> Board | None:
    """Board `number` (from 1) of the show, where it is shown now or has been. Three queries."""
    here = at(event, now=now)
    if here is None or not 1 <= number <= min(here.number, here.total):
        return None
    return boards(event)[number - 1 : number].first()


def table(event: Event, tournament: Tournament, number: int) -> Standings:
    """The table of a tournament of the event after the boards before board `number` (from 1). Six queries, more of some formats."""
    before = boards(event).values_list("match_id", "pk", "match__tournament_id")[: number - 1]
    return standings_of_boards(tournament, [(match, pk) for match, pk, cup in before if cup == tournament.pk])
