"""Tables of several people: who sits where and when it starts, and what happens if somebody is away, leaves, or wants it again."""

from __future__ import annotations

import pytest

from engine.runner.table import NEXT, Question, SeatView, TableResult
from league.domain.bots import closing, house
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players
from league.domain.people.guests import Visitor, of_key
from league.domain.tables import guests, holding, people, phrases, rooms, seating, standing
from league.models import Job, Player, Table, TableAction, TablePerson
from league.service import topics
from tests.support import rows, seats
from tests.support.league import NOW, accepted, later

GUEST = of_key("a guest", "192.0.2.1")


def make_people() -> tuple[Player, Player]:
    accepted(house.player(now=NOW), "greedy", games=["partnership", "individual"])
    return players.create("ana", now=NOW), players.create("berto", now=NOW)


@pytest.fixture
def ana(db) -> Player:
    return rows.once(make_people)[0]


@pytest.fixture
def berto(ana) -> Player:
    return Player.objects.get(name="berto")


def gathered(*sitters: Player | Visitor, game: str = "partnership", **columns) -> Table:
    row = rooms.gather(sitters[0], game, now=NOW, **columns)
    for sitter in sitters[1:]:
        rooms.take_seat(sitter, row.public_id, now=NOW)
    return row


def started(*sitters: Player | Visitor, **columns) -> tuple[Table, holding.TableLease]:
    row = gathered(*sitters, **columns)
    rooms.start(sitters[0], row.public_id, now=NOW)
    lease = holding.claim("host:1", now=NOW)
    assert lease is not None
    return row, lease


def asked(lease: holding.TableLease, number: int, seat: int, legal: list[str], *, at: float = 0) -> Question:
    others = [SeatView(other, [f"card of {other}"], []) for other in holding.places(lease.row) if other != seat]
    question = Question(number, 1, legal, ["1o", "3o"], [], [], seat, others)
    holding.ask(lease, question, [], now=later(at))
    return question


def state(row: Table) -> str:
    row.refresh_from_db()
    return row.status


def at(row: Table, sitter: Player | Visitor) -> TablePerson:
    return people.seats(sitter).get(table=row)


def test_people_sit_down_change_seats_and_start_when_all_are_ready(ana, berto, settings) -> None:
    row = gathered(ana, berto)
    for who, act, why in (
        (berto, lambda: rooms.take_seat(berto, row.public_id, 0), "taken"),
        (berto, lambda: rooms.take_seat(berto, row.public_id, 4), "taken"),
        (berto, lambda: rooms.start(berto, row.public_id), "only the host"),
        (berto, lambda: rooms.swap(berto, row.public_id, 0), "only the host"),
        (GUEST, lambda: rooms.get_ready(GUEST, row.public_id), "no such table"),
        (berto, lambda: rooms.gather(berto, "partnership"), "already sitting"),
        (berto, lambda: seating.sit(berto, "partnership", "greedy"), "already sitting"),
        (
            ana,
            lambda: rooms.change(ana, row.public_id, "individual", "normal", 1, players=2, time=(7, 0)),
            "levels and times",
        ),
    ):
        with pytest.raises(Refused, match=why):
            act()
        assert who
    rooms.take_seat(berto, row.public_id, 2, now=NOW)
    rooms.take_seat(GUEST, row.public_id, now=NOW)
    assert [(person.number, person.player) for person in row.people.order_by("number")] == [
        (0, ana),
        (1, None),
        (2, berto),
    ]
    with pytest.raises(Refused, match="3 people sit here, and this game has 2 seats"):
        rooms.change(ana, row.public_id, "individual", "normal", 1, players=2)
    rooms.swap(ana, row.public_id, 1, now=NOW)
    assert [at(row, sitter).number for sitter in (ana, GUEST, berto)] == [1, 0, 2], "berto is no partner any more"
    rooms.change(ana, row.public_id, "individual", "hard", 2, players=3, options=None, now=NOW)
    assert sorted(row.people.values_list("number", flat=True)) == [0, 1, 2]
    for sitter in (ana, GUEST):
        rooms.get_ready(sitter, row.public_id, now=NOW)
    rooms.get_ready(ana, row.public_id, ready=False, now=NOW)
    rooms.get_ready(berto, row.public_id, now=NOW)
    assert (state(row), row.gathering, Job.objects.count()) == ("resting", True, 0)
    rooms.get_ready(ana, row.public_id, now=NOW)
    assert (state(row), row.gathering, row.rated, Job.objects.count()) == ("waiting", False, False, 1)
    assert (row.pool.game, row.pool.players, row.boards) == ("individual", 3, 2)
    for act in (rooms.start, rooms.get_ready, rooms.take_seat):
        with pytest.raises(Refused, match="started"):
            act(ana, row.public_id)
    assert not standing.game_records(ana)


