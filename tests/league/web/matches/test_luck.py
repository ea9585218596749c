"""The worth of a board's cards on its page: for people, from a judgement with open cards."""

from __future__ import annotations

import re

import pytest

from engine.analysis import JUDGE
from engine.judging import DecisionVerdict
from league.domain.judgements import bodies
from league.domain.judgements.reading import Placed
from league.domain.matches import embargoes
from league.models import Judgement, Match
from league.web.matches import luck
from tests.league.web.conftest import played
from tests.league.web.page import Page, faults, text
from tests.support import rows
from tests.support.league import NOW


def decision(
    deal: int, seat: int, *, first: bool | None, par: float | None = None, worth: float | None = None
) -> DecisionVerdict:
    """A judged decision; not judged without its numbers."""
    lost = None if par is None or worth is None else abs(par - worth)
    position = (0, 0, 0, deal, seat, "lead", "play 1o", first)
    return DecisionVerdict(*position, lost=lost, best=(), par=par, worth=worth, error=0.0)


def placed(party: int, verdict: DecisionVerdict) -> Placed:
    return Placed(1, 0, party, verdict)


def test_a_deal_is_worth_what_it_was_before_its_first_choice_and_comes_to_what_it_was_after_the_last() -> None:
    decisions = [
        placed(0, decision(1, 0, first=True, par=20, worth=20)),
        placed(1, decision(1, 1, first=False, par=20, worth=31)),
        placed(0, decision(1, 2, first=True, par=31, worth=12)),
        placed(1, decision(2, 1, first=True, par=7, worth=7)),
        placed(0, decision(2, 0, first=False, par=7, worth=-3)),
    ]
    assert luck.by_deal(decisions, 2) == {1: luck.LuckDeal(20, 12), 2: luck.LuckDeal(-7, 3)}


def test_the_side_of_the_first_party_follows_from_any_choice_where_there_are_two() -> None:
    of_the_other = [placed(1, decision(1, 1, first=False, par=20, worth=31))]
    assert luck.by_deal(of_the_other, 2) == {1: luck.LuckDeal(20, 31)}
    assert luck.by_deal(of_the_other, 4) == {1: luck.LuckDeal(None, None)}, "of four it may be a partner"
    nobody = [placed(0, decision(1, 0, first=None))]
    assert luck.by_deal(nobody, 2) == {1: luck.LuckDeal(None, None)}


def test_what_is_not_proved_is_no_number() -> None:
    decisions = [
        placed(0, decision(1, 0, first=True)),
        placed(1, decision(1, 1, first=False, par=4, worth=6)),
    ]
    assert luck.by_deal(decisions, 2) == {1: luck.LuckDeal(None, 6)}
    assert luck.total([1.0, None]) is None
    assert luck.total([]) is None
    assert luck.total([0.0, -2.5]) == -2.5


def test_bars_begin_in_the_middle_and_end_at_the_result() -> None:
    cards, play, end = luck.bars(30, -10, 30)
    assert (cards.x, cards.x + cards.width) == (luck.WIDTH / 2, luck.WIDTH - luck.EDGE)
    assert play.x == end
    assert play.x + play.width == pytest.approx(luck.WIDTH - luck.EDGE)
    assert end < luck.WIDTH / 2
    assert luck.bars(0, 0, 1)[0].width == 0


def judge(match: Match, verdicts: dict[tuple[int, int], list[DecisionVerdict]], **fields) -> Judgement:
    """A judgement with open cards that says this."""
    body = bodies.pack(bodies.Body("points", 1, False, verdicts))
    values = {"status": "done", "body": body, "created": NOW, **fields}
    return Judgement.objects.create(match=match, kind="open", judge=JUDGE, samples=0, **values)


def test_the_page_of_a_board_tells_cards_from_play(league, reader, django_assert_max_num_queries) -> None:
    where = f"/m/{league.clean.public_id}/b/1/"
    assert "¿Buenas cartas o buen juego?" in text(reader, where)
    seats = {row.number: row.seating for row in league.clean.boards.get(number=1).sittings.all()}
    verdicts = {
        (1, number): [decision(1, seat, first=party == 0, par=par, worth=worth) for seat, party in enumerate(seating)]
        for (number, seating), par, worth in zip(sorted(seats.items()), (24, -24), (11, -30), strict=True)
    }
    row = judge(league.clean, verdicts)
    with django_assert_max_num_queries(12):
        html = reader.get(where).content.decode()
    page = Page(html)
    assert faults(page) == []
    cells = re.findall(r'<td class="num">(?:<strong>)?([+−]?[\d.,]+)', html[html.index('class="luck"') :])
    assert cells[:9] == ["+24", "−13", "+11", "−24", "−6", "−30", "0", "−19", "−19"]
    assert html.count('<rect class="cards"') == 3
    assert "no usan estos números" in " ".join(page.text.split())

    verdicts[1, 1][0].par = verdicts[1, 1][0].lost = None
    Judgement.objects.filter(pk=row.pk).update(body=bodies.pack(bodies.Body("points", 1, False, verdicts)))
    half = text(reader, where)
    assert "Asientos B: no se pudo calcular el valor de las cartas" in half

    for change, message in (
        ({"body": b"rubbish"}, "Este análisis está dañado"),
        ({"status": "asked"}, "El análisis está en marcha"),
        ({"status": "failed", "reason": "<b>broken</b>"}, "El análisis ha fallado: <b>broken</b>"),
    ):
        Judgement.objects.filter(pk=row.pk).update(**change)
        assert message in text(reader, where)


def test_it_is_told_as_long_as_the_cards_are(league, reader) -> None:
    judge(league.clean, {})
    embargoes.change(league.clean, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    assert reader.get(f"/m/{league.clean.public_id}/b/1/").status_code == 404


@pytest.mark.slow
def test_the_picture_fits_the_screen(browser, live_server) -> None:
    league = rows.once(played)
    seats = league.clean.boards.get(number=1).sittings.get(number=0).seating
    decisions = [decision(1, seat, first=party == 0, par=24, worth=11) for seat, party in enumerate(seats)]
    judge(league.clean, {(1, 0): decisions, (1, 1): decisions})
    page = browser.new_page(locale="es-ES")
    page.goto(f"{live_server.url}/m/{league.clean.public_id}/b/1/")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        picture = page.locator(".luck svg").first.bounding_box()
        assert picture["width"] > 100
    assert page.evaluate("getComputedStyle(document.querySelector('.luck .cards')).fill") != "rgb(0, 0, 0)"
    page.close()
