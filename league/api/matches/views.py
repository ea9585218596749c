"""Matches, boards, replays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from engine.analysis import Tally
from league.api.http.auth import player_of, user_of, viewer_of
from league.api.http.base import ApiView, ListView, StreamedView, existing, once
from league.api.http.filters import BoardFilters, MatchFilters
from league.api.http.problems import bad_parameter, message
from league.api.http.schema import KEY, operation
from league.api.matches.rows import boards_of, describe_matches, listed, whole
from league.api.matches.serializers import (
    BoardOut,
    ChallengeNew,
    CommentOut,
    ConsultationDetail,
    ConsultationOut,
    DataFileOut,
    JudgementDetail,
    JudgementOut,
    MatchDetail,
    MatchOut,
    ReplayOut,
    TryNew,
    TryOut,
)
from league.domain.bots import challenges, languages, tries
from league.domain.consultations import asking as consultations
from league.domain.consultations.reading import answers
from league.domain.core import paging
from league.domain.core.errors import Refused, shown
from league.domain.judgements import asking, bodies, reading
from league.domain.matches import replays, sight
from league.domain.talk import places
from league.domain.upkeep import open_data
from league.enums import ConsultationStatus, JudgementKind, JudgementStatus, TokenScope
from league.models import Board, Bot, BotVersion, Comment, Match, Sitting
from league.service import changes


def _match(request: Request, id: str) -> Match:
    """Return the match without related rows; 404 if the viewer may not see it."""
    return existing(sight.matches(Match.objects.all(), user_of(request)).filter(public_id=id).first())


def _counters_of(id: str) -> Sequence[str]:
    """Return the counters of one match with its bots. A match of a tournament has the tournament's counter, so that other matches do not count."""
    tournament = sight.find_tournament_of(id)
    return changes.MATCHES if tournament is None else changes.of_tournament(tournament), changes.BOTS


def _boards(match: Match) -> QuerySet[Board]:
    return boards_of(Board.objects.filter(match=match))


class ChallengesView(ApiView):
    """/challenges"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ChallengeNew

    @operation(
        "challenge",
        "Let one of your bots play an unrated match",
        parameters=[KEY],
        responses={201: MatchOut},
    )
    @once
    def post(self, request: Request) -> Response:
        """Play accepted versions of your bot and others, unless their owners have forbidden it; they are not asked. The match has a low priority.

        In games of more than two sides the further bots are in `others`.
        """
        player, body = player_of(request), self.body()
        own = _named(request, body, "bot", "version")
        rivals = [_named(request, body, "against", "against_version")]
        rivals += [_named(request, other, "bot", "version") for other in body["others"]]
        match = challenges.challenge(player, own, rivals, body["game"], body["boards"])
        return self.created(MatchOut(whole(user_of(request)).get(pk=match.pk)).data, "match", match.public_id)


def _named(request: Request, body: dict[str, Any], bot: str, number: str) -> Bot | BotVersion:
    """Return the bot, or its version with this number. Raise ValidationError if there is none."""
    row = sight.bots(Bot.objects.all(), user_of(request)).filter(slug=body[bot]).first()
    if row is None:
        raise ValidationError({bot: [message("there is no bot {name!r}; /api/v1/bots lists all bots", name=body[bot])]})
    if body[number] is None:
        return row
    version = row.versions.select_related("bot").filter(number=body[number]).first()
    if version is None:
        raise ValidationError({number: [message("there is no {field} {value!r}", field=number, value=body[number])]})
    return version


class MatchesView(StreamedView):
    """/matches"""

    kept_until = (changes.MATCHES, changes.BOTS)

    queryset = Match.objects.none()
    serializer_class = MatchOut
    filterset_class = MatchFilters

    @operation("list_matches", "List matches, newest first")
    def get(self, request: Request) -> HttpResponseBase:
        """List every match in every status."""
        return self.rows(self.filter_queryset(listed(user_of(request))), describe_matches)


class DataFilesView(ListView):
    """/data"""

    kept_until = (changes.RELEASE, changes.CLOCK)

    serializer_class = DataFileOut
    filter_backends = ()

    @operation("list_data_files", "List the files of open data, newest first", tags=["matches"])
    def get(self, request: Request) -> Response:
        """List the files, one a month and game, of the public matches whose owners have accepted the licence."""
        return self.page(open_data.files())


class OneMatchView(ApiView):
    """/matches/{id}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match, its bots and its audits."""
        return *_counters_of(params["id"]), changes.AUDITS

    serializer_class = MatchDetail

    @operation("get_match", "Read a match")
    def get(self, request: Request, id: str) -> Response:
        """Read one match. The owners of its bots also see stderr and all details of faults."""
        viewer = viewer_of(request)
        match = existing(whole(user_of(request)).filter(public_id=id).first())
        return Response(MatchDetail(match, context={"viewer": viewer}).data)


class BoardsView(ListView):
    """/matches/{id}/boards"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match."""
        return _counters_of(params["id"])

    queryset = Board.objects.none()
    serializer_class = BoardOut
    page_order = paging.Order.by("number")

    @operation("list_boards", "List the boards of a match")
    def get(self, request: Request, id: str) -> Response:
        """List the boards, once the match has finished."""
        return self.page(_boards(_match(request, id)))


