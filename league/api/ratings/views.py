"""Pools, leaderboards, histories; games; the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

import engine
from engine.rules.options import Range, word
from engine.rules.resolving import choices
from league.api.http import cursors
from league.api.http.auth import user_of
from league.api.http.base import ApiView, ListView, existing
from league.api.http.filters import ChoiceFilters, PointFilters, PoolFilters, RatingFilters
from league.api.http.moments import AT, moment
from league.api.http.problems import bad_parameter, message
from league.api.http.schema import operation
from league.api.ratings import rows
from league.api.ratings.serializers import (
    ChoiceOut,
    GameDetail,
    GameOut,
    OverallOut,
    PointOut,
    PoolOut,
    QueueOut,
    RatingOut,
    VersionRatingOut,
)
from league.domain.bots import choices as opening
from league.domain.core import errors
from league.domain.core.errors import Refused
from league.domain.matches import sight, workers
from league.domain.ratings import daily, leaderboards, overall, pools
from league.domain.tournaments import tournaments
from league.domain.upkeep import waiting
from league.models import BotVersion, ChoiceSum, Pool, Rating, RatingPoint
from league.service import changes


class PoolsView(ListView):
    """/pools"""

    kept_until = (changes.POOLS, changes.MATCHES)

    queryset = Pool.objects.none()
    serializer_class = PoolOut
    filterset_class = PoolFilters

    @operation("list_pools", "List pools, newest first")
    def get(self, request: Request) -> Response:
        """List pools: game, seats, options, kind of team, revision of the rules."""
        return self.page(self.filter_queryset(rows.pools()))


class OnePoolView(ApiView):
    """/pools/{id}"""

    kept_until = (changes.POOLS, changes.MATCHES)

    serializer_class = PoolOut

    @operation("get_pool", "Read a pool")
    def get(self, request: Request, id: int) -> Response:
        """Read one pool by id."""
        return Response(PoolOut(existing(rows.pools().filter(pk=id).first())).data)


class LeaderboardView(ListView):
    """/pools/{id}/leaderboard"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the pool's ratings; for a past time, those of its results."""
        of_past = (changes.of_pool(params["id"]),) if "at" in self.request.query_params else ()
        return changes.of_ratings(params["id"]), changes.BOTS, *of_past

    serializer_class = RatingOut
    filter_backends = ()
    params = ("every_version", "at", "show", "owner", "limit")

    @operation(
        "get_leaderboard",
        "Read a leaderboard, best first",
        parameters=[
            OpenApiParameter(
                "every_version",
                OpenApiTypes.BOOL,
                description="true: a row for each version; false or left out: a row for each bot.",
            ),
            OpenApiParameter(
                "show",
                OpenApiTypes.STR,
                enum=leaderboards.Only.SHOWS,
                description="active: bots that are not idle; house: house bots. Places stay those of the whole table.",
            ),
            OpenApiParameter("owner", OpenApiTypes.STR, description="Name of a player: only their bots."),
            OpenApiParameter(
                "limit",
                OpenApiTypes.STR,
                enum=tuple(leaderboards.LIMITS),
                description="Only versions that keep a limit, with their places among themselves; ratings, margins and ranks are those of the pool. "
                "fast: no decision above 10 ms of CPU time; steady: none that draws on the saved time; small: a package of at most 1 MiB; "
                "open: published source.",
            ),
            AT,
        ],
    )
    def get(self, request: Request, id: int) -> Response:
        """Read Elo with 95% margins. Provisional rows are listed by their Elo, too."""
        text = request.query_params.get("every_version", "false")
        if text not in ("true", "false"):
            problem = message("must be true or false, not {text!r}", text=text[:30])
            raise bad_parameter("every_version", problem)
        only = leaderboards.Only(*(request.query_params.get(name, "") for name in ("show", "owner", "limit")))
        for name, value, words in (("show", only.show, only.SHOWS), ("limit", only.limit, leaderboards.LIMITS)):
            if value and value not in words:
                problem = message("must be one of {choices}, not {text!r}", choices=", ".join(words), text=value[:30])
                raise bad_parameter(name, problem)
        try:
            ProhibitNullCharactersValidator()(only.owner)
        except ValidationError as error:
            raise bad_parameter("owner", error.messages[0]) from None
        pool = existing(Pool.objects.filter(pk=id).first())
        at, every_version = moment(request), text == "true"
        if at is not None:
            return self.page(leaderboards.leaderboard(pool, every_version=every_version, at=at, only=only))
        cursor = cursors.read_cursor(request, leaderboards.BEST.kinds)
        size = cursors.page_size(request)
        page = leaderboards.read_page(pool, cursor, size, every_version=every_version, only=only)
        return self.cut(page if every_version or only.limit else daily.movement(pool, page.rows).add_to(page))


class OverallView(ListView):
    """/overall"""

    kept_until = (changes.POOLS, changes.BOTS)

    serializer_class = OverallOut
    filter_backends = ()

    @operation("get_overall", "Read the ranking over all games, best first")
    def get(self, request: Request) -> Response:
        """Read for each bot the mean expected score on a board against the field of each game; a game without results counts one half."""
        cursor, size = cursors.read_cursor(request, (int,)), cursors.page_size(request)
        return self.cut(overall.read_page(cursor, size))


