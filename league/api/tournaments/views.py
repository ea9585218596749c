"""Tournaments, entries, standings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http import cursors
from league.api.http.auth import player_of, user_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.filters import TournamentFilters
from league.api.http.moments import AT, moment
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.api.tournaments.request_serializers import RequestOut
from league.api.tournaments.rows import counted, listed
from league.api.tournaments.serializers import (
    CancelNew,
    EmbargoNew,
    EntryNew,
    EntryOut,
    StandingsOut,
    TournamentNew,
    TournamentOut,
)
from league.domain.core import paging
from league.domain.matches import embargoes, sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tournaments import enrolment, progress, standings, tournaments
from league.enums import TokenScope
from league.models import Bot, BotVersion, Entry, EntryRequest, Player, Tournament
from league.pure.rating.standings import Crosstable
from league.service import changes

AGAINST = OpenApiParameter(
    "against",
    str,
    description="Cursor of the page whose entries are the columns of the crosstable; if left out, the entries of this page.",
)


def seen(request: Request, rows: QuerySet[Tournament], slug: str) -> Tournament:
    """Return the tournament with this slug among `rows`; 404 if the viewer may not see it."""
    return existing(sight.tournaments(rows, user_of(request)).filter(slug=slug).first())


def one_tournament(request: Request, slug: str) -> Tournament:
    """Return the tournament with its counts, or 404."""
    tournament = existing(listed(user_of(request)).filter(slug=slug).first())
    counted([tournament])
    return tournament


def counters_of(slug: str) -> Sequence[str]:
    """Return the counters of a tournament and its bots; none if it does not exist."""
    pk = sight.find_tournament(slug)
    return (changes.of_tournament(pk), changes.BOTS) if pk else ()


def asked(request: EntryRequest, player: Player) -> Response:
    """Answer 202: the owner of the bot first has to agree to the request of `player`."""
    where = reverse("api:request", args=[request.pk])
    answer = RequestOut(request, context={"viewer": player}).data
    return Response(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": where})


def act_as_owner(view: ApiView, slug: str, act: Callable[[Tournament, str], object]) -> Response:
    """Let the owner of a tournament act on it, and answer with the changed tournament. `act` gets the tournament and the owner's name."""
    tournament = one_tournament(view.request, slug)
    act(tournament, view.owner_only(tournament.owner, f"the tournament {slug}").name)
    return Response(TournamentOut(one_tournament(view.request, slug)).data)


