"""What a request meets first: answers that are kept for strangers are given here, before Django does anything, and so are lists of finished lines.

A stranger has no session and no token, and nothing in the request but its address, its language and its colours makes the answer another one.
Who reads with a token is given a list of finished lines as they may see it, and what is kept of a list that everybody sees alike.
Everybody else, every form and every address whose view does not say what it shows goes on to Django as before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, InterfaceError
from django.utils import translation

from league.api.bots.lines import audits, bots, meetings, versions
from league.api.http import throttles
from league.api.http.lines import Quick
from league.api.http.negotiation import language
from league.api.matches.lines import boards, matches
from league.api.people.lines import players
from league.api.ratings.lines import history, leaderboard, overall, pools, ratings
from league.api.tournaments.lines import circuits, entries, events, rounds, tournaments
from league.domain.people import tokens
from league.domain.people.tokens import Viewer
from league.service import kept, marks
from league.service.middleware import UNREAD, number_of
from league.web.common.prefs import theme

Environ: TypeAlias = dict[str, Any]
Application: TypeAlias = Callable[[Environ, Any], Iterable[bytes]]
# Of a stranger: what they see follows from the first two, and no page that is kept has a form that reads the third.
HARMLESS = {settings.LANGUAGE_COOKIE_NAME, "theme", settings.CSRF_COOKIE_NAME}
# Lists that are put together here from finished lines, by their addresses. How such an answer begins, its headers, is told by the view.
QUICK: tuple[tuple[re.Pattern[str], Quick], ...] = (
    (re.compile(r"/api/v1/pools/(?P<pool>[0-9]{1,9})/leaderboard"), Quick(leaderboard, of_all=True)),
    (re.compile(r"/api/v1/pools/(?P<pool>[0-9]{1,9})/history"), Quick(history, of_all=True)),
    (re.compile(r"/api/v1/overall"), Quick(overall, of_all=True)),
    (re.compile(r"/api/v1/bots"), Quick(bots, of_all=True)),
    (re.compile(r"/api/v1/matches"), Quick(matches)),
    (re.compile(r"/api/v1/matches/(?P<match>[0-9a-z]{1,20})/boards"), Quick(boards)),
    (re.compile(r"/api/v1/players"), Quick(players, of_all=True)),
    (re.compile(r"/api/v1/pools"), Quick(pools, of_all=True)),
    (re.compile(r"/api/v1/versions"), Quick(versions)),
    (re.compile(r"/api/v1/bots/(?P<bot>[-a-z0-9_]{1,60})/versions"), Quick(versions)),
    (re.compile(r"/api/v1/versions/(?P<version>[0-9]{1,9})/audits"), Quick(audits, of_all=True)),
    (re.compile(r"/api/v1/versions/(?P<version>[0-9]{1,9})/ratings"), Quick(ratings, of_all=True)),
    (
        re.compile(r"/api/v1/bots/(?P<bot>[-a-z0-9_]{1,60})/versus/(?P<other>[-a-z0-9_]{1,60})"),
        Quick(meetings, of_all=True),
    ),
    (re.compile(r"/api/v1/tournaments"), Quick(tournaments)),
    (re.compile(r"/api/v1/tournaments/(?P<slug>[-a-z0-9_]{1,60})/entries"), Quick(entries)),
    (re.compile(r"/api/v1/tournaments/(?P<slug>[-a-z0-9_]{1,60})/rounds"), Quick(rounds)),
    (re.compile(r"/api/v1/events"), Quick(events)),
    (re.compile(r"/api/v1/circuits"), Quick(circuits, of_all=True)),
)
# The parts of a request besides its address that an answer to a stranger is made from.
READ = (
    *("SCRIPT_NAME", "wsgi.url_scheme", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT"),
    *("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT"),
    *("HTTP_COOKIE", "HTTP_ACCEPT_LANGUAGE"),
)
MOST_HEADS = 500
# Of one answer alone: not given again
OF_ONE = {"x-request-id", "content-encoding", "content-length", "etag", "vary", "ratelimit", "ratelimit-policy"}


class Key(NamedTuple):
    """Everything on which the answer to a stranger depends."""

    path: str
    query: str
    reader: tuple[Hashable, ...]  # prefix, scheme, host, languages, theme


Found: TypeAlias = tuple[Quick, tuple[tuple[str, str], ...]]  # and what the address names


class Door:
    """The WSGI application of the league."""

    def __init__(self, application: Application, store: kept.Store | None = None) -> None:
        self.application = application
        self.store = store or kept.Store()
        self._heads: dict[
            Hashable, list[tuple[str, str]]
        ] = {}  # of answers of the views of QUICK, by what they depend on

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """The kept answer where it holds, else what Django answers."""
        key = asked(environ)
        if key is None:
            return self.application(environ, start_response)
        if "HTTP_AUTHORIZATION" in environ:
            return self._with_token(key, environ, start_response)
        found = self.store.find(key)
        if found is not None and _holds(found):
            return _give(found, environ, start_response)
        quick = _quick(key)
        if quick is None:
            return self._anew(key, environ, start_response)[0]
        made = self._from_lines(key, quick, environ, None)
        if made is not None:
            answer, besides = made
            return _give(answer, environ, start_response, besides)
        given, anew = self._anew(key, environ, start_response)
        if anew is not None:
            self._note_head(key, quick, anew.headers)
        return given

    def _with_token(self, key: Key, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """What who has a token is given of lists; all else, and whatever is wrong with a token, is for Django to say."""
        quick = _quick(key)
        viewer = _reader(environ["HTTP_AUTHORIZATION"]) if quick else None
        if quick is None or viewer is None:
            return self.application(environ, start_response)
        if quick[0].of_all:
            found = self.store.find(key)
            if found is not None and _holds(found):
                return _give(found, environ, start_response)
        made = self._from_lines(key, quick, environ, viewer)
        if made is not None:
            answer, besides = made
            return _give(answer, environ, start_response, besides)

        def noted(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            if status.startswith("200"):
                self._note_head(key, quick, _lasting(headers))
            return start_response(status, headers, *exc_info)

        return self.application(environ, noted)

    def _note_head(self, key: Key, quick: Found, headers: list[tuple[str, str]]) -> None:
        """Remember how the answers of a view begin."""
        if len(self._heads) < MOST_HEADS:
            self._heads[quick[0], *key.reader] = headers

    def _from_lines(
        self, key: Key, quick: Found, environ: Environ, viewer: Viewer | None
    ) -> tuple[kept.Answer, list[tuple[str, str]]] | None:
        """The answer to a list, put together, and kept where it is that of a stranger or of all; None where the view is to make it."""
        headers, (how, named) = self._heads.get((quick[0], *key.reader)), quick
        if headers is None or UNREAD in environ:
            return None
        request = WSGIRequest(environ)
        try:
            spent = throttles.count_player(request, viewer.pk) if viewer else throttles.count_stranger(request)
            made = None if spent.over else how.make(request, dict(named), viewer)
        except (DatabaseError, InterfaceError):
            made = None
        if made is None:
            environ[throttles.COUNTED] = throttles.spent(request)  # once is enough
            return None
        answer = kept.Answer(made.body, headers, made.versions, quick=True)
        if viewer is None or how.of_all:
            self.store.keep(key, answer)
        return answer, [*throttles.counted(request).items(), ("X-Request-ID", number_of(environ))]

    def _anew(self, key: Key, environ: Environ, start_response: Any) -> tuple[Iterable[bytes], kept.Answer | None]:
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
            return answer, None
        try:
            body = b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()
        if names.get("content-encoding") == "gzip":
            body = kept.unpacked(body)
        made = kept.Answer(body, _lasting(headers), ticket.versions)
        self.store.keep(key, made)
        environ["HTTP_IF_NONE_MATCH"] = ticket.wanted
        limits = [(name, value) for name, value in headers if name.lower().startswith("ratelimit")]
        own = [*limits, ("X-Request-ID", names.get("x-request-id", ""))]
        return _give(made, environ, start_response, own), made


def _quick(key: Key) -> Found | None:
    for pattern, make in QUICK:
        if found := pattern.fullmatch(key.path):
            return make, tuple(found.groupdict().items())
    return None


def _lasting(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those headers of an answer that all answers of its view have."""
    same = [(name, value) for name, value in headers if name.lower() not in OF_ONE]
    varies = dict(headers).get("Vary", "")
    return [*same, ("Vary", ", ".join(dict.fromkeys([*filter(None, varies.split(", ")), "Accept-Encoding"])))]


