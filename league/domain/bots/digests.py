"""What the bots of a player did in a period: how their ratings moved, from whom they won most and to whom they lost most, and on which boards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from engine.portable import add_up
from league.domain.bots import totals
from league.domain.matches import sight
from league.domain.ratings import pools
from league.enums import Period
from league.models import Board, BotVersion, Party, Player, Pool, RatingPoint
from league.pure.portable import ELO_DIGITS, comparable

MOST = 300  # matches of a period that are looked at, the latest
BOARDS = 3  # that are named of a pair


LENGTHS = {Period.DAY: timedelta(days=1), Period.WEEK: timedelta(days=7)}


def last_whole(period: Period, now: datetime) -> tuple[datetime, datetime]:
    """Begin and end of the latest period that is over."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = midnight - timedelta(days=midnight.weekday()) if period == Period.WEEK else midnight
    return end - LENGTHS[period], end


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board of a match; `lead`: what the bot had more than the other, in the unit of the game."""

    match: str
    number: int
    lead: float


@dataclass(frozen=True, slots=True)
class Against:
    """What a version did against one other bot: the sum of its leads in the unit of the game, and the boards that made most of it."""

    bot: str
    lead: float
    boards: list[BoardLine]


@dataclass(frozen=True, slots=True)
class Line:
    """One version in one pool.

    elo: by how much its rating moved; best, worst: the bots from which it won and to which it lost most, None for nobody.
    """

    version: BotVersion
    pool: Pool
    matches: int
    boards: int
    elo: float
    faults: int
    digits: int
    best: Against | None
    worst: Against | None


@dataclass(frozen=True, slots=True)
class Digest:
    """All of a period. `more`: there were more matches than were looked at."""

    since: datetime
    until: datetime
    lines: list[Line]
    more: bool


@dataclass(slots=True)
class _Played:
    """What is collected of one version in one pool."""

    points: list[RatingPoint] = field(default_factory=list)
    faults: int = 0
    boards: int = 0
    met: dict[str, list[tuple[int, str, int]]] = field(default_factory=lambda: defaultdict(list))


def build_digest(player: Player, since: datetime, until: datetime, *, now: datetime | None = None) -> Digest:
    """What counted from `since` until before `until` and everybody sees, most matches first. Three queries; one where nothing was played."""
    rows = RatingPoint.objects.filter(version__bot__owner=player, at__gte=since, at__lt=until)
    rows = rows.filter(sight.by_everybody("match__tournament__", now=now))
    rows = rows.select_related("version__bot", "pool", "match").defer("match__secret", "match__host")
    latest = list(rows.order_by("-at", "-id")[: MOST + 1])
    points = latest[:MOST]
    if not points:
        return Digest(since, until, [], more=False)
    found: dict[tuple[int, int], _Played] = defaultdict(_Played)
    parties = _parties(points)
    scores = _scores(points)
    for point in points:
        mine = found[point.version_id, point.pool_id]
        mine.points.append(point)
        mine.boards += len(scores[point.match_id])
        _meet(point, parties[point.match_id], scores[point.match_id], mine)
    lines = [_line(played) for played in found.values()]
    lines.sort(key=lambda one: (-one.matches, one.version.bot.slug, -one.version.number, one.pool.pk))
    return Digest(since, until, lines, more=len(latest) > MOST)


def _parties(points: Iterable[RatingPoint]) -> dict[int, list[Party]]:
    found: dict[int, list[Party]] = defaultdict(list)
    rows = Party.objects.filter(match__in={point.match_id for point in points}).select_related("version__bot")
    for row in rows.only("match", "number", "fault", "version__bot__slug").order_by("number"):
        found[row.match_id].append(row)
    return found


def _scores(points: Iterable[RatingPoint]) -> dict[int, list[tuple[int, list[int]]]]:
    found: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    rows = Board.objects.filter(match__in={point.match_id for point in points}).order_by("number")
    for match, number, scores in rows.values_list("match", "number", "scores"):
        found[match].append((number, scores))
    return found


def _meet(point: RatingPoint, parties: Sequence[Party], boards: Sequence[tuple[int, list[int]]], into: _Played) -> None:
    own = next(party for party in parties if party.version_id == point.version_id)
    into.faults += bool(own.fault)
    side = next((side for side in pools.sides(point.pool) or () if own.number in side), (own.number,))
    for party in parties:
        if party.number in side or party.version.bot_id == own.version.bot_id:
            continue
        rows = into.met[party.version.bot.slug]
        rows += [
            (scores[own.number] - scores[party.number], point.match.public_id, number) for number, scores in boards
        ]


def _line(played: _Played) -> Line:
    first = played.points[0]
    size = totals.size_of(first.pool)
    leads = {bot: sum(lead for lead, _, _ in rows) for bot, rows in played.met.items()}
    ranked = sorted(leads, key=lambda bot: (leads[bot], bot))

    def against(bot: str, sign: int) -> Against:
        rows = sorted(played.met[bot], key=lambda one: (-sign * one[0], one[1:]))
        boards = [BoardLine(match, number, lead / size) for lead, match, number in rows[:BOARDS] if sign * lead > 0]
        return Against(bot, leads[bot] / size, boards)

    return Line(
        first.version,
        first.pool,
        len(played.points),
        played.boards,
        comparable(add_up(point.change for point in played.points), ELO_DIGITS),
        played.faults,
        1 if size == 1 else 2,
        against(ranked[-1], 1) if ranked and leads[ranked[-1]] > 0 else None,
        against(ranked[0], -1) if ranked and leads[ranked[0]] < 0 else None,
    )
