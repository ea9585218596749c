"""Volunteers: a program at home asks for work, and reports it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.base import ApiView
from league.api.http.parsers import StrictJSON
from league.api.http.schema import operation
from league.api.matches.volunteer_serializers import VolunteerOut, VolunteerTurn
from league.domain.volunteers import keys, work
from league.enums import TokenScope
from league.models import ApiToken
from league.service.changes import JUDGEMENTS


class ResultJSON(StrictJSON):
    """JSON that may have the size of a result."""

    most = work.MOST_RESULT


class VolunteerView(ApiView):
    """/volunteer"""

    scopes: ClassVar = {"POST": TokenScope.VOLUNTEER}
    parser_classes = (ResultJSON,)
    serializer_class = VolunteerTurn

    @operation("volunteer", "Work for the league: get a task, report a result", responses={200: VolunteerOut})
    def post(self, request: Request) -> Response:
        """Report and renew your tasks, and get another one. Only the key of a volunteer may do this (see the page on volunteers).

        A task that is not renewed for half a minute is taken back.
        """
        volunteer = keys.of_token(request.auth if isinstance(request.auth, ApiToken) else None)
        turn = self.body()
        work.require_same_program(turn["engine"])
        result = turn.get("result")
        accepted = result is not None and work.report(volunteer, **result)
        for task in turn["dropped"]:
            work.drop(volunteer, **task)
        answer = {
            "lost": [task["task"] for task in turn["running"] if not work.beat(volunteer, **task)],
            "accepted": accepted,
            "task": work.claim(volunteer) if turn["wants"] else None,
            "beat_s": settings.LEASE_S / 3,
            "topic": JUDGEMENTS,
        }
        return Response(VolunteerOut(answer).data)
