"""The board page: the same cards in every column, and the first choice that differs."""

from __future__ import annotations

import random

import pytest

import engine
from league.web.matches import comparing
from tests.league.web.page import Page, faults
from tests.support.league import accepted, play, started
from tests.support.playing import choose

NAMES = ("a", "b", "c", "d", "e", "f")


def playing(key: str, suits: str | None, *, differ_at: int | None = None) -> dict:
    """A record of board "x". The choice is by place among the legal actions, so exchanged suits may change the course."""
    game = engine.load(key)
    state = game.new_match(seed="x", deals=1, suits=suits)
    other = game.new_match(seed="x", deals=1)  # the same deal in its own suits decides
    rng = random.Random("x")
    back = dict(zip(suits or game.pack.suits, game.pack.suits, strict=True))
    step = 0
    while not state.is_over:
        action = choose(other, rng)
        if step == differ_at:
            action = next((candidate for candidate in other.legal_actions() if candidate != action), action)
        text = other.game.action_text(action)
        forth = {own: played for played, own in back.items()}
        parts = [part[:-1] + forth[part[-1]] if part[-1] in forth and len(part) <= 2 else part for part in text.split()]
        state.apply(state.game.parse_action(" ".join(parts)))
        other.apply(action)
        step += 1
    return engine.replay.make(state)


def columns(key: str, *records: dict) -> list[comparing.ComparedDeal]:
    pack = engine.load(key).pack.suits
    return comparing.compare([(comparing.plain(record, pack), NAMES, NAMES) for record in records])


@pytest.mark.parametrize("key", ["partnership", "corriente", "individual", "bato", "remate"])
def test_exchanged_suits_are_read_back(key) -> None:
    deals = columns(key, playing(key, None), playing(key, "beco"))
    assert [deal.same for deal in deals] == [True] * len(deals)
    assert all(deal.rows for deal in deals)
    for deal in deals:
        for first, second in deal.rows:
            assert [item.moment for item in first.items] == [item.moment for item in second.items]


def test_records_in_other_suits_differ_until_they_are_read_back() -> None:
    records = [playing("partnership", None), playing("partnership", "beco")]
    assert records[0]["events"] != records[1]["events"]
    [deal] = comparing.compare([(record["events"], NAMES, NAMES) for record in records])
    assert not deal.same


def test_the_first_different_choice_is_marked_once_in_each_column() -> None:
    [deal] = columns("partnership", playing("partnership", None), playing("partnership", "ecbo", differ_at=6))
    marked = [
        [
            (number, item.card)
            for number, row in enumerate(deal.rows)
            for item in (row[side].items if row[side] else ())
            if item.differs
        ]
        for side in (0, 1)
    ]
    assert [len(column) for column in marked] == [1, 1]
    assert marked[0][0] != marked[1][0]
    assert marked[0][0][0] == marked[1][0][0] == 1  # the seventh card of four a trick lies in the second


def test_every_card_of_a_hand_is_played_in_each_column() -> None:
    [deal] = columns("partnership", playing("partnership", None), playing("partnership", "ecbo", differ_at=2))
    for side in (0, 1):
        cards = [item.card for row in deal.rows if row[side] for item in row[side].items if item.card]
        assert sorted(cards) == sorted(card for hand in deal.hands for card in hand)


def at_random(key: str, player: int) -> dict:
    """A record of a board of the league; another `player` makes other choices."""
    game = engine.load(key)
    state, rng = game.new_match(seed="a", deals=game.board_deals), random.Random(player)
    while not state.is_over:
        state.apply(choose(state, rng))
    return engine.replay.make(state)


def test_a_deal_that_one_playing_alone_came_to_was_not_played_alike() -> None:
    first, other = at_random("cabrero", 1), at_random("cabrero", 3)
    deals = columns("cabrero", first, other)
    alone = [deal for deal in deals if None in deal.dealt]
    assert 0 < len(alone) < len(deals)
    assert not any(deal.same for deal in alone)
    assert not any(deal.same for deal in columns("cabrero", first)), "there is nothing to compare it with"
    assert all(deal.same for deal in columns("cabrero", first, first))


def test_where_the_cards_were_not_the_same_no_choice_differs() -> None:
    """The dealer depends on the deals before, in some games."""
    records = [at_random("guinote", 1), at_random("guinote", 2)]
    first, second = columns("guinote", *records)
    assert (first.is_dealt_alike, second.is_dealt_alike, second.same) == (True, False, False)
    assert not any(item.differs for row in second.rows for cell in row for item in cell.items)
    for record, hands in zip(records, second.dealt, strict=True):
        dealt = [event["hands"] for event in record["events"] if event["e"] == "deal"][1]
        assert [sorted(hand) for hand in hands] == [sorted(hand) for hand in dealt]


def test_the_page_shows_all_sittings(league, reader) -> None:
    answer = reader.get(f"/m/{league.clean.public_id}/b/1/")
    assert answer.status_code == 200
    page = Page(answer.content.decode())
    assert faults(page) == []
    assert "Asientos A" in page.text
    assert "Asientos B" in page.text
    assert "primera diferencia" in page.text
    assert f"/m/{league.clean.public_id}/b/2/" in page.links


@pytest.mark.slow
def test_the_page_says_where_the_cards_were_not_the_same(league, reader) -> None:
    bots = [accepted(league.ana, "gui", games=["guinote"]), accepted(league.berto, "note", games=["guinote"])]
    match = play(started(league.ana, bots, game="guinote", name="Guiñote", boards=6).matches.get())
    boards = [reader.get(f"/m/{match.public_id}/b/{number}/").content.decode() for number in range(1, 7)]
    unequal = [page for page in boards if "no tenían las mismas cartas" in page]
    assert 0 < len(unequal) < len(boards)
    for page in unequal:
        assert page.count("<h3>Asientos A</h3>") == page.count("<h3>Asientos B</h3>") == 1
        assert faults(Page(page)) == []
    assert not any("<h3>Asientos" in page for page in boards if page not in unequal)


def test_a_sitting_that_was_not_played_is_an_empty_column(league, reader) -> None:
    assert reader.get(f"/m/{league.faulty.public_id}/b/2/").status_code == 200


def test_no_page_for_a_board_that_is_not_there_or_not_over(league, reader) -> None:
    assert reader.get(f"/m/{league.clean.public_id}/b/99/").status_code == 404
    waiting = league.cup.matches.order_by("id").last()
    waiting.__class__.objects.filter(pk=waiting.pk).update(status="running")
    assert reader.get(f"/m/{waiting.public_id}/b/1/").status_code == 404
