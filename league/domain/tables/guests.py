"""The tables of guests (league.domain.people.guests).

A guest plays with house bots and friends, without advice and unrated. If the guest signs up or logs in within `KEEP`, the tables move to the account;
otherwise they are removed after `KEPT`.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from league.domain.core import clock, journal
from league.domain.core.errors import TooMany
from league.domain.people import players
from league.domain.people.guests import HOUR, KEPT, Visitor, lock
from league.domain.tables import people
from league.enums import TableStatus
from league.models import Player, Table, TablePerson
from league.models.tables import LIVE

KEEP = timedelta(hours=1)  # How long after its end an account can take over a table.
BATCH = 200  # Rows of one DELETE.
IDLE = timedelta(minutes=2)  # If others find no free table, a guest who has been away for this time loses theirs.


def ask(guest: Visitor, *, now: datetime) -> None:
    """Check that a guest may sit down; the caller has locked the tables. Raise TooMany at the limit of the browser, its network, or all guests.

    Before that, league.web.common.limits limits the tables that an address opens in an hour, so that a new cookie gains nothing.
    """
    started = people.own(guest).filter(created__gt=now - HOUR).exclude(status=TableStatus.VOID).count()
    if started >= settings.QUOTA_TABLES:
        raise TooMany(
            "you have started {used} tables in the last hour, the limit for guests; sign up, or try again later",
            retry_after=600,
            used=started,
        )
    taken = _taken()
    if sum(taken.values()) >= settings.GUEST_TABLES:
        raise TooMany(
            "guests have taken all {most} tables for guests; try again in a few minutes, or sign up: there is "
            "room for players",
            retry_after=120,
            most=settings.GUEST_TABLES,
        )
    if not _has_share(guest, taken):
        raise TooMany(
            "too many guests play from your network; try again in a few minutes, or sign up: there is room for players",
            retry_after=120,
        )


def idle_table(guest: Visitor, *, now: datetime) -> Table | None:
    """Return the table to close if a guest finds no free one: the one idle longest with one person, of the network with most seats.

    At most two queries. Nobody who is playing loses a table, and no network loses one to another network with as many tables.
    """
    taken = _taken()
    if not taken or _has_share(guest, taken):
        return None
    most = max(taken.values())
    crowded = [network for network, count in taken.items() if count == most]
    if most <= taken[guest.network] + 1 and guest.network not in crowded:
        return None
    rows = Table.objects.filter(player=None, guest_from__in=crowded, status=TableStatus.RESTING, since__lte=now - IDLE)
    alone = rows.annotate(seated=Count("people", filter=Q(people__seated=True))).filter(seated=1)
    return alone.order_by("since", "pk").first()


def _taken() -> Counter[str]:
    """Count the seats of the guests of each network. One query, on the index of guests, who are removed after a day."""
    rows = TablePerson.objects.filter(seated=True).exclude(guest="")
    return Counter(rows.values_list("guest_from", flat=True))


def _has_share(guest: Visitor, taken: Counter[str]) -> bool:
    """Return True if a network may have one more table: it has fewer tables than are free.

    So one network alone can get half of the tables, enough for a class, and some always remain for others: a second network leaves a quarter, a
    third one an eighth. Guests of unknown networks share all free tables.
    """
    free = settings.GUEST_TABLES - sum(taken.values())
    return free > 0 if not guest.network else taken[guest.network] < free


def adopt(player: Player, guest: Visitor, *, now: datetime | None = None) -> int:
    """Give the guest's running table, and those that ended within the last hour, to a player who has just signed in; return their number.

    The tables stay unrated. If the player sits at another table already, the guest's running table is given up, because nobody sits at two.
    """
    now = clock.now_or(now)
    if not people.seats(guest).exists():
        return 0
    with transaction.atomic():
        lock()
        players.lock(player.pk)
        rows = people.own(guest).filter(Q(status__in=LIVE) | Q(finished__gt=now - KEEP))
        rows = rows.exclude(people__in=people.seats(player))  # Of a shared table, where both sat in turn.
        if people.present(player) is not None:
            rows = rows.exclude(status__in=LIVE)
        names = list(rows.values_list("public_id", flat=True))
        for adopted in (
            people.seats(guest).filter(table__public_id__in=names),
            Table.objects.filter(public_id__in=names, guest=guest.key),
        ):
            adopted.update(player=player, guest="", guest_from="")
        lines: list[tuple[str, str, dict[str, Any]]] = [("table.adopted", f"table:{name}", {}) for name in names]
        journal.append_all(lines, now=now, actor=player.name)
    return len(names)


def remove(*, now: datetime | None = None) -> int:
    """Remove the finished tables of guests after a day, and the guests from tables of players; return the number of tables. Repeatable."""
    now, count = clock.now_or(now), 0
    old = TablePerson.objects.filter(seated=False, table__created__lte=now - KEPT).exclude(guest="")
    old = old.exclude(table__status__in=LIVE).order_by("table__created")
    players_there = TablePerson.objects.filter(table=OuterRef("pk"), player__isnull=False)
    while rows := list(old.values_list("pk", "table")[:BATCH]):
        seats, tables = zip(*rows, strict=True)
        TablePerson.objects.filter(pk__in=seats, player=None).delete()
        without = Table.objects.filter(~Exists(players_there), pk__in=tables, player=None)
        count += without.delete()[1].get("league.Table", 0)
    return count
