"""Arenas for people. A token enters, waits and leaves; the hands are played on the page (`league.api.matches.table_views.check_by_hand`)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, viewer_of
from league.api.http.base import ApiView, ListView, existing
from league.api.http.schema import operation
from league.api.tournaments.arena_serializers import ArenaBotNew, ArenaDetail, ArenaOut, ArenaPlaceOut
from league.api.tournaments.event_views import bots_named
from league.domain.arenas import arenas
from league.domain.people.ownership import BotAct
from league.enums import TokenScope
from league.models import Arena, ArenaEntry


def _arena(slug: str) -> Arena:
    return existing(Arena.objects.select_related("pool").filter(slug=slug).first())


def _answer(request: Request, slug: str) -> Response:
    """Answer with an arena and the caller's part in it."""
    return Response(ArenaDetail(_arena(slug), context={"viewer": viewer_of(request)}).data)


class ArenasView(ListView):
    """/arenas"""

    queryset = Arena.objects.none()
    serializer_class = ArenaOut
    filter_backends = ()

    @operation("list_arenas", "List arenas for people, the latest created first")
    def get(self, request: Request) -> Response:
        """List the arenas to come, the running ones and those that are over."""
        return self.page(Arena.objects.select_related("pool"))


class OneArenaView(ApiView):
    """/arenas/{slug}"""

    serializer_class = ArenaDetail

    @operation("get_arena", "Read an arena")
    def get(self, request: Request, slug: str) -> Response:
        """Read an arena, with your own entry and your table."""
        return _answer(request, slug)


class ArenaStandingView(ListView):
    """/arenas/{slug}/standing"""

    queryset = ArenaEntry.objects.none()
    serializer_class = ArenaPlaceOut
    filter_backends = ()

    @operation("list_arena_standing", "Read the standing of an arena, best first")
    def get(self, request: Request, slug: str) -> Response:
        """List who has played, people and bots."""
        rows = arenas.placed(arenas.standing(_arena(slug)))
        return self.page([{"place": place, "entry": entry} for place, entry in rows])


class PlayArenaView(ApiView):
    """/arenas/{slug}/play"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ArenaDetail

    @operation("play_in_arena", "Enter an arena, or wait for the next table", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Enter; while the arena runs, also wait for a table. Its hand is played on the page of the table, not with a token. Repeatable."""
        arenas.play(_arena(slug), player_of(request))
        return _answer(request, slug)


class StopArenaView(ApiView):
    """/arenas/{slug}/stop"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ArenaDetail

    @operation("stop_in_arena", "Leave an arena, or stop waiting", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Leave before the start; later stop waiting for a table, and keep your points. Repeatable."""
        arenas.stop(_arena(slug), player_of(request))
        return _answer(request, slug)


class ArenaBotsView(ApiView):
    """/arenas/{slug}/bots"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ArenaBotNew

    @operation("enter_arena", "Enter your bot in an arena", responses=ArenaDetail)
    def post(self, request: Request, slug: str) -> Response:
        """Let a bot fill in where a person would wait, or withdraw it (`leave`) before it has played. Repeatable."""
        arena, player, data = _arena(slug), player_of(request), self.body()
        [bot] = bots_named([data["bot"]], player)
        self.allowed(bot, BotAct.ENTER, f"the bot {bot.slug}")
        (arenas.withdraw_bot if data["leave"] else arenas.enter_bot)(arena, bot, player)
        return _answer(request, slug)
