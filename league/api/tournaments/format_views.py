"""Formats and forecasts, rounds and brackets, and changes by the owner of a running tournament."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http import cursors
from league.api.http.auth import viewer_of
from league.api.http.base import ApiView, ListView
from league.api.http.schema import operation
from league.api.tournaments import rows
from league.api.tournaments.serializers import (
    BracketOut,
    ExtendNew,
    ForecastNew,
    ForecastOut,
    FormatOut,
    RoundOut,
    TournamentOut,
)
from league.api.tournaments.views import act_as_owner, counters_of, seen
from league.domain.core import paging
from league.domain.tournaments import brackets, forecast, formats, progress, tournaments
from league.enums import TokenScope
from league.models import Round, Tournament
from league.pure.formats import Parameter
from league.service import changes


def _parameter(parameter: Parameter, text: str) -> dict[str, Any]:
    kind = {bool: "boolean", int: "integer", float: "number"}[type(parameter.default)]
    bounds = (None, None) if kind == "boolean" else (parameter.low, parameter.high)
    return {
        "name": parameter.name,
        "text": text,
        "kind": kind,
        "default": parameter.default,
        "low": bounds[0],
        "high": bounds[1],
    }


class FormatsView(ApiView):
    """/formats"""

    kept_until = (changes.RELEASE,)

    serializer_class = FormatOut

    @operation("list_formats", "List tournament formats", responses=FormatOut(many=True))
    def get(self, request: Request) -> Response:
        """List formats, each with one sentence and its parameters."""
        answer = [
            {**vars(format), "parameters": [_parameter(parameter, text) for parameter, text in format.parameters]}
            for format in formats.describe_formats()
        ]
        return Response(FormatOut(answer, many=True).data)


class ForecastView(ApiView):
    """/forecast"""

    scopes: ClassVar = {"POST": TokenScope.READ}

    permission_classes = [AllowAny]
    serializer_class = ForecastNew

    @operation("forecast_tournament", "Forecast matches and duration of a tournament", responses=ForecastOut)
    def post(self, request: Request) -> Response:
        """Return the fewest and most matches, boards and sittings, and the duration at the current speed of the workers. Nothing is created.

        If the tournament would exceed your limit of boards, the refusal names the number that would fit.
        """
        data = self.body()
        boards = data.get("boards") or tournaments.default_boards(
            data["game"], data.get("players"), data.get("options")
        )
        prediction = forecast.forecast(
            data["game"],
            entries=data["entries"],
            boards=boards,
            format=data["format"],
            parameters=data.get("parameters"),
            players=data.get("players"),
            options=data.get("options"),
            mixed=data["mixed"],
            limited=True,
            owner=viewer_of(request),
        )
        return Response(ForecastOut(prediction).data)


class RoundsView(ListView):
    """/tournaments/{slug}/rounds"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the tournament and its bots."""
        return counters_of(params["slug"])

    queryset = Round.objects.none()
    serializer_class = RoundOut
    page_order = paging.Order.by("number")

    @operation("list_rounds", "List the rounds")
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds by number, each with its matches. If rounds depend on results, only the known ones are listed.

        A page has fewer rounds than `page_size` if these have more than 1,000 matches together.
        """
        tournament = seen(request, Tournament.objects.all(), slug)
        chosen = self._chosen(request, tournament)
        return self.get_paginated_response(
            [rows.describe_round(row) for row in brackets.read_rounds(tournament, chosen)]
        )

    def _chosen(self, request: Request, tournament: Tournament) -> list[Round]:
        """Return the rounds of the requested page. Two queries."""
        cursor, size = cursors.read_cursor(request, self.page_order.kinds), cursors.page_size(request)
        page = paging.read_page(tournament.rounds.all(), self.page_order, cursor, size)
        back = cursor is not None and cursor.back
        page = brackets.cut_rounds(page, back=back)
        return cast(cursors.CursorPages, self.paginator).show(request, page)


class BracketView(ApiView):
    """/tournaments/{slug}/bracket"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the tournament and its bots."""
        return counters_of(params["slug"])

    serializer_class = BracketOut

    @operation("get_bracket", "Read the bracket")
    def get(self, request: Request, slug: str) -> Response:
        """Read winners' and losers' bracket, finals and the match for third place, with the reason for each result."""
        tournament = seen(request, Tournament.objects.select_related("pool"), slug)
        steps = [
            {
                "part": step.pairing.part,
                "round": step.pairing.round,
                "place": step.pairing.place,
                "first": step.pairing.first,
                "second": step.pairing.second,
                "winner": step.pairing.winner,
                "by": step.pairing.decided_by or None,
                "matches": step.matches,
            }
            for step in brackets.read_bracket(tournament)
        ]
        return Response(BracketOut({"tournament": slug, "pairings": steps}).data)


class ExtendView(ApiView):
    """/tournaments/{slug}/extend"""

    serializer_class = ExtendNew

    @operation("extend_tournament", "Raise cycles, budget or cap of your running tournament", responses=TournamentOut)
    def post(self, request: Request, slug: str) -> Response:
        """Add matches; existing ones do not change. Repeatable."""
        return act_as_owner(
            self, slug, lambda row, actor: tournaments.extend(row, self.body()["parameters"], actor=actor)
        )


class CloseView(ApiView):
    """/tournaments/{slug}/close"""

    serializer_class = TournamentOut

    @operation("close_tournament", "End your ladder", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """End a ladder: its current order is final, and queued matches are cancelled. All other formats end by themselves."""
        return act_as_owner(self, slug, lambda row, actor: progress.close(row, actor=actor))
