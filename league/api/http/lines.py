"""Lists that are put together from finished lines, for strangers and for who reads with a token (league.door).

A line is the JSON of a row, as the serializer of the list makes it. It is made once, and holds while every column that it shows is the same, and
the names in it (marks.NAMES): a page reads these columns, in the order of an index, and nothing else. What varies with the reader, the language
or the page is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from django.http import HttpRequest
from django_filters.rest_framework import FilterSet
from rest_framework.renderers import JSONRenderer

from league.api.http import output, paging
from league.api.http.filters import narrowed as narrow
from league.domain.core import keyset
from league.domain.core.prepared import ALL, Some
from league.domain.people.tokens import Viewer
from league.service import marks
from league.service.remembered import Held

Value = TypeVar("Value")

MOST_LINES = 20_000  # of one kind of list, in one process; some 600 bytes each

BY_PLACE = keyset.Order.by("place")  # of a list that is at hand: its cursors name places

_RENDERER = JSONRenderer()


@dataclass(frozen=True)
class Made:
    """The body of an answer, and the versions of what it shows."""

    body: bytes
    versions: marks.Versions


@dataclass(frozen=True)
class Asked:
    """A page of a list, as its address names it. some: the rows that its filters leave, where they were looked at."""

    cursor: keyset.Cursor | None
    size: int
    url: str
    filters: Mapping[str, str]  # as they are named, not looked at
    some: Some[Any] = ALL

    def answer(self, page: keyset.Page[bytes]) -> bytes:
        """The page with links to its neighbours."""
        pages = paging.CursorPages()
        pages.url, pages.before, pages.after = self.url, page.before, page.after
        return b'%s,"results":[%s]}' % (render(pages.links())[:-1], b",".join(page.rows))


def asked(request: HttpRequest, order: keyset.Order, filters: Collection[str] = ()) -> Asked | None:
    """The page that a request asks for, by the filters of these names; None where it asks for anything else, or wrongly."""
    there = request.GET.dict()
    chosen = there.keys() - set(paging.PARAMETERS)
    if not chosen <= set(filters) or any(len(values) > 1 or "\0" in values[0] for _, values in request.GET.lists()):
        return None
    try:
        return Asked(
            paging.cursor_of(request.GET.get("cursor"), order.kinds),
            paging.size_of(request.GET.get("page_size")),
            request.build_absolute_uri(),
            {name: there[name] for name in chosen},
        )
    except ValueError:
        return None


def narrowed(
    request: HttpRequest,
    filters: type[FilterSet] | None = None,
    order: keyset.Order = keyset.NEWEST,
    *,
    but: Collection[str] = (),
) -> Asked | None:
    """As `asked`, with the rows that these filters leave, `but` for those that the view alone looks at."""
    names = filters.base_filters.keys() - set(but) if filters else ()
    found = asked(request, order, names)
    if found is None or filters is None:
        return found
    try:
        return replace(found, some=narrow(filters, found.filters))
    except ValueError:
        return None


class Lines(Generic[Value]):
    """The finished lines of one list, in this process, by the ids of their rows."""

    def __init__(
        self,
        make: Callable[[list[int]], Mapping[int, Value]],
        *,
        follow: Callable[[list[int]], Mapping[int, Hashable]] | None = None,
        most: int = MOST_LINES,
    ) -> None:
        """`make` gives the lines of rows. `follow` tells of rows what lines follow from besides names and what the page reads of them."""
        self._make = make
        self._follow = follow
        self._held: Held[int, Value] = Held(most)

    def page(self, names: Hashable, read: Callable[[], keyset.Page[tuple[int, str]]]) -> keyset.Page[Value] | None:
        """The lines of the page that `read` finds: ids, and what is shown of each row as one text. None where a row has gone meanwhile.

        names: the version of marks.NAMES, and of what else all these lines follow from, older than the page.
        No query but those of `read`, `follow`, and `make` for lines that are missing.
        """

        def follow(page: keyset.Page[tuple[int, str]]) -> dict[int, Hashable]:
            besides = self._follow([pk for pk, _ in page]) if self._follow and page.rows else {}
            return {pk: (names, cells, besides.get(pk)) for pk, cells in page}

        def make(missing: list[int]) -> tuple[Mapping[int, Value], Mapping[int, Hashable]]:
            made = self._make(missing)
            return made, follow(read())

        page = read()
        there = self._held.of_many(follow(page), make)
        if len(there) < len(page):
            return None
        return keyset.Page([there[pk] for pk, _ in page], page.before, page.after)


def follow_marks(keys: Callable[[int], tuple[str, ...]]) -> Callable[[list[int]], Mapping[int, Hashable]]:
    """What a line follows from that stands for several rows: the versions of these keys of its row. One query."""

    def follow(pks: list[int]) -> dict[int, Hashable]:
        versions = marks.read([key for pk in pks for key in keys(pk)])
        return {pk: tuple(versions[key] for key in keys(pk)) for pk in pks}

    return follow


def render(value: Any) -> bytes:
    """JSON as every answer of the API has it."""
    found: bytes = _RENDERER.render([value])  # of nothing at all it makes nothing
    return found[1:-1]


def pieces(told: Mapping[str, Any], varying: Sequence[str]) -> tuple[bytes, ...]:
    """The JSON of a line, cut where the values of the `varying` names belong: they are put between these pieces."""
    found, here = [], b"{"
    for name, value in told.items():
        here += b"%s:" % json.dumps(name).encode()
        if name in varying:
            found.append(here)
            here = b","
        else:
            here += render(value) + b","
    found.append(here[:-1] + b"}")
    return tuple(found)


def columns(kind: type[output.Out], model: Any, of: str = "") -> tuple[str, ...]:
    """The columns of `model` that lines of this kind show; of what lies behind a key or is a list, the key. of: where in the row the model is."""
    fields = {field.name: field.attname for field in model._meta.concrete_fields}
    names = []
    for told in output.plan(kind):
        path = list(told.field.source_attrs) or [""]
        if of and path[:1] != [of]:
            continue
        name = path[1] if of else path[0]
        if name in fields:
            names.append(fields[name])
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Quick:
    """How a list is made from lines.

    `make` gets the request, what its address names, and who reads (None: a stranger). `of_all`: whoever reads is told the same.
    """

    make: Callable[[HttpRequest, Mapping[str, str], Viewer | None], Made | None]
    of_all: bool = False
