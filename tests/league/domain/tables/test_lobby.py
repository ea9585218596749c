"""The lobby, challenges by name, and clocks with increment: who may sit where, who is left in peace, whose time runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.runner.table import NEXT
from league.domain.bots import closing, consent
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players
from league.domain.people.guests import of_key
from league.domain.tables import challenges, clocks, holding, lobby, people, rooms, seating
from league.models import Block, Notice, Player, Table, TableChallenge
from league.service import topics
from tests.league.domain.tables.test_rooms import GUEST, ana, asked, at, berto, gathered, started  # noqa: F401
from tests.support.league import NOW, later


@pytest.fixture
def carla(ana) -> Player:  # noqa: F811
    return players.create("carla", now=NOW)


def shown(sitter) -> list[tuple[list[str], int]]:
    return [(table.names, table.free) for table in lobby.waiting(sitter)]


def test_the_lobby_shows_the_fullest_table_first_and_only_what_one_may_take(ana, berto, carla) -> None:  # noqa: F811
    by_link = gathered(carla)
    assert shown(None) == []
    rooms.change(carla, by_link.public_id, "individual", "normal", 1, listed=True, now=NOW)
    row = rooms.gather(ana, "partnership", listed=True, now=later(1))
    assert shown(berto) == [(["ana"], 3), (["carla"], 1)], "the newest first"
    before = topics.read([topics.LOBBY])
    with pytest.raises(Refused, match="only players with an account"):
        rooms.take_seat(GUEST, row.public_id, now=NOW)
    with pytest.raises(Refused, match="only players with an account"):
        rooms.gather(of_key("x"), "partnership", listed=True, now=NOW)
    rooms.take_seat(berto, row.public_id, now=NOW)
    assert topics.read([topics.LOBBY]) != before
    with CaptureQueriesContext(connection) as queries:
        assert shown(None) == [(["ana", "berto"], 2), (["carla"], 1)]
    assert len(queries) == 2
    seating.leave(berto, row.public_id, now=NOW)
    consent.block(ana, "berto", now=NOW)
    assert shown(berto) == [(["carla"], 1)]
    with pytest.raises(Refused, match="has blocked you"):
        rooms.take_seat(berto, row.public_id, now=NOW)
    Block.objects.all().delete()
    consent.block(berto, "ana", now=NOW)
    assert shown(berto) == [(["carla"], 1)], "nor those whom one has blocked"
    rooms.start(ana, row.public_id, now=NOW)
    assert shown(None) == [(["carla"], 1)]


def test_the_host_swaps_seats_and_asks_somebody_to_leave_for_good(ana, berto) -> None:  # noqa: F811
    row = gathered(ana, berto, GUEST)
    rooms.get_ready(berto, row.public_id, now=NOW)
    for act in (rooms.swap, rooms.send_away):
        for sitter, seat, why in (
            (berto, 0, "only the host"),
            (ana, 3, "nobody"),
            (ana, 0, "nobody"),
            (ana, None, "nobody"),
        ):
            with pytest.raises(Refused, match=why):
                act(sitter, row.public_id, seat, now=NOW)
    rooms.swap(ana, row.public_id, 1, now=NOW)
    assert [at(row, sitter).number for sitter in (ana, berto, GUEST)] == [1, 0, 2]
    assert not row.people.filter(ready=True).exists(), "with another partner one has to agree again"
    for sitter, seat in ((berto, 0), (GUEST, 2)):
        rooms.send_away(ana, row.public_id, seat, now=NOW)
        assert people.present(sitter) is None
        with pytest.raises(Refused, match="asked you to leave"):
            rooms.take_seat(sitter, row.public_id, now=NOW)
    rooms.change(ana, row.public_id, "partnership", "normal", 1, listed=True, now=NOW)
    assert (shown(berto), len(shown(None))) == ([], 1)
    with pytest.raises(Refused, match="asked berto to leave"):
        challenges.challenge(ana, row.public_id, "berto", now=later(90_000))


def test_a_challenge_is_answered_withdrawn_or_ends_by_itself(ana, berto, carla) -> None:  # noqa: F811
    now = NOW + timedelta(days=2)
    row = rooms.challenge(ana, "berto", "partnership", now=now)
    (challenge,) = challenges.received(berto, now=now)
    assert (challenge.table, challenge.challenger, [c.player for c in challenges.at_table(row, now=now)]) == (
        row,
        ana,
        [berto],
    )
    notice = Notice.objects.get()
    assert (notice.player, notice.actor, notice.text) == (berto, ana, "table_challenge")
    with pytest.raises(Refused, match="challenged to this table already"):
        rooms.challenge(ana, "berto", "partnership", now=now)
    assert rooms.challenge(ana, "carla", "partnership", now=now) == row, "where one waits already"
    with pytest.raises(Refused, match="not open any more"):
        challenges.withdraw(berto, row.public_id, "carla", now=now)
    challenges.withdraw(ana, row.public_id, "carla", now=now)
    assert challenges.received(carla, now=now) == []
    rooms.take_seat(berto, row.public_id, now=now)
    assert list(TableChallenge.objects.order_by("pk").values_list("answer", flat=True)) == ["accepted", "withdrawn"]
    notice.refresh_from_db()
    assert notice.read is not None
    seating.leave(berto, row.public_id, now=now)
    seating.leave(ana, row.public_id, now=now)
    row = rooms.challenge(ana, "berto", "partnership", now=now)
    assert (len(challenges.received(berto, now=now)), challenges.received(berto, now=now + challenges.OPEN_FOR)) == (
        1,
        [],
    )
    rooms.start(ana, row.public_id, now=now)
    assert challenges.received(berto, now=now) == []
    with pytest.raises(Refused, match="not open any more"):
        challenges.decline(berto, row.public_id, now=now)
    with pytest.raises(Refused, match="has started"):
        rooms.challenge(ana, "carla", "partnership", now=now)
    closing.close(berto, now=now)
    assert not TableChallenge.objects.filter(player=berto).exists()


def test_nobody_is_pestered(ana, berto, carla, monkeypatch) -> None:  # noqa: F811
    now = NOW + timedelta(days=2)

    def refused(why: str, name: str = "berto", kind: type[Refused] = Refused) -> None:
        with pytest.raises(kind, match=why):
            rooms.challenge(ana, name, "partnership", now=now)

    for name, why in (("ana", "yourself"), ("nobody", "no player"), (players.HOUSE, "no player")):
        refused(why, name)
    assert Table.objects.count() == 0, "a refused challenge opens no table"
    consent.block(berto, "ana", now=now)
    refused("does not take challenges from you")
    Block.objects.all().delete()
    challenges.choose(berto, takes=False, now=now)
    refused("does not take challenges from you")
    challenges.choose(berto, takes=True, now=now)
    with pytest.raises(Refused, match="new accounts"):
        rooms.challenge(players.create("dora", now=now), "berto", "partnership", now=now)
    row = rooms.challenge(ana, "berto", "partnership", now=now)
    challenges.decline(berto, row.public_id, now=now)
    seating.leave(ana, row.public_id, now=now)
    refused("wait for a while", kind=TooMany)
    now += challenges.SAME_AFTER
    for _ in range(challenges.SAME_A_DAY - 1):
        seating.leave(ana, rooms.challenge(ana, "berto", "partnership", now=now).public_id, now=now)
    refused("wait for a while", kind=TooMany)
    monkeypatch.setattr(challenges, "MOST_OPEN", 0)
    refused("many challenges", "carla", TooMany)
    monkeypatch.setattr(challenges, "A_DAY", challenges.SAME_A_DAY)
    refused("the limit", "carla", TooMany)
    now += challenges.DAY
    monkeypatch.undo()
    row = rooms.challenge(ana, "berto", "partnership", now=now)
    challenges.choose(berto, takes=False, now=now)
    assert challenges.at_table(row, now=now) == [], "who refuses all declines the open ones"


def test_a_clock_with_increment_runs_for_who_is_asked_and_on_while_they_are_cut_off(ana, berto) -> None:  # noqa: F811
    row, lease = started(ana, berto, time=(120, 3), boards=2)

    def left(sitter: Player, seconds: float = 0) -> float:
        row.refresh_from_db()
        return (clocks.left_ms(row, at(row, sitter), later(seconds)) or 0) / 1000

    assert (left(ana), left(berto)) == (240, 240)
    asked(lease, 0, 0, ["play 1o", "play 3o"])
    assert (left(ana, 40), left(berto, 40)) == (200, 240), "another device sees the same"
    seating.act(ana, row.public_id, 0, "play 1o", now=later(40))
    assert (left(ana, 50), left(berto, 50)) == (203, 240), "nobody's time runs while bots think"
    question = asked(lease, 1, 1, ["play 1o", "play 3o"], at=50)
    assert not holding.stands_in(lease, question, now=later(289))
    assert holding.stands_in(lease, question, now=later(290))
    assert left(berto, 290) == 0
    rooms.come_back(berto, row.public_id, now=later(291))
    assert left(berto, 292) == clocks.BACK_MS / 1000 - 1
    seating.act(berto, row.public_id, 1, "play 3o", now=later(292))
    question = asked(lease, 2, 0, ["play 1o", "play 3o"], at=300)
    people.seats(berto).update(away=True)
    rooms.come_back(berto, row.public_id, now=later(400))
    assert left(ana, 400) == 103, "who comes back winds nobody else's clock"
    seating.act(ana, row.public_id, 2, "play 1o", now=later(400))
    asked(lease, 3, 0, [NEXT], at=410)
    assert left(ana, 999) == 106, "between hands no time runs"
