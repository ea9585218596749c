"""Tunings of a bot's parameters, for those who may upload it."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.bots.tuning_serializers import TuningDetail, TuningIn, TuningOut
from league.api.http.auth import player_of, user_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.output import column_names
from league.api.http.schema import KEY, operation
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.people.ownership import BotAct
from league.domain.tunings import asking
from league.enums import TokenScope
from league.models import Bot, Tuning


def _rows() -> QuerySet[Tuning]:
    people = (f"{version}__bot__{owner}" for version in ("version", "opponent") for owner in ("owner", "team"))
    return Tuning.objects.select_related(*people)


class BotTuningsView(ListView):
    """/bots/{slug}/tunings"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    queryset = Tuning.objects.none()
    filter_backends = ()
    serializer_class = TuningOut

    @operation("list_tunings", "List the tunings of your bot, newest first", responses=TuningOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the tunings of a bot whose versions you may upload."""
        names = filter(None, column_names(TuningOut))
        rows = _rows().only(*names, "parameters", "values")  # Without the courses.
        return self.page(rows.filter(version__bot=self._bot(request, slug)))

    @operation(
        "start_tuning",
        "Tune the parameters of your bot",
        parameters=[KEY],
        request=TuningIn,
        responses={201: TuningDetail},
    )
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Search better values of the parameters that the newest accepted version declares, and test them against its own.

        Poll the Location until `decided`. You can have one running tuning.
        """
        bot = self._bot(request, slug)
        serializer = TuningIn(data=request.data)
        serializer.is_valid(raise_exception=True)
        version = asking.newest(bot)
        if version is None:
            raise Refused("{bot!r} has no accepted version yet", bot=bot.slug)
        wish = serializer.validated_data
        row = asking.begin(version, wish["game"], self.player, boards=wish["boards"], opponent=wish["opponent"])
        return self.created(TuningDetail(_rows().get(pk=row.pk)).data, "tuning", row.pk)

    def _bot(self, request: Request, slug: str) -> Bot:
        """Return the bot; raise PermissionDenied if the caller may not tune it."""
        bot = existing(sight.bots(Bot.objects.select_related("owner"), user_of(request)).filter(slug=slug).first())
        self.player = self.allowed(bot, BotAct.UPLOAD, f"the bot {slug}")
        return bot


class OneTuningView(ApiView):
    """/tunings/{id}"""

    serializer_class = TuningDetail

    @operation("get_tuning", "Read a tuning of your bot")
    def get(self, request: Request, id: int) -> Response:
        """Read a tuning with its course."""
        return Response(TuningDetail(tuning_for(self, id)).data)


class StopTuningView(ApiView):
    """/tunings/{id}/stop"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TuningDetail

    @operation("stop_tuning", "Stop a tuning of your bot", request=None)
    def post(self, request: Request, id: int) -> Response:
        """Stop a tuning; its values so far stay. A tuning that has ended stays as it is."""
        asking.stop(tuning_for(self, id), player_of(request))
        return Response(TuningDetail(tuning_for(self, id)).data)


def tuning_for(view: ApiView, id: int) -> Tuning:
    """Return a tuning; raise NotFound or PermissionDenied if the caller may not know it."""
    bots = sight.bots(Bot.objects.all(), user_of(view.request))
    row = existing(_rows().filter(pk=id, version__bot__in=bots).first())
    view.allowed(row.version.bot, BotAct.UPLOAD, f"the bot {row.version.bot.slug}")
    return row
