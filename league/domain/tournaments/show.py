"""The show of an event: its boards one after the other, the same for everybody who watches.

Only the start and the seconds per board are stored (`releases`). The clock determines the current board, and the standings beside it, which include
only earlier boards.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from league.domain.tournaments.standings import Standings, standings_of_boards
from league.enums import MatchStatus
from league.models import Board, Event, Tournament

# The order of the boards in the show: by stage and round, match after match.
ORDER = ("match__tournament__stage", "match__round__number", "match__tournament__group", "match_id", "number")


@dataclass(frozen=True)
class ShowState:
    """The state of a show: board `number` (from 1) of `total`, shown since `begins`. `board` is None before the start and after the end."""

    total: int
    number: int
    begins: datetime
    pace_s: int
    board: Board | None = None

    @property
    def over(self) -> bool:
        """Return True if all boards have been shown."""
        return self.board is None and self.number > self.total


def boards(event: Event) -> QuerySet[Board]:
    """Select all boards of an event in the order of the show."""
    rows = Board.objects.filter(match__tournament__event=event, match__status=MatchStatus.FINISHED)
    return rows.select_related("match__pool", "match__tournament__pool", "match__log").order_by(*ORDER)


def at(event: Event, *, now: datetime) -> ShowState | None:
    """Return the current state of the show; None if there is no show, or its start is not yet known. Two queries."""
    if event.shown_from is None or not event.pace_s:
        return None
    rows = boards(event)
    total = rows.count()
    past = (now - event.shown_from).total_seconds()
    if past < 0:
        return ShowState(total, 0, event.shown_from, event.pace_s)
    place = int(past // event.pace_s)
    board = rows[place : place + 1].first() if place < total else None
    begins = event.shown_from + timedelta(seconds=place * event.pace_s)
    return ShowState(total, place + 1 if board else total + 1, begins, event.pace_s, board)


def shown(event: Event, number: int, *, now: datetime) -> Board | None:
    """Return board `number` (from 1) if its turn in the show has come. Three queries."""
    state = at(event, now=now)
    if state is None or not 1 <= number <= min(state.number, state.total):
        return None
    return boards(event)[number - 1 : number].first()


def table(event: Event, tournament: Tournament, number: int) -> Standings:
    """Return the standings of a tournament of the event after the boards before `number` (from 1). Six queries, more in some formats."""
    before = boards(event).values_list("match_id", "pk", "match__tournament_id")[: number - 1]
    return standings_of_boards(tournament, [(match, pk) for match, pk, cup in before if cup == tournament.pk])
