"""The front page, and what waits and why: for people, and for Prometheus."""

from __future__ import annotations

import platform

import django
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import engine
from league.domain.matches import leases, sight, workers
from league.domain.upkeep import invariants, metrics, readiness
from league.enums import MatchKind, TournamentStatus
from league.models import Bot, Match
from league.service import changes, topics, version
from league.web.common import lists
from league.web.common.viewers import user_of
from league.web.common.words import waiting_reason
from league.web.pages.leaders import leaders_by_game
from league.web.pages.today import today

FAN = (("7b", -26), ("So", -13), ("Cc", 0), ("Re", 13), ("1o", 26))  # ornament: card and turn in degrees
MOST_WAITING = 30  # matches of a list of the queue


@changes.kept_until(changes.POOLS, changes.BOTS, changes.MATCHES, changes.TOURNAMENTS, changes.EVENTS)
def home(request: HttpRequest) -> HttpResponse:
    """What happens today, leaderboards, what was played last. Fourteen queries, a few more for what is played and has moved, whatever the size."""
    topics.follow(request, changes.POOLS, changes.MATCHES, changes.TOURNAMENTS)
    viewer = user_of(request)
    running = lists.counted(lists.listed_tournaments(viewer).filter(status=TournamentStatus.RUNNING)[:5])
    games = leaders_by_game()
    context = {
        "rated": [leaders for leaders in games if leaders.lines],
        "unrated": [leaders for leaders in games if not leaders.lines],
        "fan": FAN,
        "running": running,
        "matches": lists.latest_matches(viewer, finished_only=True).filter(kind=MatchKind.TOURNAMENT)[:8],
    }
    context |= today([leaders.pool for leaders in games if leaders.pool], viewer)
    return render(request, "pages/home.html", context)


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """The state of the work: what is played, what comes next, and why it waits. Texts that name the operator's machines are for the staff."""
    topics.follow(request, changes.MATCHES)
    found = workers.queue()
    paused = Bot.objects.exclude(paused_for="").order_by("slug")
    viewer = user_of(request)
    playing = sight.matches(Match.objects.filter(status__in=leases.HELD), viewer).order_by("started", "id")
    waiting = lists.with_parties(sight.matches(workers.waiting_line(), viewer))[:MOST_WAITING]
    context = {
        "queue": found,
        "reasons": {reason: (count, waiting_reason(reason)) for reason, count in found.waiting.items() if count},
        "playing": lists.with_parties(playing)[:MOST_WAITING],
        # `why` is an annotation of workers.waiting_line
        "waiting": [(match, waiting_reason(vars(match)["why"])) for match in waiting],
        "paused": paused,
        "check": invariants.last_result(),
    }
    return render(request, "pages/queue.html", context)


@require_safe
def metrics_text(request: HttpRequest) -> HttpResponse:
    """The numbers of the league in the text format of Prometheus."""
    return HttpResponse(metrics.metrics_page(), content_type="text/plain; version=0.0.4; charset=utf-8")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers. It asks nobody else, so that no restart is made for the fault of another."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 where requests may be sent here, 503 with the reason where the database does not answer or has not been migrated."""
    reason = readiness.why_not_ready()
    return HttpResponse(f"{reason or 'ok'}\n", content_type="text/plain", status=503 if reason else 200)


@require_safe
def version_json(request: HttpRequest) -> JsonResponse:
    """For operators and their scripts: the commit that this was built from, whether its rules run compiled here, series of Python and Django."""
    return JsonResponse(
        {
            "commit": version.commit(),
            "engine": engine.__version__,
            "compiled": engine.COMPILED,
            "python": ".".join(platform.python_version_tuple()[:2]),
            "django": ".".join(map(str, django.VERSION[:2])),
        }
    )
