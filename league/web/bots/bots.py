"""Bots, their versions, and what only their owner sees."""

from __future__ import annotations

from collections import defaultdict

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

import engine
from league.domain.bots import bots as domain
from league.domain.core.errors import Refused, shown
from league.domain.matches import encounters, replays
from league.enums import MatchKind, MatchStatus, VersionStatus
from league.models import Bot, BotVersion, Match, Party, Pool, Rating, RatingPoint
from league.web.bots import tracebacks
from league.web.common import asked, charts, queries

MOST_POINTS = 2000  # of one history
MOST_OPEN = 5  # tournaments that take entries
MOST_MATCHES = 20  # of two bots, the latest


def bots(request: HttpRequest) -> HttpResponse:
    """All bots, by name; `?q=` searches. Two queries."""
    found = Bot.objects.select_related("owner").annotate(uploads=Count("versions"), last=Max("versions__created"))
    wanted = asked.words(request.GET.get("q", ""), 40)
    if wanted:
        found = found.filter(slug__icontains=wanted)
    return render(request, "bots/bots.html", {"page": queries.page(request, found.order_by("slug")), "q": wanted})


def bot(request: HttpRequest, slug: str) -> HttpResponse:
    """One bot. Ten queries."""
    found = get_object_or_404(Bot.objects.select_related("owner"), slug=slug)
    viewer = queries.viewer(request)
    owned = viewer is not None and (viewer.pk == found.owner_id or request.user.is_staff)
    ratings = Rating.objects.filter(version__bot=found, listed=True).select_related("pool", "version").order_by("pk")
    pools = [rating.pool for rating in ratings]
    pool = queries.the_pool(pools, request.GET.get("pool", ""))
    met = defaultdict(list)
    for meeting in queries.head_to_head(found):
        met[meeting.pool].append(meeting)
    parties = Match.objects.filter(parties__version__bot=found).distinct()
    recent = queries.with_parties(parties.exclude(kind=MatchKind.VALIDATION).order_by("-id"))[:12]
    context = {
        "bot": found,
        "owned": owned,
        "versions": found.versions.order_by("-number").select_related("package").defer("package__data"),
        "ratings": ratings,
        "pools": pools,
        "pool": pool,
        "chart": _history(found, pool) if pool else None,
        "meetings": dict(met),
        "matches": recent,
    }
    playable = next((one for one in context["versions"] if one.status == VersionStatus.ACCEPTED), None)
    if owned and playable and not ratings:
        context |= {"playable": playable} | _next_steps(playable)
    return render(request, "bots/bot.html", context)


def _next_steps(version: BotVersion) -> dict[str, object]:
    """Where an accepted version can play at once: what takes entries, and a duel at the first of its games that has two sides."""
    plays = version.games or ["partnership", *engine.games()]
    duel = next((key for key in plays if len(engine.load(key).sides) == 2), None)
    return {"open_to_it": list(queries.open_to(version.games)[:MOST_OPEN]), "duel": duel}


def versus(request: HttpRequest, slug: str, other: str) -> HttpResponse:
    """Two bots against each other, pool by pool, and their latest matches. Seven queries."""
    found = get_object_or_404(Bot.objects.select_related("owner"), slug=slug)
    rival = get_object_or_404(Bot.objects.select_related("owner"), slug=other)
    if found == rival:
        raise Http404
    met = encounters.list_encounters(found, rival)
    newest = [public_id for meeting in met for public_id in meeting.matches[:MOST_MATCHES]]
    context = {
        "bot": found,
        "rival": rival,
        "meetings": [(meeting, charts.course(meeting.course, meeting.size)) for meeting in met],
        "matches": queries.with_parties(Match.objects.filter(public_id__in=newest).order_by("-finished", "-id"))[
            :MOST_MATCHES
        ],
    }
    return render(request, "bots/encounter.html", context)


def _history(found: Bot, pool: Pool) -> charts.Chart | None:
    newest = (
        RatingPoint.objects.filter(version__bot=found, pool=pool)
        .select_related("version", "match")
        .order_by("-at", "-id")
    )
    return charts.history(reversed(newest.defer("match__secret")[:MOST_POINTS]))


@login_required
@require_POST
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the description or the state of one's own bot."""
    found = get_object_or_404(Bot, slug=slug)
    viewer = queries.viewer(request)
    if viewer is None or viewer.pk != found.owner_id:
        raise PermissionDenied
    try:
        if "description" in request.POST:
            domain.describe(found, request.POST["description"])
        if "state" in request.POST:
            domain.set_state(found, request.POST["state"], actor=viewer.name)
        messages.success(request, _("Saved."))
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect("bot", slug=slug)


def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """One upload: is it accepted, and if not, why. Reloads itself while the validation match waits or runs."""
    found = get_object_or_404(Bot.objects.select_related("owner"), slug=slug)
    upload = get_object_or_404(found.versions.select_related("package").defer("package__data"), number=number)
    viewer = queries.viewer(request)
    trials = queries.with_parties(
        Match.objects.filter(
            kind=MatchKind.VALIDATION, parties__version=upload, key__startswith=f"v:{upload.pk}:"
        ).distinct()
    ).order_by("id")
    # the upload is party 0 of its validation matches; the other seats may be held by the same version
    tried = {
        party.match_id: party
        for party in Party.objects.filter(match__in=trials, number=0).select_related("version__bot")
    }
    views = [(match, replays.party_view(tried[match.pk], viewer)) for match in trials]
    context = {
        "bot": found,
        "version": upload,
        "owned": viewer is not None and (viewer.pk == found.owner_id or request.user.is_staff),
        "trials": views,
        "waiting": upload.status == VersionStatus.VALIDATING,
    }
    if context["owned"] and upload.status == VersionStatus.ACCEPTED:
        context |= _next_steps(upload)
    elif context["owned"] and upload.status == VersionStatus.REJECTED:
        context |= _failed(views)
    return render(request, "bots/version.html", context)


def _failed(trials: list[tuple[Match, replays.PartyView]]) -> dict[str, str]:
    """The match in which a rejected upload failed, whose log repeats it, and the decisive lines of its own log."""
    for match, view in trials:
        if view.party.fault and match.status == MatchStatus.FINISHED:
            return {"failed": match.public_id, "verdict": tracebacks.verdict(view.stderr)}
    return {}
