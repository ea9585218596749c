"""Tables that people share, with the same functions and limits as on the pages.

A token opens, joins, changes and leaves such a table. It plays no card there (`table_views.check_by_hand`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of, viewer_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.schema import KEY, operation
from league.api.matches.room_serializers import (
    ChallengesChange,
    ChallengesChosen,
    LobbyTableOut,
    PhraseNew,
    SeatChange,
    SeatNew,
    SeatOfOther,
    SharedNew,
    TableChallengeNew,
    TableChallengeOut,
)
from league.api.matches.table_serializers import TableOut
from league.api.matches.table_views import check_by_hand, settings_of, table_out
from league.domain.tables import challenges, deals, lobby, phrases, rooms, seating
from league.domain.tables.people import TableView
from league.enums import TokenScope
from league.models import Player, TableChallenge


def shared_table(request: Request, id: str) -> tuple[Player, TableView]:
    """Return the caller and a shared table that they may see; 404 for any other table."""
    player = player_of(request)
    view = existing(seating.visible(player, id))
    if not view.row.shared:
        raise NotFound
    return player, view


class LobbyView(ListView):
    """/lobby"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = SharedNew
    filter_backends = ()

    @operation("list_lobby", "List the tables that wait for people", responses=LobbyTableOut(many=True))
    def get(self, request: Request) -> Response:
        """List the tables open to all with a free seat, the fullest first, then the newest. Blocks count as on the page."""
        return self.page(lobby.waiting(viewer_of(request)), LobbyTableOut)

    @operation("open_table", "Open a table for people", parameters=[KEY], responses={201: TableOut}, filters=False)
    @once
    def post(self, request: Request) -> Response:
        """Open a table and sit down at its first seat. Give its id to friends, or let it stand in the lobby (`listed`).

        The table starts when two people or more sit there and all are ready. Bots take the free seats. It never counts for a rating.
        """
        player = player_of(request)
        row = rooms.gather(player, **settings_of(self.body()))
        return self.created(table_out(player, row.public_id), "table", row.public_id)


class TableSeatView(ApiView):
    """/tables/{id}/seat"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT, "PATCH": TokenScope.SUBMIT}
    serializer_class = SeatNew

    def get_serializer_class(self) -> Any:
        """Return the serializer of the body."""
        return SeatChange if self.request is not None and self.request.method == "PATCH" else SeatNew

    @operation("take_seat", "Sit down at a shared table, or change your seat", responses=TableOut)
    def post(self, request: Request, id: str) -> Response:
        """Take a free seat before the first card. You are not ready then."""
        player, _view = shared_table(request, id)
        rooms.take_seat(player, id, self.body().get("seat"))
        return Response(table_out(player, id))

    @operation("change_seat", "Get ready, or take your seat back", request=SeatChange, responses=TableOut)
    def patch(self, request: Request, id: str) -> Response:
        """Say that you are ready or not, or take your seat back from the bot; the latter needs a session of the site. Repeatable."""
        player, view = shared_table(request, id)
        body = self.body()
        if "ready" in body:
            rooms.get_ready(player, id, ready=body["ready"])
        else:
            check_by_hand(request, view)
            rooms.come_back(player, id)
        return Response(table_out(player, id))


class StartTableView(ApiView):
    """/tables/{id}/start"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @operation("start_table", "Start a shared table", request=None, responses=TableOut)
    def post(self, request: Request, id: str) -> Response:
        """Start as the host, or at a table of the lobby as somebody who is ready, after 20 seconds without a change."""
        player, _view = shared_table(request, id)
        rooms.start(player, id)
        return Response(table_out(player, id))


class SwapView(ApiView):
    """/tables/{id}/swap"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = SeatOfOther

    @operation("swap_seats", "Swap seats with another person at your table", responses=TableOut)
    def post(self, request: Request, id: str) -> Response:
        """Swap seats as the host, before the first card. Everybody has to get ready again."""
        player, _view = shared_table(request, id)
        rooms.swap(player, id, self.body()["seat"])
        return Response(table_out(player, id))


class SendAwayView(ApiView):
    """/tables/{id}/send-away"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = SeatOfOther

    @operation("send_away", "Ask another person to leave your table", responses=TableOut)
    def post(self, request: Request, id: str) -> Response:
        """Ask somebody to leave as the host, before the first card. They cannot sit down there again."""
        player, _view = shared_table(request, id)
        rooms.send_away(player, id, self.body()["seat"])
        return Response(table_out(player, id))


