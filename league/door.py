"""What a request meets first: answers that are kept for strangers are given here, before Django does anything.

A stranger has no session and no token, and nothing in the request but its address, its language and its colours makes the answer another one.
Everybody else, every form and every address whose view does not say what it shows goes on to Django as before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import translation

from league.api.http.negotiation import language
from league.service import kept, marks
from league.service.middleware import number_of
from league.web.common.prefs import THEMES

Environ: TypeAlias = dict[str, Any]
Application: TypeAlias = Callable[[Environ, Any], Iterable[bytes]]
# Of a stranger: what they see follows from the first two, and no page that is kept has a form that reads the third.
HARMLESS = {settings.LANGUAGE_COOKIE_NAME, "theme", settings.CSRF_COOKIE_NAME}
# Of one answer alone: not given again
OF_ONE = {"x-request-id", "content-encoding", "content-length", "etag", "vary", "ratelimit", "ratelimit-policy"}


class Door:
    """The WSGI application of the league."""

    def __init__(self, application: Application, store: kept.Store | None = None) -> None:
        self.application = application
        self.store = store or kept.Store()

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """The kept answer where it holds, else what Django answers."""
        key = asked(environ)
        if key is None:
            return self.application(environ, start_response)
        found = self.store.find(key)
        if found is not None and _holds(found):
            return _give(found, environ, start_response)
        return self._anew(key, environ, start_response)

    def _anew(self, key: Hashable, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """What Django answers now; kept where its view has said what it shows."""
        ticket = environ[kept.TICKET] = kept.Ticket(wanted=environ.get("HTTP_IF_NONE_MATCH", ""))
        told: list[Any] = []

        def noted(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            told[:] = [status, headers, exc_info]

        answer = self.application(environ, noted)
        status, headers, exc_info = told
        names = {name.lower(): value for name, value in headers}
        whole = status.startswith("200") and "set-cookie" not in names and not getattr(answer, "streaming", False)
        if not ticket.versions or not whole or "no-store" in names.get("cache-control", ""):
            start_response(status, headers, exc_info) if exc_info else start_response(status, headers)
            return answer
        try:
            body = b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()
        if names.get("content-encoding") == "gzip":
            body = kept.unpacked(body)
        same = [(name, value) for name, value in headers if name.lower() not in OF_ONE]
        vary = ", ".join(dict.fromkeys([*filter(None, names.get("vary", "").split(", ")), "Accept-Encoding"]))
        made = kept.Answer(body, [*same, ("Vary", vary)], ticket.versions)
        self.store.keep(key, made)
        environ["HTTP_IF_NONE_MATCH"] = ticket.wanted
        limits = [(name, value) for name, value in headers if name.lower().startswith("ratelimit")]
        return _give(made, environ, start_response, [*limits, ("X-Request-ID", names.get("x-request-id", ""))])


def asked(environ: Environ) -> Hashable | None:
    """What a stranger asks for: everything on which the answer depends. None for all whose answers are not kept."""
    if environ["REQUEST_METHOD"] != "GET" or "HTTP_AUTHORIZATION" in environ or "HTTP_IF_MATCH" in environ:
        return None
    cookies = parse_cookie(environ["HTTP_COOKIE"]) if environ.get("HTTP_COOKIE") else {}
    if not cookies.keys() <= HARMLESS:
        return None
    try:
        request = WSGIRequest(environ)
        place = (request.scheme, request.get_host(), environ["PATH_INFO"], environ.get("QUERY_STRING", ""))
    except (DisallowedHost, UnicodeDecodeError):
        return None
    theme = cookies.get("theme", "")
    spoken = _languages(cookies.get(settings.LANGUAGE_COOKIE_NAME, ""), environ.get("HTTP_ACCEPT_LANGUAGE", "")[:200])
    return (*place, spoken, theme if theme in THEMES else "")


@lru_cache(maxsize=2000)
def _languages(cookie: str, accepted: str) -> tuple[str, str]:
    """In which languages pages and API answer."""
    request = HttpRequest()
    request.COOKIES[settings.LANGUAGE_COOKIE_NAME] = cookie
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return translation.get_language_from_request(request), language(request)


def _holds(answer: kept.Answer) -> bool:
    """Whether nothing that it shows has changed. One query; where the database does not answer, Django is to say so."""
    if kept.now() > answer.until:
        return False
    try:
        return marks.read(list(answer.versions)) == answer.versions
    except (DatabaseError, InterfaceError):
        return False


def _give(
    answer: kept.Answer, environ: Environ, start_response: Any, besides: list[tuple[str, str]] | None = None
) -> Iterable[bytes]:
    """The answer as the client takes it, or 304 for one who has it."""
    coding = _coding(environ.get("HTTP_ACCEPT_ENCODING", ""))
    tag = f'W/"{answer.tag}"' if coding else f'"{answer.tag}"'
    headers = [*answer.headers, ("ETag", tag), *(besides or [("X-Request-ID", number_of(environ))])]
    if _has(answer.tag, environ.get("HTTP_IF_NONE_MATCH", "")):
        start_response("304 Not Modified", [one for one in headers if one[0].lower() != "content-type"])
        return []
    body = answer.packed(coding)
    if coding:
        headers.append(("Content-Encoding", coding))
    headers.append(("Content-Length", str(len(body))))
    start_response("200 OK", headers)
    return [body]


@lru_cache(maxsize=500)
def _coding(accepted: str) -> str:
    """The best packing that a client takes: "br", "gzip" or ""."""
    taken = {}
    for part in accepted[:200].lower().split(","):
        name, _, rest = part.partition(";")
        taken[name.strip()] = rest.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return next((name for name in ("br", "gzip") if taken.get(name, taken.get("*", False))), "")


def _has(tag: str, wanted: str) -> bool:
    """Whether the ETags of If-None-Match name the answer."""
    return wanted == "*" or any(one.strip().removeprefix("W/") == f'"{tag}"' for one in wanted.split(","))
