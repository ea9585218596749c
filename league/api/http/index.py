"""/api/v1/: the list of all operations, as a page for people and as JSON for programs; also the response for unknown addresses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import engines
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from league.api.http.problems import KINDS, MEDIA_TYPE, respond
from league.api.http.schema import ReadOnlyView, document
from league.service.process_cache import computed_once

PAGE = """{% extends "base.html" %}
{% block title %}REST API{% endblock %}
{% block main %}<div class="prose" lang="en">
<h1>REST API, version 1</h1>
<p>Everything the site shows, for programs. The <a href="{{ schema }}">OpenAPI 3.1 document</a> holds every field.
Reading needs nothing; to write, send <code>Authorization: Bearer &lt;token&gt;</code> with a token of your account.</p>
<p class="row">{% for group in groups %}<a href="#{{ group.name }}">{{ group.name }}</a>
{% endfor %}<a href="#refusals">refusals</a></p>
{% for group in groups %}<h2 id="{{ group.name }}">{{ group.name }}</h2><p>{{ group.description }}</p><dl>
{% for operation in group.operations %}<dt><code>{{ operation.method }}
{% if operation.link %}<a href="{{ operation.path }}">{{ operation.path }}</a>{% else %}{{ operation.path }}{% endif %}</code></dt>
<dd>{{ operation.summary }}{% if operation.query %} ({{ operation.query|join:', ' }}){% endif %}</dd>
{% endfor %}</dl>
{% endfor %}<h2 id="refusals">Refusals</h2>
<p>Every refusal is a <code>{{ media }}</code> with type, title, status, detail, what_to_do and, by field, errors.</p><dl>
{% for refusal in kinds %}<dt id="{{ refusal.kind }}"><code>{{ refusal.status }} {{ refusal.kind }}</code></dt>
<dd>{{ refusal.title }}. {{ refusal.todo }}</dd>
{% endfor %}</dl>
</div>{% endblock %}
"""


@computed_once
def _template() -> Any:
    return engines["django"].from_string(PAGE)


def operations() -> list[dict[str, Any]]:
    """Return method, path, query parameters, summary and tag of every operation of the OpenAPI document."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "query": [row["name"] for row in operation.get("parameters", ()) if row["in"] == "query"],
            "summary": operation["summary"],
            "tag": operation["tags"][0],
        }
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


class Index(ReadOnlyView):
    """The list of operations: a page for clients that accept text/html, JSON for all others."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """List all operations."""
        if "text/html" in request.headers.get("Accept", ""):  # Browsers name it; curl and scripts send */*
            response = HttpResponse(_template().render(_page(), request))
        else:
            response = JsonResponse({"document": reverse("api:schema"), "operations": operations()})
        patch_vary_headers(response, ["Accept"])
        return response


def _page() -> dict[str, Any]:
    rows = [row | {"link": row["method"] == "GET" and "{" not in row["path"]} for row in operations()]
    groups = [tag | {"operations": [row for row in rows if row["tag"] == tag["name"]]} for tag in document()["tags"]]
    kinds = [{"kind": kind, "status": n, "title": title, "todo": todo} for kind, (n, title, todo) in KINDS.items()]
    return {"schema": reverse("api:schema"), "groups": groups, "kinds": kinds, "media": MEDIA_TYPE}


@csrf_exempt
def nowhere(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Answer 404 to any other address below /api/v1/."""
    return respond(
        request,
        "not-found",
        "There is no endpoint {path} (no endpoint ends with a slash). GET /api/v1/ lists all endpoints.",
        path=f"/api/v1/{rest[:100]}",
    )
