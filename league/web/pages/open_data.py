"""The open data: the list of its files, and each file with its checksum."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engine import data
from league.domain.core import paging
from league.domain.upkeep import open_data
from league.service import changes
from league.web.common import lists

SUM = ".sha256"


@require_safe
@changes.kept_until(changes.RELEASE, changes.CLOCK)
def files(request: HttpRequest) -> HttpResponse:
    """List the files, newest first. One query."""
    page = lists.page_of(request, open_data.files(), paging.NEWEST)
    context = {"page": page, "licence": open_data.LICENCE, "licence_url": open_data.LICENCE_URL}
    return render(request, "pages/data.html", context)


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send a file, or with `.sha256` its checksum as `sha256sum` reads it, or the schema of a line."""
    if name == "schema.json":
        return HttpResponse(data.SCHEMA.read_bytes(), content_type="application/schema+json")
    row = open_data.find(name.removesuffix(SUM))
    if row is None:
        raise Http404
    if name.endswith(SUM):
        return HttpResponse(f"{row.sha256}  {row}\n", content_type="text/plain; charset=utf-8")
    headers = {"Content-Disposition": f'attachment; filename="{row}"', "Content-Length": str(row.bytes)}
    return StreamingHttpResponse(open_data.content(row), content_type="application/zstd", headers=headers)
