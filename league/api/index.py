"""/api/v1/: what there is, as a page for people and as JSON for programs; and the answer to all other addresses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import Context, Engine
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from league.api.problems import KINDS, MEDIA_TYPE, body
from league.api.schema import ReadOnly, document

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tute League: REST API</title></head>
<body><main>
<h1>REST API, version 1</h1>
<p>Everything the site shows, for programs. The <a href="{{ schema }}">OpenAPI 3.1 document</a> holds every field.
Reading needs nothing; to write, send <code>Authorization: Bearer &lt;token&gt;</code> with a token of your account.</p>
{% for group in groups %}<h2>{{ group.name }}</h2><p>{{ group.description }}</p><dl>
{% for one in group.operations %}<dt><code>{{ one.method }} {% if one.link %}<a href="{{ one.path }}">{{ one.path }}</a>{% else %}{{ one.path }}{% endif %}</code></dt>
<dd>{{ one.summary }}</dd>
{% endfor %}</dl>
{% endfor %}<h2>Refusals</h2>
<p>Every refusal is a <code>{{ media }}</code> with type, title, status, detail, what_to_do and, by field, errors.</p><dl>
{% for one in kinds %}<dt id="{{ one.kind }}"><code>{{ one.status }} {{ one.kind }}</code></dt><dd>{{ one.title }}. {{ one.todo }}</dd>
{% endfor %}</dl>
</main></body></html>
"""  # noqa: E501 - a page
TEMPLATE = Engine(autoescape=True).from_string(PAGE)


def operations() -> list[dict[str, Any]]:
    """Method, path, summary and tag of every operation, as the document has them."""
    return [
        {"method": method.upper(), "path": path, "summary": one["summary"], "tag": one["tags"][0]}
        for path, methods in document()["paths"].items()
        for method, one in methods.items()
    ]


class Index(ReadOnly):
    """The page where text/html is asked for, else the same as JSON."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """What there is."""
        if "text/html" in request.headers.get("Accept", ""):  # browsers name it; curl and scripts say */*
            response = self._page()
        else:
            response = JsonResponse({"document": reverse("api:schema"), "operations": operations()})
        response["Vary"] = "Accept"
        return response

    def _page(self) -> HttpResponse:
        shown = [one | {"link": one["method"] == "GET" and "{" not in one["path"]} for one in operations()]
        groups = [
            tag | {"operations": [one for one in shown if one["tag"] == tag["name"]]} for tag in document()["tags"]
        ]
        kinds = [{"kind": kind, "status": n, "title": title, "todo": todo} for kind, (n, title, todo) in KINDS.items()]
        context = {"schema": reverse("api:schema"), "groups": groups, "kinds": kinds, "media": MEDIA_TYPE}
        return HttpResponse(TEMPLATE.render(Context(context)))


@csrf_exempt
def nowhere(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Any other address below /api/v1/."""
    detail = f"/api/v1/{rest[:100]} is no address of the API; GET /api/v1/ lists them."
    return JsonResponse(body("not-found", detail), status=404, content_type=MEDIA_TYPE)
