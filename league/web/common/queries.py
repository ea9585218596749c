"""Reads that more than one page needs. Each states how many queries it makes; tests count them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Avg, Count, F, Prefetch, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber
from django.http import HttpRequest

import engine
from league.domain.ratings import leaderboards
from league.enums import BotState, MatchStatus, TournamentFormat, TournamentStatus, VersionStatus
from league.models import Bot, BotVersion, Match, Party, Player, Pool, Rating, Tournament
from league.web.common.game_lines import Described, describe

PAGE = 30  # rows of a list


def page(request: HttpRequest, rows: QuerySet, size: int = PAGE) -> Page:
    """The page of a list that `?page=` asks for; a bad number is the nearest page. Two queries."""
    return Paginator(rows, size).get_page(request.GET.get("page"))


def with_parties(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Matches with all that a row of a list shows. One query more, whatever their number."""
    parties = Party.objects.select_related("version__bot").order_by("number").defer("stderr", "faults")
    shown = matches.select_related("pool", "tournament").defer("secret", "tournament__secret", "host")
    return shown.prefetch_related(Prefetch("parties", parties))


def latest_matches(*, finished_only: bool = False) -> QuerySet[Match]:
    """Matches from the newest; with `finished_only` those that are over, the last finished first."""
    if finished_only:
        return with_parties(Match.objects.filter(status=MatchStatus.FINISHED).order_by("-finished", "-id"))
    return with_parties(Match.objects.order_by("-id"))


@dataclass(frozen=True)
class Board:
    """One game of the front page: its first pool that has ratings, and the best of it."""

    game: Described
    pool: Pool | None
    lines: list[leaderboards.RankedBot]
    bots: int


def pools_of(keys: Iterable[str]) -> dict[str, list[Pool]]:
    """The pools with ratings of each game, the usual table (no options, usual number of players) first. One query."""
    found: dict[str, list[Pool]] = defaultdict(list)
    usual = {key: engine.load(key).players for key in engine.games()}
    rated = Pool.objects.filter(game__in=list(keys)).annotate(rated=Count("ratings", filter=Q(ratings__listed=True)))
    for pool in rated.filter(rated__gt=0).order_by("-revision", "pk"):
        found[pool.game].append(pool)
    for pools in found.values():
        pools.sort(key=lambda pool: (bool(pool.options), pool.players != usual[pool.game]))
    return found


def the_pool(pools: list[Pool], asked: str) -> Pool | None:
    """That of the pools which `?pool=` asks for, else the first."""
    return next((one for one in pools if str(one.pk) == asked), pools[0] if pools else None)


def front_boards(most: int = 5) -> list[Board]:
    """The best of the usual table of every game. Two queries."""
    pools = {key: found[0] for key, found in pools_of(engine.games()).items()}
    place = Window(RowNumber(), partition_by=F("pool_id"), order_by=[F("elo").desc(), F("version_id")])
    top = (
        Rating.objects.filter(pool__in=list(pools.values()), listed=True).annotate(place=place).filter(place__lte=most)
    )
    lines: dict[int, list[leaderboards.RankedBot]] = defaultdict(list)
    settled: Counter[int] = Counter()
    for rating in top.select_related("version__bot__owner").order_by("place"):
        settled[rating.pool_id] += not rating.provisional
        lines[rating.pool_id].append(
            leaderboards.RankedBot(None if rating.provisional else settled[rating.pool_id], rating)
        )
    boards = []
    for key in engine.games():
        pool = pools.get(key)
        boards.append(Board(describe(key), pool, lines[pool.pk] if pool else [], pool.rated if pool else 0))
    return sorted(boards, key=lambda board: board.pool is None)


@dataclass(frozen=True)
class Meeting:
    """What a bot got against another in one pool: matches and boards; difference of points per board."""

    pool: Pool
    opponent: str
    matches: int
    boards: int
    wins: int | None  # boards; None at tables of more than two parties, where a row of Party counts all others together
    draws: int | None
    losses: int | None
    difference: float  # in the unit of the game
    digits: int  # that it is worth: whole games need more than points


def head_to_head(bot: Bot) -> list[Meeting]:
    """Results of all versions of `bot` against every other bot, per pool, most boards first. Two queries."""
    played = Party.objects.filter(version__bot=bot, match__status=MatchStatus.FINISHED, match__rated=True)
    rows = (
        played.annotate(opponent=F("match__parties__version__bot__slug"), theirs=F("match__parties__points"))
        .filter(~Q(opponent=bot.slug))
        .values("match__pool", "opponent")
        .annotate(
            matches=Count("match", distinct=True),
            boards=Sum("match__boards_planned"),
            won=Sum("wins"),
            drawn=Sum("draws"),
            lost=Sum("losses"),
            mine=Avg(F("points") - F("theirs")),
        )
        .order_by("-boards", "opponent")
    )
    found = list(rows)
    pools = Pool.objects.in_bulk({row["match__pool"] for row in found})
    meetings = []
    for row in found:
        pool = pools[row["match__pool"]]
        game = engine.load(pool.game, players=pool.players)
        pairwise = len(game.sides) == 2
        each = row["boards"] / row["matches"]
        meetings.append(
            Meeting(
                pool,
                row["opponent"],
                row["matches"],
                row["boards"],
                *((row["won"], row["drawn"], row["lost"]) if pairwise else (None, None, None)),
                (row["mine"] or 0.0) / each / game.score_size,
                1 if game.score_size == 1 else 2,
            )
        )
    return meetings


def entrants(game: str) -> list[tuple[str, BotVersion]]:
    """Slug and newest accepted version that plays a game, of every active bot. One query."""
    rows = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, bot__state=BotState.ACTIVE).select_related("bot")
    found: dict[str, BotVersion] = {}
    for version in rows.order_by("bot__slug", "number"):
        if not version.games or game in version.games:
            found[version.bot.slug] = version
    return list(found.items())


def open_to(games: Iterable[str]) -> QuerySet[Tournament]:
    """Tournaments that take entries now, of these games (all, where none is named), the newest first. One query."""
    rows = Tournament.objects.filter(
        Q(status=TournamentStatus.OPEN) | Q(status=TournamentStatus.RUNNING, format=TournamentFormat.LADDER)
    )
    named = list(games)
    rows = rows.filter(pool__game__in=named) if named else rows
    return rows.select_related("pool").defer("secret").order_by("-created", "-id")


def tournaments_listed() -> QuerySet[Tournament]:
    """Tournaments from the newest with their numbers of entries and matches. One query."""
    return (
        Tournament.objects.select_related("pool", "owner")
        .defer("secret")
        .annotate(
            size=Count("entries", distinct=True),
            total=Count("matches", distinct=True),
            done=Count("matches", filter=Q(matches__status=MatchStatus.FINISHED), distinct=True),
        )
        .order_by("-created", "-id")
    )


def viewer(request: HttpRequest) -> Player | None:
    """The player who looks, or None. At most one query, once per request."""
    if not request.user.is_authenticated:
        return None
    if not hasattr(request, "league_viewer"):
        request.league_viewer = Player.objects.select_related("user").filter(user=request.user).first()
    return request.league_viewer
