"""Places: what a comment is about, and who may read and write there.

Comments have the visibility of what they are about: a sitting whose cards everybody may see, a puzzle that the viewer has answered, a tournament or
event whose results the viewer sees. Nobody else learns that there are any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from league.domain.matches import replays, sight
from league.domain.puzzles import shelf
from league.models import Block, Comment, Event, Match, Player, PuzzleAnswer, Sitting, Tournament

MOST_NUMBER = 2**31


@dataclass(frozen=True, kw_only=True)
class Place:
    """The subject of comments: a sitting, a puzzle, a tournament or an event. The caller has checked that the viewer may see it."""

    match: Match | None = None
    board: int | None = None
    sitting: int | None = None
    puzzle: str = ""
    tournament: Tournament | None = None
    event: Event | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns of its comments."""
        return dict(vars(self))

    @property
    def contest(self) -> Tournament | Event | None:
        """Return the tournament or event, whose owner may want no comments."""
        return self.tournament or self.event

    @property
    def name(self) -> str:
        """Return the name by which `find` finds it, such as "match:8f3k2pq7ab:1:0" or "event:copa"."""
        if self.match is not None:
            return f"match:{self.match.public_id}:{self.board}:{self.sitting}"
        if self.puzzle:
            return f"puzzle:{self.puzzle}"
        return f"{'tournament' if self.tournament else 'event'}:{self.contest.slug if self.contest else ''}"

    @property
    def is_open(self) -> bool:
        """Return True if there is talk here: neither the league nor the owner has switched it off."""
        return settings.TALK and (self.contest is None or self.contest.talk)


def find(name: str, viewer: Player | None) -> Place | None:
    """Return the place of this name, or None if the viewer may not see it or there is no talk. Three queries at most."""
    kind, _colon, rest = name.partition(":")
    read = {"match": _match, "puzzle": _puzzle, "tournament": _tournament, "event": _event}.get(kind)
    place = read(rest, viewer) if read and len(name) <= 100 and name.isprintable() else None
    return place if place is not None and place.is_open else None


def place_of(comment: Comment, viewer: Player | None) -> Place | None:
    """Return the place of a comment, if the viewer may see it."""
    return find(name_of(comment), viewer)


def name_of(comment: Comment) -> str:
    """Return the name of the place of a comment."""
    columns = ("match", "board", "sitting", "puzzle", "tournament", "event")
    return Place(**{column: getattr(comment, column) for column in columns}).name


def _user(viewer: Player | None) -> Any:
    return viewer.user if viewer is not None else None


def _match(rest: str, viewer: Player | None) -> Place | None:
    parts = rest.split(":")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts[1:]):
        return None
    rows = Match.objects.select_related("tournament", "pool").defer("tournament__secret")
    match = sight.matches(rows, _user(viewer)).filter(public_id=parts[0]).first()
    board, sitting = map(int, parts[1:])
    if match is None or replays.reason_closed(match):
        return None
    exists = Sitting.objects.filter(board__match=match, board__number=board, number=sitting).exists()
    return Place(match=match, board=board, sitting=sitting) if exists else None


def _puzzle(rest: str, viewer: Player | None) -> Place | None:
    """Return a puzzle that the viewer has answered: before that, a comment would spoil it."""
    return of_puzzle(rest, viewer) if rest in shelf.shelf().by_id else None


def _tournament(rest: str, viewer: Player | None) -> Place | None:
    """Return a tournament; the stages of an event are talked about at the event."""
    rows = sight.tournaments(Tournament.objects.filter(event=None).select_related("owner"), _user(viewer))
    row = rows.defer("secret").filter(slug=rest).first()
    return Place(tournament=row) if row else None


def _event(rest: str, viewer: Player | None) -> Place | None:
    user = _user(viewer)
    row = sight.events(Event.objects.select_related("owner"), user).defer("secret").filter(slug=rest).first()
    return Place(event=row) if row and sight.sees_results(row, user) else None


def of_puzzle(identity: str, viewer: Player | None) -> Place | None:
    """Return the place of a puzzle if the viewer has answered it. One query."""
    answered = viewer is not None and PuzzleAnswer.objects.filter(player=viewer, puzzle=identity).exists()
    return Place(puzzle=identity) if answered else None


def visible(viewer: Player | None) -> QuerySet[Comment]:
    """Select the comments that the viewer may see, at all places.

    Deleted ones, those of banned players, and those of players of whom one has blocked the other are left out. A hidden one is shown to its author
    alone, with the reason.
    """
    rows = Comment.objects.filter(deleted=None, author__banned=None)
    if viewer is None:
        return rows.filter(hidden=None)
    blocked, blockers = Block.objects.filter(owner=viewer), Block.objects.filter(blocked=viewer)
    rows = rows.filter(hidden=None) | rows.filter(author=viewer)
    return rows.exclude(author__in=blocked.values("blocked")).exclude(author__in=blockers.values("owner"))


def comments(place: Place, viewer: Player | None) -> QuerySet[Comment]:
    """Select the comments at a place for the viewer; order them by "-id". One query."""
    if not place.is_open:
        return Comment.objects.none()
    rows = visible(viewer).filter(**place.columns)
    return rows.select_related("author", "answers__author")
