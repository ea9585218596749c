"""Teams: people who share bots, with the same functions as on the pages; handing a bot on."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from rest_framework import status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.bots.serializers import BotOut
from league.api.bots.team_serializers import (
    MemberChange,
    MemberNew,
    MemberOut,
    MembershipOut,
    OfferNew,
    OfferOut,
    TeamBotNew,
    TeamLineOut,
    TeamName,
    TeamOut,
)
from league.api.http.auth import player_of, user_of, viewer_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.domain.bots import closing, lists, moves, teams
from league.domain.matches import sight
from league.enums import BotState
from league.models import Bot, BotOffer, LeagueEvent, Team, TeamMember


def _team(name: str) -> Team:
    return existing(Team.objects.filter(name=name).first())


def _answer(request: Request, team: Team) -> Any:
    """Return a team as the caller may see it."""
    bots = sight.bots(team.bots.exclude(state=BotState.RETIRED), user_of(request)).order_by("slug")
    _own, members = teams.shown_to(team, viewer_of(request))
    row = {"name": team.name, "created": team.created, "members": members}
    return TeamOut({**row, "bots": list(bots.values_list("slug", flat=True))}).data


def _bot(request: Request, slug: str) -> Bot:
    """Return a bot that the caller knows, or that somebody offers them."""
    visible_bots = sight.bots(Bot.objects.all(), user_of(request)).values("pk")
    offers = BotOffer.objects.filter(receiver=player_of(request)).values("bot")
    rows = Bot.objects.filter(Q(pk__in=visible_bots) | Q(pk__in=offers), slug=slug)
    return existing(rows.select_related("owner", "team").first())


class MyTeamsView(ListView):
    """/me/teams"""

    permission_classes = (IsAuthenticated,)
    queryset = TeamMember.objects.none()
    serializer_class = MembershipOut
    filter_backends = ()

    @operation("list_my_teams", "List your teams and invitations", tags=["account"])
    def get(self, request: Request) -> Response:
        """List your teams and the invitations that you have not answered, the newest invitation first."""
        return self.page(player_of(request).memberships.select_related("team"))


class TeamsView(ApiView):
    """/teams"""

    serializer_class = TeamName

    @operation("create_team", "Create a team", parameters=[KEY], responses={201: TeamOut})
    @once
    def post(self, request: Request) -> Response:
        """Create a team with you as its only member and owner. Teams and players share their names."""
        team = teams.create(player_of(request), self.body()["name"])
        return self.created(_answer(request, team), "team", team.name)


class OneTeamView(ApiView):
    """/teams/{name}"""

    serializer_class = TeamName

    @operation("get_team", "Read a team", responses=TeamOut)
    def get(self, request: Request, name: str) -> Response:
        """Read a team: its bots, and the members whom you may see."""
        return Response(_answer(request, _team(name)))

    @operation("rename_team", "Rename your team", responses=TeamOut)
    def patch(self, request: Request, name: str) -> Response:
        """Rename the team as one of its owners."""
        team, player = _team(name), player_of(request)
        teams.rename(team, self.body()["name"], player=player)
        return Response(_answer(request, team))

    @operation("dissolve_team", "Dissolve your team", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Dissolve the team as one of its owners. Its bots go back to their owners."""
        player = player_of(request)
        teams.dissolve(_team(name), player=player)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MembersView(ApiView):
    """/teams/{name}/members"""

    serializer_class = MemberNew

    @operation("invite_member", "Invite a player to your team", parameters=[KEY], responses={201: MemberOut})
    @once
    def post(self, request: Request, name: str) -> Response:
        """Invite a player as one of the owners of the team. They are in it when they accept."""
        player, data = player_of(request), self.body()
        member = teams.invite(_team(name), data["player"], data["role"], player=player)
        return Response(MemberOut(member).data, status.HTTP_201_CREATED)


