"""The tables of guests (league.domain.people.guests).

A guest plays against house bots, without advice and unrated. Whoever signs up or logs in within `KEEP` takes the guest's tables along; all others
are removed after `KEPT`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from league.domain.core import clock, journal
from league.domain.core.errors import TooMany
from league.domain.people import players
from league.domain.people.guests import HOUR, KEPT, Guest, Person, lock
from league.enums import TableStatus
from league.models import Player, Table
from league.models.tables import LIVE

NAME = gettext_noop("guest")  # In the journal, and at the seat of an open table.
KEEP = timedelta(hours=1)  # The time after its end in which an account can take a table over.
BATCH = 200  # Rows of one DELETE.
Sitter = Person  # Who sits at a table.


def own(sitter: Sitter) -> QuerySet[Table]:
    """Select the tables of a person or of a guest."""
    if isinstance(sitter, Player):
        return Table.objects.filter(player=sitter)
    return Table.objects.filter(player=None, guest=sitter.key)


def owns(sitter: Sitter | None, row: Table) -> bool:
    """Return True if the table is theirs."""
    if isinstance(sitter, Player):
        return sitter.pk == row.player_id
    return sitter is not None and row.player_id is None and row.guest == sitter.key


def name_of(sitter: Sitter) -> str:
    """Return the name in the journal."""
    return sitter.name if isinstance(sitter, Player) else NAME


def ask(guest: Guest, *, now: datetime) -> None:
    """Check that a guest may sit down, with the tables locked. Raise TooMany for the limit of the browser, of its address, or of all guests.

    The number of tables that an address starts in an hour is limited before (league.web.common.limits): a new cookie does not help.
    """
    started = own(guest).filter(created__gt=now - HOUR).exclude(status=TableStatus.VOID).count()
    if started >= settings.QUOTA_TABLES:
        raise TooMany(
            "you have started {used} tables in the last hour, the limit for guests; sign up, or try again later",
            retry_after=600,
            used=started,
        )
    live = Table.objects.filter(player=None, status__in=LIVE)
    most = settings.GUEST_TABLES
    if live.count() >= most:
        raise TooMany(
            "guests have taken all {most} tables that are theirs; try again in a few minutes, or sign up: there is room for players",
            retry_after=120,
            most=most,
        )
    if guest.address and live.filter(guest_from=guest.address).count() >= max(1, most // 2):
        raise TooMany(
            "too many guests play from your network; try again in a few minutes, or sign up: there is room for players",
            retry_after=120,
        )


def adopt(player: Player, guest: Guest, *, now: datetime | None = None) -> int:
    """Give the guest's running table, and those that ended within the last hour, to a player who has just signed in; return their number.

    They stay unrated. If the player sits at another table already, the guest's running one is left: nobody sits at two.
    """
    now = clock.now_or(now)
    if not own(guest).exists():
        return 0
    with transaction.atomic():
        lock()
        players.lock(player.pk)
        rows = own(guest).filter(Q(status__in=LIVE) | Q(finished__gt=now - KEEP))
        if own(player).filter(status__in=LIVE).exists():
            rows = rows.exclude(status__in=LIVE)
        names = list(rows.values_list("public_id", flat=True))
        own(guest).filter(public_id__in=names).update(player=player, guest="", guest_from="")
        lines: list[tuple[str, str, dict[str, Any]]] = [("table.adopted", f"table:{name}", {}) for name in names]
        journal.append_all(lines, now=now, actor=player.name)
    return len(names)


def remove(*, now: datetime | None = None) -> int:
    """Remove the finished tables of guests after a day; return their number. Harmless to repeat."""
    now, count = clock.now_or(now), 0
    old = Table.objects.filter(player=None, created__lte=now - KEPT).exclude(status__in=LIVE).order_by("created")
    while rows := list(old.values_list("pk", flat=True)[:BATCH]):
        count += Table.objects.filter(pk__in=rows, player=None).delete()[1].get("league.Table", 0)
    return count
