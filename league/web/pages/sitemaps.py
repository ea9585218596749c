"""robots.txt, and the list of pages for search engines. A part of the sitemap is a range of one index, however large the league is."""

from __future__ import annotations

from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

import engine
from league.domain.matches import sight
from league.enums import BotState
from league.models import Bot, Tournament
from league.service import changes
from league.web.pages import documents

SIZE = 5000  # Rows whose keys one part covers.
PAGES = ("home", "play", "tv", "games", "overall", "bots", "players", "tournaments", "events", "matches", "editor")
PAGES_TO_READ = ("learn", "how", "teach", "research", "data", "run-your-own", "docs", "about", "privacy", "status")
# Pages without use for a search engine: forms, the account, answers to questions, and files.
CLOSED = (
    "/accounts/",
    "/admin/",
    "/api/",
    "/live",
    "/operators/",
    "/prefs/",
    "/search/",
    "/t/new/",
    "/e/new/",
    "/c/new/",
    "/tables/",
    "/talk/",
)


@require_safe
@changes.kept_until(changes.RELEASE)
def robots(request: HttpRequest) -> HttpResponse:
    """Return robots.txt: the pages that search engines may read, and the address of the sitemap."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in CLOSED)]
    lines.append(f"Sitemap: {request.build_absolute_uri(reverse('sitemap'))}")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
@changes.kept_until(changes.BOTS, changes.TOURNAMENTS)
def index(request: HttpRequest) -> HttpResponse:
    """List the parts of the sitemap. Two queries."""
    parts = [("pages", 0)]
    for name, model in (("bots", Bot), ("tournaments", Tournament)):
        last = model._default_manager.aggregate(last=Max("pk"))["last"]
        parts += [(name, number) for number in range(last // SIZE + 1)] if last else []
    addresses = [request.build_absolute_uri(reverse("sitemap-part", args=part)) for part in parts]
    return _xml(request, "pages/sitemap_index.xml", addresses)


@require_safe
@changes.kept_until(changes.BOTS, changes.TOURNAMENTS)
def part(request: HttpRequest, part: str, number: int) -> HttpResponse:
    """List the pages of a part: fixed pages of the site, or the public bots or tournaments in a range of keys. One query."""
    first = number * SIZE
    span = {"pk__gte": first, "pk__lt": first + SIZE}
    if part == "pages" and number == 0:
        paths = [*map(reverse, (*PAGES, *PAGES_TO_READ)), *(reverse("game", args=[key]) for key in engine.games())]
        paths += [reverse("doc", args=[name]) for name, _title in documents.titles()]
    elif part == "bots":
        slugs = (
            sight.bots(Bot.objects.filter(**span), None)
            .exclude(state=BotState.RETIRED)
            .order_by("pk")
            .values_list("slug", flat=True)
        )
        paths = [reverse("bot", args=[slug]) for slug in slugs]
    elif part == "tournaments":
        rows = sight.tournaments(Tournament.objects.filter(**span), None).order_by("pk")
        paths = [reverse("tournament", args=[slug]) for slug in rows.values_list("slug", flat=True)]
    else:
        raise Http404
    return _xml(request, "pages/sitemap.xml", [request.build_absolute_uri(path) for path in paths])


def _xml(request: HttpRequest, template: str, addresses: list[str]) -> HttpResponse:
    return render(request, template, {"addresses": addresses}, content_type="application/xml; charset=utf-8")
