"""Pages of notices: the list, the ways by which a player gets them, and what the player follows."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league.domain.core.errors import Refused, shown
from league.domain.notices import following, inbox, ways
from league.domain.people import subscriptions
from league.enums import NoticeKind, NoticeWay, Period
from league.models import Player
from league.web.common import inputs, lists
from league.web.common.viewers import player_of
from league.web.people import letters, notice_words


@never_cache
@login_required
def notices(request: HttpRequest) -> HttpResponse:
    """List the player's notices, newest first; a form marks all as read. Two queries."""
    player = player_of(request)
    if request.method == "POST":
        inbox.mark_read(player)
        return redirect("notices")
    page = lists.page_of(request, inbox.notices_of(player))
    rows = [(row, notice_words.sentence(row)) for row in page]
    return render(request, "people/notices.html", {"page": page, "rows": rows, "unread": inbox.has_unread(player)})


@never_cache
@login_required
@require_safe
def open_notice(request: HttpRequest, number: int) -> HttpResponse:
    """Lead to the page of a notice, which is read then."""
    player = player_of(request)
    row = get_object_or_404(inbox.notices_of(player), pk=inputs.whole_number(str(number)))
    inbox.mark_read(player, inbox.notices_of(player).filter(pk=row.pk))
    return redirect(notice_words.address(row))


@never_cache
@login_required
def choose_ways(request: HttpRequest) -> HttpResponse:
    """Show and change the ways by which the player gets notices of each kind, and how often the digest is sent."""
    player = player_of(request)
    refused = None
    if request.method == "POST":
        try:
            _choose(request, player)
        except Refused as refusal:
            refused = shown(refusal)
        else:
            messages.success(request, _("Saved."))
            return redirect("notice-ways")
    row = subscriptions.find(player)
    chosen = ways.ways_of(player)
    offered = list(NoticeWay) if settings.MAIL else [NoticeWay.NEVER, NoticeWay.SITE]
    context = {
        "mail": settings.MAIL,
        "address": player.user.email,
        "confirmed": subscriptions.is_confirmed(row, player.user.email),
        "refused": refused,
        "kinds": [(kind, chosen[kind] if chosen[kind] in offered else NoticeWay.SITE) for kind in NoticeKind],
        "ways": [(way.value, way.label) for way in offered],
        "row": row,
        "periods": [("", _("never")), (Period.DAY, _("daily")), (Period.WEEK, _("weekly, on Monday"))],
        "languages": settings.LANGUAGES,
        "language": row.language if row.period else get_language(),
    }
    return render(request, "people/notice_ways.html", context, status=422 if refused else 200)


def _choose(request: HttpRequest, player: Player) -> None:
    posted = {kind.value: request.POST[kind] for kind in NoticeKind if kind in request.POST}
    ways.choose(player, posted)
    if settings.MAIL and player.user.email and "period" in request.POST:
        period, language = request.POST["period"], request.POST.get("language", "")
        if period not in ("", *Period.values) or language not in dict(settings.LANGUAGES):
            raise Refused("this choice does not exist; choose one from the list")
        subscriptions.choose(player, period, language=language, site=letters.site_of(request))


@never_cache
@login_required
def follows(request: HttpRequest) -> HttpResponse:
    """List what the player follows, newest first. One query."""
    player = player_of(request)
    page = lists.page_of(request, following.follows_of(player))
    return render(request, "people/follows.html", {"page": page, "most": following.MOST})


@never_cache
@login_required
@require_POST
def follow(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Follow a bot, player, tournament, event or recurring league, or stop following it."""
    player = player_of(request)
    target = following.find(kind, name, player)
    if target is None:
        raise Http404
    try:
        if request.POST.get("action") == "stop":
            following.unfollow(player, target)
        else:
            following.follow(player, target)
    except Refused as refusal:
        messages.error(request, shown(refusal))
    return redirect(inputs.next_page(request, "") or "follows")
