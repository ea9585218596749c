"""Files for authors: source and package of a version, for whoever may read it, and the language kits, for everybody."""

from __future__ import annotations

import io
import zipfile
from functools import cache

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.domain.bots import languages, packages, sources
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.models import BotVersion
from league.web.common.viewers import viewer_of

KIT_TIME = (2026, 1, 1, 0, 0, 0)  # Time of the files in a kit, so that its bytes are always the same.


def _is_fork(request: HttpRequest, version: BotVersion) -> bool:
    """Return True if the viewer only reads the version, so that a copy names its origin."""
    return not ownership.may(viewer_of(request), version.bot, BotAct.CODE)


def withheld(request: HttpRequest) -> HttpResponse:
    """Answer a request for code that the viewer may not read, as operators may not either: log in, or 404."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    raise Http404


def _file(data: bytes, name: str, kind: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(data, content_type=kind, headers=headers)


@never_cache
@require_safe
def source(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Send the source of a version that is one file; a fork names its origin."""
    version = sources.find(viewer_of(request), slug, number)
    if version is None:
        return withheld(request)
    text = packages.source(version) or languages.text_of(version)
    if text is None:
        raise Http404
    text = sources.forked_text(version, text) if _is_fork(request, version) else text
    ending = version.entry.rpartition(".")[2]
    return _file(text.encode(), f"{slug}-v{number}.{ending}", "text/plain; charset=utf-8")


@never_cache
@require_safe
def package(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Send the package of a version: its files with bot.toml, ready to be submitted again. In a fork bot.toml names the origin."""
    version = sources.find(viewer_of(request), slug, number)
    if version is None:
        return withheld(request)
    data = sources.forked_package(version) if _is_fork(request, version) else packages.uploaded(version)
    return _file(data, f"{slug}-v{number}.zip", "application/zip")


@require_safe
def kit(request: HttpRequest, name: str) -> HttpResponse:
    """Send a language kit."""
    data = _kits().get(name)
    if data is None:
        raise Http404
    return _file(data, f"tute-kit-{name}.zip", "application/zip")


@cache
def _kits() -> dict[str, bytes]:
    """Return the packed kits by name."""
    kits = {}
    for folder in sorted(path for path in languages.KITS.iterdir() if (path / "bot.toml").is_file()):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.iterdir()):
                if path.is_file():
                    archive.writestr(zipfile.ZipInfo(path.name, KIT_TIME), path.read_bytes(), zipfile.ZIP_DEFLATED)
        kits[folder.name] = packed.getvalue()
    return kits
