"""The front page of a player who is logged in: their table, requests, bots and tournaments, and the next puzzle."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Max, Q
from django.utils.translation import gettext_lazy as _

from league.domain.bots import drafts
from league.domain.core import clock
from league.domain.core.counts import count_of
from league.domain.ladders import climbs
from league.domain.matches import sight
from league.domain.puzzles import answers, shelf
from league.domain.tables import people
from league.domain.tournaments import requests
from league.enums import BotState, MatchStatus, RequestStatus, TournamentStatus, VersionStatus
from league.models import (
    Bot,
    BotVersion,
    Entry,
    Match,
    Party,
    Player,
    Pool,
    Rating,
    RatingPoint,
    Tournament,
    VersionTest,
)
from league.web.common import families
from league.web.common.game_lines import game_title
from league.web.pages.front import now_playing

MOST_BOTS = 12
MOST_REQUESTS = 3
MOST_TOURNAMENTS = 6
MOST_DRAFTS = 3
MOST_POINTS = 2000  # The most points of all trends together.
LATEST = 20  # Number of latest matches of each bot in which its last loss is looked for.
WEEK = timedelta(days=7)
TESTS = {  # The sentence about a version test, by its verdict; "ahead" and "open": not decided yet.
    "stronger": _("%(new)s is better than %(old)s in %(game)s: it won %(share)s %% of %(boards)s boards."),
    "ahead": _("%(new)s is probably better than %(old)s in %(game)s: it won %(share)s %% of %(boards)s boards."),
    "open": _("%(new)s against %(old)s in %(game)s is open: it won %(share)s %% of %(boards)s boards."),
    "not_stronger": _("%(new)s is not better than %(old)s in %(game)s: it won %(share)s %% of %(boards)s boards."),
    "cap": _("%(new)s is about as good as %(old)s in %(game)s: it won %(share)s %% of %(boards)s boards."),
}
TESTS["superseded"] = TESTS["open"]
WIDTH, HEIGHT, PAD = 104, 26, 3  # A trend, in units of its drawing.


@dataclass
class OwnBot:
    """A bot of the player, in the game with its best place; without a rating only its state."""

    bot: Bot
    newest: BotVersion | None
    rating: Rating | None = None
    size: int = 0  # Number of bots on that ladder.
    trend: str = ""  # Points of a polyline.
    change: float | None = None  # Elo gained this week.
    loss: Match | None = None  # The latest lost match.

    @property
    def ranks(self) -> str:
        """Return the ranks that are possible within the margins, such as "3–5"."""
        if self.rating is None:
            return ""
        best, worst = self.rating.rank_best, self.rating.rank_worst
        return str(best) if best == worst else f"{best}–{worst}"


@dataclass(frozen=True)
class OwnTournament:
    """A tournament that the player runs, or in which their bots play."""

    tournament: Tournament
    owned: bool
    bots: list[str] = field(default_factory=list)


def mine(player: Player) -> dict[str, Any]:
    """Return the template context of the page. A few more than twenty queries, whatever the size of the league."""
    open_requests = requests.requests_of(player).filter(status=RequestStatus.ASKED, bot__owner=player)
    bots = own_bots(player)
    return {
        "player": player,
        "table": people.present(player),
        "asked": list(open_requests[:MOST_REQUESTS]),
        "bots": bots,
        **_latest_test(player),
        "climb": climbs.best_climb(player),
        "tournaments": own_tournaments(player),
        "drafts": drafts.of_player(player)[:MOST_DRAFTS],
        "puzzle": _next_puzzle(player),
        "now": now_playing(player.user),
    }


def own_bots(player: Player) -> list[OwnBot]:
    """Return the player's bots, the last changed first. Seven queries."""
    rows = player.bots.exclude(state=BotState.RETIRED).annotate(changed=Max("versions__created"))
    bots = list(rows.order_by("-changed", "slug")[:MOST_BOTS])
    newest: dict[int, BotVersion] = {}
    for version in BotVersion.objects.filter(bot__in=bots).order_by("bot", "number"):
        newest[version.bot_id] = version
    own = {bot.pk: OwnBot(bot, newest.get(bot.pk)) for bot in bots}
    ratings = Rating.objects.filter(version__bot__in=bots, listed=True).select_related("pool", "version")
    for rating in ratings.order_by("provisional", "rank_best", "rank_worst", "pool"):
        row = own[rating.version.bot_id]
        row.rating = row.rating or rating
    rated = [row for row in own.values() if row.rating]
    _add_sizes(rated)
    _add_history(rated, player)
    return list(own.values())


def _add_sizes(bots: list[OwnBot]) -> None:
    pools = Pool.objects.filter(pk__in={row.rating.pool_id for row in bots if row.rating})
    counted = pools.annotate(rated=count_of(Rating.objects.filter(listed=True), "pool"))
    sizes = dict(counted.values_list("pk", "rated"))
    for row in bots:
        row.size = sizes.get(row.rating.pool_id, 0) if row.rating else 0


