"""Remote bots: the author's program asks for lines, and answers them."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from league.api.bots.remote_serializers import RemoteOut, RemoteTurn
from league.api.http.auth import user_of
from league.api.http.base import ApiView, existing
from league.api.http.schema import operation
from league.api.http.throttles import RemoteRate
from league.domain.matches import sight
from league.domain.people.ownership import BotAct
from league.domain.remote import links
from league.enums import TokenScope
from league.models import Bot
from league.service import topics


class RemoteView(ApiView):
    """/bots/{slug}/remote"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    throttle_classes = [RemoteRate]
    serializer_class = RemoteTurn

    @operation(
        "answer_remotely", "Connect your remote bot: read its open requests, answer one", responses={200: RemoteOut}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Answer a line, if you name one, and read the open lines. A bot that has not asked for 30 seconds gets no new match.

        Ask again when `/live?topic=...` reports a change, or every second.
        """
        bot = existing(sight.bots(Bot.objects.select_related("owner"), user_of(request)).filter(slug=slug).first())
        self.allowed(bot, BotAct.UPLOAD, f"the bot {slug}")
        turn = self.body()
        links.note_seen(bot, turn["matches"])
        sent = turn.get("answer")
        accepted = sent is not None and links.answer(bot, sent["match"], sent["number"], sent["line"])
        # Read first: a match that ends meanwhile is still in the list, and its last line comes next time.
        matches = links.live_matches(bot)
        state = {
            "requests": [asdict(row) for row in links.requests(bot, turn["playing"])],
            "matches": matches,
            "accepted": accepted,
            "topic": topics.of_remote(bot.pk),
        }
        return Response(RemoteOut(state).data)
