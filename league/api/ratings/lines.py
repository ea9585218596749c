"""The leaderboard and the history of a pool, the table over all games, the list of pools and the ratings of a version, from finished lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest

from league.api.http import lines
from league.api.http.filters import PointFilters, PoolFilters, RatingFilters
from league.api.ratings import rows
from league.api.ratings.serializers import MovedOut, OverallOut, PointOut, PoolOut, RatingOut, VersionRatingOut
from league.domain.bots import lists
from league.domain.core import keyset
from league.domain.people.tokens import Viewer
from league.domain.ratings import daily, leaderboards
from league.domain.ratings import overall as table
from league.models import Rating, RatingPoint
from league.service import marks
from league.service.remembered import Held

VARYING = ("place", "day", "week")  # of a line, with the page and the day


@dataclass(frozen=True)
class Line:
    """The JSON of a rating, in pieces, and whose it is."""

    bot: int
    pieces: tuple[bytes, ...]


_held: Held[tuple[int, int], Line] = Held(lines.MOST_LINES)
FILTERS = ("every_version", "show", "owner")


def leaderboard(request: HttpRequest, named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the table, best first, which everybody sees alike. Two queries, one more where places are counted, and those for lines made anew.

    None where there is no such pool, the table is one of the past, or something is asked for wrongly: the view says what there is to say.
    """
    asked, pool = lines.asked(request, leaderboards.BEST, FILTERS), int(named["pool"])
    if asked is None:
        return None
    every, only = asked.filters.get("every_version", "false"), _only(asked.filters)
    if every not in ("true", "false") or only.show not in ("", *only.SHOWS):
        return None
    every_version, ratings = every == "true", marks.of_ratings(pool)
    versions = marks.read([ratings, marks.BOTS, marks.NAMES])

    def read() -> keyset.Page[leaderboards.Shown]:
        return leaderboards.read_cells(
            pool,
            columns(),
            asked.cursor,
            asked.size,
            version=versions[ratings],
            every_version=every_version,
            only=only,
        )

    page = read()
    if not page.rows and not leaderboards.is_there(pool):
        return None
    there = _lines(pool, page, versions[marks.NAMES], read)
    if len(there) < len(page):  # one has gone since
        return None
    here = [(there[row.version].bot, row.place, row.elo) for row in page]
    day, week = ({}, {}) if every_version else daily.moved(pool, versions[ratings], here)
    whole = [_whole(there[row.version], row.place, day, week) for row in page]
    return lines.Made(asked.answer(keyset.Page(whole, page.before, page.after)), versions)


@cache
def columns() -> tuple[str, ...]:
    """What a line shows of its rating."""
    return lines.columns(RatingOut, Rating, "rating")


def _only(filters: Mapping[str, str]) -> leaderboards.Only:
    return leaderboards.Only(filters.get("show", ""), filters.get("owner", ""))


def _lines(
    pool: int, page: keyset.Page[leaderboards.Shown], names: int, read: Callable[[], keyset.Page[leaderboards.Shown]]
) -> dict[int, Line]:
    """The lines of a page, by version."""

    def make(missing: list[tuple[int, int]]) -> tuple[dict[tuple[int, int], Line], dict[tuple[int, int], Any]]:
        made = {}
        for one in leaderboards.ranked(pool, [version for _, version in missing]):
            told = RatingOut(one).data
            made[pool, one.rating.version_id] = Line(one.rating.version.bot_id, lines.pieces(told, VARYING))
        return made, follow(read())

    def follow(rows: keyset.Page[leaderboards.Shown]) -> dict[tuple[int, int], Any]:
        return {(pool, row.version): (names, row.cells) for row in rows}

    return {version: line for (_, version), line in _held.of_many(follow(page), make).items()}


def _whole(line: Line, place: int, day: Mapping[int, Any], week: Mapping[int, Any]) -> bytes:
    told = (b"%d" % place, _moved(day.get(line.bot)), _moved(week.get(line.bot)))
    cut = line.pieces
    return b"".join((cut[0], told[0], cut[1], told[1], cut[2], told[2], cut[3]))


def _moved(one: Any) -> bytes:
    return b"null" if one is None else lines.render(MovedOut(one).data)


MOST_POOLS = 2_000


