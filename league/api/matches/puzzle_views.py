"""Puzzles for programs that people use: the next one, an answer, and one's own rating. The same rules as on the pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

import engine
from engine.puzzles import Puzzle
from engine.themes import THEMES
from league.api.http.auth import player_of, viewer_of
from league.api.http.base import ApiView, existing
from league.api.http.problems import bad_parameter, message
from league.api.http.schema import operation
from league.api.matches.puzzle_serializers import (
    PuzzleAnswerNew,
    PuzzleOut,
    PuzzleStandingOut,
    PuzzleVerdictOut,
)
from league.domain.puzzles import answers, shelf
from league.enums import TokenScope


class NextPuzzleView(ApiView):
    """/puzzles/next"""

    serializer_class = PuzzleOut
    params = ("theme", "game", "rating")

    @operation(
        "get_next_puzzle",
        "Read a puzzle for you",
        parameters=[
            OpenApiParameter("theme", str, enum=THEMES, description="Only puzzles of this theme."),
            OpenApiParameter("game", str, description="Key of a game: only its puzzles."),
            OpenApiParameter("rating", int, description="The wished rating, 0 to 4000; if left out, yours, or 1500."),
        ],
    )
    def get(self, request: Request) -> Response:
        """Read the puzzle nearest to a rating that you have not answered. 404 if there is none."""
        theme, game = (request.query_params.get(name, "") for name in ("theme", "game"))
        for name, value, choices in (("theme", theme, THEMES), ("game", game, tuple(engine.games()))):
            if value and value not in choices:
                problem = message("must be one of {choices}, not {text!r}", choices=", ".join(choices), text=value[:30])
                raise bad_parameter(name, problem)
        item = answers.next_puzzle(shelf.shelf(), viewer_of(request), theme=theme, game=game, rating=self._rating())
        if item is None:
            raise NotFound
        return Response(PuzzleOut(_plain(item)).data)

    def _rating(self) -> float | None:
        text = self.request.query_params.get("rating")
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text) <= 4000):
            raise bad_parameter(
                "rating", message("must be a whole number from 0 to 4000, not {text!r}", text=text[:30])
            )
        return float(text)


def _plain(item: Puzzle) -> dict[str, object]:
    return {**asdict(item), "rating": answers.ratings([item.id]).get(item.id)}


class PuzzleAnswersView(ApiView):
    """/puzzles/{id}/answers"""

    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    serializer_class = PuzzleAnswerNew

    @operation("answer_puzzle", "Answer a puzzle", responses=PuzzleVerdictOut)
    def post(self, request: Request, id: str) -> Response:
        """Answer, and read the solution. Only your first answer counts for your rating and your days in a row, so it may be repeated."""
        player = player_of(request)
        puzzle_shelf = shelf.shelf()
        item = existing(puzzle_shelf.by_id.get(id))
        body = self.body()
        verdict = answers.answer(item, body["do"], player, zone=body["zone"])
        solution = {"best": item.best, "lost": item.lost, "themes": puzzle_shelf.themes[item.id]}
        return Response(PuzzleVerdictOut({**_verdict(verdict), **solution}).data)


def _verdict(verdict: answers.AnswerVerdict) -> dict[str, object]:
    names = ("solved", "first", "change", "puzzle_rating", "standing")
    return {name: getattr(verdict, name) for name in names}


class MyPuzzlesView(ApiView):
    """/me/puzzles"""

    permission_classes = (IsAuthenticated,)
    serializer_class = PuzzleStandingOut

    @operation("get_my_puzzle_rating", "Read your puzzle rating", tags=["account"])
    def get(self, request: Request) -> Response:
        """Read your rating and your days in a row."""
        return Response(PuzzleStandingOut(answers.standing(player_of(request))).data)