class BoardsOfMatchesView(StreamedView):
    """/boards"""

    kept_until = (changes.MATCHES, changes.BOTS)

    queryset = Board.objects.none()
    serializer_class = BoardOut
    filterset_class = BoardFilters
    page_order = paging.Order.by("-match_id", "number")

    @operation("list_boards_of_matches", "List the boards of several matches, newest match first", tags=["matches"])
    def get(self, request: Request) -> HttpResponseBase:
        """List the boards of those finished matches that you may see."""
        rows = boards_of(Board.objects.filter(match__in=sight.matches(Match.objects.all(), user_of(request))))
        return self.rows(self.filter_queryset(rows), lambda page: list(BoardOut(page, many=True).data))


class OneBoardView(ApiView):
    """/matches/{id}/boards/{number}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match."""
        return _counters_of(params["id"])

    serializer_class = BoardOut

    @operation("get_board", "Read a board")
    def get(self, request: Request, id: str, number: int) -> Response:
        """Read one board with its sittings."""
        match = _match(request, id)
        return Response(BoardOut(existing(_boards(match).filter(number=number).first())).data)


class ReplayView(ApiView):
    """/matches/{id}/boards/{number}/sittings/{sitting}/replay"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match and its bots."""
        return _counters_of(params["id"])

    serializer_class = ReplayOut
    params = ("seat",)

    @operation(
        "get_replay",
        "Read a replay, card by card",
        parameters=[
            OpenApiParameter(
                "seat",
                str,
                description='"0", "1", ...: only what this seat knew; "public": only what all seats knew; if left out, everything.',
            )
        ],
    )
    def get(self, request: Request, id: str, number: int, sitting: int) -> Response:
        """Read events and actions of one sitting. A restricted view has no actions and no seed, and no hidden cards leave the server."""
        viewer = viewer_of(request)
        rows = Sitting.objects.select_related("board__match__tournament")
        visible = sight.matches(Match.objects.filter(public_id=id), user_of(request))
        row = rows.filter(board__match__in=visible, board__number=number, number=sitting).first()
        if row is None and visible.exists() and (why := replays.gone(id, number, sitting)):
            raise why
        try:
            return Response(replays.replay(existing(row), viewer, self._seat()))
        except Refused as error:
            if self._seat() is None or isinstance(error, replays.Unreadable):
                raise
            raise bad_parameter("seat", shown(error)) from None

    def _seat(self) -> int | str | None:
        text = self.request.query_params.get("seat")
        if text is None or text == replays.PUBLIC:
            return text
        if len(text) > 2 or not (text.isascii() and text.isdigit()):
            problem = message('must be a seat number or "public", not {text!r}', text=text[:30])
            raise bad_parameter("seat", problem)
        return int(text)


class CommentsView(ListView):
    """/matches/{id}/boards/{number}/sittings/{sitting}/comments"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match and of comments."""
        return *_counters_of(params["id"]), changes.TALK

    queryset = Comment.objects.none()
    serializer_class = CommentOut

    @operation("list_comments", "List the comments on a sitting, newest first")
    def get(self, request: Request, id: str, number: int, sitting: int) -> Response:
        """List the comments that you see, once the cards of the match are shown."""
        viewer = viewer_of(request)
        return self.page(places.comments(existing(places.find(f"match:{id}:{number}:{sitting}", viewer)), viewer))