def _add_history(bots: list[OwnBot], player: Player) -> None:
    """Add the trend of the last week and the latest loss. Three queries."""
    by_version = {(row.rating.pool_id, row.rating.version_id): row for row in bots if row.rating}
    since = clock.present() - WEEK
    points = RatingPoint.objects.filter(version__in={version for _pool, version in by_version}, at__gte=since)
    history: dict[tuple[int, int], list[tuple[float, float, int]]] = defaultdict(list)
    for pool, version, elo, change, match in points.order_by("-at", "-pk").values_list(
        "pool", "version", "elo", "change", "match"
    )[:MOST_POINTS]:
        if (pool, version) in by_version:
            history[pool, version].append((elo, change, match))
    for key, newest_first in history.items():
        by_version[key].trend = trend([elo for elo, _change, _match in reversed(newest_first)])
        first_elo, first_change, _match = newest_first[-1]
        by_version[key].change = newest_first[0][0] - (first_elo - first_change)
    latest = {match for rows in history.values() for _elo, _change, match in rows[:LATEST]}
    versions = {version for _pool, version in by_version}
    lost = [
        (party.version_id, party.match_id)
        for party in Party.objects.filter(match__in=latest, version__in=versions).only(
            "match_id", "version_id", "wins", "losses"
        )
        if party.losses is not None and party.wins is not None and party.losses > party.wins
    ]
    rows = sight.matches(Match.objects.filter(pk__in={match for _version, match in lost}), player.user)
    matches = {match.pk: match for match in rows.filter(status=MatchStatus.FINISHED).only("public_id", "finished")}
    for (_pool, version), row in by_version.items():
        losses = [matches[match] for party, match in lost if party == version and match in matches]
        row.loss = max(losses, key=lambda match: match.pk, default=None)


def trend(elos: list[float]) -> str:
    """Return the points of a polyline through these ratings, oldest first; "" for fewer than two."""
    if len(elos) < 2:
        return ""
    every = max(1, len(elos) // 40)
    points = [*elos[:-1:every], elos[-1]]
    low, high = min(points), max(points)
    scale = (HEIGHT - 2 * PAD) / (high - low) if high > low else 0.0
    across = (WIDTH - 2 * PAD) / (len(points) - 1)
    return " ".join(
        f"{PAD + place * across:.1f},{HEIGHT - PAD - (elo - low) * scale:.1f}" for place, elo in enumerate(points)
    )


def own_tournaments(player: Player) -> list[OwnTournament]:
    """Return the unfinished tournaments that the player runs or plays in, newest first. Three queries."""
    live = [TournamentStatus.OPEN, TournamentStatus.RUNNING]
    entries = Entry.objects.filter(version__bot__owner=player, tournament__status__in=live)
    bots: dict[int, list[str]] = defaultdict(list)
    for tournament, slug in entries.order_by("number").values_list("tournament", "version__bot__slug")[:200]:
        bots[tournament].append(slug)
    rows = sight.tournaments(Tournament.objects.filter(status__in=live), player.user)
    rows = rows.filter(Q(owner=player) | Q(pk__in=list(bots))).select_related("pool").defer("secret")
    return [
        OwnTournament(row, row.owner_id == player.pk, bots[row.pk]) for row in rows.order_by("-pk")[:MOST_TOURNAMENTS]
    ]


def _latest_test(player: Player) -> dict[str, str]:
    """Return a sentence about the player's latest version test; nothing without boards. One query."""
    rows = VersionTest.objects.filter(version__bot__owner=player, version__status=VersionStatus.ACCEPTED)
    test = rows.select_related("version__bot", "before").order_by("-version", "verdict", "-llr").first()
    boards = test.won + test.drawn + test.lost if test else 0
    if test is None or not boards:
        return {}
    values = {
        "new": f"{test.version.bot.slug} v{test.version.number}",
        "old": f"v{test.before.number}",
        "game": game_title(test.game),
        "share": round(100 * (test.won + test.drawn / 2) / boards),
        "boards": boards,
    }
    return {
        "test": TESTS[test.verdict or ("ahead" if test.llr > 0 else "open")] % values,
        "test_bot": test.version.bot.slug,
    }


def _next_puzzle(player: Player) -> dict[str, Any] | None:
    """Return the first puzzle that the player has not tried, in the best-known game that has one, with the player's score. Three queries."""
    puzzles = shelf.shelf()
    tried = answers.tried(player)
    untried = (
        puzzle for game in families.game_order() for puzzle in puzzles.by_game.get(game, ()) if puzzle.id not in tried
    )
    puzzle = next(untried, None)
    if puzzle is None:
        return None
    tally = answers.tally(player).values()
    return {"id": puzzle.id, "game": puzzle.game, "tried": len(tried), "right": sum(right for _tried, right in tally)}