class HistoryView(ListView):
    """/pools/{id}/history"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the pool and its bots."""
        return changes.of_ratings(params["id"]), changes.of_pool(params["id"]), changes.BOTS

    queryset = RatingPoint.objects.none()
    serializer_class = PointOut
    filterset_class = PointFilters

    @operation("list_history", "List rating changes, newest first")
    def get(self, request: Request, id: int) -> Response:
        """List one row for each version and match."""
        pool = existing(Pool.objects.filter(pk=id).first())
        return self.page(self.filter_queryset(rows.points().filter(pool=pool)))


class VersionRatingsView(ListView):
    """/versions/{id}/ratings"""

    kept_until = (changes.POOLS, changes.BOTS)

    queryset = Rating.objects.none()
    serializer_class = VersionRatingOut
    filterset_class = RatingFilters

    @operation("list_ratings_of_version", "List the ratings of a version in all pools")
    def get(self, request: Request, id: int) -> Response:
        """List a row for each pool in which the version has played."""
        version = existing(BotVersion.objects.filter(sight.knows_bot(user_of(request), "bot__"), pk=id).first())
        rows = Rating.objects.filter(version=version).select_related("pool")
        return self.page(self.filter_queryset(rows))


def _game(key: str) -> dict[str, Any]:
    loaded = engine.load(key)
    return {
        "key": loaded.key,
        "title": loaded.title,
        "players": list(loaded.declared.players),
        "score_unit": loaded.score_unit,
        "revision": loaded.revision,
    }


class GamesView(ListView):
    """/games"""

    kept_until = (changes.RELEASE,)

    serializer_class = GameOut
    filter_backends = ()

    @operation("list_games", "List games", tags=["games"])
    def get(self, request: Request) -> Response:
        """List every game of the engine, by key."""
        return self.page([_game(key) for key in engine.games()])


class OneGameView(ApiView):
    """/games/{key}"""

    kept_until = (changes.RELEASE,)

    serializer_class = GameDetail
    params = ("players",)

    @operation(
        "get_game",
        "Read a game with its options",
        tags=["games"],
        parameters=[
            OpenApiParameter("players", int, description="Number of seats; if left out, the usual number of the game.")
        ],
    )
    def get(self, request: Request, key: str) -> Response:
        """Read one game. The options depend on the number of seats."""
        existing(key if key in engine.games() else None)
        text = request.query_params.get("players")
        seats = int(text) if text and text.isascii() and text.isdigit() and len(text) < 3 else None
        if text is not None and seats is None:
            problem = message("must be a number of seats, not {text!r}", text=text[:30])
            raise bad_parameter("players", problem)
        try:
            loaded = pools.load(key, seats)
        except Refused as error:
            raise bad_parameter("players", errors.shown(error)) from None
        defaults = loaded.options_all
        options = [
            {
                "name": name,
                "default": defaults[name],
                "values": None if isinstance(choice, Range) else [word(value) for value in choice],
                "range": str(choice) if isinstance(choice, Range) else None,
            }
            for name, choice in choices(loaded.declared, loaded.players).items()
        ]
        details = _game(key) | {
            "seats": loaded.players,
            "sides": [list(side) for side in loaded.sides],
            "boards": tournaments.default_boards(key, loaded.players),
            "options": options,
        }
        return Response(GameDetail(details).data)


class OpeningChoicesView(ListView):
    """/games/{key}/choices"""

    kept_until = (changes.CHOICES, changes.POOLS)

    queryset = ChoiceSum.objects.none()
    serializer_class = ChoiceOut
    filterset_class = ChoiceFilters
    page_order = opening.ORDER

    @operation("list_choices", "List opening choices with their shares and what they brought")
    def get(self, request: Request, key: str) -> Response:
        """List what bots call, lead first and sing in the pools of a game, by pool, kind, hand and band, the most frequent choice first.

        A choice of fewer than 10 matches or 3 bots is not listed.
        """
        existing(key if key in engine.games() else None)
        current = [pool for pool in Pool.objects.filter(game=key) if pools.is_known(pool)]
        rows = self.filter_queryset(ChoiceSum.objects.filter(pool__in=current).select_related("pool"))
        page: Any = self.paginate_queryset(opening.shown(rows))
        choices_shown = [_choice(*pair) for pair in opening.with_figures(page)]
        return self.get_paginated_response(ChoiceOut(choices_shown, many=True).data)


def _choice(row: ChoiceSum, figures: opening.ChoiceFigures) -> dict[str, Any]:
    place = {"pool": row.pool_id, "kind": row.kind, "hand": row.hand or "every", "band": row.band}
    return place | asdict(figures)


class QueueStateView(ApiView):
    """/queue"""

    serializer_class = QueueOut

    @operation("get_queue", "Read the state of the queue and the workers", tags=["matches"])
    def get(self, request: Request) -> Response:
        """Read the state of the queue and the workers."""
        queue = workers.queue()
        if queue.refusing and not (request.user.is_authenticated and request.user.is_staff):
            # A refusal names paths of the operator's machine, so the reason is replaced.
            queue = workers.Queue(**{**vars(queue), "starved": "every worker refuses to play" if queue.starved else ""})
        unbuilt = [job.language for job in waiting.waiting_jobs() if job.why == "language"]
        return Response(QueueOut({**vars(queue), "unbuilt": unbuilt}).data)
