"""Guests at tables: whose table it is, their limits, what becomes of it, and what an account takes along."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.translation import override

from engine.runner.table import Question, TableResult
from league.domain.bots import house
from league.domain.core.errors import Refused, TooMany
from league.domain.people.guests import Visitor, of_key
from league.domain.tables import guests, holding, people, seating, standing
from league.domain.upkeep import reconcile
from league.enums import TableStatus
from league.models import BotVersion, LeagueEvent, Player, Table
from tests.support import seats
from tests.support.league import NOW, accepted, later
from tests.support.seats import rated

pytestmark = pytest.mark.django_db
HERE, THERE = "192.0.2.1", "198.51.100.2"
DAY = 24 * 3600


@pytest.fixture(autouse=True)
def greedy() -> BotVersion:
    version = accepted(house.player(now=NOW), "greedy", games=["partnership", "corriente"])
    rated(version, "partnership", 1000)
    rated(version, "corriente", 1000)
    return version


@pytest.fixture
def guest() -> Visitor:
    return of_key("a key", HERE)


def sit(guest: Visitor | Player, at: float = 0, game: str = "partnership") -> Table:
    return seating.sit(guest, game, "greedy", now=later(at))


def finish(row: Table, at: float = 0) -> Table:
    lease = holding.claim("host:1", now=later(at))
    assert lease is not None
    assert lease.row.pk == row.pk
    scores = [[1, 0]] if row.pool.players == 2 else [[70, 60, 70, 60]]
    holding.finish(lease, TableResult(scores, [{}]), 0, now=later(at))
    row.refresh_from_db()
    return row


def test_the_table_belongs_to_the_key_and_to_nobody_else(guest, ana) -> None:
    row = sit(guest)
    other = of_key("another key", HERE)
    assert (row.player, row.rated, row.guest) == (None, False, guest.key)
    assert "a key" not in guest.key, "the database has only a digest"
    assert HERE not in guest.network
    assert of_key("a key", THERE).key == guest.key, "who moves to another network stays the same guest"
    with override("en"):
        assert seats.names(row)[0] == "guest"
    for stranger in (other, ana):
        assert seating.visible(stranger, row.public_id) is None
        assert people.present(stranger) is None
        assert not seating.leave(stranger, row.public_id, now=NOW)
        with pytest.raises(Refused, match="no such table"):
            seating.act(stranger, row.public_id, 0, "play 1o", now=NOW)
        with pytest.raises(Refused, match="no such table"):
            seating.sit_again(stranger, row.public_id, now=NOW)
    assert seating.visible(None, row.public_id) is None
    view = seating.visible(guest, row.public_id)
    assert view is not None
    assert view.row == people.present(guest) == row
    lease = holding.claim("host:1", now=NOW)
    assert lease is not None
    holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=NOW)
    assert seating.act(guest, row.public_id, 0, "play 1o", now=NOW).turn is None
    assert seating.leave(guest, row.public_id, now=NOW)
    assert {event.actor for event in LeagueEvent.objects.filter(subject=f"table:{row.public_id}")} == {
        "guest",
        "host:1",
    }


def test_a_guest_without_a_key_owns_nothing(ana) -> None:
    row = sit(ana)
    assert not people.view(row, Visitor("")).is_own
    assert not people.own(Visitor("")).exists()
    with pytest.raises(IntegrityError), transaction.atomic():
        seating.sit(Visitor(""), "partnership", "greedy", now=NOW)


def test_guests_play_house_bots_without_advice(guest, ana) -> None:
    accepted(ana, "rufo")
    assert [version.bot.slug for version in seating.rivals(guest)] == ["greedy"]
    for bots, advice, why in (
        (("rufo",), False, "not a house bot"),
        (("greedy", "rufo"), False, "not a house bot"),
        (("greedy",), True, "without advice"),
    ):
        with pytest.raises(Refused, match=why):
            seating.sit(guest, "partnership", *bots, advice=advice, now=NOW)
    row = sit(guest)
    with pytest.raises(Refused, match="already sitting"):
        sit(guest)
    with pytest.raises(Refused, match="without advice"):
        seating.ask_advice(guest, row.public_id, 0, now=NOW)


def _come(network: str, number: int, at: float = 0) -> Table:
    return sit(of_key(f"{network} {number}", network), at)


def test_guests_have_a_part_of_the_tables_and_one_network_half_of_it(guest, ana, settings) -> None:
    settings.GUEST_TABLES, settings.TABLES = 4, 5
    sit(guest)
    sit(of_key("second", "192.0.2.77"))
    with pytest.raises(TooMany, match="your network"):
        sit(of_key("a thrown away cookie", "192.0.2.200"))
    sit(of_key("third", THERE))
    sit(of_key("fourth", "203.0.113.3"))
    with pytest.raises(TooMany, match="all 4 tables"):
        sit(of_key("fifth", "2001:db8::1"))
    assert sit(ana).player == ana, "there is room for players"
    settings.GUEST_TABLES = 0
    assert (seating.may_sit(None), seating.may_sit(guest), seating.may_sit(ana)) == (False, False, True)
    with pytest.raises(Refused, match="switched them off"):
        sit(of_key("sixth"))


@pytest.mark.slow
def test_a_class_of_24_plays_behind_one_address_and_two_networks_leave_room_for_a_stranger(settings) -> None:
    assert settings.GUEST_TABLES == 50
    for number in range(24):
        _come(HERE, number)
    for number in range(13):
        _come("2001:db8:7::1", number)
    with pytest.raises(TooMany, match="your network"):
        _come("2001:db8:7::1", 13)
    assert Table.objects.count() < settings.GUEST_TABLES - 5
    assert _come(THERE, 0)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.254", True),
        ("192.0.2.1", "192.0.3.1", False),
        ("2001:db8:7:1::/64", "2001:db8:7:ffff::/64", True),
        ("2001:db8:7:1::/64", "2001:db8:8:1::/64", False),
        ("unknown", "unknown", True),
    ],
)
def test_neighbouring_addresses_are_one_network(first, second, same) -> None:
    assert (of_key("k", first).network == of_key("k", second).network) is same


def test_the_longest_idle_table_of_the_fullest_network_gives_way(settings) -> None:
    settings.GUEST_TABLES, settings.TABLES = 4, 4
    rows = [_come(HERE, 0), _come(HERE, 1), _come(THERE, 0), _come("203.0.113.3", 0)]
    for number, row in enumerate(rows[:3]):
        lease = holding.claim(f"host:{number}", now=later(1))
        assert lease is not None
        assert lease.row.pk == row.pk
        holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=later(1 + number))
        assert holding.rest(lease, 0, now=later(70))
    with pytest.raises(TooMany):  # Nobody has been idle for two minutes.
        _come("2001:db8::1", 0, 100)
    with pytest.raises(TooMany):  # Nobody gives way to a network that has as many tables.
        _come(THERE, 1, 200)
    assert _come("2001:db8::1", 0, 200)
    assert [Table.objects.get(pk=row.pk).status for row in rows] == [
        TableStatus.ABANDONED, TableStatus.RESTING, TableStatus.RESTING, TableStatus.WAITING,
    ]  # fmt: skip


def test_a_key_starts_so_many_tables_an_hour(guest, settings) -> None:
    settings.QUOTA_TABLES = 2
    for at in (0, 10):
        row = sit(guest, at)
        assert seating.leave(guest, row.public_id, now=later(at))
    with pytest.raises(TooMany, match="2 tables in the last hour"):
        sit(guest, 20)
    assert sit(guest, 3601)


def test_players_come_before_guests(guest, ana) -> None:
    sit(guest, at=0)
    of_ana = sit(ana, at=5)
    lease = holding.claim("host:1", now=later(6))
    assert lease is not None
    assert lease.row.pk == of_ana.pk


def test_a_guest_who_is_away_makes_room_sooner(guest, ana, settings) -> None:
    settings.TABLE_AWAY_S, settings.GUEST_AWAY_S = 1800, 600
    rows = [sit(guest), sit(ana)]
    assert [holding.away_s(row) for row in rows] == [600, 1800]
    for number in range(2):
        lease = holding.claim(f"host:{number}", now=later(1))
        assert lease is not None
        holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=later(1))
        assert holding.rest(lease, 0, now=later(60))
    assert holding.abandon(now=later(602)) == 1
    assert [Table.objects.get(pk=row.pk).status for row in rows] == [TableStatus.ABANDONED, TableStatus.RESTING]


def test_an_account_takes_the_tables_of_the_last_hour_along(guest, ana) -> None:
    old = finish(sit(guest, 0), 0)
    new = finish(sit(guest, 3000), 3000)
    running = sit(guest, 3601)
    foreign = sit(of_key("another key", THERE), 3601)
    assert guests.adopt(ana, of_key("no such key"), now=later(3601)) == 0
    assert guests.adopt(ana, guest, now=later(3601)) == 2
    owners = {row.pk: row.player for row in Table.objects.select_related("player")}
    assert owners == {old.pk: None, new.pk: ana, running.pk: ana, foreign.pk: None}
    assert people.present(ana) == running
    assert seating.visible(guest, running.public_id) is None, "the cookie opens it no more"
    assert Table.objects.filter(player=ana).exclude(guest="", guest_from="").count() == 0
    assert guests.adopt(ana, guest, now=later(3602)) == 0
    finish(running, 3700)
    assert standing.game_records(ana) == [], "unrated stays unrated"
    assert list(LeagueEvent.objects.filter(kind="table.adopted").values_list("actor", flat=True)) == ["ana"] * 2


def test_a_worker_goes_on_with_a_table_that_changes_hands(guest, ana) -> None:
    row = sit(guest)
    lease = holding.claim("host:1", now=NOW)
    assert lease is not None
    holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=NOW)
    assert guests.adopt(ana, guest, now=NOW) == 1
    seating.act(ana, row.public_id, 0, "play 1o", now=NOW)
    assert holding.answer(lease, 0) == "play 1o"
    holding.finish(lease, TableResult([[70, 60, 70, 60]], [{}]), 1, now=NOW)
    assert Table.objects.get().status == TableStatus.FINISHED


def test_nobody_sits_at_two_tables_by_logging_in(guest, ana) -> None:
    of_ana, over = sit(ana), finish_second(guest)
    running = sit(guest, 20)
    assert guests.adopt(ana, guest, now=later(30)) == 1
    assert Table.objects.get(pk=over.pk).player == ana
    assert people.present(ana) == of_ana
    assert people.present(guest) == running, "it stays the guest's, and ends by itself"


def finish_second(guest: Visitor) -> Table:
    row = sit(guest, 10)
    for worker in ("host:1", "host:2"):  # The player's own table is leased first.
        lease = holding.claim(worker, now=later(10))
        assert lease is not None
        if lease.row.pk == row.pk:
            holding.finish(lease, TableResult([[70, 60, 70, 60]], [{}]), 0, now=later(10))
    return row


def test_tables_of_guests_are_removed_after_a_day(guest, ana) -> None:
    finish(sit(guest, 0), 0)
    of_ana = finish(sit(ana, 1), 1)
    late = finish(sit(guest, 10), 10)
    running = sit(of_key("another key"), 0)
    Table.objects.filter(pk=running.pk).update(since=later(DAY))  # Whoever still plays, plays on.
    assert reconcile.reconcile(now=later(DAY - 1)).removed == 0
    assert reconcile.reconcile(now=later(DAY)).removed == 1
    assert set(Table.objects.values_list("pk", flat=True)) == {of_ana.pk, late.pk, running.pk}
    assert reconcile.reconcile(now=later(DAY)).removed == 0


@pytest.mark.django_db(transaction=True)
def test_guests_who_come_at_once_do_not_take_more_than_their_part(settings) -> None:
    settings.GUEST_TABLES = settings.TABLES = 3

    def come(number: int) -> bool:
        try:
            return bool(sit(of_key(f"key {number}", f"192.0.{number}.1")))
        except TooMany:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(8))) == 3
    assert Table.objects.count() == 3
