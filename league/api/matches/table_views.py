"""Tables where people sit, with the same functions, quotas and rows as on the pages."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, viewer_of
from league.api.http.base import ApiView, existing, once
from league.api.http.schema import KEY, operation
from league.api.matches.table_serializers import AdviceNew, ChoiceNew, TableNew, TableOut
from league.domain.tables import people, seating
from league.enums import TokenScope
from league.models import Player


class TablesView(ApiView):
    """/tables"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableNew

    @operation(
        "sit_down",
        "Open a table with bots",
        parameters=[KEY],
        responses={201: TableOut},
    )
    @once
    def post(self, request: Request) -> Response:
        """Open a table with any rules that the game has; you can have one at a time.

        Read it again until `turn` is a number: then it is your turn.
        """
        player, data = player_of(request), self.body()
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
        return self.created(_table(player, row.public_id), "table", row.public_id)


class OneTableView(ApiView):
    """/tables/{id}"""

    serializer_class = TableOut

    @operation("get_table", "Read a table, as far as you may know it")
    def get(self, request: Request, id: str) -> Response:
        """Read your own table, or anybody's finished one; 404 for all others."""
        return Response(_table(viewer_of(request), id))


class ChoicesView(ApiView):
    """/tables/{id}/choices"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ChoiceNew

    @operation("choose_at_table", "Play a card, sing, bid or continue at your table", responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Answer your current decision, for good. The response is the table right after that; the bots answer within a second, so read it again."""
        player = _sitter(request, id)
        data = self.body()
        seating.act(player, id, data["turn"], data["do"])
        return Response(_table(player, id))


class AdviceView(ApiView):
    """/tables/{id}/advice"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = AdviceNew

    @operation("ask_for_advice", "Ask the best house bot for advice", responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Ask for advice at a table with advice. It is in `advice` a second or two later, so read the table again."""
        player = _sitter(request, id)
        seating.ask_advice(player, id, self.body()["turn"])
        return Response(_table(player, id))


class LeaveView(ApiView):
    """/tables/{id}/leave"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @operation("leave_table", "Leave your table", request=None, responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Leave a table and so end it. A started board counts as lost. Leaving a finished table changes nothing."""
        player = _sitter(request, id)
        seating.leave(player, id)
        return Response(_table(player, id))


def _table(viewer: Player | None, id: str) -> Any:
    """Return the table as the viewer may see it."""
    return TableOut(existing(seating.visible(viewer, id))).data


def _sitter(request: Request, id: str) -> Player:
    player = player_of(request)
    if not people.own(player).filter(public_id=id).exists():
        raise NotFound
    return player
