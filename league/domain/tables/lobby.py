"""The lobby: the tables open to all that wait for people, and who may sit down at a table."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q

from league.domain.core.errors import Refused
from league.domain.tables.people import Sitter
from league.models import Block, Player, Table, TablePerson
from league.models.tables import LIVE

MOST = 30  # Tables on the page.


@dataclass(frozen=True)
class OpenTable:
    """A table in the lobby: its row, the names of the people by seat, and the number of free seats."""

    row: Table
    names: list[str]
    free: int


def waiting(sitter: Sitter | None) -> list[OpenTable]:
    """Return the tables with a free seat that the viewer may take, fullest first, then newest. Two queries."""
    rows = Table.objects.filter(status__in=LIVE, listed=True, gathering=True).select_related("pool")
    rows = rows.annotate(seated=Count("people")).filter(seated__lt=F("pool__players"))
    if isinstance(sitter, Player):
        apart = Q(player__in=Block.objects.filter(owner=sitter).values("blocked"))
        apart |= Q(player__in=Block.objects.filter(blocked=sitter).values("owner"))
        rows = rows.exclude(Exists(TablePerson.objects.filter(apart, table=OuterRef("pk"))))
    tables = list(rows.defer("secret", "records", "spectated").order_by("-seated", "-created", "-pk")[:MOST])
    names: dict[int, list[str]] = {row.pk: [] for row in tables}
    people = TablePerson.objects.filter(table__in=tables).order_by("number")
    for table, name in people.values_list("table", "player__name"):
        names[table].append(name or "")
    mark = None if sitter is None else sitter_mark(sitter)
    return [
        OpenTable(row, names[row.pk], row.pool.players - len(names[row.pk])) for row in tables if mark not in row.barred
    ]


def sitter_mark(sitter: Sitter) -> int | str:
    """Return what stands for a person or guest in `Table.barred`."""
    return sitter.pk if isinstance(sitter, Player) else sitter.key


def check_welcome(row: Table, sitter: Sitter) -> None:
    """Raise Refused if the person may not sit down at a table that is gathering. One query at most."""
    if sitter_mark(sitter) in row.barred:
        raise Refused("the host of this table has asked you to leave it; choose another one")
    if not isinstance(sitter, Player):
        if row.listed:
            raise Refused("only players with an account sit down at a table of the lobby; sign up or log in")
        return
    if Block.objects.filter(owner__in=row.people.values("player"), blocked=sitter).exists():
        raise Refused("somebody at this table has blocked you; choose another one")