class OneMemberView(ApiView):
    """/teams/{name}/members/{player}"""

    serializer_class = MemberChange

    @operation("change_member", "Accept an invitation, or change a member", responses=TeamOut)
    def patch(self, request: Request, name: str, player: str) -> Response:
        """Change a role as one of the owners; under your own name accept the invitation, or choose who may read of it. Repeatable."""
        team, caller, change = _team(name), player_of(request), self.body()
        if "role" in change:
            teams.set_role(team, player, change["role"], player=caller)
        elif player != caller.name:
            raise PermissionDenied(message("Only {name} can do this.", name=player))
        elif "joined" in change:
            teams.accept(team, caller, is_shown=change.get("shown", False))
        else:
            teams.show(team, caller, is_shown=change["shown"])
        return Response(_answer(request, team))

    @operation("remove_member", "Leave a team, or remove a member", responses={204: None})
    def delete(self, request: Request, name: str, player: str) -> Response:
        """Under your own name leave with your bots, or decline the invitation; as one of the owners remove somebody else."""
        team, caller = _team(name), player_of(request)
        if player != caller.name:
            teams.remove(team, player, player=caller)
        elif team.members.filter(player=caller, since=None).exists():
            teams.decline(team, caller)
        else:
            teams.leave(team, caller)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamBotsView(ApiView):
    """/teams/{name}/bots"""

    serializer_class = TeamBotNew

    @operation("put_in_team", "Put your bot in a team", responses=TeamOut)
    def post(self, request: Request, name: str) -> Response:
        """Put your own bot in a team in which you may upload. Repeatable."""
        team, player = _team(name), player_of(request)
        teams.put_in(team, _bot(request, self.body()["bot"]), player=player)
        return Response(_answer(request, team))


class OneTeamBotView(ApiView):
    """/teams/{name}/bots/{bot}"""

    serializer_class = TeamOut

    @operation("take_out_of_team", "Take a bot out of a team", responses={204: None})
    def delete(self, request: Request, name: str, bot: str) -> Response:
        """Take a bot out as its owner, or as one of the owners of the team."""
        player, row = player_of(request), _bot(request, bot)
        if row.team_id != _team(name).pk:
            raise NotFound
        teams.take_out(row, player=player)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamHistoryView(ListView):
    """/teams/{name}/history"""

    permission_classes = (IsAuthenticated,)
    queryset = LeagueEvent.objects.none()
    serializer_class = TeamLineOut
    filter_backends = ()

    @operation("list_team_history", "Read who did what in your team, newest first")
    def get(self, request: Request, name: str) -> Response:
        """List the lines as a member of the team."""
        team = _team(name)
        own, _members = teams.shown_to(team, player_of(request))
        if own is None or own.since is None:
            raise PermissionDenied(message("Only members of the team can read its history."))
        rows: list[LeagueEvent] = self.paginate_queryset(teams.lines(team)) or []
        former = closing.former({name for row in rows for name in (row.actor, str(row.data.get("player", "")))})

        def named(name: Any) -> str | None:
            return None if name is None or name in former else str(name)

        lines = [
            {
                "at": row.at,
                "actor": named(row.actor),
                "what": row.kind.partition(".")[2],
                **{word: named(row.data.get(word)) for word in ("player", "was", "to")},
            }
            for row in rows
        ]
        return self.get_paginated_response(TeamLineOut(lines, many=True).data)


class MyOffersView(ListView):
    """/me/offers"""

    permission_classes = (IsAuthenticated,)
    queryset = BotOffer.objects.none()
    serializer_class = OfferOut
    filter_backends = ()

    @operation("list_my_offers", "List the bots that players offer you", tags=["account"])
    def get(self, request: Request) -> Response:
        """List the bots that you may take over, the oldest offer first."""
        return self.page(list(moves.offers(player_of(request)).select_related("receiver")))


class OfferView(ApiView):
    """/bots/{slug}/offer"""

    serializer_class = OfferNew

    @operation("offer_bot", "Offer your bot to another player", parameters=[KEY], responses={201: OfferOut})
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Offer your bot; it stays yours until they accept. A new offer replaces the one before."""
        player, bot = player_of(request), _bot(request, slug)
        return Response(OfferOut(moves.offer(bot, self.body()["player"], player=player)).data, status.HTTP_201_CREATED)

    @operation("end_offer", "Withdraw your offer, or decline one", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Withdraw the offer as the owner of the bot, or decline it as the player to whom it is offered. Repeatable."""
        moves.end(_bot(request, slug), player=player_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class AcceptOfferView(ApiView):
    """/bots/{slug}/offer/accept"""

    serializer_class = BotOut

    @operation("accept_offer", "Take over a bot that is offered to you", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Take the bot over within your limits. Ratings, results and entries stay with it."""
        bot = _bot(request, slug)
        moves.accept(bot, player=player_of(request))
        return Response(BotOut(lists.rows().select_related("owner", "sends", "team").get(pk=bot.pk)).data)
