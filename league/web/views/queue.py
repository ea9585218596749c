"""What waits and why: for people, and for Prometheus."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from league.domain import invariants, metrics, workers
from league.models import Bot


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """The state of the work. Texts that name the operator's machines are for the staff."""
    found = workers.queue()
    paused = Bot.objects.exclude(paused_for="").order_by("slug")
    shown = {"queue": found, "reasons": {k: v for k, v in found.waiting.items() if v}, "paused": paused}
    return render(request, "queue.html", shown | {"check": invariants.last()})


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """The numbers in the text format of Prometheus."""
    return HttpResponse(metrics.text(), content_type="text/plain; version=0.0.4; charset=utf-8")
