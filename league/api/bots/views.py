"""Bots and versions."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.bots.serializers import (
    AuditsOut,
    BotChange,
    BotOut,
    ClimbOut,
    EncounterOut,
    JudgedOut,
    Upload,
    VersionOut,
    VersionWithChecks,
)
from league.api.http.auth import player_of, user_of, viewer_of, viewer_of_list
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.filters import BotFilters, VersionFilters
from league.api.http.parsers import PackageBytes, PackageForm, StrictJSON
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.api.http.throttles import ByCaller, Uploads
from league.domain.audits import results
from league.domain.bots import bots, consent, lists
from league.domain.judgements import summing
from league.domain.ladders import climbs
from league.domain.matches import encounters, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import TokenScope, VersionStatus
from league.models import Bot, BotVersion
from league.service import changes


def _bots(request: Request) -> QuerySet[Bot]:
    return sight.bots(lists.rows().select_related("owner", "sends", "team"), user_of(request))


def _bot(request: Request, slug: str) -> Bot:
    return existing(sight.bots(Bot.objects.all(), user_of(request)).filter(slug=slug).first())


def _versions(request: Request) -> QuerySet[BotVersion]:
    return lists.versions().filter(sight.knows_bot(user_of(request), "bot__"))


class BotsView(ListView):
    """/bots"""

    kept_until = (changes.BOTS,)

    queryset = Bot.objects.none()
    serializer_class = BotOut
    filterset_class = BotFilters

    @operation("list_bots", "List bots, newest first")
    def get(self, request: Request) -> Response:
        """List every bot. The first upload creates a bot."""
        return self.page(self.filter_queryset(_bots(request)))


class OneBotView(ApiView):
    """/bots/{slug}"""

    kept_until = (changes.BOTS,)

    serializer_class = BotChange

    @operation("get_bot", "Read a bot", responses=BotOut)
    def get(self, request: Request, slug: str) -> Response:
        """Read one bot by its slug."""
        return Response(BotOut(existing(_bots(request).filter(slug=slug).first())).data)

    @operation("change_bot", "Describe, pause or retire your bot", responses=BotOut)
    def patch(self, request: Request, slug: str) -> Response:
        """Change your bot. During a pause its queued challenges and tests wait, for one day at most and once a week.

        All others are played, those of a retired bot, too. Running matches are always finished.
        """
        player_of(request)
        bot = existing(_bots(request).filter(slug=slug).first())
        player = self.allowed(bot, BotAct.MANAGE, f"the bot {slug}")
        change = self.body()
        if "state" in change:
            bots.set_state(bot, change["state"], actor=player.name)
        if "sends" in change:
            bots.choose_version(bot, change["sends"], actor=player.name)
        if "entry_policy" in change:
            consent.set_policy(bot, change["entry_policy"], actor=player.name)
        if "in_class" in change:
            (bots.keep_in_class if change["in_class"] else bots.show)(bot, actor=player.name)
        if "on_ladders" in change:
            consent.let_on_ladders(bot, on=change["on_ladders"], actor=player.name)
        if "offered_as_boss" in change:
            consent.offer_as_boss(bot, on=change["offered_as_boss"], actor=player.name)
        if "description" in change:
            bots.describe(bot, change["description"])
        return Response(BotOut(_bots(request).get(pk=bot.pk)).data)


class EncountersView(ListView):
    """/bots/{slug}/versus/{other}"""

    kept_until = (changes.RESULTS, changes.NAMES)

    serializer_class = EncounterOut
    filter_backends = ()

    @operation("list_meetings", "Read the results of two bots against each other, by pool")
    def get(self, request: Request, slug: str, other: str) -> Response:
        """Compare all versions of two different bots; the pool with the most boards comes first."""
        return self.page(encounters.list_encounters(*existing(encounters.find_pair(slug, other, user_of(request)))))


class JudgedSumsView(ListView):
    """/bots/{slug}/judged"""

    kept_until = (changes.BOTS, changes.POOLS)

    serializer_class = JudgedOut
    filter_backends = ()

    @operation("list_judged_sums", "List what the decisions of a bot gave away, by pool and phase")
    def get(self, request: Request, slug: str) -> Response:
        """List sums over analysed matches that everybody may see; empty if there are none. Fair and open analyses are separate."""
        return self.page(summing.of_bot(_bot(request, slug)))


class LeaguesView(ListView):
    """/bots/{slug}/leagues"""

    kept_until = (changes.BOTS,)

    serializer_class = ClimbOut
    filter_backends = ()

    @operation("list_leagues", "Read how far a bot has risen in the boss leagues of its games")
    def get(self, request: Request, slug: str) -> Response:
        """List the games of a bot: running tests first, then the highest leagues. Empty for a house bot."""
        return self.page(climbs.climbs_of_bot(_bot(request, slug)))


class VersionListView(ListView):
    """The base of lists of versions."""

    kept_until = (changes.BOTS,)

    queryset = BotVersion.objects.none()
    filterset_class = VersionFilters

    def get_serializer_context(self) -> dict[str, object]:
        """Add the viewer, on whom private fields depend."""
        return {**super().get_serializer_context(), "viewer": viewer_of_list(self.request)}


class VersionsView(VersionListView):
    """/versions"""

    serializer_class = VersionOut

    @operation("list_versions", "List versions of all bots, newest first")
    def get(self, request: Request) -> Response:
        """List every upload."""
        return self.page(self.filter_queryset(_versions(request)), VersionOut)


class BotVersionsView(VersionListView):
    """/bots/{slug}/versions"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}

    parser_classes = [PackageForm, PackageBytes, StrictJSON]
    throttle_classes = [ByCaller, Uploads]
    serializer_class = Upload

    def allowed_params(self, request: Request) -> set[str]:
        """Return the names; if the body is the file itself, name and games are in the query."""
        return {"filename", "games"} if request.method == "POST" else super().allowed_params(request)

    @operation("list_versions_of_bot", "List versions of a bot, newest first", responses=VersionOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List every upload of this bot."""
        bot = _bot(request, slug)
        return self.page(self.filter_queryset(lists.versions().filter(bot=bot)), VersionOut)

    @operation(
        "upload_version",
        "Upload a version of your bot",
        parameters=[
            OpenApiParameter("filename", str, description="Name of the file, if the body is the file itself."),
            OpenApiParameter(
                "games", str, description="Keys of games, separated by commas, if the body is the file itself."
            ),
            KEY,
        ],
        request={"multipart/form-data": Upload, "application/octet-stream": OpenApiTypes.BINARY},
        responses={201: VersionWithChecks},
        filters=False,
    )
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Upload one source file or a zip, as a form or as plain bytes.

        A bot that does not exist yet is created. Its name is changed to the form in addresses (`my_bot` becomes `my-bot`), which `bot` in the
        response shows. The version is `validating` until its validation has finished; poll the Location.
        """
        player = player_of(request)
        slug = bots.slug(slug)
        owned = sight.bots(Bot.objects.select_related("owner"), user_of(request)).filter(slug=slug).first()
        if owned is not None and not ownership.may(player, owned, BotAct.UPLOAD):
            raise PermissionDenied(
                message(
                    "The bot {slug} belongs to {owner}; choose another name for yours.",
                    slug=slug,
                    owner=owned.owner.name,
                )
            )
        sent = self.body()
        text = request.query_params.get("games", "") or sent.get("games", "")
        games = [key.strip() for key in text.split(",") if key.strip()]
        file = sent["file"]
        version = bots.upload(player, slug, file.read(), file.name, games or None)
        answer = VersionWithChecks(lists.versions().get(pk=version.pk), context=self.get_serializer_context()).data
        return self.created(answer, "version", version.pk)


class OneVersionView(ApiView):
    """/versions/{id}"""

    kept_until = (changes.BOTS,)  # A version shows nothing of matches except the ids of its validation matches.

    serializer_class = VersionWithChecks

    @operation("get_version", "Read a version")
    def get(self, request: Request, id: int) -> Response:
        """Read one upload by id."""
        version = existing(_versions(request).filter(pk=id).first())
        if version.status == VersionStatus.VALIDATING:
            changes.keep_until(request._request, changes.CLOCK)  # A worker with the compiler may come or go.
        return Response(VersionWithChecks(version, context={"viewer": viewer_of(request)}).data)


class VersionAuditsView(ApiView):
    """/versions/{id}/audits"""

    kept_until = (changes.BOTS, changes.AUDITS)

    serializer_class = AuditsOut

    @operation("get_version_audits", "Read the results of the audits of a version")
    def get(self, request: Request, id: int) -> Response:
        """Count the audited conversations of a version, by verdict."""
        version = existing(_versions(request).filter(pk=id).first())
        return Response(AuditsOut.of(version, results.summaries([version])[version.pk]).data)
