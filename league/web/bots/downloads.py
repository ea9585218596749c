"""Files for authors: source and package of a version, only for its owner and team, and the language kits, for everybody."""

from __future__ import annotations

import io
import zipfile
from functools import cache

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.domain.bots import languages, packages
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.models import BotVersion
from league.web.common.viewers import player_of

KIT_TIME = (2026, 1, 1, 0, 0, 0)  # Time of the files in a kit, so that its bytes are always the same.


def _own_version(request: HttpRequest, slug: str, number: int) -> BotVersion:
    """Return a version whose code the viewer may read, with its package, or 404. Operators cannot read other people's code either."""
    rows = BotVersion.objects.select_related("bot", "package", "source").filter(
        ownership.owned(player_of(request), BotAct.CODE, "bot__")
    )
    version = rows.filter(bot__slug=slug, number=number).first()
    if version is None:
        raise Http404
    return version


def _file(data: bytes, name: str, kind: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(data, content_type=kind, headers=headers)


@never_cache
@login_required
@require_safe
def source(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Send the source of a version that is one file."""
    version = _own_version(request, slug, number)
    text = packages.source(version) or languages.text_of(version)
    if text is None:
        raise Http404
    ending = version.entry.rpartition(".")[2]
    return _file(text.encode(), f"{slug}-v{number}.{ending}", "text/plain; charset=utf-8")


@never_cache
@login_required
@require_safe
def package(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Send the package of a version: its files with bot.toml, ready to be submitted again."""
    version = _own_version(request, slug, number)
    return _file(packages.uploaded(version), f"{slug}-v{number}.zip", "application/zip")


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
