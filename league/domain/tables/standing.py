"""How well a person plays: by the boards of their tables against bots of the house, each in the game that it was played in.

It follows from the rows of their latest tables, and is worked out when it is asked for. No bot's rating moves by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from league.domain.ratings import pools
from league.enums import TableStatus
from league.models import Player, Pool, Rating, Table, TableAction, TableSeat
from league.pure.rating.people import Meeting, Standing, rate

COUNTED = (TableStatus.FINISHED, TableStatus.LEFT, TableStatus.ABANDONED)
MOST_TABLES = 200  # the latest ones
HEAVY = ("seen", "legal", "hand", "records")


@dataclass(frozen=True)
class Line:
    """Where a person stands in a game: their rating, and boards won, drawn, lost; of more than two sides against their mean."""

    pool: Pool
    rating: Standing
    won: int
    drawn: int
    lost: int

    @property
    def boards(self) -> int:
        """How many there were."""
        return self.won + self.drawn + self.lost


def lines(player: Player) -> list[Line]:
    """The ratings of a person by game. Three queries, none that grows with the league.

    What counts: boards against bots of the house that are rated in their game, played to their end; and one that was left or abandoned
    after the first answer, as lost. What does not: boards at which a bot failed, and tables with a bot of one's own, which could tell
    its owner things; tables with advice.
    """
    begun = TableAction.objects.filter(table=OuterRef("pk"), seat=OuterRef("seat"))
    rows = Table.objects.filter(player=player, status__in=COUNTED).select_related("pool").defer("secret", *HEAVY)
    tables = list(rows.annotate(begun=Exists(begun)).order_by("-created", "-pk")[:MOST_TABLES])
    seats: dict[int, list[TableSeat]] = defaultdict(list)
    for seat in TableSeat.objects.filter(table__in=tables).select_related("version__bot"):
        seats[seat.table_id].append(seat)
    versions = {seat.version_id for held in seats.values() for seat in held}
    rated = Rating.objects.filter(version__in=versions, pool__in={row.pool_id for row in tables})
    elo = {(pool, version): value for pool, version, value in rated.values_list("pool", "version", "elo")}

    boards: dict[Pool, list[list[Meeting]]] = defaultdict(list)
    for row in tables:
        held = seats[row.pk]
        if any(seat.number == row.seat for seat in held):
            continue
        there = {seat.number: elo.get((row.pool_id, seat.version_id)) for seat in held}
        strengths = {number: value for number, value in there.items() if value is not None}
        if len(strengths) < row.pool.players - 1 or not all(seat.version.bot.is_house for seat in held):
            continue
        boards[row.pool] += [_meetings(row, scores, strengths) for scores in _scores(row)]
    found = [_line(pool, played) for pool, played in boards.items() if played]
    return sorted(found, key=lambda line: (line.pool.game, line.pool.pk))


def _scores(row: Table) -> list[list[int] | None]:
    """The scores of each board that counts, by seat; None for one that was given up."""
    whole: list[list[int] | None] = list(row.scores)
    if row.fault:
        whole = whole[:-1]
    given_up = row.status != TableStatus.FINISHED and row.board > len(row.scores)
    return [*whole, None] if given_up and getattr(row, "begun", False) else whole


def _meetings(row: Table, scores: Sequence[int] | None, elo: dict[int, float]) -> list[Meeting]:
    sides = pools.game_of(row.pool).sides
    mine = next(side for side in sides if row.seat in side)
    partners = sum(elo[seat] for seat in mine if seat != row.seat) / len(mine)
    found = []
    for side in sides:
        if side == mine:
            continue
        points = 0.0
        if scores is not None:
            ahead = scores[row.seat] - scores[side[0]]
            points = 0.5 if ahead == 0 else float(ahead > 0)
        rivals = sum(elo[seat] for seat in side) / len(side)
        found.append(Meeting(points, rivals, 1 / len(mine), partners, 2 / len(sides)))
    return found


def _line(pool: Pool, boards: Sequence[Sequence[Meeting]]) -> Line:
    rating = rate(boards)
    if rating is None:
        raise ValueError("a board without another side")
    shares = [sum(one.points for one in board) / len(board) for board in boards]
    won, lost = sum(share > 0.5 for share in shares), sum(share < 0.5 for share in shares)
    return Line(pool, rating, won, len(shares) - won - lost, lost)
