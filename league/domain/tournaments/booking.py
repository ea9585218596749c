"""The boards that a tournament will have are booked when it starts, against the limit of its owner (league.domain.people.quotas)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from league.domain.core.errors import Refused
from league.domain.matches import pace, workers
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import formats
from league.enums import TournamentStatus
from league.models import Player, Tournament
from league.pure.formats import Field, Format
from league.pure.refusal import Message


def book(tournament: Tournament, *, now: datetime) -> None:
    """Note what a tournament will have at most, as it is entered now. Refused or TooMany where that is more than its owner may have.

    The later stages of an event were asked for when it was made, so nobody who plays in it is sent home. In a transaction.
    """
    form, field = formats.field_of_tournament(tournament)
    size = form.size(field)
    owner, more = tournament.owner, size.boards[1] - tournament.booked_boards
    if more > 0 and (tournament.event_id is None or tournament.stage == 1):
        check(owner, form, field)
        sitting_s = pace.of_game(tournament.pool.game).seconds / max(1, workers.count_able(now=now))
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
    """The same, where a running tournament has got more entries or parameters."""
    if tournament.status == TournamentStatus.RUNNING:
        book(tournament, now=now)


def check(owner: Player | None, form: Format, field: Field) -> None:
    """Refused where a tournament is larger than all that `owner` (None: somebody) may have waiting, with the numbers that would fit."""
    most = quotas.most(owner, quotas.BOARDS)
    need = form.size(field).boards[1]
    if most is not None and need > most:
        raise Refused(
            "this would be {need} boards, and at most {most} of one player may wait at once. {fit}. An operator may raise the limit",
            need=need,
            most=most,
            fit=_fitting(form, field, most),
        )


def check_boards(owner: Player, boards: int) -> None:
    """Refused where that many boards, of all stages of an event, are more than `owner` may have waiting."""
    most = quotas.most(owner, quotas.BOARDS)
    if most is not None and boards > most:
        raise Refused(
            "all stages together would be {need} boards, and at most {most} of one player may wait at once; take fewer boards or entries, "
            "or ask an operator to raise the limit",
            need=boards,
            most=most,
        )


def _fitting(form: Format, field: Field, most: int) -> Message:
    """What would fit: boards of a match with these entries, and entries with these boards."""

    def fits(boards: int, entries: int) -> bool:
        try:
            size = form.size(replace(field, seeds=(), withdrawn=frozenset(), boards=boards, entries=entries))
        except ValueError:
            return False
        return size.boards[1] <= most

    boards = _most(field.boards, lambda n: fits(n, field.entries))
    entries = _most(field.entries, lambda n: fits(field.boards, n), least=max(form.fewest, field.table))
    if boards and entries:
        return Message(
            "It fits with {boards} boards a match, or with {entries} entries", boards=boards, entries=entries
        )
    if boards:
        return Message("It fits with {boards} boards a match", boards=boards)
    if entries:
        return Message("It fits with {entries} entries", entries=entries)
    return Message("It does not fit with fewer boards a match, nor with fewer entries; take less of its parameters")


def _most(now: int, fits: Callable[[int], bool], least: int = 1) -> int:
    """The largest number from `least` to below `now` that fits, where less fits as well; 0 where none does."""
    low, high = least - 1, now - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low if low >= least else 0
