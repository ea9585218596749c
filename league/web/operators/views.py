"""Pages of operators: the overview with its search, the open cases, one subject or person, and the form of an action with a preview."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from league.domain.core.errors import Forbidden, Refused, shown
from league.domain.operators import acting, searching
from league.domain.operators.actions import ACTIONS, Action
from league.domain.operators.overview import Guide, Overview, Symptom, overview
from league.domain.operators.subjects import CASE, KINDS, PLAYER
from league.domain.people import rights
from league.domain.talk import reports as talk_reports
from league.domain.upkeep import cases
from league.models import LeagueEvent, Player
from league.web.common import lists
from league.web.common.inputs import short_text
from league.web.common.viewers import player_of
from league.web.operators import people, queues
from league.web.operators.forms import ActionForm

MOST_TEXT = 200  # The most characters of a search: a pasted address.
# The kinds of subjects whose page has their name in its address; the other kinds have only the list of lines about them.
PAGES = ("match", "tournament", "event", "circuit", "bot", "player", "table", "try")


def operator_of(request: HttpRequest) -> Player:
    """Return the viewer if they are an operator, else raise PermissionDenied."""
    player = player_of(request)
    if not (player.user.is_staff or player.user.is_superuser):
        raise PermissionDenied
    return player


def _page_of(subject: str, title: str = "") -> str:
    """Return the address of the page that everybody may see; "" if a kind has none."""
    kind, _colon, name = subject.partition(":")
    if kind == "version" and title:
        bot, _space, number = title.rpartition(" v")
        return reverse("version", args=[bot, number])
    try:
        return reverse(kind, args=[name]) if kind in PAGES else ""
    except NoReverseMatch:  # Somebody typed a name that no row can have.
        return ""


def _buttons(subjects: str, kind: str, own_rights: list[str]) -> list[dict[str, Any]]:
    """Return the actions for a kind of subject, those that the operator may do first."""
    fitting = [action for action in ACTIONS.values() if not kind or kind in action.kinds]
    return [
        {
            "action": action,
            "may": action.right in own_rights,
            "query": urlencode({"subject": subjects}) if subjects else "",
        }
        for action in sorted(fitting, key=lambda action: action.right not in own_rights)
    ]


def _row(sign: Symptom, own_rights: list[str]) -> dict[str, Any]:
    """Return a sign in the language of the reader, with the button of its action if the operator may do it."""
    button = ACTIONS.get(sign.action)
    return {
        "urgency": sign.urgency.name.lower(),
        "what": shown(sign.what),
        "do": shown(sign.do) if sign.do else "",
        "subjects": sign.subjects,
        "button": button if button and button.right in own_rights else None,
        "query": urlencode({"subject": " ".join(sign.subjects)}),
        "guide": _guide(sign.guide) if sign.guide else None,
    }


# The page of each guide: its title, and the name of a document with its section, or of a page.
GUIDES = {
    Guide.WORKERS: (_lazy("Workers"), "operations/install#workers"),
    Guide.SANDBOX: (_lazy("Where the sandbox does not hold"), "sandbox#where-a-tier-does-not-hold"),
    Guide.SCHEDULER: (_lazy("The scheduler"), "operations/queue#the-scheduler"),
    Guide.MAIL: (_lazy("Mail"), "operations/players#mail"),
    Guide.REPAIR: (_lazy("Repair"), "operations/backup#repair"),
    Guide.DISKS: (_lazy("Disks"), "operations/backup#disks"),
    Guide.TROUBLE: (_lazy("When something is wrong"), "operations/trouble#when-something-is-wrong"),
    Guide.QUEUE: (_lazy("Status"), "status"),
    Guide.JOURNAL: (_lazy("Journal"), "admin:league_leagueevent_changelist"),
}


def _guide(guide: Guide) -> tuple[Promise, str]:
    """Return the title and the address of a guide."""
    title, place = GUIDES[guide]
    name, _hash, section = place.partition("#")
    return title, f"{reverse('doc', args=[name])}#{section}" if section else reverse(name)


def act_rows(events: Any) -> list[dict[str, Any]]:
    """Return past acts with the address that takes each back; "" if nothing does."""
    return [{"event": event, "undo": _undo_address(event), "lasting": _lasting(event)} for event in events]


def _undo_address(event: LeagueEvent) -> str:
    undo = event.data.get("undo")
    if not undo or undo.get("action") not in ACTIONS:
        return ""
    query = urlencode({"subject": event.subject, **undo["values"]})
    return f"{reverse('operator-action', args=[undo['action']])}?{query}"


def _lasting(event: LeagueEvent) -> str:
    action: Action | None = ACTIONS.get(event.data.get("action", ""))
    return _(action.lasting) if action and action.lasting else ""


def _sections(state: Overview) -> list[tuple[str, list[Symptom]]]:
    """Return the sections that have symptoms, the one with the most urgent symptom first."""
    parts = [(_("Stuck"), state.stuck), (_("Failing"), state.failing), (_("Growing"), state.growing)]
    return sorted(((title, signs) for title, signs in parts if signs), key=lambda part: part[1][0].urgency)


@never_cache
@login_required
@require_safe
def operators(request: HttpRequest) -> HttpResponse:
    """Show the overview; with `?q=` what a text names; with `?subject=` one subject. At most 26 queries."""
    player = operator_of(request)
    text, subject = short_text(request.GET.get("q", ""), MOST_TEXT), short_text(request.GET.get("subject", ""), 90)
    own_rights = rights.rights_of(player)
    if subject:
        return _subject(request, subject, own_rights)
    if text:
        return _search(request, text)
    state = overview()
    page = lists.page_of(request, acting.latest())
    context = {
        "state": state,
        "sections": [(title, [_row(sign, own_rights) for sign in signs]) for title, signs in _sections(state)],
        "calm": [_row(sign, own_rights) for sign in state.calm],
        "queues": queues.open_queues(),
        "buttons": _buttons("", "", own_rights),
        "own_rights": own_rights,
        "superuser": player.user.is_superuser,
        "page": page,
        "acts": act_rows(page),
    }
    return render(request, "operators/operators.html", context)


def _search(request: HttpRequest, text: str) -> HttpResponse:
    """Show what a text names, or the only row that has exactly this name."""
    hits = searching.search(text)
    exact = [hit for hit in hits if hit.is_exact]
    if len(exact) == 1:
        return redirect(f"{reverse('operators')}?{urlencode({'subject': exact[0].subject})}")
    rows = [(hit, _page_of(hit.subject, hit.title)) for hit in hits]
    return render(request, "operators/search.html", {"text": text, "hits": rows})


def _subject(request: HttpRequest, subject: str, own_rights: list[str]) -> HttpResponse:
    """Show what the journal says about a subject, and what an operator may do with it; of a player everything."""
    kind, _colon, name = subject.partition(":")
    row = KINDS[kind].find(name) if kind in KINDS else None
    context: dict[str, Any] = {
        "subject": subject,
        "address": _page_of(subject) if row is not None or kind not in KINDS else "",
        "buttons": _buttons(subject, kind, own_rights) if kind in KINDS else [],
    }
    if kind == PLAYER and row is not None:
        needless = "ban" if row.banned else "unban"
        context["buttons"] = [button for button in context["buttons"] if button["action"].name != needless]
        return render(request, "operators/person.html", context | people.person(request, row))
    page = lists.page_of(request, LeagueEvent.objects.filter(subject=subject))
    context |= {"page": page, "lines": people.lines(page)}
    if kind == CASE and row is not None:
        context["cases"] = [queues.OpenCase(row, cases.evidence(row), cases.matches_of(row))]
    return render(request, "operators/subject.html", context)


@never_cache
@login_required
@require_safe
def open_cases(request: HttpRequest) -> HttpResponse:
    """List the open cases: audits with a difference, and results that ratings do not explain. Five queries."""
    operator_of(request)
    return render(request, "operators/cases.html", {"cases": queues.open_cases()})


@never_cache
@login_required
def reports(request: HttpRequest) -> HttpResponse:
    """List the comments with open reports, those with the most reports first. The queries do not grow with the reports."""
    player = operator_of(request)
    rows = talk_reports.reported()
    most = talk_reports.MOST_LISTED
    context = {"rows": rows[:most], "count": rows.count(), "rights": rights.rights_of(player)}
    return render(request, "operators/reports.html", context)


@never_cache
@login_required
def action(request: HttpRequest, name: str) -> HttpResponse:
    """Show an action. Its form first returns a preview; only the preview has the button that carries the action out."""
    player = operator_of(request)
    chosen = ACTIONS.get(name)
    if chosen is None:
        raise Http404
    may = rights.may(player, chosen.right)
    if request.method == "POST" and not may:
        raise PermissionDenied
    start = {"subjects": short_text(request.GET.get("subject", ""), 90)}
    start |= {field.name: short_text(request.GET.get(field.name, ""), 60) for field in chosen.fields}
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
