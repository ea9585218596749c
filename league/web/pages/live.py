"""/live: server-sent events about changed topics."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from league.domain.matches import sight
from league.domain.tables import guests
from league.models import Tournament
from league.service import live as listening
from league.service import topics
from league.service.limits import address
from league.web.common.guests import person_of
from league.web.common.viewers import user_of

AGAIN_S = 30  # Seconds to wait if there is no room for another listener.


def _visible(request: HttpRequest, requested: tuple[str, ...]) -> tuple[str, ...]:
    """Replace each tournament and table that the viewer may not see by a topic that never changes."""
    tournament_ids = {int(topic.partition(":")[2]) for topic in requested if topic.startswith("tournament:")}
    hidden_ids = (
        set(Tournament.objects.filter(pk__in=tournament_ids, opens__isnull=False).values_list("pk", flat=True))
        if tournament_ids
        else set()
    )
    if hidden_ids:
        hidden_ids -= set(
            sight.tournaments(Tournament.objects.filter(pk__in=hidden_ids), user_of(request)).values_list(
                "pk", flat=True
            )
        )
    hidden = {f"tournament:{pk}" for pk in hidden_ids} | _foreign(request, requested)
    return tuple("tournament:0" if topic in hidden else topic for topic in requested)


def _foreign(request: HttpRequest, requested: tuple[str, ...]) -> set[str]:
    """Return those requested tables that belong to other people; only the person at a table may follow it."""
    tables = {topic for topic in requested if topic.startswith(topics.TABLE)}
    if not tables or (sitter := person_of(request)) is None:
        return tables
    table_ids = [topic.removeprefix(topics.TABLE) for topic in tables]
    own_ids = guests.own(sitter).filter(public_id__in=table_ids).values_list("public_id", flat=True)
    return tables - set(map(topics.of_table, own_ids))


@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """Stream changes of up to eight topics (`?topic=`). `?since=` or Last-Event-ID: the known versions, in this order, separated by dots.

    Only tournaments and tables need a query here, because another thread of the process reads the topics. A web server without a hub sends the
    changes and ends the response, and the listener reconnects.
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
