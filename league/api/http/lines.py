"""Lists that are put together from finished lines, for strangers and for who reads with a token (league.door).

A line is the JSON of a row, as the serializer of the list makes it. It is made once, and holds while every column that it shows is the same, and
the names in it (marks.NAMES): a page reads these columns, in the order of an index, and nothing else. What varies with the reader, the language
or the page is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from rest_framework.renderers import JSONRenderer

from league.api.http import output, paging
from league.domain.core import keyset
from league.domain.people.tokens import Viewer
from league.service import marks

MOST_LINES = 20_000  # of one kind of list, in one process; some 600 bytes each


_RENDERER = JSONRenderer()


@dataclass(frozen=True)
class Made:
    """The body of an answer, and the versions of what it shows."""

    body: bytes
    versions: marks.Versions


@dataclass(frozen=True)
class Asked:
    """A page of a list, as its address names it."""

    cursor: keyset.Cursor | None
    size: int
    url: str
    filters: Mapping[str, str]  # as they are named, not looked at

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
        path = list(told.field.source_attrs)
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
