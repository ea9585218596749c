"""What every endpoint has: answers in the language asked for, declared query parameters, ETags, rate-limit headers, repeatable creates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from django.core.files.base import File
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS, IsAuthenticatedOrReadOnly
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.http import cursors, throttles
from league.api.http.auth import BearerToken, Session, check_scope, player_of
from league.api.http.negotiation import AlwaysFirst, language
from league.api.http.parsers import StrictJSON
from league.api.http.problems import MEDIA_TYPE, Problem, body, told
from league.api.http.schema import Operation
from league.domain.core import idempotency, paging
from league.enums import TokenScope
from league.models import IdempotencyKey, Player
from league.service import changes

Row = TypeVar("Row")


class View(GenericAPIView[Any]):
    """The base of all endpoints. `params` names the query parameters that a read takes besides filters and paging."""

    authentication_classes = (BearerToken, Session)
    permission_classes: Sequence[Any] = (IsAuthenticatedOrReadOnly,)
    throttle_classes: Sequence[Any] = (throttles.ByCaller,)
    parser_classes: Sequence[Any] = (StrictJSON,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = AlwaysFirst
    schema = Operation()
    # without OPTIONS: it has nothing to tell that the document does not
    http_method_names = ["get", "head", "post", "patch", "delete"]
    params: Sequence[str] = ()
    kept_until: Sequence[str] = ()  # the change counters of what a read shows; without any its answers are not kept
    scopes: ClassVar[Mapping[str, TokenScope]] = {}  # by method, where a token may do with less than manage
    pagination_class: Any = None
    filter_backends: Sequence[Any] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer in English, whatever the site speaks, unless the request asks for another language: programs read this."""
        with translation.override(language(request)):
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse tokens whose scope is too small, and query parameters that would be ignored."""
        super().initial(request, *args, **kwargs)
        method = request.method or ""
        usual = TokenScope.READ if method in SAFE_METHODS else TokenScope.MANAGE
        check_scope(request, self.scopes.get(method, usual))
        allowed = self.allowed_params(request)
        errors = {}
        for name in request.query_params:
            if name not in allowed:
                there = ", ".join(sorted(allowed)) or told("none")
                errors[name[:80]] = [
                    told("is not a query parameter of this endpoint; it accepts: {there}", there=there)
                ]
            elif len(request.query_params.getlist(name)) > 1:
                errors[name] = [told("appears more than once")]
        if method in SAFE_METHODS and changes.TICKET in request._request.META:
            changes.keep_until(request._request, *self.counters(**kwargs))
        if errors:
            raise Problem("invalid", "; ".join(f"{name}: {texts[0]}" for name, texts in errors.items()), errors)

    def counters(self, **named: Any) -> Sequence[str]:
        """Return the change counters of what a read shows, by what its address names."""
        return self.kept_until

    def allowed_params(self, request: Request) -> set[str]:
        """Names of the query parameters of this request."""
        allowed = set(self.params)
        if request.method in ("GET", "HEAD"):
            filters = getattr(self, "filterset_class", None)
            allowed |= set(filters.base_filters if filters else ())
            allowed |= set(cursors.PARAMETERS if self.pagination_class else ())
        return allowed

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add what every answer carries."""
        found = super().finalize_response(request, response, *args, **kwargs)
        known = hasattr(request, "_request")
        for name, value in (throttles.headers(request) if known else {}).items():
            found[name] = value
        found["Content-Language"] = translation.get_language() or "en"
        found["Cache-Control"] = "private, no-cache"
        patch_vary_headers(found, ["Authorization", "Cookie", "Accept-Language"])
        if (
            request.method in ("GET", "HEAD")
            and found.status_code == status.HTTP_200_OK
            and isinstance(found, Response)
        ):
            found.add_post_render_callback(lambda rendered: _conditional(request, rendered))
        return found

    def page(self, rows: Any, serializer: type[serializers.BaseSerializer[Any]] | None = None) -> Response:
        """The page of `rows` (query set or list) that the request names."""
        chosen = self.paginate_queryset(rows)
        made = (serializer or self.get_serializer_class())(chosen, many=True, context=self.get_serializer_context())
        return self.get_paginated_response(made.data)

    def cut(self, page: paging.Page[Any], serializer: type[serializers.BaseSerializer[Any]] | None = None) -> Response:
        """A page that was read already."""
        rows = cast(cursors.CursorPages, self.paginator).show(self.request, page)
        made = (serializer or self.get_serializer_class())(rows, many=True, context=self.get_serializer_context())
        return self.get_paginated_response(made.data)

    def body(self) -> Any:
        """The checked body of the request. ValidationError names every wrong field."""
        found = self.get_serializer(data=self.request.data)
        found.is_valid(raise_exception=True)
        return found.validated_data

    def owner_only(self, owner: Player, what: str) -> Player:
        """The player who asks, if it is `owner`; PermissionDenied for all others: operators have addresses of their own."""
        player = player_of(self.request)
        if player.pk != owner.pk:
            raise PermissionDenied(
                told("{what} belongs to {owner}; only {owner} can do this.", what=what, owner=owner.name)
            )
        return player

    def once(self, act: Callable[[], Response]) -> Response:
        """Do a create, or give the answer of the first request with the same Idempotency-Key, in one transaction with the key.

        Refusals are kept like successes: a new attempt takes a new key. Not kept: 429 and faults of ours.
        """
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
                made = json.loads(json.dumps(response.data, default=str))
                idempotency.finish(row, response.status_code, made, response.get("Location", ""))
        if refused is not None:
            raise refused
        return response


class ListView(View):
    """A list with filters and pages."""

    pagination_class = cursors.CursorPages
    filter_backends: Sequence[Any] = (DjangoFilterBackend,)

    def filtered(self, rows: Any) -> Any:
        """`rows` as the query parameters ask. ValidationError for values that a filter does not take."""
        return self.filter_queryset(rows)


def existing(row: Row | None) -> Row:
    """`row`, or 404 where there is none."""
    if row is None:
        raise NotFound
    return row


def _replayed(row: IdempotencyKey) -> Response:
    """The answer of the first request, as it was."""
    kind = MEDIA_TYPE if row.status and status.is_client_error(row.status) else None
    headers = {"Idempotency-Replayed": "true"} | ({"Location": row.location} if row.location else {})
    return Response(row.answer, row.status, headers=headers, content_type=kind)


def _conditional(request: Request, response: Response) -> HttpResponse:
    """304 where the client has this very body already."""
    etag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = etag
    found = get_conditional_response(request._request, etag=etag, response=response)
    if found is None or found is response:
        return response
    if found.status_code == status.HTTP_412_PRECONDITION_FAILED:
        text = told("If-Match does not match the current ETag, {etag}.", etag=etag)
        found = JsonResponse(body("precondition", text), status=found.status_code, content_type=MEDIA_TYPE)
    for name, value in response.items():
        if name.lower() not in ("content-type", "content-length"):
            found.headers.setdefault(name, value)
    return found


def _fingerprint(request: Request) -> str:
    """What makes two requests the same: method, address with query, and the values of the body (files by content)."""
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
