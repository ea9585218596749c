"""Digests of a player's bots for a period: rating changes, the largest wins and losses, and the boards that decided them."""

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

MOST = 300  # The most matches of a period that are read; older ones are left out.
BOARDS = 3  # Boards listed for a pair of bots.


LENGTHS = {Period.DAY: timedelta(days=1), Period.WEEK: timedelta(days=7)}


def last_whole(period: Period, now: datetime) -> tuple[datetime, datetime]:
    """Return begin and end of the latest finished period."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = midnight - timedelta(days=midnight.weekday()) if period == Period.WEEK else midnight
    return end - LENGTHS[period], end


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board of a match. `lead`: the bot's score less the other's, in the unit of the game."""

    match: str
    number: int
    lead: float


@dataclass(frozen=True, slots=True)
class Against:
    """The results of a version against another bot: the sum of its leads in the unit of the game, and the boards with its largest leads."""

    bot: str
    lead: float
    boards: list[BoardLine]


@dataclass(frozen=True, slots=True)
class DigestLine:
    """The results of one version in one pool.

    elo: change of the rating; best, worst: the opponents with the highest and the lowest total lead, or None.
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
    """The digest of a period. `more`: the period had more matches than were read."""

    since: datetime
    until: datetime
    lines: list[DigestLine]
    more: bool


@dataclass(slots=True)
class _Played:
    """The data collected for one version in one pool."""

    points: list[RatingPoint] = field(default_factory=list)
    faults: int = 0
    boards: int = 0
    met: dict[str, list[tuple[int, str, int]]] = field(default_factory=lambda: defaultdict(list))


def build_digest(player: Player, since: datetime, until: datetime, *, now: datetime | None = None) -> Digest:
    """Build the digest for matches from `since` until before `until`, from public matches; lines with most matches come first.

    Three queries; one if there are none.
    """
    rows = RatingPoint.objects.filter(version__bot__owner=player, at__gte=since, at__lt=until)
    rows = rows.filter(sight.by_everybody("match__tournament__", now=now))
    rows = rows.select_related("version__bot", "pool", "match").defer("match__secret", "match__host")
    latest = list(rows.order_by("-at", "-id")[: MOST + 1])
    points = latest[:MOST]
    if not points:
        return Digest(since, until, [], more=False)
    played_by_pair: dict[tuple[int, int], _Played] = defaultdict(_Played)
    parties = _parties(points)
    scores = _scores(points)
    for point in points:
        played = played_by_pair[point.version_id, point.pool_id]
        played.points.append(point)
        played.boards += len(scores[point.match_id])
        _meet(point, parties[point.match_id], scores[point.match_id], played)
    lines = [_line(played) for played in played_by_pair.values()]
    lines.sort(key=lambda line: (-line.matches, line.version.bot.slug, -line.version.number, line.pool.pk))
    return Digest(since, until, lines, more=len(latest) > MOST)


def _parties(points: Iterable[RatingPoint]) -> dict[int, list[Party]]:
    parties: dict[int, list[Party]] = defaultdict(list)
    rows = Party.objects.filter(match__in={point.match_id for point in points}).select_related("version__bot")
    for row in rows.only("match", "number", "fault", "version__bot__slug").order_by("number"):
        parties[row.match_id].append(row)
    return parties


def _scores(points: Iterable[RatingPoint]) -> dict[int, list[tuple[int, list[int]]]]:
    scores_by_match: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    rows = Board.objects.filter(match__in={point.match_id for point in points}).order_by("number")
    for match, number, scores in rows.values_list("match", "number", "scores"):
        scores_by_match[match].append((number, scores))
    return scores_by_match


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


def _line(played: _Played) -> DigestLine:
    first = played.points[0]
    size = totals.size_of(first.pool)
    leads = {bot: sum(lead for lead, _, _ in rows) for bot, rows in played.met.items()}
    ranked = sorted(leads, key=lambda bot: (leads[bot], bot))

    def against(bot: str, sign: int) -> Against:
        rows = sorted(played.met[bot], key=lambda row: (-sign * row[0], row[1:]))
        boards = [BoardLine(match, number, lead / size) for lead, match, number in rows[:BOARDS] if sign * lead > 0]
        return Against(bot, leads[bot] / size, boards)

    return DigestLine(
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
