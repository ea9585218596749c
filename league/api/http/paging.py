"""Pages of lists, by cursor: no list skips or repeats rows because others were added meanwhile.

A cursor is the key of the row at the edge of a page, with the direction in which to go on.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from league.api.http.problems import Problem, told

Row = TypeVar("Row")
USUAL = 50
MOST = 100
PARAMETERS = ("cursor", "page_size")
CURSOR = re.compile(r"([np])(\d{1,15})")


class CursorPages(BasePagination):
    """Pages of a query set by its unique whole-number key (`view.page_key`, "-id" unless said), or of a list by place."""

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        """The rows of the page that the request names. Raises Problem for a cursor or size that cannot be."""
        size = page_size(request)
        back, edge = read_cursor(request)
        self.url = request.build_absolute_uri()
        if isinstance(queryset, QuerySet):
            rows, before, after = self._of_query(queryset, getattr(view, "page_key", "-id"), size, back, edge)
        else:
            rows, before, after = self._of_list(queryset, size, back, edge)
        self.before, self.after = before, after
        return rows

    def _of_query(
        self, queryset: QuerySet[Any], key: str, size: int, back: bool, edge: int | None
    ) -> tuple[list[Any], int | None, int | None]:
        """One query: a row more than the page tells whether there is a further page."""
        name = key.lstrip("-")
        descending = key.startswith("-")
        if edge is not None:
            below = descending != back
            queryset = queryset.filter(**{f"{name}__{'lt' if below else 'gt'}": edge})
        queryset = queryset.order_by(name if descending == back else f"-{name}")
        found = list(queryset[: size + 1])
        more, rows = len(found) > size, found[:size]
        if back:
            rows.reverse()

        def value(row: Any) -> int:
            for part in name.split("__"):
                row = row[part] if isinstance(row, dict) else getattr(row, part)
            return int(row)

        if not rows:
            return rows, None, None
        has_before, has_after = (more, True) if back else (edge is not None, more)
        return rows, value(rows[0]) if has_before else None, value(rows[-1]) if has_after else None

    def _of_list(
        self, items: Sequence[Row], size: int, back: bool, edge: int | None
    ) -> tuple[list[Row], int | None, int | None]:
        start = 0 if edge is None else max(0, edge - size) if back else edge + 1
        stop = min(edge, len(items)) if back and edge is not None else start + size
        rows = list(items[start:stop])
        return rows, start if start and rows else None, stop - 1 if rows and stop < len(items) else None

    def get_paginated_response(self, data: Any) -> Response:
        """The page with links to its neighbours."""
        return Response(
            {"next": self._link("n", self.after), "previous": self._link("p", self.before), "results": data}
        )

    def _link(self, direction: str, edge: int | None) -> str | None:
        if edge is None:
            return None
        text = base64.urlsafe_b64encode(f"{direction}{edge}".encode()).decode().rstrip("=")
        return replace_query_param(remove_query_param(self.url, "cursor"), "cursor", text)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The envelope, for the document."""
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """The parameters, for the document."""
        return [
            {
                "name": "cursor",
                "in": "query",
                "schema": {"type": "string"},
                "description": "From a next or previous link.",
            },
            {
                "name": "page_size",
                "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL},
                "description": "Rows of a page.",
            },
        ]


def page_size(request: Request) -> int:
    """1 to 100, 50 unless said."""
    text = request.query_params.get("page_size", str(USUAL))
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= MOST:
        problem = told("must be 1 to {most}, not {text!r}", most=MOST, text=text[:30])
        raise Problem("invalid", f"page_size: {problem}", {"page_size": [problem]})
    return int(text)


def read_cursor(request: Request) -> tuple[bool, int | None]:
    """Whether to go back, and the key at the edge; None for the first page."""
    text = request.query_params.get("cursor")
    if text is None:
        return False, None
    try:
        plain = base64.b64decode(text[:64] + "=" * (-len(text[:64]) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        plain = ""
    match = CURSOR.fullmatch(plain, 0)
    if match is None:
        problem = told("is not a cursor of this API; take it from a next or previous link, or leave it out")
        raise Problem("invalid", f"cursor: {problem}", {"cursor": [problem]})
    return match[1] == "p", int(match[2])
