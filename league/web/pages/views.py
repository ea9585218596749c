"""The front page, the queue, and the endpoints for monitoring."""

from __future__ import annotations

import platform

import django
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import engine
from league.domain.bots import builds
from league.domain.matches import sight, workers
from league.domain.people import guests
from league.domain.upkeep import metrics, readiness
from league.models import Bot, Match
from league.service import changes, topics, version
from league.web.common import lists
from league.web.common.viewers import user_of, viewer_of
from league.web.common.words import waiting_reason
from league.web.pages import front, mine

MOST_WAITING = 30  # The most matches in each list of the queue page.


@changes.kept_until(
    changes.POOLS, changes.BOTS, changes.MATCHES, changes.TOURNAMENTS, changes.EVENTS, changes.CLOCK
)  # The moving board and the puzzle of the day depend on the time.
def home(request: HttpRequest) -> HttpResponse:
    """Show a visitor the front page, and a player their own page."""
    player = viewer_of(request)
    if player is not None:
        return render(request, "pages/home.html", mine.mine(player))
    topics.follow(request, changes.POOLS, changes.MATCHES, changes.TOURNAMENTS)
    return render(request, "pages/front.html", front.front(user_of(request)))


@require_safe
@changes.kept_until(changes.RELEASE)
def about(request: HttpRequest) -> HttpResponse:
    """Show what this site is, and whom to ask for help."""
    return render(request, "pages/about.html", {"games": len(engine.games()), "version": engine.__version__})


@require_safe
@changes.kept_until(changes.RELEASE)
def privacy(request: HttpRequest) -> HttpResponse:
    """Show what the league stores about people, and for how long."""
    context = {
        "mail": settings.MAIL,
        "tables": settings.TABLES > 0,
        "guests_days": guests.KEPT.days,
        "session_days": settings.SESSION_COOKIE_AGE // 86_400,
    }
    return render(request, "pages/privacy.html", context)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Show running and queued matches with the reasons why they wait. Only staff see texts that name machines."""
    topics.follow(request, changes.MATCHES)
    state = workers.queue()
    viewer = user_of(request)
    paused = sight.bots(Bot.objects.exclude(paused_for=""), viewer).order_by("slug")
    playing = sight.matches(Match.objects.filter(status__in=Match.HELD), viewer).order_by("started", "id")
    waiting = lists.with_parties(sight.matches(workers.waiting_line(), viewer))[:MOST_WAITING]
    context = {
        "queue": state,
        "unbuilt": builds.waiting_in_vain(),
        "reasons": {reason: (count, waiting_reason(reason)) for reason, count in state.waiting.items() if count},
        "playing": lists.with_parties(playing)[:MOST_WAITING],
        # `why` is an annotation of workers.waiting_line
        "waiting": [(match, waiting_reason(vars(match)["why"])) for match in waiting],
        "paused": paused,
    }
    return render(request, "pages/status.html", context)


@require_safe
def metrics_text(request: HttpRequest) -> HttpResponse:
    """Return the metrics of the league in the text format of Prometheus."""
    return HttpResponse(metrics.metrics_page(), content_type="text/plain; version=0.0.4; charset=utf-8")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 without any check, so that no process is restarted because of another's fault."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 if the process can serve requests; 503 with the reason if the database is down or not migrated."""
    reason = readiness.why_not_ready()
    return HttpResponse(f"{reason or 'ok'}\n", content_type="text/plain", status=503 if reason else 200)


@require_safe
def version_json(request: HttpRequest) -> JsonResponse:
    """Return the commit, whether the rules are compiled, and the versions of Python and Django, for operators and their scripts."""
    return JsonResponse(
        {
            "commit": version.commit(),
            "engine": engine.__version__,
            "compiled": engine.COMPILED,
            "python": ".".join(platform.python_version_tuple()[:2]),
            "django": ".".join(map(str, django.VERSION[:2])),
        }
    )
