"""The people at a table: who sits where, whose tables a person sees, and what each of them may know.

A table with one person is a table with one row of people. A bot at the seat of a person (`TableSeat`) gives advice; at a shared table it plays while
the person is away, and for good once they have left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from league.domain.people.guests import Person
from league.enums import TableWatching
from league.models import Player, Table, TablePerson, TableSeat
from league.models.tables import LIVE

NAME = gettext_noop("guest")  # The name in the journal, and at the seat of a table that others may see.
# Decisions after which spectators see all hands; None: never. A board has fewer than the last number.
DELAYS = {TableWatching.LATER: 12, TableWatching.OVER: 10**6}
Sitter = Person  # The person or guest who sits at a table.


def seats(sitter: Sitter) -> QuerySet[TablePerson]:
    """Select the seats of a person or of a guest, at all their tables."""
    if isinstance(sitter, Player):
        return TablePerson.objects.filter(player=sitter)
    return TablePerson.objects.filter(guest=sitter.key).exclude(guest="")  # As the index says it.


def own(sitter: Sitter) -> QuerySet[Table]:
    """Select the tables of a person or of a guest."""
    return Table.objects.filter(pk__in=seats(sitter).values("table"))


def present(sitter: Sitter) -> Table | None:
    """Return the table at which a person or guest sits. One query."""
    seat = seats(sitter).filter(seated=True).select_related("table__pool").defer("table__secret").first()
    return None if seat is None else seat.table


def keys(sitter: Sitter) -> dict[str, Any]:
    """Return the columns that say whose row it is."""
    if isinstance(sitter, Player):
        return {"player": sitter, "guest": "", "guest_from": ""}
    return {"player": None, "guest": sitter.key, "guest_from": sitter.network}


def name_of(sitter: Sitter) -> str:
    """Return the name of the person or guest in the journal."""
    return sitter.name if isinstance(sitter, Player) else NAME


def is_of(person: TablePerson, sitter: Sitter | None) -> bool:
    """Return True if this row is that of this person or guest."""
    if isinstance(sitter, Player):
        return sitter.pk == person.player_id
    return sitter is not None and person.player_id is None and bool(person.guest) and person.guest == sitter.key


@dataclass(frozen=True)
class TableView:
    """A table as a viewer may see it. people: by seat; bots: the bot of each seat, also behind a person; own: the viewer's row."""

    row: Table
    people: Mapping[int, TablePerson]
    bots: Mapping[int, str]
    own: TablePerson | None

    @property
    def seat(self) -> int:
        """Return the seat from which the viewer sees the table: their own, or that of the first person."""
        return self.own.number if self.own is not None else min(self.people, default=0)

    @property
    def is_own(self) -> bool:
        """Return True if the viewer has a seat at this table."""
        return self.own is not None

    @property
    def is_seated(self) -> bool:
        """Return True if the viewer still sits here, and so may answer."""
        return self.own is not None and self.own.seated

    @property
    def is_away(self) -> bool:
        """Return True if a bot plays for the viewer, who still may come back."""
        return self.own is not None and self.own.seated and self.own.away

    @property
    def is_host(self) -> bool:
        """Return True if the table is the viewer's."""
        return self.own is not None and self.own is self.host

    @property
    def seen(self) -> list[dict[str, Any]]:
        """Return the events of the board that the viewer may know: those of their seat while they sit there, else those for spectators.

        The only person of a table that is not shared has nobody to play against with what they know.
        """
        if self.own is not None and (self.own.seated or not self.row.shared or self.row.status not in LIVE):
            return list(self.own.events)
        return list(self.row.spectated or [])

    @property
    def legal(self) -> list[str]:
        """Return the viewer's choices."""
        return list(self.own.legal) if self.own is not None and self.own.seated else []

    @property
    def hand(self) -> list[str]:
        """Return the viewer's cards."""
        return list(self.own.hand) if self.own is not None and self.own.seated else []

    @property
    def turn(self) -> int | None:
        """Return the number of the decision that the viewer has to make, among those of people; None if it is not their turn."""
        return self.row.question if self.legal and self.row.turn is not None else None

    @property
    def advice(self) -> str:
        """Return the advice for the viewer, if they asked for it."""
        return self.own.advice if self.own is not None else ""

    @property
    def asked(self) -> TablePerson | None:
        """Return the person whom the table waits for."""
        return next((person for person in self.people.values() if person.legal), None)

    @property
    def host(self) -> TablePerson | None:
        """Return the host's seat."""
        for person in self.people.values():
            if (person.player_id, person.guest) == (self.row.player_id, self.row.guest):
                return person
        return None

    @cached_property
    def names(self) -> list[str]:
        """Return the name at each seat: the person, "bot for" a person, or the bot."""
        return [self.name(seat) for seat in range(self.row.pool.players)]

    def name(self, seat: int) -> str:
        """Return the name at a seat."""
        person = self.people.get(seat)
        if person is None:
            return self.bots.get(seat) or gettext(NAME)
        name = gettext(NAME) if person.player is None else person.player.name
        return gettext("bot for %(name)s") % {"name": name} if person.away else name


def _bots(public_id: str) -> Mapping[int, str]:
    """Return the names of a table's bots by seat."""
    return dict(TableSeat.objects.filter(table__public_id=public_id).values_list("number", "version__bot__slug"))


_bots_in_play = lru_cache(maxsize=1000)(_bots)  # They stay as they are dealt in.


def view(row: Table, sitter: Sitter | None) -> TableView:
    """Return a table as a viewer may see it. At most two queries."""
    people = {person.number: person for person in row.people.select_related("player").order_by("number")}
    bots = (_bots_in_play if row.status in LIVE and not row.gathering else _bots)(row.public_id)
    own_row = next((person for person in people.values() if is_of(person, sitter)), None)
    return TableView(row, people, bots, own_row)


def watchable() -> Q:
    """Return the condition on shared tables that strangers see while they are in play."""
    return Q(shared=True) & (Q(gathering=True) | ~Q(watching=TableWatching.NOBODY))


def is_watched(row: Table) -> bool:
    """Return True if strangers see this table while it is played."""
    return row.shared and row.watching != TableWatching.NOBODY


def delay(row: Table) -> int | None:
    """Return the number of decisions after which spectators see all hands; None: never before the end."""
    return DELAYS.get(TableWatching(row.watching))


def rise(row: Table) -> None:
    """Free the people of a table that ends. Call it before the status changes: the row rules of the workers' role need it (docker/grant_roles.py)."""
    TablePerson.objects.filter(table=row, seated=True).update(seated=False, legal=[], hand=[])


def tell(row: Table) -> None:
    """Count a change that the pages of the table show besides decisions."""
    Table.objects.filter(pk=row.pk).update(news=F("news") + 1)


def behind(row: Table, seat: int) -> bool:
    """Return True if a bot stands behind the person at a seat."""
    return TableSeat.objects.filter(table=row, number=seat).exists()


def inherit(row: Table) -> None:
    """Take over what the previous release has written into the row of a live table with one person. Repeatable."""
    if row.shared or row.status not in LIVE:
        return
    person, _ = TablePerson.objects.get_or_create(
        table=row,
        number=row.seat,
        defaults={"player_id": row.player_id, "guest": row.guest, "guest_from": row.guest_from},
    )
    if row.legal:
        TablePerson.objects.filter(pk=person.pk).update(legal=row.legal, hand=row.hand, events=row.seen)
        Table.objects.filter(pk=row.pk).update(legal=[], hand=[], seen=[])
