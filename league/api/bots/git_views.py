"""Versions from Git repositories: asked for by players, and by forges that report a push."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.bots.git_serializers import FetchIn, FetchOut
from league.api.http import throttles
from league.api.http.auth import player_of
from league.api.http.base import ApiView, existing, once
from league.api.http.parsers import RawBody
from league.api.http.schema import KEY, operation
from league.api.http.throttles import ByCaller, Uploads
from league.domain.bots import fetches
from league.enums import TokenScope


class BotFetchesView(ApiView):
    """/bots/{slug}/fetches"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    throttle_classes = [ByCaller, Uploads]
    serializer_class = FetchIn

    @operation("fetch_version", "Upload a version of your bot from Git", parameters=[KEY], responses={201: FetchOut})
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Fetch a folder of a public repository at a tag, and upload it as a version. A bot that does not exist yet is created.

        Poll the Location until the fetch has a version, or says why it has none. A league fetches only from hosts that its operator allows.
        """
        wish = self.body()
        row = fetches.ask(player_of(request), slug, wish["url"], wish["tag"], wish["folder"])
        return self.created(FetchOut(row).data, "fetch", row.pk)


class OneFetchView(ApiView):
    """/fetches/{id}"""

    serializer_class = FetchOut

    @operation("get_fetch", "Read a fetch of yours")
    def get(self, request: Request, id: int) -> Response:
        """Read a fetch that you, or your webhook, asked for."""
        return Response(FetchOut(existing(player_of(request).fetches.defer("result").filter(pk=id).first())).data)


class PushView(ApiView):
    """/bots/{slug}/push"""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()  # The forges of many players have one address: only deliveries without a valid secret count for it.
    parser_classes = [RawBody]
    serializer_class: Any = FetchOut

    @operation(
        "report_push",
        "Report the push of a tag (webhook)",
        auth=[],
        request={"application/json": OpenApiTypes.OBJECT},
        responses={202: FetchOut, 204: None},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Fetch the tag that a forge reports, if the delivery has the signature of the webhook (GitHub, Gitea, Forgejo), or its token (GitLab).

        204: it reports no new tag. The same delivery again answers with the same fetch.
        """
        body = request.data if isinstance(request.data, bytes) else b""  # An empty body is not parsed.
        link = fetches.find_link(slug, body, request.headers)
        if link is None:
            throttles.refuse_bad_token(request._request)
        else:
            throttles.count_for(request._request, link.player.user_id)
        row = fetches.push(existing(link), body)
        return Response(status=status.HTTP_204_NO_CONTENT) if row is None else Response(FetchOut(row).data, 202)
