"""Pages with comments: what they show, who may do what, and what abuse comes to."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

import engine
from league.domain.core import clock
from league.domain.matches import embargoes
from league.domain.people import players, rights
from league.domain.puzzles import shelf
from league.domain.talk import comments, places
from league.domain.tournaments import corrections, events
from league.models import Block, Comment, Report
from league.templatetags.league_talk import with_cards
from league.web.common import words
from tests.league.response_cache.conftest import DOCUMENT
from tests.league.web.conftest import League
from tests.league.web.page import Page, faults
from tests.league.web.weights import too_heavy
from tests.support import league as made
from tests.support.chromium import until

EVIL = (
    "<script>alert(1)</script> [Rb] [Xb] [<b>] {{ 7000|add:777 }} javascript:alert(1) https://spam.example \u202eevil"
)


def about(league: League) -> str:
    return f"match:{league.clean.public_id}:1:0"


def write(league: League, text: str = "Well played", place: str = "", **more) -> Comment:
    """Write a comment of Berto."""
    found_place = places.find(place or about(league), league.berto)
    assert found_place
    return comments.write(league.berto, found_place, text, **more)


def read(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    html = answer.content.decode()
    assert faults(Page(html)) == []
    return html


def test_cards_are_drawn_from_the_codes_of_the_engine() -> None:
    pack = engine.load("partnership").pack
    assert set(pack.texts) <= set(words.card_names())
    for code, name in words.card_names().items():
        assert f'<span class="unseen">{name}</span>' in with_cards(f"[{code}]")
    assert with_cards("[rB]") == with_cards("[Rb]")
    for text in ("[Xb]", "[8o]", "[R b]", "[Rbb]", "Rb", "[", "[]", "[[R]b]", "[1O0]"):
        assert with_cards(text) == text
    assert with_cards("<b>[Rb") == "&lt;b&gt;[Rb"


def test_a_comment_is_shown_at_its_step_and_harms_nobody(league, stranger, reader) -> None:
    page = f"/m/{league.clean.public_id}/?b=1&s=0"
    answer = stranger.post("/talk/", {"about": about(league), "step": "d1p3", "text": EVIL})
    assert answer.url == f"{page}&step=d1p3&tab=talk#talk"
    html = read(reader, page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert '<span class="unseen">rey de bastos</span>' in html
    for text in ("<script>alert", "\u202e", 'href="https://spam', "evil</a>", "7777"):
        assert text not in html[html.index('<section id="talk"') : html.index("</section>", html.index('id="talk"'))]
    assert len(re.findall(r'<a class="says" href="\?b=1&amp;s=0&amp;step=d1p3&amp;tab=talk#talk"', html)) == 1
    assert "csrfmiddlewaretoken" not in html
    assert read(reader, f"{page}&tab=talk").count('id="tab-talk" checked') == 1
    assert "[Xb] [&lt;b&gt;] {{ 7000|add:777 }}" in read(reader, f"/talk/?about={about(league)}")


def test_comments_at_a_step_come_alone(league, reader) -> None:
    write(league, "about the board")
    write(league, "at the step", step="d1p3")
    page = f"/m/{league.clean.public_id}/?b=1&s=0"
    assert [
        ("about the board" in html, "at the step" in html)
        for html in (read(reader, page), read(reader, f"{page}&step=d1p3"))
    ] == [
        (True, True),
        (False, True),
    ]
    assert "about the board" not in read(reader, f"/m/{league.clean.public_id}/?b=2&s=0")


def test_a_refused_comment_is_not_lost(league, stranger) -> None:
    sent = {"about": about(league), "text": "a <b>text</b>", "step": "d9p9"}
    answer = stranger.post("/talk/", sent)
    assert answer.status_code == 422
    assert "a &lt;b&gt;text&lt;/b&gt;</textarea>" in answer.content.decode()
    nadia = players.create("nadia", now=clock.present())
    client = Client()
    client.force_login(nadia.user)
    assert "after 24 hours" in read(client, f"/t/{league.cup.slug}/")
    assert client.post("/talk/", {"about": about(league), "text": "x"}).status_code == 422
    assert not Comment.objects.exists()


def test_who_may_do_what(league, owner, stranger, reader) -> None:
    """A guest, the author, another player, somebody banned from the sight, and an operator without and with the right."""
    comment = write(league)
    page = f"/talk/{comment.pk}/"
    assert reader.get(page).url.startswith("/accounts/login/")
    assert reader.post("/talk/", {"about": about(league), "text": "x"}).url.startswith("/accounts/login/")
    assert Client(enforce_csrf_checks=True).post("/talk/", {"about": about(league), "text": "x"}).status_code == 403
    html = read(owner, page)
    assert ("Borrar" in read(stranger, page), 'value="report"' in html, "/operators/" in html) == (True, True, False)
    assert owner.post(page, {"do": "delete"}).status_code == 422
    assert owner.post(page, {"do": "nothing"}).status_code == 404
    assert stranger.post(page, {"do": "report", "reason": "spam"}).status_code == 422
    assert owner.post(page, {"do": "report", "reason": "bad"}).status_code == 422
    assert owner.post(page, {"do": "report", "reason": "spam"}).status_code == 302
    assert Report.objects.get().reporter == league.ana
    for client in (reader, owner, stranger):
        assert client.get("/operators/reports/").status_code in (302, 403)
    rights.change(league.ana, ["staff"], give=True, why="a test", actor="operator")
    assert "Well played" in read(owner, "/operators/reports/")
    assert (
        owner.post("/operators/hide/", {"subjects": f"comment:{comment.pk}", "why": "x", "step": "do"}).status_code
        == 403
    )
    rights.change(league.ana, ["moderate"], give=True, why="a test", actor="operator")
    hidden = owner.post("/operators/hide/", {"subjects": f"comment:{comment.pk}", "why": "rude words", "step": "do"})
    assert hidden.status_code == 302
    assert "Well played" not in read(owner, "/operators/reports/")
    match = f"/m/{league.clean.public_id}/"
    assert ["rude words" in read(client, match) for client in (reader, owner, stranger)] == [False, False, True]
    assert "rude words" in read(owner, page)
    assert stranger.post(page, {"do": "delete"}).status_code == 302
    assert stranger.get(page).status_code == 404


def test_blocks_and_switches(league, owner, stranger, reader) -> None:
    cup = f"/t/{league.cup.slug}/"
    comment = write(league, "from berto", f"tournament:{league.cup.slug}")
    assert owner.post(f"/talk/{comment.pk}/", {"do": "block"}).status_code == 302
    assert Block.objects.get().blocked == league.berto
    assert ["from berto" in read(client, cup) for client in (owner, stranger, reader)] == [False, True, True]
    assert owner.get(f"/talk/{comment.pk}/").status_code == 404
    assert 'name="text"' not in read(stranger, cup)[read(stranger, cup).index('id="talk"') :]
    reader.post("/prefs/", {"talk": "no", "next": cup})
    assert "from berto" not in read(reader, cup)
    reader.post("/prefs/", {"talk": "yes"})
    assert "from berto" in read(reader, cup)
    assert stranger.post(f"{cup}do/", {"action": "close_talk"}).status_code == 403
    owner.post(f"{cup}do/", {"action": "close_talk"})
    html = read(reader, cup)
    assert ('id="talk"' in html, "cerró los comentarios" in html) == (False, True)
    assert reader.get(f"/talk/?about=tournament:{league.cup.slug}").status_code == 404
    owner.post(f"{cup}do/", {"action": "open_talk"})
    assert "from berto" in read(reader, cup)


def test_a_league_without_comments(league, stranger, settings) -> None:
    comment = write(league)
    settings.TALK = False
    assert "tab-talk" not in read(stranger, f"/m/{league.clean.public_id}/")
    assert [stranger.get(path).status_code for path in (f"/talk/{comment.pk}/", f"/talk/?about={about(league)}")] == [
        404
    ] * 2


def test_a_withheld_match_shows_nothing(league, stranger, reader) -> None:
    comment = write(league, "secret card")
    embargoes.change(league.cup, clock.present() + timedelta(days=1), why="a test", actor="operator")
    paths = (f"/talk/{comment.pk}/", f"/talk/?about={about(league)}")
    assert [stranger.get(path).status_code for path in paths] == [404, 404]
    assert stranger.post("/talk/", {"about": about(league), "text": "x"}).status_code == 404
    assert "secret card" not in reader.get(f"/m/{league.clean.public_id}/").content.decode()


def test_a_puzzle_shows_comments_after_an_answer(league, owner, stranger, reader) -> None:
    item = next(iter(shelf.shelf().by_id.values()))
    page = f"/puzzles/{item.id}/"
    assert owner.post("/talk/", {"about": f"puzzle:{item.id}", "text": "it is the ace"}).status_code == 404
    owner.post(page, {"do": item.best[0]})
    assert owner.post("/talk/", {"about": f"puzzle:{item.id}", "text": "it is the ace"}).url == f"{page}#talk"
    assert ["it is the ace" in read(client, page) for client in (owner, stranger, reader)] == [True, False, False]
    number = Comment.objects.get().pk
    assert stranger.get(f"/talk/{number}/").status_code == 404
    assert [client.get(f"/talk/?about=puzzle:{item.id}").status_code for client in (owner, stranger, reader)] == [
        200,
        404,
        404,
    ]
    assert (
        "it is the ace"
        in reader.post(page, {"do": item.legal[0]}, headers={"origin": "http://testserver"}).content.decode()
    )


def test_an_event_has_the_comments_of_its_stages(league, owner, stranger) -> None:
    event = events.create(league.ana, DOCUMENT, [league.rufo, league.luna, league.sol], now=made.NOW)
    answer = stranger.post("/talk/", {"about": f"event:{event.slug}", "text": "see you there"})
    assert answer.url == f"/e/{event.slug}/#talk"
    assert "see you there" in read(owner, f"/e/{event.slug}/")
    corrections.set_talk(event, on=False, actor="ana")
    assert "see you there" not in read(owner, f"/e/{event.slug}/")


@pytest.mark.slow
def test_ten_thousand_comments_weigh_no_more_than_a_page(league, reader, stranger) -> None:
    at = {"match": league.clean, "board": 1, "sitting": 0, "author": league.berto, "created": clock.present()}
    Comment.objects.bulk_create(
        [Comment(**at, text=f"{number} {'[Rb] ' * 199}"[:1000], step="d1p3") for number in range(10_000)], 500
    )
    page = f"/m/{league.clean.public_id}/?b=1&s=0&step=d1p3"
    html = read(reader, page)
    assert (html.count('<li id="c'), too_heavy(html)) == (20, [])
    assert "10000" in html
    pages = [f"/talk/?about={about(league)}"]
    for _ in range(2):
        html = read(stranger, pages[-1])
        assert (html.count('<li id="c'), too_heavy(html)) == (50, [])
        pages.append(re.findall(r'rel="next" href="([^"]+)"', html)[0].replace("&amp;", "&"))
        pages[-1] = f"/talk/{pages[-1]}"
    with CaptureQueriesContext(connection) as queries:
        reader.get(page)
    assert sum("league_comment" in query["sql"] for query in queries) == 2


@pytest.mark.slow
def test_a_person_writes_at_the_step_that_is_shown(live, visit) -> None:
    url, league = live
    write(league, "Why not [Rb]?", step="d1p3")
    page = visit(f"{url}/accounts/login/?next=/m/{league.clean.public_id}/?b=1").page
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", "a long password")
    page.click("main form button.button")
    page.wait_for_selector("tute-replay.ready, tute-replay .ready")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.here .said')?.textContent.startsWith('1')")
    page.click("label[for=tab-talk]")
    assert page.input_value("#talk-step") == "d1p3"
    page.fill("#talk-text", "It is [1o].")
    page.click("text=Publicar comentario")
    page.wait_for_selector("#talk li >> nth=1")
    assert page.locator("#talk .text").all_inner_texts()[1].startswith("It is")
    assert page.locator("#talk .mini .unseen").all_inner_texts() == ["rey de bastos", "as de oros"]
    box = page.locator("tute-replay .felt").bounding_box()
    assert box
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    rival = league.clean.parties.exclude(version__bot__owner=league.ana).get().version.bot
    user = Client()
    user.force_login(rival.owner.user)
    page.context.clear_cookies()
    page.context.add_cookies([{"name": "sessionid", "value": user.cookies["sessionid"].value, "url": url}])
    page.goto(f"{url}/notices/")
    page.click(f"text=ana ha comentado una partida de {rival.slug}", timeout=9000)
    page.wait_for_url("**/m/*/?b=1&s=0&step=d1p3&tab=talk#talk")
    assert page.locator("#talk .text").count() == 2
