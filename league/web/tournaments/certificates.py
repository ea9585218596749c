"""Certificates of results: a page to print, the signed file, and the key with which anybody checks it."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from league.domain.matches import sight
from league.domain.tournaments import certificates
from league.models import Tournament
from league.service import changes
from league.web.common.viewers import user_of


@require_safe
def page(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the certificate of an entry."""
    fields = _fields(request, slug, number)
    context = {"slug": slug, "number": number, "day": date.fromisoformat(fields["finished"]), "certificate": fields}
    return render(request, "tournaments/certificate.html", context)


@require_safe
def signed(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Send the signed certificate of an entry."""
    response = JsonResponse(
        certificates.sign(_fields(request, slug, number)), json_dumps_params={"ensure_ascii": False, "indent": 1}
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-{number}.json"'
    return response


@require_safe
@changes.kept_until(changes.RELEASE)
def key(request: HttpRequest) -> HttpResponse:
    """Send the public key."""
    return HttpResponse(certificates.public_key(), content_type="application/x-pem-file")


def _fields(request: HttpRequest, slug: str, number: int) -> dict[str, Any]:
    """Return what a certificate says; 404 if there is none, or the viewer may not see the tournament."""
    changes.keep_until(request, changes.of_tournament(sight.find_tournament(slug) or 0), changes.BOTS)
    rows = sight.tournaments(Tournament.objects.select_related("pool", "owner"), user_of(request))
    tournament = get_object_or_404(rows, slug=slug)
    fields = certificates.find(tournament, number)
    if fields is None:
        raise Http404
    return {**fields, "address": request.build_absolute_uri(reverse("certificate", args=[slug, number]))}
