"""Players, yourself, your tokens."""

from __future__ import annotations

from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of
from league.api.http.base import ApiView, ListView, existing
from league.api.http.filters import PlayerFilters
from league.api.http.problems import ApiProblem, message
from league.api.http.schema import operation
from league.api.people.serializers import (
    LimitOut,
    MeOut,
    NoticeOut,
    NoticesRead,
    NoticesToRead,
    PlayerOut,
    TokenMade,
    TokenNew,
    TokenOut,
)
from league.domain.notices import inbox
from league.domain.people import lists, quotas, tokens
from league.models import ApiToken, Notice, Player
from league.service import changes


class PlayersView(ListView):
    """/players"""

    kept_until = (changes.BOTS,)

    queryset = Player.objects.none()
    serializer_class = PlayerOut
    filterset_class = PlayerFilters

    @operation("list_players", "List players, newest first", tags=["players"])
    def get(self, request: Request) -> Response:
        """List every player of the league."""
        return self.page(self.filter_queryset(lists.rows()))


class OnePlayerView(ApiView):
    """/players/{name}"""

    kept_until = (changes.BOTS,)

    serializer_class = PlayerOut

    @operation("get_player", "Read a player", tags=["players"])
    def get(self, request: Request, name: str) -> Response:
        """Read one player by name."""
        return Response(PlayerOut(existing(lists.rows().filter(name=name).first())).data)


class MeView(ApiView):
    """/me"""

    permission_classes = [IsAuthenticated]
    serializer_class = MeOut

    @operation("get_me", "Read your own player", tags=["account"])
    def get(self, request: Request) -> Response:
        """Read the player of your token or session."""
        return Response(MeOut(player_of(request)).data)


class MyLimitsView(ApiView):
    """/me/limits"""

    permission_classes = [IsAuthenticated]
    serializer_class = LimitOut

    @operation("list_my_limits", "Read your limits", tags=["account"], responses=LimitOut(many=True))
    def get(self, request: Request) -> Response:
        """List your limits and how much of each you have used: queued boards and tournaments, bots, uploads."""
        return Response(LimitOut(quotas.limits(player_of(request)), many=True).data)


class MyNoticesView(ListView):
    """/me/notices"""

    permission_classes = [IsAuthenticated]
    queryset = Notice.objects.none()
    serializer_class = NoticeOut

    @operation("list_my_notices", "List your notices, newest first", tags=["account"])
    def get(self, request: Request) -> Response:
        """List your notices of the last 90 days."""
        return self.page(inbox.notices_of(player_of(request)))


class NoticesReadView(ApiView):
    """/me/notices/read"""

    permission_classes = [IsAuthenticated]
    serializer_class = NoticesToRead

    @operation("read_notices", "Mark notices as read", tags=["account"], responses=NoticesRead)
    def post(self, request: Request) -> Response:
        """Mark some of your notices, or all, as read. Ids that are not yours change nothing. Repeatable."""
        player, body = player_of(request), self.body()
        rows = inbox.notices_of(player).filter(pk__in=body["ids"]) if "ids" in body else None
        return Response(NoticesRead({"marked": inbox.mark_read(player, rows)}).data)


class TokensView(ListView):
    """/tokens"""

    permission_classes = [IsAuthenticated]
    queryset = ApiToken.objects.none()
    serializer_class = TokenNew

    @operation("list_tokens", "List your tokens, newest first", tags=["account"], responses=TokenOut(many=True))
    def get(self, request: Request) -> Response:
        """List your tokens, including revoked ones."""
        return self.page(player_of(request).tokens.all(), TokenOut)

    @operation("create_token", "Create a token", tags=["account"], responses={201: TokenMade})
    def post(self, request: Request) -> Response:
        """Create a token. The response has the key, once. Requires a session, because a leaked token must not create others."""
        if isinstance(request.auth, ApiToken):
            raise ApiProblem(
                "forbidden",
                message("An API key cannot create another key. Create one on your account page."),
            )
        if "Idempotency-Key" in request.headers:
            raise ApiProblem(
                "bad-request",
                message(
                    "This endpoint does not accept an Idempotency-Key, because the response contains a "
                    "secret that the league does not store."
                ),
            )
        body = self.body()
        token, key = tokens.create(player_of(request), body["label"], scope=body["scope"], days=body.get("days"))
        answer = TokenOut(token).data | {"key": key}
        return Response(answer, status=status.HTTP_201_CREATED)


class OneTokenView(ApiView):
    """/tokens/{id}"""

    serializer_class = TokenOut

    @operation("revoke_token", "Revoke a token", tags=["account"], responses={204: None})
    def delete(self, request: Request, id: int) -> Response:
        """Revoke a token. It is refused from now on. Repeatable."""
        player = player_of(request)
        tokens.revoke(existing(player.tokens.select_related("player").filter(pk=id).first()))
        return Response(status=status.HTTP_204_NO_CONTENT)
