"""Pages of comments: all comments at a place, with the form for another, and one comment with what the viewer may do about it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.bots import consent
from league.domain.core.errors import Refused, shown
from league.domain.talk import comments, places, reports
from league.domain.talk.places import Place
from league.enums import ReportReason
from league.models import Block, Comment, Player
from league.models.talk import MOST_TEXT
from league.web.common import errors, lists
from league.web.common import talk as common
from league.web.common.inputs import whole_number
from league.web.common.once import once
from league.web.common.viewers import player_of, viewer_of


@never_cache
@once
def talk(request: HttpRequest) -> HttpResponse:
    """List the comments at the place in `?about=`, newest first; write one. Nine queries at most; more to write."""
    posted = request.method == "POST"
    if posted and not request.user.is_authenticated:
        return redirect_to_login("/")
    viewer = viewer_of(request)
    place = places.find((request.POST if posted else request.GET).get("about", ""), viewer)
    if place is None:
        raise Http404
    answers = _answered(request, place, viewer)
    context: dict[str, object] = {}
    status = 200
    if posted:
        step = request.POST.get("step", "")
        try:
            row = comments.write(player_of(request), place, request.POST.get("text", ""), step=step, answers=answers)
        except Refused as refusal:
            context = {"refused": shown(refusal), "text": request.POST.get("text", "")[: 10 * MOST_TEXT], "step": step}
            status = errors.status_of(refusal)
        else:
            messages.success(request, _("Your comment is published."))
            return redirect(common.address(place, row.step))
    page = lists.page_of(request, places.comments(place, viewer))
    context |= {
        "place": place,
        "page": page,
        "rows": common.shown_comments(page, viewer),
        "title": common.title(place),
        "back": common.address(place),
        "answers": answers,
        "refusal": common.refusal(viewer, place),
        "most": MOST_TEXT,
    }
    return render(request, "talk/talk.html", context, status=status)


def _answered(request: HttpRequest, place: Place, viewer: Player | None) -> Comment | None:
    """Return the comment that the form answers. Raise Http404 if the viewer does not see it at this place."""
    number = whole_number(request.POST.get("answers"))
    return None if number is None else get_object_or_404(places.comments(place, viewer), pk=number)


@never_cache
@login_required
def comment(request: HttpRequest, comment: int) -> HttpResponse:
    """Show a comment with the forms to answer, report or delete it, or to block its author. Operators see every comment here."""
    viewer = player_of(request)
    is_staff = viewer.user.is_staff
    rows = Comment.objects.all() if is_staff else places.visible(viewer)
    row = get_object_or_404(
        rows.select_related("author", "match", "tournament", "event", "answers__author"), pk=comment
    )
    place = places.place_of(row, viewer)
    if place is None and not is_staff:
        raise Http404
    status = 200
    context: dict[str, object] = {}
    if request.method == "POST":
        try:
            messages.success(request, _act(request, viewer, row))
        except Refused as refusal:
            context["refused"] = shown(refusal)
            status = errors.status_of(refusal)
        else:
            return redirect(common.address(place, row.step) if place else "home")
    context |= {
        "one": common.shown_comments([row], viewer)[0],
        "place": place,
        "title": common.title(place) if place else "",
        "back": common.address(place, row.step) if place else "",
        "reasons": ReportReason.choices,
        "refusal": common.refusal(viewer, place) if place else "",
        "reported": row.reports.filter(reporter=viewer).exists(),
        "blocked": Block.objects.filter(owner=viewer, blocked=row.author).exists(),
        "reports": row.reports.select_related("reporter").order_by("pk") if is_staff else [],
        "most": MOST_TEXT,
    }
    return render(request, "talk/comment.html", context, status=status)


def _act(request: HttpRequest, viewer: Player, row: Comment) -> str:
    """Carry out what a button of the page asks for, and return the message."""
    action = request.POST.get("do", "")
    if action == "delete":
        comments.delete(viewer, row)
        return _("Comment deleted.")
    if action == "report":
        reports.report(viewer, row, request.POST.get("reason", ""))
        return _("Thank you. The operators will look at this comment.")
    if action == "block":
        consent.block(viewer, row.author.name)
        return _("Player blocked. You see none of their comments any more.")
    raise Http404
