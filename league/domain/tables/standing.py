"""The rating of a person, from their boards against house bots at tables, separately for each game.

It is computed on request from their latest tables. Bot ratings do not depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from league.domain.ratings import pools
from league.enums import TableStatus
from league.models import Player, Pool, Rating, Table, TableAction, TableSeat
from league.pure.rating.people import Meeting, PersonRating, rate

COUNTED = (TableStatus.FINISHED, TableStatus.LEFT, TableStatus.ABANDONED)
MOST_TABLES = 200  # The latest tables that are read.
PROVISIONAL = 10  # With fewer boards the rating means little, and is not shown.
HEAVY = ("seen", "legal", "hand", "spectated", "records")


@dataclass(frozen=True)
class GameRecord:
    """A person's rating in a game, with boards won, drawn and lost. With more than two sides, a board is compared with the mean of the others."""

    pool: Pool
    rating: PersonRating
    won: int
    drawn: int
    lost: int

    @property
    def boards(self) -> int:
        """Return the number of boards."""
        return self.won + self.drawn + self.lost

    @property
    def missing(self) -> int:
        """Return the number of further boards until the rating is shown."""
        return max(0, PROVISIONAL - self.boards)


@dataclass(frozen=True)
class RatingEffect:
    """The effect of a table on the person's rating in its game. before: None if no rating was shown; missing: boards until one is."""

    before: float | None
    after: float
    missing: int

    @property
    def points(self) -> int | None:
        """Return the change as it is shown; None if no rating was shown before."""
        return None if self.before is None else round(self.after) - round(self.before)


def game_records(player: Player) -> list[GameRecord]:
    """Return the ratings of a person by game. Three queries, independent of the size of the league.

    A finished board counts if all its bots are house bots with a rating in the game. A board that the person left or abandoned after the first
    decision counts as lost. Boards with a bot's fault do not count, nor do tables with the player's own bots (which could pass information to their
    owner), with advice, or begun as a guest.
    """
    boards: dict[Pool, list[list[Meeting]]] = defaultdict(list)
    for row, meetings in _counted(Table.objects.filter(player=player)):
        boards[row.pool] += meetings
    records = [_record(pool, played) for pool, played in boards.items() if played]
    return sorted(records, key=lambda record: (record.pool.game, record.pool.pk))


def change(row: Table) -> RatingEffect | None:
    """Return how a finished table changed its player's rating, by the current ratings of the bots; None if it does not count. Three queries."""
    if row.player_id is None or not row.rated or row.status not in COUNTED:
        return None
    rows = Table.objects.filter(player=row.player_id, pool=row.pool_id, created__lte=row.created)
    counted = _counted(rows)
    if not any(table.pk == row.pk and meetings for table, meetings in counted):
        return None
    played = [board for _, meetings in counted for board in meetings]
    earlier = [board for table, meetings in counted if table.pk != row.pk for board in meetings]
    after = _record(row.pool, played)
    was = rate(earlier)
    before = was.elo if was is not None and len(earlier) >= PROVISIONAL else None
    return RatingEffect(before, after.rating.elo, after.missing)


def _counted(rows: QuerySet[Table]) -> list[tuple[Table, list[list[Meeting]]]]:
    """Return the latest of a person's tables that count, each with its boards."""
    has_answer = TableAction.objects.filter(table=OuterRef("pk"), seat=OuterRef("place"))
    # A rated table has one person.
    rows = (
        rows.annotate(place=F("people__number"))
        .filter(rated=True, status__in=COUNTED)
        .select_related("pool")
        .defer("secret", *HEAVY)
    )
    tables = list(rows.annotate(begun=Exists(has_answer)).order_by("-created", "-pk")[:MOST_TABLES])
    seats: dict[int, list[TableSeat]] = defaultdict(list)
    for seat in TableSeat.objects.filter(table__in=tables).select_related("version__bot"):
        seats[seat.table_id].append(seat)
    versions = {seat.version_id for table_seats in seats.values() for seat in table_seats}
    rated = Rating.objects.filter(version__in=versions, pool__in={row.pool_id for row in tables})
    elo = {(pool, version): value for pool, version, value in rated.values_list("pool", "version", "elo")}

    counted: list[tuple[Table, list[list[Meeting]]]] = []
    for row in tables:
        table_seats = seats[row.pk]
        elo_by_seat = {seat.number: elo.get((row.pool_id, seat.version_id)) for seat in table_seats}
        strengths = {number: value for number, value in elo_by_seat.items() if value is not None}
        if len(strengths) < row.pool.players - 1 or not all(seat.version.bot.is_house for seat in table_seats):
            continue
        counted.append((row, [_meetings(row, scores, strengths) for scores in _scores(row)]))
    return counted


def _scores(row: Table) -> list[list[int] | None]:
    """Return the scores of each board that counts, by seat; None for a board that was given up."""
    whole: list[list[int] | None] = list(row.scores)
    if row.fault:
        whole = whole[:-1]
    given_up = row.status != TableStatus.FINISHED and row.board > len(row.scores)
    return [*whole, None] if given_up and getattr(row, "begun", False) else whole


def _meetings(row: Any, scores: Sequence[int] | None, elo: dict[int, float]) -> list[Meeting]:
    sides = pools.game_of(row.pool).sides
    own_side = next(side for side in sides if row.place in side)
    partners = sum(elo[seat] for seat in own_side if seat != row.place) / len(own_side)
    meetings = []
    for side in sides:
        if side == own_side:
            continue
        points = 0.0
        if scores is not None:
            ahead = scores[row.place] - scores[side[0]]
            points = 0.5 if ahead == 0 else float(ahead > 0)
        rivals = sum(elo[seat] for seat in side) / len(side)
        meetings.append(Meeting(points, rivals, 1 / len(own_side), partners, 2 / len(sides)))
    return meetings


def _record(pool: Pool, boards: Sequence[Sequence[Meeting]]) -> GameRecord:
    rating = rate(boards)
    if rating is None:
        raise ValueError("a board without another side")
    shares = [sum(meeting.points for meeting in board) / len(board) for board in boards]
    won, lost = sum(share > 0.5 for share in shares), sum(share < 0.5 for share in shares)
    return GameRecord(pool, rating, won, len(shares) - won - lost, lost)