class AnalysisView(ApiView):
    """/matches/{id}/analysis/{kind}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match and its analyses."""
        return *_counters_of(params["id"]), changes.JUDGEMENTS

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = JudgementDetail
    params = ("board",)

    @operation(
        "get_analysis",
        "Read what each decision of a match gave away",
        parameters=[OpenApiParameter("board", int, description="Number of a board: return only its decisions.")],
    )
    def get(self, request: Request, id: str, kind: str) -> Response:
        """Read the analysis of one kind, `open` or `fair`; it has no decisions until it is done. 404 if nobody has requested it."""
        match, way = self._named(request, id, kind)
        if why := replays.reason_closed(match):
            raise why
        row = existing(asking.find(match, way))
        row.match = match
        is_done = row.status == JudgementStatus.DONE
        body = bodies.unpack(bytes(row.body)) if is_done else bodies.Body()
        board = self._board()
        rows = reading.placed(body, reading.seatings(row, board)) if is_done else []
        sums = reading.tallies(rows, match.parties.count()) if is_done else []
        fields = {
            "unit": body.unit,
            "compiled": body.compiled,
            "nodes": body.nodes,
            "verdicts": rows,
            "parties": [
                {"party": party, "phases": [{"phase": phase, **_tally(tally)} for phase, tally in tallies.items()]}
                for party, tallies in enumerate(sums)
            ],
        }
        for name, value in fields.items():
            setattr(row, name, value)
        return Response(JudgementDetail(row).data)

    @operation(
        "ask_for_analysis",
        "Request an analysis of a match",
        request=None,
        responses={202: JudgementOut, 200: JudgementOut},
    )
    def post(self, request: Request, id: str, kind: str) -> Response:
        """Request an analysis. A worker without other work makes it. If it already exists (200), it does not count towards your limit."""
        player = player_of(request)
        match, way = self._named(request, id, kind)
        row, is_new = asking.ask(match, way, player)
        row.match = match
        answer = JudgementOut(row).data
        return Response(answer, status=status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK)

    @staticmethod
    def _named(request: Request, id: str, kind: str) -> tuple[Match, str]:
        rows = Match.objects.select_related("tournament", "log").defer("tournament__secret", "log__data")
        match = existing(sight.matches(rows, user_of(request)).filter(public_id=id).first())
        return match, existing(kind if kind in JudgementKind.values else None)

    def _board(self) -> int | None:
        text = self.request.query_params.get("board")
        if text is None:
            return None
        if len(text) > 9 or not (text.isascii() and text.isdigit()):
            problem = message("must be a board number, not {text!r}", text=text[:30])
            raise bad_parameter("board", problem)
        return int(text)


class AnswersView(ApiView):
    """/matches/{id}/boards/{number}/sittings/{sitting}/seats/{seat}/answers/{bot}"""

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the counters of the match and of the consulted bots."""
        return *_counters_of(params["id"]), changes.JUDGEMENTS

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = ConsultationDetail

    @operation("get_answers", "Read how a house bot would have played a seat")
    def get(self, request: Request, id: str, number: int, sitting: int, seat: int, bot: str) -> Response:
        """Read the answers of the newest version that was asked; there are none until the consultation is done. 404 if nobody has asked."""
        match = self._match(request, id)
        if why := replays.reason_closed(match):
            raise why
        row: Any = existing(consultations.find(match, number, sitting, seat, bot))
        row.match = match
        row.told = answers(row) if row.status == ConsultationStatus.DONE else []
        return Response(ConsultationDetail(row).data)

    @operation(
        "ask_for_answers",
        "Ask how a house bot would have played a seat",
        request=None,
        responses={202: ConsultationOut, 200: ConsultationOut},
    )
    def post(self, request: Request, id: str, number: int, sitting: int, seat: int, bot: str) -> Response:
        """Ask a house bot about a seat. A worker without other work runs it. Counts towards your analysis limit, unless it already exists (200)."""
        player = player_of(request)
        match = self._match(request, id)
        row, is_new = consultations.ask(match, number, sitting, seat, bot, player)
        row.match = match
        answer = ConsultationOut(row).data
        return Response(answer, status=status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK)

    @staticmethod
    def _match(request: Request, id: str) -> Match:
        rows = Match.objects.select_related("pool", "tournament", "log").defer("tournament__secret", "log__data")
        return existing(sight.matches(rows, user_of(request)).filter(public_id=id).first())


class TriesView(ApiView):
    """/tries"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = TryNew

    @operation(
        "try_bot",
        "Try the text of a bot against a house bot",
        parameters=[KEY],
        responses={201: TryOut},
    )
    @once
    def post(self, request: Request) -> Response:
        """Play one board in the sandbox, within seconds; you can have one try at a time. It creates no bot, counts nowhere, and only you see it."""
        player, body = player_of(request), self.body()
        name, language = body["name"].strip(), languages.find(body["language"])
        row = tries.begin(player, body["text"], body["game"], body["against"], name, language=language)
        return self.created(TryOut(row).data, "try", row.work.public_id)


class OneTryView(ApiView):
    """/tries/{id}"""

    permission_classes = [IsAuthenticated]
    serializer_class = TryOut

    @operation("get_try", "Read the result of your try")
    def get(self, request: Request, id: str) -> Response:
        """Read the board, stderr, faults, and every request to the bot with its answer. 404 for other people's tries."""
        return Response(TryOut(existing(tries.find(player_of(request), id))).data)


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "decisions": tally.decisions,
        "judged": tally.judged,
        "right": tally.right,
        "lost": tally.lost,
        "margin": tally.margin,
    }
