"""/live: server-sent events that say which topics have changed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from league.domain.matches import sight
from league.models import Table, Tournament
from league.service import live as listening
from league.service import topics
from league.service.limits import address
from league.web.common.viewers import user_of, viewer_of

AGAIN_S = 30  # where there is no room


def _visible(request: HttpRequest, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The topics, with one that never changes in the place of each tournament and table that who listens may not see."""
    named = {int(one.partition(":")[2]) for one in wanted if one.startswith("tournament:")}
    held = (
        set(Tournament.objects.filter(pk__in=named, opens__isnull=False).values_list("pk", flat=True))
        if named
        else set()
    )
    if held:
        held -= set(
            sight.tournaments(Tournament.objects.filter(pk__in=held), user_of(request)).values_list("pk", flat=True)
        )
    hidden = {f"tournament:{pk}" for pk in held} | _foreign(request, wanted)
    return tuple("tournament:0" if one in hidden else one for one in wanted)


def _foreign(request: HttpRequest, wanted: tuple[str, ...]) -> set[str]:
    """The tables at which somebody else sits: only who sits there hears of them."""
    tables = {one for one in wanted if one.startswith(topics.TABLE)}
    if not tables or (viewer := viewer_of(request)) is None:
        return tables
    named = [one.removeprefix(topics.TABLE) for one in tables]
    mine = Table.objects.filter(public_id__in=named, player=viewer).values_list("public_id", flat=True)
    return tables - set(map(topics.of_table, mine))


@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """Events for who follows `?topic=`, up to eight times. `?since=` or Last-Event-ID: the versions known, in that order, with dots between.

    No query, but where a tournament or a table is named: the topics are looked at by the reader of the process. A web server without a hub answers
    what has changed and ends, and whoever listens comes again.
    """
    wanted = tuple(dict.fromkeys(request.GET.getlist("topic")))
    if not wanted or len(wanted) > topics.MOST or not all(map(topics.FORM.fullmatch, wanted)):
        text = f"Name 1 to {topics.MOST} topics: ?topic=matches&topic=tournament:1 (docs/site.md, Pages that change)\n"
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    wanted = _visible(request, wanted)
    known = listening.numbers(request.headers.get("Last-Event-ID") or request.GET.get("since", ""), len(wanted))
    hub: listening.Hub | None = request.META.get(listening.HUB)
    # What nginx would hold back would come late
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = HttpResponse(content_type="text/event-stream", headers=headers)
    if hub is None:
        response.content = listening.patience() + listening.told(topics.read(wanted), wanted, known)
        return response
    try:
        hub.check(address(request))
    except listening.Full as full:
        text = "Too many pages listen for changes" + (" from your address.\n" if full.mine else ".\n")
        refusal = HttpResponse(text, status=429 if full.mine else 503, content_type="text/plain; charset=utf-8")
        refusal.headers["Retry-After"] = str(AGAIN_S)
        return refusal
    request.META[listening.LISTENER] = listening.Wanted(address(request), wanted, known)
    return response
