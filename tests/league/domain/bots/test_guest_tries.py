"""Tries of guests: few, bounded, behind those of players, for nobody else to see, and kept by whoever signs up."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from league.domain.bots import house, tries
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers import tries as handler
from league.domain.matches import leases
from league.domain.matches.reports import Receipt
from league.domain.people.guests import Visitor, of_key
from league.models import Match, Try
from tests.support import rows
from tests.support.league import BOT, NOW, accepted, later, started

TEXT = BOT.decode()
DAY = 24 * 3600


@pytest.fixture(autouse=True)
def _greedy(db) -> None:
    rows.once(lambda: accepted(house.player(now=NOW), "greedy"))


def begin(author, *, after: float = 0, **more) -> Try:
    return tries.begin(author, TEXT, "partnership", "greedy", now=later(after), **more)


def finish(row: Try, *, after: float = 0) -> None:
    work = leases.claim("w1", prefer=row.work_id, now=later(after))
    assert work is not None
    assert work.pk == row.work_id
    leases.start(work, now=later(after))
    assert handler.report(work, tries.TryResult(), now=later(after)) == Receipt.STORED


def test_a_guest_tries_a_board_that_only_this_browser_sees(ana) -> None:
    row = begin(of_key("one", "192.0.2.1"))

    assert (row.owner, row.work.owner, row.work.boards_planned) == (None, None, 1)
    finish(row)
    assert tries.find(of_key("one", "198.51.100.9"), row.work.public_id) == row, "also from another network"
    for other in (of_key("two", "192.0.2.1"), Visitor(""), ana, house.player()):
        assert tries.find(other, row.work.public_id) is None
    again = begin(of_key("one"), after=9, like=row.work.public_id)
    assert again.work.table == row.work.table
    finish(again, after=10)
    with pytest.raises(Refused, match="cards are not stored"):
        begin(of_key("two"), like=row.work.public_id)
    with pytest.raises(IntegrityError), transaction.atomic():
        Try.objects.filter(pk=row.pk).update(owner=ana)


def test_a_guest_has_one_at_a_time_and_all_guests_one_series() -> None:
    begin(of_key("one", "192.0.2.1"))
    with pytest.raises(TooMany, match="your last try is still running"):
        begin(of_key("one", "192.0.2.9"))
    series = begin(of_key("two", "198.51.100.2"), boards=tries.SERIES)
    with pytest.raises(TooMany, match="another visitor's 20 boards are being played"):
        begin(of_key("three", "203.0.113.3"), boards=tries.SERIES)
    begin(of_key("three", "203.0.113.3"))
    finish(series)
    begin(of_key("four", "203.0.114.4"), boards=tries.SERIES)


def test_a_series_of_a_guest_is_compared_with_nobody_elses() -> None:
    series = []
    for number, guest in enumerate(("one", "two", "one")):
        series.append(begin(of_key(guest, f"192.0.{number}.1"), boards=tries.SERIES, after=number))
        work = leases.claim("w1", prefer=series[-1].work_id, now=later(number))
        assert work is not None
        leases.start(work, now=later(number))
        boards = [{"number": number + 1, "scores": [70, 60]}]
        assert handler.report(work, tries.TryResult(boards=boards), now=later(number)) == Receipt.STORED
    assert [len(tries.text_boards(Try.objects.select_related("work").get(pk=row.pk))) for row in series] == [1, 1, 2]


def test_few_of_guests_run_at_a_time_and_half_of_them_from_one_network(ana, settings) -> None:
    settings.GUEST_TRIES = 3
    first = begin(of_key("one", "192.0.2.1"))
    with pytest.raises(TooMany, match="other visitors are trying"):
        begin(of_key("two", "192.0.2.1"))
    begin(of_key("three", "198.51.100.3"))
    begin(of_key("four", "203.0.113.4"))
    with pytest.raises(TooMany, match="other visitors are trying"):
        begin(of_key("five", "198.18.0.5"))
    begin(ana)  # A player has room
    finish(first)
    begin(of_key("five", "198.18.0.5"))
    settings.GUEST_TRIES = 0
    with pytest.raises(Refused, match="needs an account"):
        begin(of_key("six"))


def test_all_guests_together_have_a_number_an_hour(settings) -> None:
    settings.GUEST_TRIES_PER_HOUR = 2
    for number in range(2):
        finish(begin(of_key(f"guest {number}"), after=number), after=number)
    with pytest.raises(TooMany, match="used up the tries of this hour"):
        begin(of_key("last"), after=60)
    begin(of_key("last"), after=3602)
    settings.GUEST_TRIES_PER_HOUR = 2 + tries.SERIES_COUNTS - 1
    with pytest.raises(TooMany, match="used up the tries of this hour"):
        begin(of_key("another"), boards=tries.SERIES, after=60)


def test_one_network_gets_half_of_the_tries_of_an_hour(settings) -> None:
    """Otherwise one visitor with a few addresses could leave none to others."""
    settings.GUEST_TRIES_PER_HOUR = 4
    for number in range(2):
        finish(begin(of_key(f"guest {number}", f"192.0.2.{number}"), after=number), after=number)
    with pytest.raises(TooMany, match="used up the tries of this hour"):
        begin(of_key("third", "192.0.2.3"), after=60)
    begin(of_key("third", "198.51.100.3"), after=60)


@pytest.mark.slow
def test_guests_wait_behind_players_and_take_turns_with_tournaments_as_one_owner(ana, berto) -> None:
    started(berto, [accepted(berto, "luna"), accepted(berto, "sol")])
    for number in range(2):
        begin(of_key(f"guest {number}", f"192.0.{number}.1"))
    begin(ana)

    order = []
    while (match := leases.claim("w1", now=NOW)) is not None:
        order.append((match.kind, match.owner.name if match.owner else "guest"))
    assert order[0] == ("try", "ana")
    assert order.index(("tournament", "berto")) < len(order) - 1, "one of the two guests goes after it"


def test_whoever_signs_up_keeps_them_and_the_rest_goes_after_a_day(ana) -> None:
    first = begin(of_key("one"))
    finish(first)
    other = begin(of_key("two"))
    finish(other)

    assert tries.adopt(ana, of_key("one")) == 1
    assert tries.adopt(ana, of_key("one")) == 0
    assert tries.find(of_key("one"), first.work.public_id) is None
    row = tries.find(ana, first.work.public_id)
    assert row is not None
    assert (row.owner, row.guest, Match.work.get(pk=first.work_id).owner) == (ana, "", ana)
    assert tries.let_go(now=later(DAY - 1)) == 0
    assert tries.let_go(now=later(DAY)) == 1
    assert list(Try.objects.values_list("pk", flat=True)) == [first.pk]
