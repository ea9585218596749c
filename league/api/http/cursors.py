"""Pages of lists in the API, by cursor (league.domain.core.paging)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from league.api.http.problems import bad_parameter, message
from league.domain.core import paging

Row = TypeVar("Row")
MAX_SIZE = 100
DESCRIBED = (
    OpenApiParameter("cursor", {"type": "string"}, description="A cursor from a next or previous link."),
    OpenApiParameter(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": MAX_SIZE, "default": paging.DEFAULT_SIZE},
        description="Number of rows of a page.",
    ),
)
PARAMETERS = tuple(parameter.name for parameter in DESCRIBED)


class CursorPages(BasePagination):
    """Pages of a query set in the order of the view (`page_order`; by default newest first), or of a list by position."""

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        """Return the rows of the requested page. Raise Problem for a bad cursor or size."""
        order: paging.Order = getattr(view, "page_order", paging.NEWEST)
        is_query = isinstance(queryset, QuerySet)
        cursor = read_cursor(request, order.kinds if is_query else (int,))
        if is_query:
            return self.show(request, paging.read_page(queryset, order, cursor, page_size(request)))
        return self.show(request, paging.cut_page(queryset, cursor, page_size(request)))

    def show(self, request: Request, page: paging.Page[Row]) -> list[Row]:
        """Return the rows of a page, and note the cursors of its neighbours for the links of the response."""
        self.url = request.build_absolute_uri()
        self.before, self.after = page.before, page.after
        return page.rows

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page with links to its neighbours."""
        return Response({**self.links(), "results": data})

    def links(self) -> dict[str, str | None]:
        """Return the links to the next and the previous page."""
        return {"next": self.link(self.after), "previous": self.link(self.before)}

    def link(self, cursor: str | None) -> str | None:
        """Return the address of the same list from a cursor on; None without one."""
        if cursor is None:
            return None
        return replace_query_param(remove_query_param(self.url, "cursor"), "cursor", cursor)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page, for the OpenAPI document."""
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """Return the paging parameters, for the OpenAPI document."""
        return [
            {
                "name": parameter.name,
                "in": "query",
                "schema": parameter.type,
                "description": parameter.description,
            }
            for parameter in DESCRIBED
        ]


def page_size(request: Request) -> int:
    """Return the number of rows of a page: 1 to 100, by default 50. Raise Problem for anything else."""
    text = request.query_params.get("page_size")
    if text is None:
        return paging.DEFAULT_SIZE
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= MAX_SIZE:
        problem = message("must be 1 to {most}, not {text!r}", most=MAX_SIZE, text=text[:30])
        raise bad_parameter("page_size", problem)
    return int(text)


def read_cursor(request: Request, kinds: Sequence[type[paging.Value]], name: str = "cursor") -> paging.Cursor | None:
    """Return the cursor of a request; None for the first page. Raise Problem for a text that is not a cursor of such a list."""
    text = request.query_params.get(name)
    try:
        return None if text is None else paging.read_cursor(text, kinds)
    except paging.BadCursor:
        problem = message("is not a valid cursor; copy it from a next or previous link, or omit it")
        raise bad_parameter(name, problem) from None
