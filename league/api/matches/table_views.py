"""Tables where people sit, with the same functions, quotas and rows as on the pages."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, viewer_of
from league.api.http.base import ApiView, existing, once
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.api.matches.room_serializers import SharedChange
from league.api.matches.table_serializers import AdviceNew, ChoiceNew, TableNew, TableOut
from league.domain.tables import people, rooms, seating
from league.domain.tables.people import TableView
from league.enums import TokenScope
from league.models import ApiToken, Player


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
        return self.created(table_out(player, row.public_id), "table", row.public_id)


class OneTableView(ApiView):
    """/tables/{id}"""

    scopes: ClassVar = {"PATCH": TokenScope.SUBMIT}
    serializer_class = SharedChange

    @operation("get_table", "Read a table, as far as you may know it", responses=TableOut)
    def get(self, request: Request, id: str) -> Response:
        """Read your own table, anybody's finished one, or a shared one that you may watch; 404 for all others."""
        return Response(table_out(viewer_of(request), id))

    @operation("change_table", "Change your shared table", responses=TableOut)
    def patch(self, request: Request, id: str) -> Response:
        """Change the settings as the host, before the first card. Everybody has to get ready again."""
        player = _sitter(request, id)
        row, body = existing(seating.visible(player, id)).row, self.body()
        chosen = {"level": row.level, "boards": row.boards, "clock_s": row.clock_s, "increment_s": row.increment_s}
        chosen |= {"listed": row.listed, "watching": row.watching, "same_deals": bool(row.deals)}
        if body.get("game", row.pool.game) == row.pool.game:
            chosen |= {"game": row.pool.game, "players": row.pool.players, "options": row.pool.options}
        rooms.change(player, id, **settings_of(chosen | body))
        return Response(table_out(player, id))


class ChoicesView(ApiView):
    """/tables/{id}/choices"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ChoiceNew

    @operation("choose_at_table", "Play a card, sing, bid or continue at your table", responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Answer your current decision, for good. At a shared table that needs a session of the site.

        The response is the table right after that; the bots answer within a second, so read it again.
        """
        player = _sitter(request, id)
        data = self.body()
        check_by_hand(request, existing(seating.visible(player, id)))
        seating.act(player, id, data["turn"], data["do"])
        return Response(table_out(player, id))


class AdviceView(ApiView):
    """/tables/{id}/advice"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = AdviceNew

    @operation("ask_for_advice", "Ask the best house bot for advice", responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Ask for advice at a table with advice. It is in `advice` a second or two later, so read the table again."""
        player = _sitter(request, id)
        seating.ask_advice(player, id, self.body()["turn"])
        return Response(table_out(player, id))


class LeaveView(ApiView):
    """/tables/{id}/leave"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @operation("leave_table", "Leave your table", request=None, responses={200: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Leave a table and so end it. A started board counts as lost. Leaving a finished table changes nothing."""
        player = _sitter(request, id)
        seating.leave(player, id)
        return Response(table_out(player, id))


def table_out(viewer: Player | None, id: str) -> Any:
    """Return the table as the viewer may see it."""
    return TableOut(existing(seating.visible(viewer, id))).data


def check_by_hand(request: Request, view: TableView) -> None:
    """Refuse to play with a token where other people may sit, and where points are public: a program would play in the place of a person."""
    if view.row.shared and isinstance(request.auth, ApiToken):
        raise PermissionDenied(message("People play at this table by hand, on its page, and not with an API key."))


def settings_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `rooms.gather` and `rooms.change` for the fields of a request."""
    chosen = {name: value for name, value in body.items() if name not in ("clock_s", "increment_s")}
    if "clock_s" in body or "increment_s" in body:
        chosen["time"] = (body.get("clock_s", 0), body.get("increment_s", 0))
    return chosen


def _sitter(request: Request, id: str) -> Player:
    player = player_of(request)
    if not people.own(player).filter(public_id=id).exists():
        raise NotFound
    return player