def pools(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the pools, newest first, which everybody sees alike. Three queries, and those for lines that are made anew.

    A line holds while nothing is played, counted or fitted in its pool. None where something is asked for wrongly: the view says what.
    """
    asked = lines.narrowed(request, PoolFilters)
    if asked is None:
        return None
    versions = marks.read([marks.POOLS, marks.MATCHES, marks.NAMES])
    page = _pools.page(
        versions[marks.NAMES],
        lambda: leaderboards.read_pools(asked.cursor, asked.size, some=asked.some),
    )
    return lines.Made(asked.answer(page), versions) if page is not None else None


def _pool_lines(missing: list[int]) -> dict[int, bytes]:
    return {row.pk: lines.render(PoolOut(row).data) for row in rows.pools().filter(pk__in=missing)}


_pools: lines.Lines[bytes] = lines.Lines(
    _pool_lines, follow=lines.follow_marks(lambda pk: (marks.of_pool(pk), marks.of_ratings(pk))), most=MOST_POOLS
)


def ratings(request: HttpRequest, named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the ratings of a version, newest first, which everybody sees alike. Two or three queries, and one for lines that are made anew.

    None where there is no such version, or something is asked for wrongly: the view says what there is to say.
    """
    asked, version = lines.narrowed(request, RatingFilters), int(named["version"])
    if asked is None:
        return None
    versions = marks.read([marks.POOLS, marks.BOTS, marks.NAMES])
    page = _ratings.page(
        versions[marks.NAMES],
        lambda: leaderboards.read_ratings(rating_columns(), asked.cursor, asked.size, version=version, some=asked.some),
    )
    if page is None or not (page.rows or lists.is_version(version)):
        return None
    return lines.Made(asked.answer(page), versions)


def _rating_lines(missing: list[int]) -> dict[int, bytes]:
    found = Rating.objects.select_related("pool").filter(pk__in=missing)
    return {row.pk: lines.render(VersionRatingOut(row).data) for row in found}


_ratings: lines.Lines[bytes] = lines.Lines(_rating_lines)


@cache
def rating_columns() -> tuple[str, ...]:
    """What a line shows of its rating."""
    return lines.columns(VersionRatingOut, Rating)


def history(request: HttpRequest, named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of how ratings of a pool changed, newest first, which everybody sees alike. Two or three queries, and one for lines that are made anew.

    None where there is no such pool, or something is asked for wrongly: the view says what there is to say.
    """
    asked, pool = lines.narrowed(request, PointFilters), int(named["pool"])
    if asked is None:
        return None
    versions = marks.read([marks.of_ratings(pool), marks.of_pool(pool), marks.BOTS, marks.NAMES])
    page = _points.page(
        versions[marks.NAMES],
        lambda: leaderboards.read_history(point_columns(), asked.cursor, asked.size, pool=pool, some=asked.some),
    )
    if page is None or not (page.rows or leaderboards.is_there(pool)):
        return None
    return lines.Made(asked.answer(page), versions)


def _point_lines(missing: list[int]) -> dict[int, bytes]:
    found = rows.points().filter(pk__in=missing)
    return {row.pk: lines.render(PointOut(row).data) for row in found}


_points: lines.Lines[bytes] = lines.Lines(_point_lines)


@cache
def point_columns() -> tuple[str, ...]:
    """What a line shows of a point of the history."""
    return lines.columns(PointOut, RatingPoint)


MOST_BOTS = 10_000  # some 1,000 bytes each
_bots: Held[int, bytes] = Held(MOST_BOTS)


def overall(request: HttpRequest, _named: Mapping[str, str], _viewer: Viewer | None) -> lines.Made | None:
    """A page of the table over all games, best first, which everybody sees alike. Two queries, and those for lines that are made anew.

    A line holds while no rating changes: what a bot that has not played a game is told follows from who else has. None where something is asked
    for wrongly: the view says what.
    """
    asked = lines.narrowed(request, order=lines.BY_PLACE)
    if asked is None:
        return None
    versions = marks.read([marks.POOLS, marks.BOTS, marks.NAMES])
    page = table.read_places(asked.cursor, asked.size)
    rows = {row.bot: row for row in page}
    follow = {bot: (versions[marks.POOLS], versions[marks.NAMES], row.place) for bot, row in rows.items()}

    def make(missing: list[int]) -> tuple[dict[int, bytes], dict[int, Any]]:
        found = table.read_lines([rows[bot] for bot in missing])
        return {bot: lines.render(OverallOut(line).data) for bot, line in found.items()}, follow

    there = _bots.of_many(follow, make)
    told = [there[bot] for bot in rows if bot in there]
    return lines.Made(asked.answer(keyset.Page(told, page.before, page.after)), versions)
