"""The base of all endpoints: language, declared query parameters, ETags, rate-limit headers, repeatable creates."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from django.core.files.base import File
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers, status
from rest_framework.exceptions import MethodNotAllowed, NotFound, PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS, IsAuthenticatedOrReadOnly
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http import cursors, throttles
from league.api.http.auth import BearerToken, SiteSession, check_scope, player_of
from league.api.http.negotiation import NDJSON, AlwaysFirst, language, wants_lines
from league.api.http.parsers import StrictJSON
from league.api.http.problems import MEDIA_TYPE, ApiProblem, bad_parameter, body, message
from league.api.http.schema import Operation
from league.domain.core import idempotency, paging
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import TokenScope
from league.models import Bot, IdempotencyKey, Player
from league.service import changes

Row = TypeVar("Row")
Create = TypeVar("Create", bound=Callable[..., Response])


class ApiView(GenericAPIView[Any]):
    """The base of all endpoints. `params`: names of the query parameters that a read takes besides filters and paging."""

    authentication_classes: Sequence[Any] = (BearerToken, SiteSession)
    permission_classes: Sequence[Any] = (IsAuthenticatedOrReadOnly,)
    throttle_classes: Sequence[Any] = (throttles.ByCaller,)
    parser_classes: Sequence[Any] = (StrictJSON,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = AlwaysFirst
    schema = Operation()
    # No OPTIONS: the OpenAPI document says everything that its response would.
    http_method_names = ["get", "head", "post", "patch", "delete"]
    params: Sequence[str] = ()
    # Change counters of the data that a read shows; without counters its responses are not cached
    kept_until: Sequence[str] = ()
    scopes: ClassVar[Mapping[str, TokenScope]] = {}  # The scope by method, for tokens that need less than `manage`
    pagination_class: Any = None
    filter_backends: Sequence[Any] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer in English, whatever the language of the site, unless Accept-Language asks for another language: programs read the responses."""
        with translation.override(language(request)):
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse methods that the endpoint lacks, tokens whose scope is too small, and query parameters that would be ignored."""
        method = request.method or ""
        if method not in self.allowed_methods:
            raise MethodNotAllowed(method)
        super().initial(request, *args, **kwargs)
        usual = TokenScope.READ if method in SAFE_METHODS else TokenScope.MANAGE
        check_scope(request, self.scopes.get(method, usual))
        allowed = self.allowed_params(request)
        errors = {}
        for name in request.query_params:
            if name not in allowed:
                accepted = ", ".join(sorted(allowed)) or message("none")
                errors[name[:80]] = [
                    message("is not a query parameter of this endpoint; it accepts: {there}", there=accepted)
                ]
            elif len(request.query_params.getlist(name)) > 1:
                errors[name] = [message("appears more than once")]
            elif "\0" in request.query_params[name]:
                errors[name] = [message("contains a null character")]
        if method in SAFE_METHODS and changes.TICKET in request._request.META:
            changes.keep_until(request._request, *self.counters(**kwargs))
        if errors:
            raise ApiProblem("invalid", "; ".join(f"{name}: {texts[0]}" for name, texts in errors.items()), errors)

    def counters(self, **params: Any) -> Sequence[str]:
        """Return the change counters of the data that a read shows, for the parameters in its address."""
        return self.kept_until

    def allowed_params(self, request: Request) -> set[str]:
        """Return the names of the query parameters that this request may have."""
        allowed = set(self.params)
        if request.method in ("GET", "HEAD"):
            filters = getattr(self, "filterset_class", None)
            allowed |= set(filters.base_filters if filters else ())
            allowed |= set(cursors.PARAMETERS if self.pagination_class else ())
        return allowed

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add the headers of every response."""
        final = super().finalize_response(request, response, *args, **kwargs)
        is_wrapped = hasattr(request, "_request")
        for name, value in (throttles.headers(request) if is_wrapped else {}).items():
            final[name] = value
        final["Content-Language"] = translation.get_language() or "en"
        final["Cache-Control"] = "private, no-cache"
        patch_vary_headers(final, ["Authorization", "Cookie", "Accept-Language"])
        if (
            request.method in ("GET", "HEAD")
            and final.status_code == status.HTTP_200_OK
            and isinstance(final, Response)
        ):
            final.add_post_render_callback(lambda rendered: _conditional(request, rendered))
        return final

    def page(self, rows: Any, serializer: type[serializers.BaseSerializer[Any]] | None = None) -> Response:
        """Return the requested page of `rows` (query set or list)."""
        return self._serialized(self.paginate_queryset(rows), serializer)

    def cut(self, page: paging.Page[Any], serializer: type[serializers.BaseSerializer[Any]] | None = None) -> Response:
        """Return a page that has already been read."""
        rows = cast(cursors.CursorPages, self.paginator).show(self.request, page)
        return self._serialized(rows, serializer)

    def _serialized(self, rows: Any, serializer: type[serializers.BaseSerializer[Any]] | None) -> Response:
        kind = serializer or self.get_serializer_class()
        return self.get_paginated_response(kind(rows, many=True, context=self.get_serializer_context()).data)

    def body(self) -> Any:
        """Return the validated body of the request. Raise ValidationError, which names every wrong field."""
        serializer = self.get_serializer(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def owner_only(self, owner: Player, what: str) -> Player:
        """Return the caller if it is `owner`; otherwise raise PermissionDenied. Operators have separate endpoints."""
        player = player_of(self.request)
        if player.pk != owner.pk:
            raise PermissionDenied(
                message("{what} belongs to {owner}; only {owner} can do this.", what=what, owner=owner.name)
            )
        return player

    def allowed(self, bot: Bot, act: BotAct, what: str) -> Player:
        """Return the caller if they may do this with a bot; otherwise raise PermissionDenied."""
        player = player_of(self.request)
        if not ownership.may(player, bot, act):
            self.owner_only(bot.owner, what)
        return player

    def created(self, answer: Any, name: str, key: str | int) -> Response:
        """Answer 201 with the new row and its address in the API."""
        return Response(answer, status.HTTP_201_CREATED, headers={"Location": reverse(f"api:{name}", args=[key])})

    def run_once(self, act: Callable[[], Response]) -> Response:
        """Run a create request, or repeat the response to the first request with the same Idempotency-Key, in one transaction with the key."""
        key = self.request.headers.get("Idempotency-Key")
        if key is None:
            return act()
        refused: Exception | None = None
        with transaction.atomic():
            row, fresh = idempotency.begin(player_of(self.request), key, _fingerprint(self.request))
            if not fresh:
                return _replayed(row)
            try:
                with transaction.atomic():
                    response = act()
            except Exception as error:
                refusal = self.get_exception_handler()(error, self.get_exception_handler_context())
                if refusal is None or refusal.status_code in (status.HTTP_429_TOO_MANY_REQUESTS, *range(500, 600)):
                    raise
                idempotency.finish(row, refusal.status_code, refusal.data)
                refused = error
            else:
                data = json.loads(json.dumps(response.data, default=str))
                idempotency.finish(row, response.status_code, data, response.get("Location", ""))
        if refused is not None:
            raise refused
        return response


def once(create: Create) -> Create:
    """Let a method that creates something be repeated with an Idempotency-Key.

    Refusals are stored like successes, so a new attempt needs a new key. 429 and our own errors are not stored.
    """

    @functools.wraps(create)
    def method(view: ApiView, request: Request, *args: Any, **kwargs: Any) -> Response:
        player_of(request)
        return view.run_once(lambda: create(view, request, *args, **kwargs))

    return cast(Create, method)


class ListView(ApiView):
    """A list with filters and pages."""

    pagination_class = cursors.CursorPages
    filter_backends: Sequence[Any] = (DjangoFilterBackend,)


class StreamedView(ListView):
    """A list that is also sent as NDJSON, to clients that accept this: a row a line in the order of the list, and last a line with `next`.

    A stream has at most MOST_LINES rows, and ends earlier if the caller's requests are used up: MAX_SIZE rows count as one. A stream without the last
    line was cut off.
    """

    MOST_LINES = 5000  # The server takes these at once, and a slow reader occupies no thread.

    def allowed_params(self, request: Request) -> set[str]:
        """Return the names of the query parameters; a stream has no pages."""
        return super().allowed_params(request) - ({"page_size"} if self._is_stream(request) else set())

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add the headers of every response."""
        final = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(final, ["Accept"])
        return final

    def rows(self, rows: Any, describe: Callable[[Any], Sequence[Any]]) -> HttpResponseBase:
        """Return the requested page of a query set, or the stream of it."""
        if not self._is_stream(self.request):
            return self.get_paginated_response(describe(self.paginate_queryset(rows)))
        order: paging.Order = getattr(self, "page_order", paging.NEWEST)
        cursor = cursors.read_cursor(self.request, order.kinds)
        if cursor is not None and cursor.back:
            raise bad_parameter("cursor", message("leads back, and a stream goes forward; take it from a next link"))
        first = paging.read_page(rows, order, cursor, cursors.MAX_SIZE)
        pages = cast(cursors.CursorPages, self.paginator)
        pages.show(self.request, first)
        return StreamingHttpResponse(self._lines(first, rows, order, describe, pages.link), content_type=NDJSON)

    def _lines(
        self,
        page: paging.Page[Any],
        rows: Any,
        order: paging.Order,
        describe: Callable[[Any], Sequence[Any]],
        link: Callable[[str | None], str | None],
    ) -> Iterator[bytes]:
        renderer, sent = JSONRenderer(), 0
        while True:
            for row in describe(page.rows):
                yield renderer.render(row) + b"\n"
            sent += len(page)
            if page.after is None or sent >= self.MOST_LINES or not self._may_go_on():
                break
            page = paging.read_page(rows, order, paging.read_cursor(page.after, order.kinds), cursors.MAX_SIZE)
        yield renderer.render({"next": link(page.after)}) + b"\n"

    def _may_go_on(self) -> bool:
        return all(throttle.allow_request(self.request, self) for throttle in self.get_throttles())

    @staticmethod
    def _is_stream(request: Request) -> bool:
        return wants_lines(request.headers.get("Accept", ""))


def existing(row: Row | None) -> Row:
    """Return `row`; raise 404 if it is None."""
    if row is None:
        raise NotFound
    return row


def _replayed(row: IdempotencyKey) -> Response:
    """Repeat the response to the first request."""
    kind = MEDIA_TYPE if row.status and status.is_client_error(row.status) else None
    headers = {"Idempotency-Replayed": "true"} | ({"Location": row.location} if row.location else {})
    return Response(row.answer, row.status, headers=headers, content_type=kind)


def _conditional(request: Request, response: Response) -> HttpResponse:
    """Answer 304 if the client already has this body."""
    etag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = etag
    other = get_conditional_response(request._request, etag=etag, response=response)
    if other is None or other is response:
        return response
    if other.status_code == status.HTTP_412_PRECONDITION_FAILED:
        text = message("If-Match does not match the current ETag, {etag}.", etag=etag)
        other = JsonResponse(body("precondition", text), status=other.status_code, content_type=MEDIA_TYPE)
    for name, value in response.items():
        if name.lower() not in ("content-type", "content-length"):
            other.headers.setdefault(name, value)
    return other


def _fingerprint(request: Request) -> str:
    """Return a digest that equal requests have in common: of method, address with query, and the values of the body (files by content)."""
    data = request.data
    pairs = [(name, data.getlist(name)) for name in data] if hasattr(data, "getlist") else data
    plain = json.dumps(pairs, default=_plain, sort_keys=True)
    return idempotency.fingerprint(request.method or "", request.get_full_path(), plain)


def _plain(value: Any) -> Any:
    if not isinstance(value, File):
        return str(value)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return [value.name, digest.hexdigest()]
