"""Refusals as problem details (RFC 9457): what happened, why, and what to do. Every 4xx and 5xx of the API is made here."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext, gettext_noop
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from engine.runner import PackageRefused
from league.api.http.negotiation import language
from league.domain.core.errors import Forbidden, Refused, TooMany, shown
from league.domain.matches.replays import Unreadable
from league.pure.refusal import Message

MEDIA_TYPE = "application/problem+json"
# word: (status, title, what to do)
KINDS: dict[str, tuple[int, str, str]] = {
    "bad-request": (
        400,
        gettext_noop("The request cannot be read"),
        gettext_noop("Correct what the detail names and send the request again."),
    ),
    "invalid": (
        400,
        gettext_noop("Some values are not allowed"),
        gettext_noop("Correct the values listed under errors and send the request again."),
    ),
    "unauthenticated": (
        401,
        gettext_noop("You are not logged in"),
        gettext_noop(
            "Send the header 'Authorization: Bearer <token>'. You get a token on the site, under your account."
        ),
    ),
    "forbidden": (
        403,
        gettext_noop("You may not do this"),
        gettext_noop("Log in as the owner, or ask the owner to do it."),
    ),
    "scope": (
        403,
        gettext_noop("Your token may not do this"),
        gettext_noop("Make a token with the scope that the detail names, on the site under your account."),
    ),
    "not-found": (
        404,
        gettext_noop("There is nothing at this address"),
        gettext_noop("Check the address; the lists of /api/v1/ name what there is."),
    ),
    "method": (
        405,
        gettext_noop("This address does not take that method"),
        gettext_noop("Use one of the methods in the Allow header."),
    ),
    "conflict": (
        409,
        gettext_noop("The league does not allow this now"),
        gettext_noop("Read the detail: it says what prevents it."),
    ),
    "gone": (
        410,
        gettext_noop("This is not kept any more"),
        gettext_noop("Do without it: it does not come back by itself."),
    ),
    "precondition": (
        412,
        gettext_noop("What is at this address is not what you expect"),
        gettext_noop("Read the address again, then send the request with its present ETag, or without If-Match."),
    ),
    "too-large": (
        413,
        gettext_noop("The request is too large"),
        gettext_noop("Send less: the detail names the limit."),
    ),
    "media-type": (
        415,
        gettext_noop("This address does not read that content type"),
        gettext_noop("Send one of the types that the detail names."),
    ),
    "package": (
        422,
        gettext_noop("The package was refused"),
        gettext_noop("Correct the package as the detail says and upload it again."),
    ),
    "rate": (
        429,
        gettext_noop("Too many requests"),
        gettext_noop("Wait as many seconds as the Retry-After header says."),
    ),
    "damaged": (
        500,
        gettext_noop("What is stored is damaged"),
        gettext_noop("Ask again tomorrow, or tell the operators of the league the address that you asked for."),
    ),
    "broken": (
        500,
        gettext_noop("Something broke on our side"),
        gettext_noop("Send the request again in a minute. Nothing that you sent was done by half."),
    ),
    "unavailable": (
        503,
        gettext_noop("The league cannot answer now"),
        gettext_noop("Wait as many seconds as the Retry-After header says, and send the request again."),
    ),
}


class Problem(exceptions.APIException):
    """A refusal of the given kind (a key of KINDS). `errors` maps fields to their messages; `header` is for WWW-Authenticate."""

    def __init__(
        self, kind: str, detail: str, errors: dict[str, list[str]] | None = None, *, header: str | None = None
    ) -> None:
        super().__init__(detail)
        self.auth_header = header
        self.kind = kind
        self.status_code = KINDS[kind][0]
        self.errors = errors


def body(kind: str, detail: str, errors: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """The JSON of a problem."""
    number, title, what_to_do = KINDS[kind]
    found: dict[str, Any] = {
        "type": f"/api/v1/#{kind}",
        "title": gettext(title),
        "status": number,
        "detail": detail,
        "what_to_do": gettext(what_to_do),
    }
    if errors:
        found["errors"] = errors
    return found


def told(text: str, /, **values: object) -> str:
    """A sentence with its gaps filled, in the language of the moment: the catalogues have what this is called with."""
    return shown(Message(text, **values))


def respond(request: HttpRequest, kind: str, text: str, /, **values: object) -> JsonResponse:
    """The whole answer, where no view of the API gives one; in the language that the request asks for."""
    with translation.override(language(request)):
        found = JsonResponse(body(kind, told(text, **values)), status=KINDS[kind][0], content_type=MEDIA_TYPE)
        found["Content-Language"] = translation.get_language() or "en"
    found["Cache-Control"] = "no-store"
    patch_vary_headers(found, ["Accept-Language"])
    return found


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The response to an exception of a view; None for faults of ours, which stay loud."""
    found = _kind(error)
    if found is None:
        return None
    kind, detail, errors = found
    if kind == "media-type":
        there = ", ".join(parser.media_type for parser in context["view"].get_parsers())
        detail = f"{detail} This address reads: {there}."
    headers = {}
    wait = getattr(error, "wait", None) or getattr(error, "retry_after", None)
    if wait is not None:
        headers["Retry-After"] = str(max(1, -int(-wait // 1)))
    if scheme := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = scheme
    set_rollback()
    return Response(body(kind, detail, errors), status=KINDS[kind][0], headers=headers, content_type=MEDIA_TYPE)


def _kind(  # noqa: C901 - a table of exceptions, one after the other
    error: Exception,
) -> tuple[str, str, dict[str, list[str]] | None] | None:
    """Kind, detail and errors by field of an exception; None if it is not the caller's fault."""
    match error:
        case Problem():
            return error.kind, str(error.detail), error.errors
        case exceptions.ValidationError():
            errors = flat(error.detail)
            return "invalid", "; ".join(f"{name}: {text}" for name, texts in errors.items() for text in texts), errors
        case exceptions.AuthenticationFailed() | exceptions.NotAuthenticated():
            return "unauthenticated", str(error.detail), None
        case exceptions.PermissionDenied():
            return "forbidden", str(error.detail), None
        case PermissionDenied():
            return "forbidden", str(error) or told("You may not do this."), None
        case exceptions.MethodNotAllowed():
            return "method", str(error.detail), None
        case exceptions.UnsupportedMediaType():
            return "media-type", str(error.detail), None
        case exceptions.Throttled():
            return "rate", str(error.detail), None
        case exceptions.NotFound() | Http404():
            return "not-found", told("There is nothing here, or you may not see it."), None
        case TooMany():
            return "rate", shown(error), None
        case PackageRefused():
            return "package", str(error), None
        case Unreadable():
            return ("gone" if error.missing else "damaged"), shown(error), None
        case Forbidden():
            return "forbidden", shown(error), None
        case Refused():
            return "conflict", shown(error), None
        case RequestDataTooBig():
            return "too-large", told("The body is larger than this address takes."), None
        case exceptions.ParseError() | SuspiciousOperation():
            return "bad-request", str(error) or told("The request is malformed."), None
        case exceptions.APIException() if status.is_client_error(error.status_code):
            return "bad-request", str(error.detail), None
    return None


def flat(detail: Any, name: str = "request") -> dict[str, list[str]]:
    """Messages by dotted field name, from the nested answer of a serializer."""
    if isinstance(detail, dict):
        found: dict[str, list[str]] = {}
        for key, value in detail.items():
            inner = "request" if key == "non_field_errors" else str(key)
            full = inner if name == "request" else f"{name}.{inner}"
            for field, texts in flat(value, full).items():
                found.setdefault(field, []).extend(texts)
        return found
    if isinstance(detail, list):
        if any(isinstance(value, dict | list) for value in detail):
            return {
                field: texts
                for number, value in enumerate(detail)
                if value
                for field, texts in flat(value, f"{name}.{number}").items()
            }
        return {name: [str(value) for value in detail]}
    return {name: [str(detail)]}
