"""The comments below a replay, a puzzle or a tournament: the latest ones, and the form for another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from league.domain.core import paging
from league.domain.core.errors import Refused, shown
from league.domain.talk import comments, places
from league.domain.talk.places import Place
from league.models import Comment, Player
from league.models.talk import MOST_TEXT
from league.web.common import prefs
from league.web.common.viewers import viewer_of

LATEST = 20


class ShownComment(NamedTuple):
    """A comment, and the step that it is about: its words and its address. own: True if the viewer wrote it."""

    row: Comment
    step: str
    address: str
    own: bool


@dataclass(frozen=True)
class TalkSection:
    """The comments at a place as a viewer sees them. `refusal`: why the viewer cannot write."""

    place: Place
    off: bool = False  # The reader wants no comments.
    step: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)  # The steps that a comment may be about, in words.
    rows: tuple[ShownComment, ...] = ()
    more: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)  # Comments of each step.
    refusal: str = ""
    most: int = MOST_TEXT

    @property
    def count(self) -> int:
        """Return the number of all comments at the place."""
        return sum(self.counts.values())

    @property
    def name(self) -> str:
        """Return the name of the place."""
        return self.place.name


def section(
    request: HttpRequest, place: Place, *, step: str = "", steps: Mapping[str, str] | None = None
) -> TalkSection | None:
    """Return the latest comments at a place that the viewer sees, the oldest of them first, or None if there is no talk.

    step: only those about it, if there are any.

    Two queries if there are comments, else one; up to two more for a viewer who is signed in.
    """
    if not place.is_open:
        return None
    if not prefs.shows_talk(request):
        return TalkSection(place, off=True)
    viewer = viewer_of(request)
    rows = places.comments(place, viewer)
    counted = rows.select_related(None).order_by("step").values("step").annotate(count=Count("pk"))
    counts = {row["step"]: row["count"] for row in counted}
    page: list[Comment] = []
    if counts:
        only = rows.filter(step=step) if step and step in counts else rows
        page = list(only.order_by(*paging.NEWEST.columns())[: LATEST + 1])
    return TalkSection(
        place,
        step=step,
        steps=steps or {},
        rows=shown_comments(reversed(page[:LATEST]), viewer, steps),
        more=sum(counts.values()) > min(len(page), LATEST) and (viewer is not None or not place.puzzle),
        counts=counts,
        refusal=refusal(viewer, place),
    )


def refusal(viewer: Player | None, place: Place) -> str:
    """Return why the viewer cannot write; "" if they can, or are not signed in. Two queries at most."""
    try:
        if viewer is not None:
            comments.check_writer(viewer, place)
    except Refused as error:
        return shown(error)
    return ""


def shown_comments(
    rows: Iterable[Comment], viewer: Player | None, steps: Mapping[str, str] | None = None
) -> tuple[ShownComment, ...]:
    """Return comments with their steps in words."""
    return tuple(
        ShownComment(
            row,
            (steps or {}).get(row.step) or step_name(row.step),
            step_query(row),
            viewer is not None and row.author_id == viewer.pk,
        )
        for row in rows
    )


def step_name(step: str) -> str:
    """Return "deal 1, step 4" for "d1p4"."""
    parts = comments.STEP.fullmatch(step)
    return _("deal %(deal)s, step %(step)s") % {"deal": parts[1], "step": parts[2]} if parts else ""


def step_query(row: Comment) -> str:
    """Return the address of the step of a comment, relative to the page of its match; "" without one."""
    if not row.step:
        return ""
    place = {"b": row.board, "s": row.sitting, "step": row.step, "tab": "talk"}
    return f"?{urlencode(place)}#talk"


def address(place: Place, step: str = "") -> str:
    """Return the address at which the comments of a place are read."""
    return address_of(place.name, step)


def address_of(name: str, step: str = "") -> str:
    """Return the address at which the comments of the place with this name are read. No query."""
    kind, *parts = name.split(":")
    if kind == "match":
        query = {"b": parts[1], "s": parts[2]} | ({"step": step} if step else {}) | {"tab": "talk"}
        return f"{reverse(kind, args=[parts[0]])}?{urlencode(query)}#talk"
    return f"{reverse(kind, args=[parts[0]])}#talk"


def title(place: Place) -> str:
    """Return the name of a place in words."""
    if place.match is not None:
        return _("Board %(board)s of match %(match)s") % {"board": place.board, "match": place.match.public_id}
    return place.contest.name if place.contest is not None else _("Puzzle")
