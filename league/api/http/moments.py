"""The query parameter `at`: tables as they stood at a past moment."""

from __future__ import annotations

from datetime import datetime

from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from league.api.http.problems import Problem, told

AT = OpenApiParameter(
    "at",
    OpenApiTypes.DATETIME,
    description="The table as it stood at this moment, such as 2026-11-21T12:00:00Z; the present one if left out.",
)


def moment(request: Request) -> datetime | None:
    """The moment that a request asks for. Problem for what is no time, or has no time zone."""
    text = request.query_params.get("at")
    if text is None:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:  # right form, wrong number, such as a 13th month
        found = None
    if found is None or found.tzinfo is None:
        problem = told("must be a time with its zone, such as 2026-11-21T12:00:00Z, not {text!r}", text=text[:40])
        raise Problem("invalid", f"at: {problem}", {"at": [problem]})
    return found