class TournamentsView(ListView):
    """/tournaments"""

    kept_until = (changes.TOURNAMENTS, changes.MATCHES, changes.BOTS)

    queryset = Tournament.objects.none()
    serializer_class = TournamentNew
    filterset_class = TournamentFilters

    @operation("list_tournaments", "List tournaments, newest first", responses=TournamentOut(many=True))
    def get(self, request: Request) -> Response:
        """List every tournament in every status."""
        chosen = self.paginate_queryset(self.filter_queryset(listed(user_of(request)))) or []
        return self.get_paginated_response(TournamentOut(counted(chosen), many=True).data)

    @operation(
        "create_tournament", "Create a tournament", parameters=[KEY], responses={201: TournamentOut}, filters=False
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a tournament in any format. It is open for entries until its owner starts it."""
        player, body = player_of(request), self.body()
        names = body.get("bots", [])
        bots = {bot.slug: bot for bot in sight.bots(Bot.objects.filter(slug__in=names), player.user)}
        missing = [name for name in names if name not in bots]
        if missing:
            raise ValidationError(
                {
                    "bots": [
                        message("there is no bot {name!r}; /api/v1/bots lists all bots", name=name) for name in missing
                    ]
                }
            )
        with transaction.atomic():
            tournament = tournaments.create(
                player,
                body["name"],
                body["game"],
                body.get("options"),
                body.get("boards"),
                [bots[name] for name in names],
                body.get("players"),
                format=body["format"],
                parameters=body.get("parameters"),
                seeding=body["seeding"],
                mixed=body["mixed"],
                sealed=body["sealed"],
            )
            if body["start"]:
                tournaments.start_at_once(tournament, actor=player.name)
        answer = TournamentOut(one_tournament(request, tournament.slug)).data
        return self.created(answer, "tournament", tournament.slug)


class OneTournamentView(ApiView):
    """/tournaments/{slug}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the tournament and its bots."""
        return counters_of(params["slug"])

    serializer_class = TournamentOut

    @operation("get_tournament", "Read a tournament")
    def get(self, request: Request, slug: str) -> Response:
        """Read one tournament by its slug."""
        return Response(TournamentOut(one_tournament(request, slug)).data)


class StartView(ApiView):
    """/tournaments/{slug}/start"""

    serializer_class = TournamentOut

    @operation("start_tournament", "Start your tournament", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Fix the entries and queue the matches. Repeatable."""
        return act_as_owner(self, slug, lambda row, actor: tournaments.start(row, actor=actor))


class CancelView(ApiView):
    """/tournaments/{slug}/cancel"""

    serializer_class = CancelNew

    @operation("cancel_tournament", "Cancel your tournament", responses=TournamentOut)
    def post(self, request: Request, slug: str) -> Response:
        """Cancel queued and running matches. Finished ones stay and count. Repeatable."""
        return act_as_owner(self, slug, lambda row, actor: progress.cancel(row, actor=actor, why=self.body()["why"]))


class PauseView(ApiView):
    """/tournaments/{slug}/pause"""

    serializer_class = TournamentOut

    @operation("pause_tournament", "Pause your tournament", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Start no further match; running ones are finished. Repeatable."""
        return act_as_owner(self, slug, lambda row, actor: progress.pause(row, actor=actor))


class ResumeView(ApiView):
    """/tournaments/{slug}/resume"""

    serializer_class = TournamentOut

    @operation("resume_tournament", "Resume your paused tournament", request=None)
    def post(self, request: Request, slug: str) -> Response:
        """Resume the tournament: its matches start again, in their turn. Repeatable."""
        return act_as_owner(self, slug, lambda row, actor: progress.resume(row, actor=actor))


class EmbargoView(ApiView):
    """/tournaments/{slug}/embargo"""

    serializer_class = EmbargoNew

    @operation("hold_back_tournament", "Hide the replays of your tournament", responses=TournamentOut)
    def post(self, request: Request, slug: str) -> Response:
        """Hide replays and the secret until a time; results are shown. In a finished tournament the time can only become earlier."""
        player, until = player_of(request), self.body()["until"]
        return act_as_owner(self, slug, lambda row, _: embargoes.change_own(row, until, owner=player))


class EntriesView(ListView):
    """/tournaments/{slug}/entries"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the tournament and its bots."""
        return counters_of(params["slug"])

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}

    queryset = Entry.objects.none()
    serializer_class = EntryNew
    page_order = paging.Order.by("number")

    @operation("list_entries", "List the entries", responses=EntryOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the entries by number."""
        tournament = seen(request, Tournament.objects.all(), slug)
        return self.page(tournament.entries.select_related("version__bot__owner", "version__bot__team"), EntryOut)

    @operation(
        "enter_tournament", "Enter a bot", parameters=[KEY], responses={201: EntryOut, 202: RequestOut}, filters=False
    )
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Enter your own bot, or, as the owner of the tournament, any bot whose owner agrees.

        If the owner of the bot has to agree first, the response is 202 with the request. Repeatable.
        """
        player, body = player_of(request), self.body()
        tournament = seen(request, Tournament.objects.select_related("owner__user", "pool"), slug)
        entrant: Bot | BotVersion | None
        if "bot" in body:
            rows = sight.bots(Bot.objects.select_related("owner"), player.user)
            entrant = rows.filter(slug=body["bot"]).first()
            owned = entrant
        else:
            versions = BotVersion.objects.filter(sight.knows_bot(player.user, "bot__"), pk=body["version"])
            entrant = versions.select_related("bot__owner", "bot__team").first()
            owned = entrant.bot if entrant else None
        if entrant is None or owned is None:
            field = "bot" if "bot" in body else "version"
            raise ValidationError({field: [message("there is no {field} {value!r}", field=field, value=body[field])]})
        if player.pk != tournament.owner_id:
            self.allowed(owned, BotAct.ENTER, f"the bot {body.get('bot') or entrant}")
        entry = enrolment.enter(tournament, entrant, player=player, message=body["message"])
        if isinstance(entry, EntryRequest):
            return asked(entry, player)
        row = Entry.objects.select_related("version__bot__owner", "version__bot__team").get(pk=entry.pk)
        return Response(EntryOut(row).data, status=status.HTTP_201_CREATED)


class OneEntryView(ApiView):
    """/tournaments/{slug}/entries/{number}"""

    scopes: ClassVar = {"DELETE": TokenScope.SUBMIT}

    serializer_class = EntryOut

    @operation("withdraw_entry", "Withdraw an entry", responses={204: None})
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Withdraw a bot as its owner; before the start and in a ladder also as the owner of the tournament. Repeatable.

        Before the start the entry is removed. In a running ladder it gets no new match. In any other running tournament its matches are still
        played and count, but it does not advance to a further stage.
        """
        rows = Entry.objects.select_related("tournament__owner", "version__bot__owner", "version__bot__team")
        entry = existing(rows.filter(tournament__slug=slug, number=number).first())
        player = player_of(request)
        is_own = ownership.may(player, entry.version.bot, BotAct.ENTER)
        if not is_own:  # The owner may withdraw the bot even if the event is hidden
            seen(request, Tournament.objects.all(), slug)
        if player.pk != entry.tournament.owner_id:
            self.allowed(entry.version.bot, BotAct.ENTER, f"the entry of {entry.version}")
        enrolment.withdraw(entry.tournament, entry.version, player=player)
        return Response(status=status.HTTP_204_NO_CONTENT)


class StandingsView(ApiView):
    """/tournaments/{slug}/standings"""

    serializer_class = StandingsOut
    params = ("at", "against", *cursors.PARAMETERS)

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the tournament and its bots."""
        return counters_of(params["slug"])

    @operation("get_standings", "Read standings and crosstable", parameters=[AT, AGAINST, *cursors.DESCRIBED])
    def get(self, request: Request, slug: str) -> Response:
        """Read the standings from finished matches, in the order of the format (docs/tournaments.md), with the tie-break values."""
        tournament = seen(request, Tournament.objects.select_related("pool"), slug)
        at, size = moment(request), cursors.page_size(request)
        sheet = standings.standings(tournament, at)
        pages = cursors.CursorPages()
        rows = pages.show(request, paging.cut_page(sheet.rows, cursors.read_cursor(request, (int,)), size))
        across = paging.cut_page(sheet.rows, cursors.read_cursor(request, (int,), "against"), size).rows
        columns = across if "against" in request.query_params else rows
        down, over = ([row.entry for row in side] for side in (rows, columns))
        met = standings.meetings(tournament, down, over, at, played=sheet.played)
        table = {
            "tournament": tournament.slug,
            "status": tournament.status,
            "matches": sheet.statuses,
            "entries": len(sheet.rows),
            **pages.links(),
            "rows": rows,
            "crosstable": [],
        }
        # Without a serializer: there are many cells, and they are plain values already.
        cells = _describe_cells(sheet.cells, [entry.number for entry in down], [entry.number for entry in over], met)
        return Response({**StandingsOut(table).data, "crosstable": cells})


def _describe_cells(
    table: Crosstable, rows: list[int], columns: list[int], met: Mapping[tuple[int, int], list[str]]
) -> list[dict[str, Any]]:
    """Return the cells between these entries, in the order of their numbers, except for entries that have not met."""
    down, across = ([table.place[number] for number in sorted(side)] for side in (rows, columns))
    wins, draws = (matrix[np.ix_(down, across)].tolist() for matrix in (table.wins, table.draws))
    losses = table.wins[np.ix_(across, down)].T.tolist()
    return [
        {
            "entry": a,
            "opponent": b,
            "boards": won + drawn + lost,
            "wins": won,
            "draws": drawn,
            "losses": lost,
            "points": won + drawn / 2,
            "matches": met.get((a, b), []),
        }
        for a, *line in zip(sorted(rows), wins, draws, losses, strict=True)
        for b, won, drawn, lost in zip(sorted(columns), *line, strict=True)
        if won + drawn + lost
    ]