def _reader(authorization: str) -> Viewer | None:
    """Who has this header; None where Django is to look at it."""
    scheme, _, key = authorization.partition(" ")
    try:
        return tokens.find_reader(key.strip()) if scheme.lower() == "bearer" else None
    except (DatabaseError, InterfaceError, UnicodeEncodeError):
        return None


def asked(environ: Environ) -> Key | None:
    """What is asked for: everything on which the answer to a stranger depends. None for all whose answers are not kept."""
    if environ["REQUEST_METHOD"] != "GET" or "HTTP_IF_MATCH" in environ:
        return None
    reader = _reader_of(tuple(map(environ.get, READ)), tuple(settings.ALLOWED_HOSTS))
    return None if reader is None else Key(environ["PATH_INFO"], environ.get("QUERY_STRING", ""), reader)


@lru_cache(maxsize=500)
def _reader_of(values: Sequence[str | None], _allowed: Sequence[str]) -> tuple[Hashable, ...] | None:
    """Return everything besides the address that an answer to a stranger depends on, as Django and the views read it.

    `values` are those of READ. None for a host that is not allowed, and for cookies by which an answer may differ.
    """
    headers = {name: value for name, value in zip(READ, values, strict=True) if value is not None}
    request = WSGIRequest({"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.input": io.BytesIO(), **headers})
    if not request.COOKIES.keys() <= HARMLESS:
        return None
    try:
        host = request.get_host()
    except DisallowedHost:
        return None
    languages = translation.get_language_from_request(request), language(request)
    return headers.get("SCRIPT_NAME", ""), request.scheme, host, *languages, theme(request)


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
