"""Refusals as problem details (RFC 9457): what happened, why, and what to do. This module makes every 4xx and 5xx response of the API."""

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
# By kind: status, title, what to do.
KINDS: dict[str, tuple[int, str, str]] = {
    "bad-request": (
        400,
        gettext_noop("Malformed request"),
        gettext_noop("Correct the problem described in the detail and send the request again."),
    ),
    "invalid": (
        400,
        gettext_noop("Some values are not allowed"),
        gettext_noop("Correct the values listed under errors and send the request again."),
    ),
    "unauthenticated": (
        401,
        gettext_noop("You are not logged in"),
        gettext_noop("Send the header 'Authorization: Bearer <key>'. You can create an API key on your account page."),
    ),
    "forbidden": (
        403,
        gettext_noop("You may not do this"),
        gettext_noop("Log in as the owner, or ask the owner to do it."),
    ),
    "scope": (
        403,
        gettext_noop("Your API key may not do this"),
        gettext_noop("On your account page, create an API key with the scope named in the detail."),
    ),
    "not-found": (
        404,
        gettext_noop("Not found"),
        gettext_noop("Check the address. /api/v1/ lists all endpoints."),
    ),
    "method": (
        405,
        gettext_noop("Method not allowed"),
        gettext_noop("Use one of the methods in the Allow header."),
    ),
    "conflict": (
        409,
        gettext_noop("Not possible at present"),
        gettext_noop("The detail gives the reason."),
    ),
    "gone": (
        410,
        gettext_noop("No longer available"),
        gettext_noop("It has been deleted and will not come back."),
    ),
    "precondition": (
        412,
        gettext_noop("The resource has changed"),
        gettext_noop("Fetch it again, then send the request with its current ETag, or without If-Match."),
    ),
    "too-large": (
        413,
        gettext_noop("The request is too large"),
        gettext_noop("Send less data; the detail names the limit."),
    ),
    "media-type": (
        415,
        gettext_noop("Unsupported content type"),
        gettext_noop("Use one of the content types named in the detail."),
    ),
    "package": (
        422,
        gettext_noop("The package was refused"),
        gettext_noop("Correct the problem described in the detail and upload the package again."),
    ),
    "rate": (
        429,
        gettext_noop("Too many requests"),
        gettext_noop("Wait for the number of seconds in the Retry-After header."),
    ),
    "damaged": (
        500,
        gettext_noop("Stored data is damaged"),
        gettext_noop("Try again tomorrow, or send this address to the operators."),
    ),
    "broken": (
        500,
        gettext_noop("Internal error"),
        gettext_noop("Send the request again in a minute. This one was not carried out."),
    ),
    "unavailable": (
        503,
        gettext_noop("The league is temporarily unavailable"),
        gettext_noop("Wait for the number of seconds in the Retry-After header, then send the request again."),
    ),
}


class ApiProblem(exceptions.APIException):
    """A refusal of the given kind (a key of KINDS). `errors` maps fields to their messages; `header` is for WWW-Authenticate."""

    def __init__(
        self, kind: str, detail: str, errors: dict[str, list[str]] | None = None, *, header: str | None = None
    ) -> None:
        super().__init__(detail)
        self.auth_header = header
        self.kind = kind
        self.status_code = KINDS[kind][0]
        self.errors = errors


def bad_parameter(name: str, problem: str) -> ApiProblem:
    """Return the refusal of a query parameter."""
    return ApiProblem("invalid", f"{name}: {problem}", {name: [problem]})


def body(kind: str, detail: str, errors: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """Return the JSON of a problem."""
    number, title, what_to_do = KINDS[kind]
    problem: dict[str, Any] = {
        "type": f"/api/v1/#{kind}",
        "title": gettext(title),
        "status": number,
        "detail": detail,
        "what_to_do": gettext(what_to_do),
    }
    if errors:
        problem["errors"] = errors
    return problem


def message(text: str, /, **values: object) -> str:
    """Return a sentence in the active language, with its placeholders filled. The catalogues have the literals in the calls."""
    return shown(Message(text, **values))


def respond(request: HttpRequest, kind: str, text: str, /, **values: object) -> JsonResponse:
    """Return a whole response to a request that reaches no view of the API, in the language that the request asks for."""
    with translation.override(language(request)):
        response = JsonResponse(body(kind, message(text, **values)), status=KINDS[kind][0], content_type=MEDIA_TYPE)
        response["Content-Language"] = translation.get_language() or "en"
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ["Accept-Language"])
    return response


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an exception of a view; None for our own errors, which are logged and answered with 500."""
    refusal = _kind(error)
    if refusal is None:
        return None
    kind, detail, errors = refusal
    if kind == "media-type":
        types = ", ".join(parser.media_type for parser in context["view"].get_parsers())
        detail = f"{detail} This address reads: {types}."
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
    """Return kind, detail and errors by field of an exception; None if the caller did nothing wrong."""
    match error:
        case ApiProblem():
            return error.kind, str(error.detail), error.errors
        case exceptions.ValidationError():
            errors = flat(error.detail)
            return "invalid", "; ".join(f"{name}: {text}" for name, texts in errors.items() for text in texts), errors
        case exceptions.AuthenticationFailed() | exceptions.NotAuthenticated():
            return "unauthenticated", str(error.detail), None
        case exceptions.PermissionDenied():
            return "forbidden", str(error.detail), None
        case PermissionDenied():
            return "forbidden", str(error) or message("You may not do this."), None
        case exceptions.MethodNotAllowed():
            return "method", str(error.detail), None
        case exceptions.UnsupportedMediaType():
            return "media-type", str(error.detail), None
        case exceptions.Throttled():
            return "rate", str(error.detail), None
        case exceptions.NotFound() | Http404():
            return "not-found", message("It does not exist, or you may not see it."), None
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
            return "too-large", message("The body is larger than this endpoint accepts."), None
        case exceptions.ParseError() | SuspiciousOperation():
            return "bad-request", str(error) or message("The request is malformed."), None
        case exceptions.APIException() if status.is_client_error(error.status_code):
            return "bad-request", str(error.detail), None
    return None


def flat(detail: Any, name: str = "request") -> dict[str, list[str]]:
    """Return messages by dotted field name, from the nested errors of a serializer."""
    if isinstance(detail, dict):
        messages: dict[str, list[str]] = {}
        for key, value in detail.items():
            inner = "request" if key == "non_field_errors" else str(key)
            full = inner if name == "request" else f"{name}.{inner}"
            for field, texts in flat(value, full).items():
                messages.setdefault(field, []).extend(texts)
        return messages
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
