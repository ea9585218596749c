"""The same deals at several tables: who may play them, who sees the cards and when, and how the results compare."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

import engine
from engine.runner.table import SeatView, TableResult
from league.domain.bots import house
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.people.guests import of_key
from league.domain.tables import deals, holding, rooms, seating
from league.models import Player, Table
from tests.league.web.page import Page, faults
from tests.support import rows
from tests.support.league import NOW, accepted, later

pytestmark = pytest.mark.django_db
GUEST = of_key("a guest", "192.0.2.1")
SEEN = [{"e": "play", "seat": 0, "card": "1o"}]


def make_people() -> Player:
    accepted(house.player(), "greedy", games=["partnership"])
    players.create("berto")
    return players.create("ana")


@pytest.fixture
def ana() -> Player:
    return rows.once(make_people)


@pytest.fixture
def berto(ana) -> Player:
    return Player.objects.get(name="berto")


def play(sitter: Any, row: Table, scores: list[int]) -> None:
    """Play a table with one person to its end."""
    rooms.start(sitter, row.public_id)
    lease = holding.claim("host:1")
    assert lease is not None
    record = {"game": "partnership", "players": 4, "options": {}, "events": SEEN}
    holding.finish(lease, TableResult([scores], [record], [SeatView(0, [], SEEN)]), 0)


def signed_in(player: Player) -> Client:
    client = Client(headers={"accept-language": "en"})
    client.force_login(player.user)
    return client


def secret(row: Table) -> bytes:
    return bytes(Table.objects.values_list("secret", flat=True).get(pk=row.pk))


def test_the_cards_stay_hidden_until_the_last_table_has_played_them(ana, berto) -> None:
    first = rooms.gather(ana, "partnership", same_deals=True, watching="later")
    key, where = first.public_id, f"/deals/{first.public_id}/"
    assert (first.deals, first.watching, first.rated) == (key, "nobody", False)
    stranger, player, other = Client(headers={"accept-language": "en"}), signed_in(ana), signed_in(berto)
    play(ana, first, [60, 70, 60, 70])
    assert player.post(where, {"do": "open"}).status_code == 422, "she has seen the cards"
    for act in (lambda: rooms.gather_same(ana, key), lambda: deals.close(berto, key), lambda: deals.close(GUEST, key)):
        with pytest.raises(Refused):
            act()
    assert "Play these cards" in other.get(where).content.decode()
    assert other.post(where, {"do": "close"}).status_code == 422
    assert other.post(where, {"do": "x"}).status_code == 404
    opened = other.post(where, {"do": "open"}).headers["Location"]
    second = Table.objects.latest("pk")
    assert opened == f"/tables/{second.public_id}/"
    assert (second.deals, secret(second), second.pool, second.watching) == (key, secret(first), first.pool, "nobody")
    with pytest.raises(Refused, match="seen these cards"):
        rooms.take_seat(ana, second.public_id)
    with pytest.raises(Refused, match="other tables play the same cards"):
        rooms.change(berto, second.public_id, "partnership", "normal", 1, same_deals=True)

    def sees(client: Client, row: Table) -> list[int]:
        paths = ("", "?b=1", "replay.json")
        return [client.get(f"/tables/{row.public_id}/{path}").status_code for path in paths]

    def replays(client: Client) -> Any:
        return client.get(f"/api/v1/tables/{key}").json().get("replays")

    for client in (stranger, other):
        assert sees(client, first) == [404] * 3
        assert client.get(f"/embed/tables/{key}/").status_code == 404
        assert "60" not in Page(client.get(where).content.decode()).text
    assert sees(player, first) == [200] * 3
    assert (replays(player), replays(stranger)) == ([], None)
    assert "Review the hand" not in player.get(f"/tables/{key}/").content.decode()
    with pytest.raises(Refused, match="another table plays these cards"):
        deals.close(ana, key)
    rooms.start(berto, second.public_id)
    assert sees(stranger, second) == [404] * 3, "nobody watches"
    lease = holding.claim("host:1")
    assert lease is not None
    holding.finish(lease, TableResult([[80, 50, 80, 50]], [{}], [SeatView(0, [], SEEN)]), 0)
    assert not deals.are_open(first), "others may still play them"
    for client in (player, other, stranger):
        page = client.get(where).content.decode()
        assert faults(Page(page)) == []
        assert ("80" in Page(page).text) is (client is not stranger)
    assert player.post(where, {"do": "close"}).status_code == 302
    first.refresh_from_db()
    assert deals.are_open(first)
    assert sees(stranger, first)[0] == 200
    page = stranger.get(where).content.decode()
    assert faults(Page(page)) == []
    assert ("?b=1" in page, 'value="open"' in page) == (True, False)
    with pytest.raises(Refused, match="nobody can play these cards any more"):
        rooms.gather_same(GUEST, key)


def test_each_board_counts_a_point_for_each_table_that_scored_no_more(ana, berto) -> None:
    first = rooms.gather(ana, "partnership", same_deals=True)
    sitters = [berto, GUEST]
    play(ana, first, [60, 70, 60, 70])
    for sitter, scores in zip(sitters, ([80, 50, 80, 50], [60, 70, 60, 70]), strict=True):
        play(sitter, rooms.gather_same(sitter, first.public_id), scores)
    ours, theirs = deals.compare(deals.views(first.public_id))
    assert [(side.view.names[0], side.scores, side.points) for side in ours] == [
        ("berto", [80], [4]),
        ("ana", [60], [1]),
        ("guest", [60], [1]),
    ]
    assert [side.total for side in theirs] == [3, 3, 0]
    assert sum(side.total for side in (*ours, *theirs)) == 2 * 3 * 2


def test_deals_end_after_a_day_and_while_a_table_plays_them_they_stay_hidden(ana, berto) -> None:
    first = rooms.gather(ana, "partnership", same_deals=True, now=NOW)
    second = rooms.gather_same(berto, first.public_id, now=NOW)
    day = deals.FOR.total_seconds()
    assert not deals.are_open(first, now=later(day + 1))
    with pytest.raises(Refused, match="any more"):
        rooms.gather_same(GUEST, first.public_id, now=later(day + 1))
    for sitter, row in ((ana, first), (berto, second)):
        assert seating.leave(sitter, row.public_id, now=later(day))
    assert deals.are_open(first, now=later(day + 1))
    assert rooms.gather_same(ana, first.public_id, now=later(60)), "no card was dealt to her"


def test_two_tables_get_the_same_cards(ana, berto) -> None:
    first = rooms.gather(ana, "partnership", same_deals=True)
    second = rooms.gather_same(berto, first.public_id)
    dealt = []
    for row in (first, second):
        seed = engine.board_seed(secret(row), "partnership", f"table-{row.deals or row.public_id}", 1)
        dealt.append(engine.load("partnership").new_match(seed=seed).events[1])
    assert dealt[0] == dealt[1]
