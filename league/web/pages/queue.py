"""What waits and why: for people, and for Prometheus."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from league.domain.matches import leases, workers
from league.domain.upkeep import invariants, metrics
from league.models import Bot, Match
from league.web.common import queries, words

MOST = 30  # matches of a list


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """The state of the work: what is played, what comes next, and why it waits. Texts that name the operator's machines are for the staff."""
    found = workers.queue()
    paused = Bot.objects.exclude(paused_for="").order_by("slug")
    playing = Match.objects.filter(status__in=leases.HELD).order_by("started", "id")
    context = {
        "queue": found,
        "reasons": {reason: (count, words.waits(reason)) for reason, count in found.waiting.items() if count},
        "playing": queries.with_parties(playing)[:MOST],
        "line": [(match, words.waits(match.why)) for match in queries.with_parties(workers.waiting_line())[:MOST]],
        "paused": paused,
        "check": invariants.last_result(),
    }
    return render(request, "pages/queue.html", context)


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """The numbers in the text format of Prometheus."""
    return HttpResponse(metrics.metrics_page(), content_type="text/plain; version=0.0.4; charset=utf-8")