class RematchView(ApiView):
    """/tables/{id}/rematch"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @operation("rematch", "Go on with the people of a shared table", request=None, responses={201: TableOut})
    def post(self, request: Request, id: str) -> Response:
        """Open the next table of the same people, or sit down at it if it is open. Repeatable."""
        player, _view = shared_table(request, id)
        row = rooms.rematch(player, id)
        return self.created(table_out(player, row.public_id), "table", row.public_id)


class PhrasesView(ApiView):
    """/tables/{id}/phrases"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = PhraseNew

    @operation("say_phrase", "Say a phrase at a shared table", responses=TableOut)
    def post(self, request: Request, id: str) -> Response:
        """Say one of the set phrases at your table. It stands at your seat for half a minute; one every four seconds."""
        player, _view = shared_table(request, id)
        phrases.say(player, id, self.body()["phrase"])
        return Response(table_out(player, id))


class SameDealsView(ApiView):
    """/deals/{id}/tables"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TableOut

    @operation(
        "open_same_deals",
        "Open a table with the deals of another",
        request=None,
        parameters=[KEY],
        responses={201: TableOut},
    )
    @once
    def post(self, request: Request, id: str) -> Response:
        """Open a shared table with deals and settings of a table whose host lets others play them (`deals`), unless you have seen the cards."""
        player = player_of(request)
        existing(deals.tables(id).first())
        row = rooms.gather_same(player, id)
        return self.created(table_out(player, row.public_id), "table", row.public_id)


class TableChallengesView(ListView):
    """/tables/{id}/challenges"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    queryset = TableChallenge.objects.none()
    serializer_class = TableChallengeNew
    filter_backends = ()

    @operation("list_table_challenges", "List the open challenges to a table", responses=TableChallengeOut(many=True))
    def get(self, request: Request, id: str) -> Response:
        """List who has been challenged to your table and has not answered, the oldest challenge first; at other tables only yourself."""
        viewer = viewer_of(request)
        view = existing(seating.visible(viewer, id))
        rows = challenges.at_table(view.row)
        return self.page([row for row in rows if view.is_own or row.player == viewer], TableChallengeOut)

    @operation(
        "challenge_player",
        "Challenge a player to your table",
        parameters=[KEY],
        responses={201: TableChallengeOut},
        filters=False,
    )
    @once
    def post(self, request: Request, id: str) -> Response:
        """Challenge a player by name to the table at which you wait. They get a notice, and have ten minutes."""
        player, _view = shared_table(request, id)
        name = self.body()["player"]
        row = challenges.challenge(player, id, name)
        return Response(TableChallengeOut(row).data, status.HTTP_201_CREATED)


class OneTableChallengeView(ApiView):
    """/tables/{id}/challenges/{name}"""

    scopes: ClassVar = {"DELETE": TokenScope.SUBMIT}
    serializer_class = TableChallengeOut

    @operation("end_table_challenge", "Decline a challenge, or withdraw yours", responses={204: None})
    def delete(self, request: Request, id: str, name: str) -> Response:
        """Decline the challenge to you, if the name is yours; else withdraw your challenge of that player."""
        player = player_of(request)
        if name == player.name:
            challenges.decline(player, id)
        else:
            challenges.withdraw(player, id, name)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyChallengesView(ListView):
    """/me/challenges"""

    permission_classes = (IsAuthenticated,)
    queryset = TableChallenge.objects.none()
    serializer_class = ChallengesChange
    filter_backends = ()

    @operation(
        "list_my_challenges",
        "List the open challenges to you",
        tags=["account"],
        responses=TableChallengeOut(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the tables to which players have challenged you, the newest first. Sit down there to accept."""
        return self.page(challenges.received(player_of(request)), TableChallengeOut)

    @operation("take_challenges", "Take challenges, or refuse all", tags=["account"], responses=ChallengesChosen)
    def patch(self, request: Request) -> Response:
        """Choose if players may challenge you by name. Repeatable."""
        player = player_of(request)
        challenges.choose(player, takes=self.body()["takes"])
        player.refresh_from_db(fields=["challengeable"])
        return Response(ChallengesChosen(player).data)
