"""The OpenAPI 3.1 document, generated from the views so that it cannot drift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import translation
from django.views import View as DjangoView
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema

from league.api.http.negotiation import NDJSON
from league.api.http.problems import KINDS, MEDIA_TYPE, respond
from league.service import changes
from league.service.process_cache import computed_once

PROBLEM = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457).",
    "required": ["type", "title", "status", "detail", "what_to_do"],
    "properties": {
        "type": {"type": "string", "enum": [f"/api/v1/#{kind}" for kind in KINDS]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened and why."},
        "what_to_do": {"type": "string"},
        "errors": {
            "type": "object",
            "description": "Messages by field.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
    "additionalProperties": False,
}
HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "Send it back as If-None-Match: 304 if nothing has changed."},
    "RateLimit-Policy": {"schema": {"type": "string"}, "description": 'Such as "user";q=600;w=60: quota and seconds.'},
    "RateLimit": {
        "schema": {"type": "string"},
        "description": 'Such as "user";r=599;t=41: what is left, seconds until more.',
    },
}

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description="1 to 80 characters, your choice.")
Method = TypeVar("Method", bound=Callable[..., Any])


def operation(name: str, summary: str, **more: Any) -> Callable[[Method], Method]:
    """Describe a method in the document. Whatever is not said follows from the view: its folder, its serializer, its address."""
    describe: Callable[[Method], Method] = extend_schema(operation_id=name, summary=summary, **more)
    return describe


class Operation(AutoSchema):
    """The description of one operation, corrected where the library guesses wrongly."""

    def _get_serializer_name(self, serializer: Any, direction: str, bypass_extensions: bool = False) -> str:
        """Strip the `Out` suffix from schema names."""
        return str(super()._get_serializer_name(serializer, direction, bypass_extensions)).removesuffix("Out")

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return the description; that of a list that is also a stream names both forms."""
        described = super().get_operation(*args, **kwargs)
        if described and hasattr(self.view, "MOST_LINES"):
            text = f"A row a line, at most {self.view.MOST_LINES}; last a line with `next`, the address of the others or null."
            described["responses"]["200"]["content"][NDJSON] = {"schema": {"type": "string", "description": text}}
        return described

    def get_tags(self) -> list[str]:
        """Return the folder of the view."""
        return [type(self.view).__module__.split(".")[2]]

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Return True for a response with many=True. The library would also guess from the name of the view."""
        chosen = self.get_response_serializers() if serializer is None else serializer
        if isinstance(chosen, dict):
            return False
        if getattr(chosen, "many", False):
            return True
        return self.method == "GET" and getattr(self.view, "pagination_class", None) is not None


def add_common_parts(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add problems to every operation, the ETag to every read, and the rate limits to every response."""
    result["components"]["schemas"]["Problem"] = PROBLEM
    problem = {"description": "Refused.", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    result["components"].setdefault("responses", {})["Problem"] = problem
    for path in result["paths"].values():
        for method, operation in path.items():
            for code, response in operation["responses"].items():
                names = HEADERS if method == "get" and code == "200" else [name for name in HEADERS if name != "ETag"]
                response["headers"] = {name: HEADERS[name] for name in names}
            for refusals in ("4XX", "5XX"):
                operation["responses"][refusals] = {"$ref": "#/components/responses/Problem"}
            if method == "get":
                operation["responses"]["304"] = {"description": "You have this answer already."}
    return result


@computed_once
def document() -> dict[str, Any]:
    """Return the whole document, in English."""
    with translation.override("en"):
        generator: Any = SchemaGenerator  # The library has no types for it
        schema: dict[str, Any] = generator(api_version="1").get_schema(request=None, public=True)
    return schema


class ReadOnlyView(DjangoView):
    """A plain Django view that refuses other methods as the API does."""

    http_method_names = ["get", "head"]

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer 405 as a problem."""
        refused = respond(request, "method", "Method {method} is not allowed here.", method=request.method)
        refused["Allow"] = "GET, HEAD"
        return refused


class Document(ReadOnlyView):
    """The OpenAPI document, at /schema."""

    def get(self, request: HttpRequest) -> JsonResponse:
        """Return the document as JSON."""
        changes.keep_until(request, changes.RELEASE)
        response = JsonResponse(document(), json_dumps_params={"ensure_ascii": False})
        response["Content-Type"] = "application/vnd.oai.openapi+json; version=3.1; charset=utf-8"
        response["Cache-Control"] = "public, max-age=300"
        return response
