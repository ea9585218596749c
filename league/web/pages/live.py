"""/live: server-sent events about changed topics."""

from __future__ import annotations

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from league.domain.matches import sight
from league.domain.tables import people
from league.models import Bot, Match, Table, Tournament
from league.service import changes, topics
from league.service import live as listening
from league.service.limits import address
from league.web.common.guests import person_of
from league.web.common.viewers import user_of

AGAIN_S = 30  # Seconds to wait if there is no room for another listener.
NOTHING = "tournament:0"  # The topic of what does not exist, or is hidden from the viewer.


def _visible(request: HttpRequest, requested: tuple[str, ...]) -> tuple[str, ...]:
    """Replace each match, bot, tournament and table that does not exist, or that the viewer may not see, by a topic that never changes."""
    numbers = _named(requested, "tournament:")
    user, visible = user_of(request), set[str]()
    if numbers:
        cups = sight.tournaments(Tournament.objects.filter(pk__in=map(int, numbers)), user)
        visible |= set(map(changes.of_tournament, cups.values_list("pk", flat=True)))
    if ids := _named(requested, "match:"):
        rows = sight.matches(Match.objects.filter(public_id__in=ids), user)
        visible |= set(map(topics.of_match, rows.values_list("public_id", flat=True)))
    if numbers := _named(requested, "bot:"):
        bots = sight.bots(Bot.objects.filter(pk__in=map(int, numbers)), user)
        visible |= set(map(topics.of_bot, bots.values_list("pk", flat=True)))
    if ids := _named(requested, topics.TABLE):
        sitter, requested_tables = person_of(request), Table.objects.filter(public_id__in=ids)
        own = people.own(sitter).values("pk") if sitter is not None else []
        watched = requested_tables.filter(Q(pk__in=own) | people.watchable())
        visible |= set(map(topics.of_table, watched.values_list("public_id", flat=True)))
    guarded = ("tournament:", "match:", "bot:", topics.TABLE)
    return tuple(topic if topic in visible or not topic.startswith(guarded) else NOTHING for topic in requested)


def _named(requested: tuple[str, ...], kind: str) -> list[str]:
    return [topic.removeprefix(kind) for topic in requested if topic.startswith(kind)]


@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """Stream changes of up to eight topics (`?topic=`). `?since=` or Last-Event-ID: the known versions, in this order, separated by dots.

    Matches, bots, tournaments and tables need a query here: whether the viewer may see them. Another thread of the process reads the topics. A web
    server without a hub sends the changes and ends the response, and the listener reconnects.
    """
    requested = tuple(dict.fromkeys(request.GET.getlist("topic")))
    if not requested or len(requested) > topics.MOST or not all(map(topics.FORM.fullmatch, requested)):
        text = f"Name 1 to {topics.MOST} topics: ?topic=matches&topic=tournament:1 (docs/site.md, Pages that change)\n"
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    requested = _visible(request, requested)
    versions = listening.numbers(request.headers.get("Last-Event-ID") or request.GET.get("since", ""), len(requested))
    hub: listening.Hub | None = request.META.get(listening.HUB)
    # nginx would delay the events if it buffered them.
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = HttpResponse(content_type="text/event-stream", headers=headers)
    if hub is None:
        response.content = listening.patience() + listening.change_event(topics.read(requested), requested, versions)
        return response
    try:
        hub.check(address(request))
    except listening.Full as full:
        text = "Too many pages listen for changes" + (" from your address.\n" if full.for_address else ".\n")
        refusal = HttpResponse(text, status=429 if full.for_address else 503, content_type="text/plain; charset=utf-8")
        refusal.headers["Retry-After"] = str(AGAIN_S)
        return refusal
    request.META[listening.LISTENER] = listening.Wanted(address(request), requested, versions)
    return response
