"""The open data: the list of its files, and each file with its checksum."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engine import data
from league.domain.core import paging
from league.domain.upkeep import open_data
from league.service import changes, limits
from league.web.common import errors, lists

SUM = ".sha256"
SMALL = 1 << 24  # Bytes of an answer that the server takes whole, however slowly the client reads.
# Large downloads at a time in a process, one an address: each occupies a thread until the client has read almost all of it. The server ends those
# that are too slow.
AT_ONCE = 2
BUSY_S = 60  # Seconds after which the client may try again.
_downloading: set[str] = set()  # Addresses.
_lock = threading.Lock()


class LargeDownload(Iterator[bytes]):
    """The body of a large download, which occupies one of AT_ONCE places until it is closed."""

    def __init__(self, content: Iterator[bytes], address: str) -> None:
        self._content, self._address, self._is_open = content, address, True

    def __next__(self) -> bytes:
        return next(self._content)

    def close(self) -> None:
        """Give the place back. Repeatable."""
        if self._is_open:
            self._is_open = False
            _downloading.discard(self._address)

    __del__ = close


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
    # Not compressed a second time: it would be no smaller, and its length unknown.
    headers = {"Content-Encoding": "identity", "Content-Length": str(row.bytes)}
    headers["Content-Disposition"] = f'attachment; filename="{row}"'
    content = open_data.content(row)
    if row.bytes > SMALL:
        address = limits.address(request)
        with _lock:
            if address in _downloading or len(_downloading) >= AT_ONCE:
                return errors.too_many(request, BUSY_S)
            _downloading.add(address)
        content = LargeDownload(content, address)
    return StreamingHttpResponse(content, content_type="application/zstd", headers=headers)
