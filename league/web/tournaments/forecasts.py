"""Estimates of matches, boards and time in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from league.domain.core.errors import Refused, shown
from league.domain.tournaments import forecast as domain
from league.models import Player
from league.pure.calendar import event_plan

if TYPE_CHECKING:
    from league.web.tournaments.forms import ContestForm


def form_sentence(form: ContestForm, viewer: Player | None) -> str:
    """Describe matches, boards and time of the tournament in a form (valid or fresh), or say why it cannot start."""
    if not form.is_bound:
        start = form.initial
        fresh = {name: start[name] for name in ("format", "boards")}
        return _tournament(form, fresh, _reckon(start["bots"], start["expected"]), viewer)
    chosen = form.cleaned_data
    entries = _reckon(chosen["bots"], chosen.get("expected"))
    if form.kind == "circuit":
        weekly = {"format": chosen["weekly_format"], "boards": chosen["boards"]}
        return _tournament(form, weekly, min(max(entries, 2), chosen["size"] or entries), viewer)
    return (
        event_sentences(form.document(), entries)
        if form.kind == "event"
        else _tournament(form, chosen, entries, viewer)
    )


def _reckon(bots: Sequence[str], expected: int | None) -> int:
    """Return the number of entries for the forecast: the chosen bots, or `expected` if that is more."""
    return max(len(bots), expected or 0)


def _tournament(form: ContestForm, chosen: dict[str, Any], entries: int, viewer: Player | None) -> str:
    key = chosen["format"] if chosen["format"] in form.titles else "round_robin"
    key = {"groups": "round_robin", "weekly": "round_robin"}.get(key, key)
    try:
        estimate = domain.forecast(
            form.table.key,
            entries=entries,
            boards=chosen["boards"],
            format=key,
            parameters=form.parameters(key) if form.is_bound else {},
            players=form.table.players,
            options=form.options if form.is_bound else {},
            mixed=chosen.get("mixed", False),
            limited=True,
            owner=viewer,
        )
    except Refused as refusal:
        return _("It cannot start like this: %(why)s.") % {"why": shown(refusal).rstrip(".")}
    if not estimate.matches[1]:
        return _("The tournament runs until you end it.")
    measured = _("measured") if estimate.pace.measured else _("estimated: no match of this game has been measured yet")
    words = {
        "bots": entries,
        "matches": _span(estimate.matches),
        "boards": _span(estimate.boards),
        "time": _time(estimate.seconds),
        "measured": measured,
        "most": length(60 * math.ceil(estimate.match_most_s / 60)),
    }
    return (
        _(
            "%(bots)s bots: about %(time)s (%(measured)s), for %(matches)s matches with %(boards)s boards. "
            "A match takes at most %(most)s."
        )
        % words
    )


def event_sentences(document: dict[str, Any], entries: int) -> str:
    """Describe an event in one line for each stage, or say why it cannot start."""
    try:
        plan = event_plan.read_plan(document)
        estimates = domain.forecast_stages(plan, entries)
    except (Refused, event_plan.BadEvent) as refusal:
        return _("It cannot start like this: %(why)s.") % {"why": shown(refusal).rstrip(".")}
    lines = [
        _("Stage %(number)s: %(matches)s matches, %(boards)s boards; about %(time)s.")
        % {
            "number": number,
            "matches": _span(stage.matches),
            "boards": _span(stage.boards),
            "time": _time(stage.seconds),
        }
        for number, stage in enumerate(estimates, 1)
    ]
    whole = _time((sum(stage.seconds[0] for stage in estimates), sum(stage.seconds[1] for stage in estimates)))
    measured = (
        _("measured") if estimates[0].pace.measured else _("estimated: no match of this game has been measured yet")
    )
    return "\n".join([*lines, _("All stages: about %(time)s (%(measured)s).") % {"time": whole, "measured": measured}])


def _span(pair: tuple[int, int]) -> str:
    low, high = (number_format(value, force_grouping=True) for value in pair)
    return low if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}


def _time(seconds: tuple[float, float]) -> str:
    low, high = length(seconds[0]), length(seconds[1])
    return low if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}


def length(seconds: float) -> str:
    """Return a time in minutes, hours or days, in words."""
    span = timedelta(seconds=seconds)
    minutes = max(1, round(span.total_seconds() / 60))
    if minutes < 90:
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    hours = round(minutes / 60)
    if hours < 48:
        return ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}
    days = round(hours / 24)
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}
