"""Tables at which people sit, by the same functions, quotas and rows as on the pages."""

from __future__ import annotations

from typing import ClassVar

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, viewer_of
from league.api.http.base import View, existing
from league.api.matches.table_serializers import AdviceNew, ChoiceNew, TableNew, TableOut
from league.domain.tables import seating
from league.enums import TokenScope
from league.models import Player


class Tables(View):
    """/tables"""

    permission_classes = [IsAuthenticated]
    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableNew

    @extend_schema(
        operation_id="sit_down",
        summary="Sit down at a table with bots",
        tags=["matches"],
        parameters=[
            OpenApiParameter(
                "Idempotency-Key", str, OpenApiParameter.HEADER, description="1 to 80 characters, your choice."
            )
        ],
        request=TableNew,
        responses={201: TableOut},
    )
    def post(self, request: Request) -> Response:
        """One table at a time, by any rules that the game knows. Look at it again until `turn` is a number: then it is your turn."""
        player = player_of(request)
        return self.once(lambda: self._sit(player))

    def _sit(self, player: Player) -> Response:
        data = self.body()
        row = seating.sit(
            player,
            data["game"],
            data["against"],
            data["partner"],
            data["boards"],
            players=data.get("players"),
            options=data.get("options"),
            advice=data["advice"],
        )
        where = reverse("api:table", args=[row.public_id])
        return Response(TableOut(row).data, status=status.HTTP_201_CREATED, headers={"Location": where})


class OneTable(View):
    """/tables/{id}"""

    serializer_class = TableOut

    @extend_schema(operation_id="get_table", summary="Read what you may know of a table", tags=["matches"])
    def get(self, request: Request, id: str) -> Response:
        """Yours, or anybody's that was played to its end; 404 for all others."""
        return Response(TableOut(existing(seating.visible(viewer_of(request), id))).data)


class Choices(View):
    """/tables/{id}/choices"""

    permission_classes = [IsAuthenticated]
    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ChoiceNew

    @extend_schema(
        operation_id="choose_at_table",
        summary="Play a card, sing, bid or go on at your table",
        tags=["matches"],
        request=ChoiceNew,
        responses={200: TableOut},
    )
    def post(self, request: Request, id: str) -> Response:
        """The table as it is then: the bots answer within a second, so look at it again. Nothing is taken back."""
        player = _sitter(request, id)
        data = self.body()
        seating.act(player, id, data["turn"], data["do"])
        return Response(TableOut(existing(seating.visible(player, id))).data)


class Advice(View):
    """/tables/{id}/advice"""

    permission_classes = [IsAuthenticated]
    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = AdviceNew

    @extend_schema(
        operation_id="ask_for_advice",
        summary="Ask what the best house bot would do",
        tags=["matches"],
        request=AdviceNew,
        responses={200: TableOut},
    )
    def post(self, request: Request, id: str) -> Response:
        """At a table with advice. It stands in `advice` within a second or two, so look at the table again."""
        player = _sitter(request, id)
        seating.ask_advice(player, id, self.body()["turn"])
        return Response(TableOut(existing(seating.visible(player, id))).data)


class Leave(View):
    """/tables/{id}/leave"""

    permission_classes = [IsAuthenticated]
    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @extend_schema(
        operation_id="leave_table",
        summary="Leave your table",
        tags=["matches"],
        request=None,
        responses={200: TableOut},
    )
    def post(self, request: Request, id: str) -> Response:
        """The table ends, and a board that has started counts as lost. Leaving a finished table changes nothing."""
        player = _sitter(request, id)
        seating.leave(player, id)
        return Response(TableOut(existing(seating.visible(player, id))).data)


def _sitter(request: Request, id: str) -> Player:
    player = player_of(request)
    if not seating.tables_of(player, id).exists():
        raise NotFound
    return player
