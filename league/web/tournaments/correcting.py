"""Corrections common to tournaments, events and recurring leagues: name, text, who may enter, and the confirmation."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from league.domain.tournaments import corrections
from league.enums import Entrance, TournamentStatus
from league.models import Circuit, Event, Player, Tournament
from league.web.common.inputs import whole_number

CORRECTIONS = ("save", "open_entries", "close_entries", "open_talk", "close_talk", "delete")
SURE = ("cancel", "delete")  # Actions that cannot be undone: the form asks for a tick.


def is_sure(request: HttpRequest) -> bool:
    """Return True if the viewer has ticked "I am sure"; otherwise show a message."""
    if request.POST.get("sure"):
        return True
    messages.error(request, _("Nothing was changed. Tick the box to confirm, because this cannot be undone."))
    return False


def correct_contest(request: HttpRequest, row: Tournament | Event | Circuit, viewer: Player, action: str) -> None:
    """Save name and description, open or close the entries or the comments, or delete the row, after which `row.pk` is None."""
    if action == "save":
        if "name" in request.POST:
            corrections.rename(row, request.POST["name"], actor=viewer.name)
        corrections.describe(row, request.POST.get("description", ""), actor=viewer.name)
        if (share := whole_number(request.POST.get("per_player"))) is not None:
            corrections.set_share(row, share, actor=viewer.name)
        messages.success(request, _("Saved."))
    elif action == "delete":
        corrections.delete(row, actor=viewer.name)
        row.pk = None
    elif not isinstance(row, Circuit) and action in ("open_talk", "close_talk"):
        corrections.set_talk(row, on=action == "open_talk", actor=viewer.name)
    elif not isinstance(row, Circuit):
        to = Entrance.ANYBODY if action == "open_entries" else Entrance.OWNER
        corrections.set_entrance(row, to, actor=viewer.name)


def is_deletable(row: Tournament | Event | Circuit) -> bool:
    """Return True if it never began. One query."""
    if isinstance(row, Circuit):
        return not row.seasons.exists()
    if row.status not in (TournamentStatus.OPEN, TournamentStatus.CANCELLED):
        return False
    if isinstance(row, Event):
        return not row.tournaments.exists()
    return row.event_id is None and row.season_id is None and not row.matches.exists()
