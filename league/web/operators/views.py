"""Pages of operators: the list of actions with the latest uses, and the form of an action with a preview."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.audits import cases as audit_cases
from league.domain.core.errors import Forbidden, Refused, shown
from league.domain.operators import acting
from league.domain.operators.actions import ACTIONS
from league.domain.operators.subjects import AUDIT, CASE, KINDS
from league.domain.people import rights
from league.domain.talk import reports as talk_reports
from league.domain.upkeep import cases
from league.models import Case, Match, Player
from league.web.common import lists
from league.web.common.inputs import short_text
from league.web.common.viewers import player_of
from league.web.operators.forms import ActionForm

CASES_SHOWN = 20


def _page_of(subject: str) -> str:
    """Return the address of a subject. URL names equal the kinds; an audit or a case has only the list of actions about it."""
    kind, _colon, name = subject.partition(":")
    return f"{reverse('operators')}?subject={subject}" if kind in (AUDIT, CASE) else reverse(kind, args=[name])


def _operator(request: HttpRequest) -> Player:
    """Return the viewer if they are an operator, else raise PermissionDenied."""
    player = player_of(request)
    if not (player.user.is_staff or player.user.is_superuser):
        raise PermissionDenied
    return player


def _cases(subject: str) -> list[tuple[Case, cases.Evidence | None, list[Match]]]:
    """Return the open cases; with evidence and matches if it is only the one of `subject`."""
    kind, _colon, name = subject.partition(":")
    if kind != CASE:
        return [] if subject else [(case, None, []) for case in cases.open_cases()[:CASES_SHOWN]]
    case = KINDS[CASE].find(name)
    return [] if case is None else [(case, cases.evidence(case), list(cases.matches_of(case, against=True)))]


@never_cache
@login_required
def operators(request: HttpRequest) -> HttpResponse:
    """List the actions (those that fit `?subject=`), the open cases, and the latest uses. Eleven queries."""
    player = _operator(request)
    subject = short_text(request.GET.get("subject", ""), 90)
    kind = subject.partition(":")[0]
    own_rights = rights.rights_of(player)
    page = lists.page_of(request, acting.latest())
    context = {
        "subject": subject,
        "cases": _cases(subject),
        "actions": [action for action in ACTIONS.values() if not subject or kind in action.kinds],
        "mine": own_rights,
        "superuser": player.user.is_superuser,
        "page": page,
        "audits": audit_cases.open_cases()[:CASES_SHOWN],
        "audits_open": audit_cases.open_cases().count(),
        "acts": [(act, _page_of(act.subject)) for act in page],
    }
    return render(request, "operators/operators.html", context)


@never_cache
@login_required
def reports(request: HttpRequest) -> HttpResponse:
    """List the comments with open reports, those with the most reports first. The queries do not grow with the reports."""
    player = _operator(request)
    rows = talk_reports.reported()
    most = talk_reports.MOST_LISTED
    context = {"rows": rows[:most], "count": rows.count(), "rights": rights.rights_of(player)}
    return render(request, "operators/reports.html", context)


@never_cache
@login_required
def action(request: HttpRequest, name: str) -> HttpResponse:
    """Show an action. Its form first returns a preview; only the preview has the button that carries the action out."""
    player = _operator(request)
    chosen = ACTIONS.get(name)
    if chosen is None:
        raise Http404
    may = rights.may(player, chosen.right)
    if request.method == "POST" and not may:
        raise PermissionDenied
    start = {"subjects": short_text(request.GET.get("subject", ""), 90)}
    form = ActionForm(chosen, request.POST or None, initial=start)
    context = {"action": chosen, "may": may, "form": form}
    if request.method == "POST" and form.is_valid():
        do = request.POST.get("step") == "do"
        why, values = form.cleaned_data["why"], form.field_values()
        try:
            outcome = acting.act(name, form.subjects(), values, why=why, operator=player, dry_run=not do)
        except Forbidden as refusal:
            form.add_error(None, shown(refusal))
            return render(request, "operators/action.html", context, status=403)
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            if do:
                messages.success(request, _("Done.") if outcome.effects else _("No change: already in that state."))
                return redirect("operators")
            context["effects"] = [shown(effect) for effect in outcome.effects]
            context["tried"] = True
    return render(request, "operators/action.html", context, status=422 if form.errors else 200)
