"""The documents of the repository as pages."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from league.web.common import markdown

DOCS = settings.BASE_DIR / "docs"


def index(request: HttpRequest) -> HttpResponse:
    """The list of documents: docs/README.md first where there is one, then every page by its title."""
    pages = [
        (path.stem, markdown.title(path.read_text(encoding="utf-8"), path.stem)) for path in sorted(DOCS.glob("*.md"))
    ]
    readme = DOCS / "README.md"
    body = markdown.html(readme.read_text(encoding="utf-8")) if readme.is_file() else ""
    return render(request, "pages/docs.html", {"pages": [page for page in pages if page[0] != "README"], "body": body})


def page(request: HttpRequest, name: str) -> HttpResponse:
    """docs/<name>.md. The name comes from the list of files, so it cannot leave the folder."""
    path = {path.stem: path for path in DOCS.glob("*.md")}.get(name)
    if path is None:
        raise Http404
    text = path.read_text(encoding="utf-8")
    return render(
        request, "pages/doc.html", {"title": markdown.title(text, name), "body": markdown.html(text), "name": name}
    )
