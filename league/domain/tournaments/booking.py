"""Booking: when a tournament starts, it books its boards against the limit of its owner (league.domain.people.quotas)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.conf import settings

from league.domain.core.errors import Refused, shown
from league.domain.matches import estimates, workers
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import formats
from league.enums import TournamentStatus
from league.models import Player, Tournament
from league.pure import formats as pure
from league.pure.formats import Field, Format
from league.pure.refusal import Message

EXACT = 24  # Entries up to which `count_boards` is exact in the formats of FOUND.
FOUND = frozenset({"round_robin", "gauntlet", "successive_halving"})
LOOKED = 8  # Numbers of entries below one that a format cannot play.


def book(tournament: Tournament, *, now: datetime) -> None:
    """Book the most boards that a tournament can have with its current entries. Raise Refused or TooMany beyond the limit of its owner.

    Later stages of an event were checked when the event was created, so they never fail here. Call this in a transaction.
    """
    form, field = formats.field_of_tournament(tournament)
    size = form.size(field)
    owner, more = tournament.owner, size.boards[1] - tournament.booked_boards
    if more > 0 and (tournament.event_id is None or tournament.stage == 1):
        check(owner, form, field)
        sitting_s = estimates.sitting_time(tournament.pool.game).seconds / max(1, workers.count_able(now=now))
        here = quotas.limit(owner, quotas.BOARDS, now=now)
        over = here.used + more - (here.most or 0)
        wait_s = over * pools.parties(tournament.pool) * sitting_s
        quotas.ask(owner, quotas.BOARDS, more, wait_s=wait_s, now=now)
    if (tournament.planned_matches, tournament.booked_boards) != (size.matches[1], size.boards[1]):
        tournament.planned_matches, tournament.booked_boards = size.matches[1], size.boards[1]
        Tournament.objects.filter(pk=tournament.pk).update(
            planned_matches=tournament.planned_matches, booked_boards=tournament.booked_boards
        )


def book_more(tournament: Tournament, *, now: datetime) -> None:
    """Book the additional boards of a running tournament that got more entries or larger parameters."""
    if tournament.status == TournamentStatus.RUNNING:
        book(tournament, now=now)


def check(owner: Player | None, form: Format, field: Field) -> None:
    """Raise Refused, with the numbers that would fit, if a tournament exceeds the limit of `owner` (None: an anonymous client)."""
    most = quotas.most(owner, quotas.BOARDS)
    need = form.size(field).boards[1]
    if most is not None and need > most:
        raise Refused(
            "this needs {need} boards, and a player may have at most {most} queued. {fit}. An operator can raise the limit",
            need=need,
            most=most,
            fit=_fitting(form, field, most),
        )


def check_boards(owner: Player, boards: int) -> None:
    """Raise Refused if the boards of all stages of an event exceed the limit of `owner`."""
    most = quotas.most(owner, quotas.BOARDS)
    if most is not None and boards > most:
        raise Refused(
            "all stages together need {need} boards, and a player may have at most {most} queued; choose fewer boards or entries, "
            "or ask an operator to raise the limit",
            need=boards,
            most=most,
        )


def room(tournament: Tournament, *, whole: bool = True) -> int:
    """Return the most entries that a tournament takes: its owner may have their boards queued. Two queries.

    A running tournament books the boards of each new entry instead. Without `whole`, only the format and the league limit the number: the owner may
    enter more, and the page says why the tournament cannot start.
    """
    form, field = formats.field_of_tournament(tournament)
    top = min(settings.MAX_ENTRIES, form.most or settings.MAX_ENTRIES)
    most = quotas.most(tournament.owner, quotas.BOARDS)
    if most is None or not whole or tournament.status != TournamentStatus.OPEN:
        return top
    return room_of(top, max(form.fewest, field.table), most, lambda n: count_boards(form, field, entries=n))


def room_of(top: int, least: int, most: int, count: Callable[[int], float]) -> int:
    """Return the largest number of entries from `least` to `top` whose boards (`count`) are at most `most`; 0 if even `least` has more.

    Some formats cannot be played with every number of entries; then the next smaller number decides.
    """

    def fits(entries: int) -> bool:
        near = range(entries, max(least, entries - LOOKED) - 1, -1)
        return next((boards for n in near if (boards := count(n)) < math.inf), 0) <= most

    return most_fitting(top + 1, fits, least=least)


def check_possible(tournament: Tournament) -> None:
    """Raise Refused if even the fewest entries exceed the limit of the owner, so that nobody waits for a start that can never come."""
    if not room(tournament):
        form, field = formats.field_of_tournament(tournament)
        fewest = max(form.fewest, field.table)
        check(tournament.owner, form, replace(field, entries=fewest, seeds=(), withdrawn=frozenset()))


def why_not_yet(tournament: Tournament) -> str:
    """Return why an open tournament could not start now with its entries; "" if it could. Five queries."""
    form, field = formats.field_of_tournament(tournament)
    if field.entries < max(form.fewest, field.table):
        return ""  # The page says how many entries a table needs.
    try:
        pure.check_field(form, field)
        check(tournament.owner, form, field)
        quotas.check_free(tournament.owner, quotas.BOARDS, form.size(field).boards[1])
    except ValueError as error:
        return shown(Refused.from_error(error) if not isinstance(error, Refused) else error)
    return ""


def count_boards(form: Format, field: Field, *, entries: int | None = None, boards: int | None = None) -> float:
    """Return the most boards of a field with other values, such as `entries=8`; infinity if it cannot be played.

    Above EXACT entries at tables of more than two it is estimated, a little high, in formats whose tables have to be found first, which
    takes seconds: their number grows with the square.
    """
    field = replace(
        field,
        seeds=(),
        withdrawn=frozenset(),
        entries=field.entries if entries is None else entries,
        boards=field.boards if boards is None else boards,
    )
    if field.seats > 2 and field.entries > EXACT and form.key in FOUND:
        return 1.2 * (field.entries / EXACT) ** 2 * count_boards(form, field, entries=EXACT)
    try:
        pure.check_field(form, field)
        return form.size(field).boards[1]
    except ValueError:
        return math.inf


def _fitting(form: Format, field: Field, most: int) -> Message:
    """Say what would fit: boards per match with these entries, and entries with these boards."""
    boards = most_fitting(field.boards, lambda n: count_boards(form, field, boards=n) <= most)
    least = max(form.fewest, field.table)
    entries = most_fitting(field.entries, lambda n: count_boards(form, field, entries=n) <= most, least=least)
    if boards and entries:
        return Message(
            "It fits with {boards} boards per match, or with {entries} entries", boards=boards, entries=entries
        )
    if boards:
        return Message("It fits with {boards} boards per match", boards=boards)
    if entries:
        return Message("It fits with {entries} entries", entries=entries)
    return Message("It does not fit with fewer boards per match or fewer entries either; reduce its parameters")


def most_fitting(now: int, fits: Callable[[int], bool], least: int = 1) -> int:
    """Return the largest number from `least` to `now` - 1 that fits; 0 if none does. If a number fits, all smaller ones do."""
    low, high = least - 1, now - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low if low >= least else 0