def test_a_room_passes_to_the_next_and_ends_when_nobody_is_ready(ana, berto) -> None:
    row = gathered(ana, berto, GUEST)
    assert seating.leave(ana, row.public_id, now=NOW)
    row.refresh_from_db()
    assert (row.player, people.present(ana), row.people.count()) == (berto, None, 2)
    assert seating.leave(berto, row.public_id, now=NOW)
    row.refresh_from_db()
    assert (row.player, row.guest) == (None, GUEST.key)
    rooms.get_ready(GUEST, row.public_id, now=NOW)
    assert holding.abandon(now=later(601)) == 1, "as long as a guest's table waits"
    row = gathered(ana)
    assert holding.abandon(now=later(599)) == 0
    assert holding.abandon(now=later(601)) == 1
    assert (state(row), people.present(ana)) == ("abandoned", None)
    row = gathered(ana)
    assert seating.leave(ana, row.public_id, now=NOW)
    assert (state(row), row.gathering) == ("left", False)


def test_the_limits_hold_for_everybody_who_sits_down(ana, berto, settings) -> None:
    row = gathered(ana)
    settings.QUOTA_TABLES, settings.GUEST_TABLES = 1, 1
    seating.leave(ana, row.public_id, now=NOW)
    with pytest.raises(TooMany, match="started 1 tables"):
        gathered(ana)
    other = gathered(berto)
    with pytest.raises(TooMany, match="started 1 tables"):
        rooms.take_seat(ana, other.public_id, now=NOW)
    rooms.take_seat(GUEST, other.public_id, now=NOW)
    with pytest.raises(TooMany, match="guests have taken"):
        rooms.take_seat(of_key("another", "198.51.100.1"), other.public_id, now=NOW)
    settings.TABLES = 0
    with pytest.raises(Refused, match="switched them off"):
        gathered(ana)


def test_the_seat_that_is_asked_answers_once_and_sees_its_own_hand(ana, berto) -> None:
    row, lease = started(ana, berto)
    asked(lease, 0, 1, ["play 1o", "play 3o"])
    with pytest.raises(Refused, match="answered already"):
        seating.act(ana, row.public_id, 0, "play 1o")
    views = {sitter: seating.visible(sitter, row.public_id) for sitter in (ana, berto, None)}
    assert {sitter: (view.hand, view.turn) for sitter, view in views.items() if view} == {
        ana: (["card of 0"], None),
        berto: (["1o", "3o"], 0),
        None: ([], None),
    }
    seating.act(berto, row.public_id, 0, "play 3o", now=NOW)
    with pytest.raises(Refused, match="answered already"):
        seating.act(berto, row.public_id, 0, "play 3o")
    assert holding.answer(lease, 0) == "play 3o"
    # After a board anybody goes on, once
    asked(lease, 1, 0, [NEXT])
    seating.act(berto, row.public_id, 1, NEXT, now=NOW)
    with pytest.raises(Refused, match="answered already"):
        seating.act(ana, row.public_id, 1, NEXT)
    assert list(TableAction.objects.order_by("number").values_list("seat", "action")) == [(1, "play 3o"), (1, NEXT)]


def test_a_bot_plays_for_somebody_who_is_away_until_they_come_back(ana, berto) -> None:
    row, lease = started(ana, berto, time=(30, 0))
    question = asked(lease, 0, 1, ["play 1o", "play 3o"])
    assert not holding.stands_in(lease, question, now=later(29))
    assert holding.stands_in(lease, question, now=later(30))
    assert seats.names(row) == ["ana", "bot for berto", "greedy", "greedy"]
    with pytest.raises(Refused, match="come back first"):
        seating.act(berto, row.public_id, 0, "play 1o")
    rooms.come_back(berto, row.public_id, now=later(31))
    holding.answer_for(lease, question, "play 3o", now=later(31))
    assert holding.answer(lease, 0) is None, "the person is there again"
    assert not holding.stands_in(lease, question, now=later(32))
    assert holding.stands_in(lease, question, now=later(61))
    holding.answer_for(lease, question, None, now=later(62))
    assert holding.answer(lease, 0) == "play 1o", "the bot failed: the first choice"
    # The last one who is there is waited for
    question = asked(lease, 1, 0, ["play 4o"], at=63)
    assert not holding.stands_in(lease, question, now=later(1000))
    # While no worker has the table, the scheduler calls one for the bot
    rooms.come_back(berto, row.public_id, now=later(64))
    assert holding.rest(lease, 1, now=later(65))
    holding.abandon(now=later(80))
    assert state(row) == "resting"
    holding.abandon(now=later(95))
    assert (state(row), at(row, ana).away) == ("waiting", True)


