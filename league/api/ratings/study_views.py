"""Studies of the rules, which everybody may read and whoever has an account may start."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

import engine
from league.api.http.auth import player_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.output import column_names
from league.api.http.schema import KEY, operation
from league.api.ratings.study_serializers import StudyDetail, StudyNew, StudyOut
from league.domain.ratings import pools
from league.domain.studies import asking
from league.enums import TokenScope
from league.models import Study


def _rows() -> QuerySet[Study]:
    return Study.objects.select_related("parent", "player").filter(game__in=engine.games())


class StudiesView(ListView):
    """/studies"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    queryset = Study.objects.none()
    filter_backends = ()
    serializer_class = StudyOut
    params = ("game",)

    @operation(
        "list_studies",
        "List studies of rules, newest first",
        tags=["games"],
        parameters=[OpenApiParameter("game", str, description="Key of a game: only its studies.")],
        responses=StudyOut(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the studies, without their reports."""
        rows = _rows().only(*column_names(StudyOut))
        game = request.query_params.get("game")
        return self.page(rows if game is None else rows.filter(game=game))

    @operation(
        "start_study",
        "Study the rules of a variant",
        tags=["games"],
        parameters=[KEY],
        request=StudyNew,
        responses={201: StudyDetail},
    )
    @once
    def post(self, request: Request) -> Response:
        """Let workers play boards by these rules and by the usual ones between two house bots.

        Equal rules, bots and engine are one study, which goes on if you ask for more boards. Poll the Location until `decided`.
        """
        serializer = StudyNew(data=request.data)
        serializer.is_valid(raise_exception=True)
        wish = serializer.validated_data
        game = pools.load(wish["game"], wish.get("players"), wish.get("options"))
        row = asking.begin(game, player_of(request), boards=wish["boards"], better=wish["better"])
        return self.created(StudyDetail(_rows().get(pk=row.pk)).data, "study", row.key)


class OneStudyView(ApiView):
    """/studies/{key}"""

    serializer_class = StudyDetail

    @operation("get_study", "Read a study with its report", tags=["games"])
    def get(self, request: Request, key: str) -> Response:
        """Read a study. Its report grows with the boards."""
        return Response(StudyDetail(existing(_rows().filter(key=key).first())).data)


class StopStudyView(ApiView):
    """/studies/{key}/stop"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = StudyDetail

    @operation("stop_study", "Stop a study that you have started", tags=["games"], request=None)
    def post(self, request: Request, key: str) -> Response:
        """Stop a study; its report stays. A study that has ended stays as it is. Operators stop any, and then only they let it go on."""
        asking.stop(existing(_rows().filter(key=key).first()), player_of(request))
        return Response(StudyDetail(_rows().get(key=key)).data)
