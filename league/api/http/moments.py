"""The query parameter `at`: tables at a past time."""

from __future__ import annotations

from datetime import datetime

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from league.api.http.problems import bad_parameter, message
from league.domain.core import clock

AT = OpenApiParameter(
    "at",
    OpenApiTypes.DATETIME,
    description="A past time, such as 2026-11-21T12:00:00Z: the table at that time. The current table if left out.",
)


def moment(request: Request) -> datetime | None:
    """Return the requested time. Raise Problem if the text is not a time or lacks a time zone."""
    text = request.query_params.get("at")
    if text is None:
        return None
    time = clock.parse(text)
    if time is None or time.tzinfo is None:
        problem = message("must be a time with its zone, such as 2026-11-21T12:00:00Z, not {text!r}", text=text[:40])
        raise bad_parameter("at", problem)
    return time
