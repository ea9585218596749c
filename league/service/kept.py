"""The change counters that an answer follows from, named by its view for the response cache (`league.response_cache`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from league.service import marks

TICKET = "league.ticket"  # in the environment of a request whose answer may be kept


@dataclass
class Ticket:
    """The counts of the counters that a view has named. Without any its answer is not kept."""

    versions: marks.Versions = field(default_factory=dict)
    wanted: str = ""  # the ETags that the client has


def shows(request: HttpRequest, *keys: str) -> None:
    """Name the counters of what the answer shows, before any of it is read. At most one query; none if the answer is not kept."""
    ticket: Ticket | None = request.META.get(TICKET)
    missing = [key for key in keys if ticket is not None and key not in ticket.versions]
    if ticket is not None and missing:
        ticket.versions.update(marks.read(missing))
        request.META.pop("HTTP_IF_NONE_MATCH", None)  # the cache compares it with the whole answer


def shown_by(*keys: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a view whose answers always show the same things."""

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            shows(request, *keys)
            return view(request, *args, **kwargs)

        answer.__name__, answer.__doc__, answer.__module__ = view.__name__, view.__doc__, view.__module__
        return answer

    return decorate
