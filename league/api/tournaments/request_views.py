"""Requests to enter other players' bots: the open ones, the answers, and blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from django.db.models import QuerySet
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, user_of, viewer_of_list
from league.api.http.base import ApiView, ListView, existing
from league.api.http.filters import RequestFilters
from league.api.http.schema import operation
from league.api.tournaments.request_serializers import BlockNew, BlockOut, RequestOut
from league.api.tournaments.views import seen
from league.domain.bots import consent
from league.domain.core import paging
from league.domain.matches import sight
from league.domain.tournaments import requests
from league.enums import TokenScope
from league.models import Block, Circuit, EntryRequest, Event, Tournament

REQUESTS = ("requests",)
RELATED = ("bot__owner", "bot__team", "asker", "version", "tournament", "event", "circuit")
# What RequestOut reads: an event and a tournament have large columns.
COLUMNS = (
    *("id", "status", "message", "created", "answered", "asker__name", "version__number"),
    *("bot__slug", "bot__owner__name", "bot__team__name", "tournament__slug", "event__slug", "circuit__slug"),
)


def _narrow(rows: QuerySet[EntryRequest]) -> QuerySet[EntryRequest]:
    return rows.select_related(None).select_related(*RELATED).only(*COLUMNS)


class MyRequestsView(ListView):
    """/me/requests"""

    permission_classes = [IsAuthenticated]
    queryset = EntryRequest.objects.none()
    serializer_class = RequestOut
    filterset_class = RequestFilters

    @operation("list_my_requests", "List requests for your bots, and your own requests, newest first", tags=REQUESTS)
    def get(self, request: Request) -> Response:
        """List requests. Those for your bots with the status `asked` await your answer."""
        return self.page(_narrow(self.filter_queryset(requests.requests_of(player_of(request)))))

    def get_serializer_context(self) -> dict[str, object]:
        """Add the viewer, who may read the messages."""
        return {**super().get_serializer_context(), "viewer": viewer_of_list(self.request)}


class WaitingOfView(ListView):
    """The open requests of a tournament, event or circuit: /tournaments/{slug}/requests and so on"""

    queryset = EntryRequest.objects.none()
    serializer_class = RequestOut
    page_order = paging.Order.by("pk")

    def get_serializer_context(self) -> dict[str, object]:
        """Add the viewer, on whom the messages depend."""
        return {**super().get_serializer_context(), "viewer": viewer_of_list(self.request)}

    def _waiting(self, occasion: consent.Occasion) -> Response:
        return self.page(_narrow(requests.waiting(occasion)))


class WaitingOfTournamentView(WaitingOfView):
    """/tournaments/{slug}/requests"""

    @operation(
        "list_requests_of_tournament",
        "List open requests, which await the consent of the owners of bots",
        tags=REQUESTS,
        responses=RequestOut(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List open requests. They expire when the tournament starts; for a ladder, when it ends or after 30 days."""
        return self._waiting(seen(request, Tournament.objects.all(), slug))


class WaitingOfEventView(WaitingOfView):
    """/events/{slug}/requests"""

    @operation(
        "list_requests_of_event",
        "List open requests, which await the consent of the owners of bots",
        tags=REQUESTS,
        responses=RequestOut(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List open requests. They expire when the event starts."""
        return self._waiting(existing(sight.events(Event.objects.filter(slug=slug), user_of(request)).first()))


class WaitingOfCircuitView(WaitingOfView):
    """/circuits/{slug}/requests"""

    @operation(
        "list_requests_of_circuit",
        "List open requests, which await the consent of the owners of bots",
        tags=REQUESTS,
        responses=RequestOut(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List open requests. If the owner agrees, the bot takes part from the next season on. A request expires after 30 days."""
        return self._waiting(existing(Circuit.objects.filter(slug=slug).first()))


class OneRequestView(ApiView):
    """/requests/{id}"""

    scopes: ClassVar = {"DELETE": TokenScope.SUBMIT}
    permission_classes = [IsAuthenticated]
    serializer_class = RequestOut

    @operation("get_request", "Read a request", tags=REQUESTS)
    def get(self, request: Request, id: int) -> Response:
        """Read your own request, or a request for your bot; 404 for all others."""
        return self.answered(_mine(request, id))

    @operation("withdraw_request", "Withdraw your request", tags=REQUESTS, responses={204: None})
    def delete(self, request: Request, id: int) -> Response:
        """Withdraw an open request; before an event has begun, also a granted one. Repeatable."""
        requests.withdraw(_mine(request, id), player=player_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def answered(self, entry_request: EntryRequest) -> Response:
        """Return the request as the viewer may see it."""
        return Response(RequestOut(entry_request, context={"viewer": player_of(self.request)}).data)


class AnswerView(OneRequestView):
    """The base of both answers to a request."""

    http_method_names = ["post"]
    answer: Callable[..., EntryRequest]

    def _answer(self, request: Request, id: int) -> Response:
        type(self).answer(_mine(request, id), player=player_of(request))
        return self.answered(_mine(request, id))


class GrantView(AnswerView):
    """/requests/{id}/grant"""

    answer = requests.grant

    @operation("grant_request", "Grant a request", tags=REQUESTS, request=None, responses=RequestOut)
    def post(self, request: Request, id: int) -> Response:
        """Grant the request: the bot enters at once. Refused if entries are closed. Repeatable."""
        return self._answer(request, id)


class RefuseView(AnswerView):
    """/requests/{id}/refuse"""

    answer = requests.refuse

    @operation("refuse_request", "Refuse a request", tags=REQUESTS, request=None, responses=RequestOut)
    def post(self, request: Request, id: int) -> Response:
        """Refuse the request: nobody can repeat it for the same tournament, event or circuit, but you can still grant it. Repeatable."""
        return self._answer(request, id)


class MyBlocksView(ListView):
    """/me/blocks"""

    permission_classes = [IsAuthenticated]
    queryset = Block.objects.none()
    serializer_class = BlockNew

    @operation(
        "list_my_blocks",
        "List the players whom you have blocked, newest first",
        tags=REQUESTS,
        responses=BlockOut(many=True),
    )
    def get(self, request: Request) -> Response:
        """List blocked players, who cannot enter your bots, challenge them or ask for them. Existing entries stay."""
        return self.page(player_of(request).blocks.select_related("blocked"), BlockOut)

    @operation("block_player", "Block a player", tags=REQUESTS, responses={201: BlockOut})
    def post(self, request: Request) -> Response:
        """Block a player. Their open requests are refused. Repeatable."""
        block = consent.block(player_of(request), self.body()["player"])
        return Response(BlockOut(block).data, status=status.HTTP_201_CREATED)


class OneBlockView(ApiView):
    """/me/blocks/{name}"""

    serializer_class = BlockOut

    @operation("unblock_player", "Unblock a player", tags=REQUESTS, responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """End a block. Repeatable."""
        consent.unblock(player_of(request), name)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _mine(request: Request, id: int) -> EntryRequest:
    return existing(requests.requests_of(player_of(request)).filter(pk=id).first())