def test_who_leaves_ends_the_table_only_for_themselves(ana, berto) -> None:
    row, lease = started(ana, berto, GUEST)
    question = asked(lease, 0, 0, ["play 1o", "play 3o"])
    assert holding.rest(lease, 0, now=NOW)
    assert seating.leave(ana, row.public_id, now=NOW)
    assert (state(row), row.player, people.present(ana)) == ("waiting", berto, None)
    lease = holding.claim("host:2", now=NOW)
    assert lease is not None
    assert holding.stands_in(lease, question, now=NOW)
    view = seating.visible(ana, row.public_id)
    assert view is not None
    assert (view.seen, view.hand, view.legal) == ([], [], [])
    with pytest.raises(Refused, match="you have left this table"):
        rooms.come_back(ana, row.public_id)
    assert gathered(ana).public_id != row.public_id, "she may sit elsewhere"
    holding.answer_for(lease, question, "play 1o", now=NOW)
    closing.close(berto, now=NOW)
    assert (state(row), at(row, berto).away) == ("held", True)
    assert seating.leave(GUEST, row.public_id, now=NOW)
    assert (state(row), Job.objects.filter(table=row).count()) == ("left", 0)


def test_a_rematch_keeps_the_seats_and_is_one_table(ana, berto) -> None:
    row, lease = started(ana, berto, GUEST, time=(300, 0))
    holding.finish(lease, TableResult([[1, 0, 1, 0]], [{}]), 0, now=NOW)
    assert people.present(berto) is None
    topic = topics.of_table(row.public_id)
    before = topics.read([topic])
    again = rooms.rematch(berto, row.public_id, now=NOW)
    assert topics.read([topic]) != before, "the pages of the others hear of it"
    assert (again.player, again.clock_s, at(again, berto).number) == (berto, 300, 1)
    assert rooms.rematch(berto, row.public_id, now=NOW) == again
    assert rooms.rematch(GUEST, row.public_id, now=NOW) == again
    assert rooms.rematch(ana, row.public_id, now=NOW) == again
    assert [at(again, sitter).number for sitter in (ana, berto, GUEST)] == [0, 1, 2]
    with pytest.raises(Refused, match="no such table"):
        rooms.rematch(of_key("a stranger"), row.public_id)


def test_a_phrase_is_one_of_the_set_and_not_said_at_once_again(ana, berto) -> None:
    row = gathered(ana, berto)
    phrases.say(ana, row.public_id, "thanks", now=NOW)
    assert phrases.spoken(at(row, ana), later(29)) == "Thanks"
    assert phrases.spoken(at(row, ana), later(31)) == ""
    for sitter, word, after, error in (
        (ana, "luck", 3, TooMany),
        (ana, "free text", 9, Refused),
        (GUEST, "luck", 9, Refused),
    ):
        with pytest.raises(error):
            phrases.say(sitter, row.public_id, word, now=later(after))
    phrases.say(ana, row.public_id, "luck", now=later(5))
    assert phrases.spoken(at(row, ana), later(5)) == "Good luck"
    carla = players.create("carla", now=NOW)
    alone = seating.sit(carla, "partnership", "greedy", now=NOW)
    with pytest.raises(Refused, match="nobody is here"):
        phrases.say(carla, alone.public_id, "luck", now=NOW)


def test_guests_go_after_a_day_and_a_new_account_takes_the_seat_along(ana) -> None:
    row, lease = started(ana, GUEST)
    guests.adopt(players.create("carla", now=NOW), GUEST, now=NOW)
    assert at(row, Player.objects.get(name="carla")).number == 1
    other = of_key("other")
    holding.finish(lease, TableResult([[1, 0, 1, 0]], [{}]), 0, now=NOW)
    mixed, lease = started(ana, other)
    holding.finish(lease, TableResult([[1, 0, 1, 0]], [{}]), 0, now=NOW)
    alone, lease = started(other)
    holding.finish(lease, TableResult([[1, 0, 1, 0]], [{}]), 0, now=NOW)
    assert guests.remove(now=later(3600)) == 0
    assert guests.remove(now=later(90000)) == 1
    assert list(Table.objects.order_by("pk")) == [row, mixed]
    assert not Table.objects.filter(pk=alone.pk).exists()
    assert not TablePerson.objects.exclude(guest="").exists()


def test_tables_that_need_no_look_yet_keep_none_from_those_that_do(ana, berto) -> None:
    patient, lease = started(ana, GUEST, time=(300, 0))
    asked(lease, 0, 0, ["play 1o", "play 3o"])
    assert holding.rest(lease, 0, now=NOW)
    hasty, lease = started(berto, of_key("another guest"), time=(30, 0))
    asked(lease, 0, 0, ["play 1o", "play 3o"])
    assert holding.rest(lease, 0, now=NOW)
    for _ in range(2):
        holding.abandon(now=later(35), most=1)
    assert (state(patient), state(hasty)) == ("resting", "waiting")
