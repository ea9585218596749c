"""Actions of operators on things that belong to others (league.domain.operators)."""

from __future__ import annotations

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http.auth import player_of
from league.api.http.base import ApiView, ListView
from league.api.http.problems import message
from league.api.http.schema import operation
from league.api.operators.serializers import ActionOut, ActNew, ActOut, OutcomeOut, action_out, outcome_out
from league.domain.operators import acting
from league.domain.operators.actions import ACTIONS
from league.models import LeagueEvent, Player


def _operator(request: Request) -> Player:
    """Return the caller if they are an operator. Raise PermissionDenied for all others."""
    player = player_of(request)
    if not (player.user.is_staff or player.user.is_superuser):
        raise PermissionDenied(message("Only operators may do this."))
    return player


class ActionsView(ApiView):
    """/operators/actions"""

    permission_classes = [IsAuthenticated]
    serializer_class = ActNew

    @operation(
        "list_operator_actions",
        "List the actions of operators, and which of them you may do",
        responses=ActionOut(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the actions. For operators."""
        player = _operator(request)
        return Response(ActionOut([action_out(action, player) for action in ACTIONS.values()], many=True).data)

    @operation("act_as_operator", "Act as an operator, or see what would happen", responses=OutcomeOut)
    def post(self, request: Request) -> Response:
        """Do an action for which you have the right, but never where your own bots are concerned. With `dry_run` nothing changes. Repeatable."""
        player = _operator(request)
        sent = self.body()
        name, texts, why = sent.pop("action"), sent.pop("subjects"), sent.pop("why")
        dry_run = sent.pop("dry_run")
        outcome = acting.act(name, texts, sent, why=why, operator=player, dry_run=dry_run)
        return Response(OutcomeOut(outcome_out(name, outcome, dry_run=dry_run)).data)


class JournalView(ListView):
    """/operators/journal"""

    permission_classes = [IsAuthenticated]
    queryset = LeagueEvent.objects.none()
    serializer_class = ActOut
    filter_backends = ()

    @operation("list_operator_acts", "List past actions of operators, newest first")
    def get(self, request: Request) -> Response:
        """List past actions, with a row for each subject. For operators."""
        _operator(request)
        return self.page(acting.latest())
