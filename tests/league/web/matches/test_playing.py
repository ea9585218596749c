"""The page Play: a hand at once for everybody, whose table it is, its limits, and the choice of game, level and rules."""

from __future__ import annotations

import re

import pytest
from django.conf import settings as league
from django.core.signing import get_cookie_signer
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engine.runner.table import TableResult
from league.domain.bots import house
from league.domain.jobs.worker import WorkerLoop
from league.domain.people import players
from league.domain.people.guests import of_key
from league.domain.tables import holding, seating
from league.enums import VersionStatus
from league.models import BotVersion, LeagueEvent, Match, Player, Table
from league.web.common.guests import SALT
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.matches.test_tables import worker as table_worker  # noqa: F401  # a fixture
from tests.league.web.page import Page, faults
from tests.support import rows, seats
from tests.support.league import accepted
from tests.support.processes import wait_for
from tests.support.seats import hold

pytestmark = pytest.mark.django_db
PASSWORD = "a long password"
OWN = {"Sec-Fetch-Site": "same-origin", "accept-language": "en"}


@pytest.fixture
def ana() -> Player:
    return rows.once(make_ana)


def make_ana() -> Player:
    for name in ("random", "greedy"):
        accepted(house.player(), name, games=["partnership", "subastado", "brisca", "corriente"])
    return players.create("ana", password=PASSWORD)


@pytest.fixture
def visitor(ana) -> Client:
    """A browser without an account that checks tokens, as every one does."""
    return Client(enforce_csrf_checks=True, headers=OWN)


def newest() -> Table:
    return Table.objects.select_related("pool").latest("pk")


def text(client: Client, address: str = "/play/", **values: object) -> str:
    return " ".join(client.get(address, values).content.decode().split())


def end(row: Table) -> None:
    lease, _ = hold(row)
    holding.finish(lease, TableResult([[70, 60, 70, 60]], [{}]), 1)


# ---- a hand at once


def test_one_press_seats_a_visitor_and_the_next_opens_the_same_table(visitor) -> None:
    page = visitor.get("/play/")
    assert faults(Page(page.content.decode())) == []
    assert league.GUEST_COOKIE_NAME not in page.cookies, "who only looks gets no cookie"
    seated = visitor.post("/play/")
    row = newest()
    assert (seated.status_code, seated.headers["Location"]) == (302, f"/tables/{row.public_id}/")
    assert (row.pool.game, row.boards, row.player, row.rated) == ("partnership", 1, None, False)
    assert set(seats.bots(row).values()) == {"greedy"}
    cookie = seated.cookies[league.GUEST_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 24 * 3600)
    assert row.guest not in cookie.value
    hold(row)
    assert 'name="do" value="play' in visitor.get(f"/tables/{row.public_id}/").content.decode()
    again = visitor.post("/play/", {"game": "no such game"})
    assert (again.status_code, again.headers["Location"]) == (302, f"/tables/{row.public_id}/")
    assert Table.objects.count() == 1
    assert f"/tables/{row.public_id}/" in text(visitor)


def test_the_guest_answers_and_follows_and_nobody_else_does(visitor, ana) -> None:
    visitor.post("/play/")
    row = newest()
    hold(row)
    row.refresh_from_db()
    where, topic = f"/tables/{row.public_id}/", f"table:{row.public_id}"
    answer = {"do": seats.person(row).legal[0], "turn": row.question, "listens": 1}
    others = [Client(headers=OWN) for _ in range(3)]
    others[0].force_login(ana.user)
    others[1].post("/play/")  # A guest with another table.
    forged = get_cookie_signer(salt=SALT + "x").sign("key")
    for value in ("", "key", "key:sig", forged):
        other = Client(headers=OWN)
        other.cookies[league.GUEST_COOKIE_NAME] = value
        others.append(other)
    for other in others:
        codes = [other.get(where).status_code, other.get(f"{where}replay.json").status_code]
        codes += [
            other.post(f"{where}do/", form).status_code
            for form in (answer, {"do": "leave"}, {"do": "advice", "turn": row.question})
        ]
        assert codes == [404] * 5
        assert topic not in other.get(f"/live?topic={topic}").content.decode()
    assert visitor.post(f"{where}do/", answer).status_code == 403, "a card needs the token of its page"
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', visitor.get(where).content.decode())
    assert token is not None
    assert f'"{topic}":{row.question + 1}' in visitor.get(f"/live?topic={topic}").content.decode()
    assert visitor.post(f"{where}do/", {**answer, "csrfmiddlewaretoken": token[1]}).status_code == 204
    row.refresh_from_db()
    assert row.turn is None


@pytest.mark.parametrize(
    ("headers", "token", "code"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, False, 403),
        ({"Sec-Fetch-Site": "same-site"}, False, 403),
        ({"Origin": "https://elsewhere.example"}, False, 403),
        ({"Origin": "null"}, False, 403),
        ({}, False, 403),
        ({"Origin": "http://testserver"}, False, 302),
        ({"Sec-Fetch-Site": "same-origin"}, False, 302),
        ({}, True, 302),
    ],
)
def test_a_form_of_another_site_seats_nobody(ana, headers, token, code) -> None:
    browser = Client(enforce_csrf_checks=True, headers=headers)
    page = browser.get("/play/").content.decode()
    sent = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert sent is not None
    assert browser.post("/play/", {"csrfmiddlewaretoken": sent[1]} if token else {}).status_code == code
    assert Table.objects.count() == (code == 302)


def test_a_finished_table_of_a_guest_is_seen_by_its_address(visitor) -> None:
    visitor.post("/play/")
    row = newest()
    end(row)
    for browser in (visitor, Client()):
        assert browser.get(f"/tables/{row.public_id}/").status_code == 200
    assert re.search(r"<strong>\s*won</strong>\s*70–60", text(visitor))
    assert f"/tables/{row.public_id}/" not in text(Client(headers=OWN)), "the list is the guest's own"
    assert (
        "invitado" in Client(headers={"accept-language": "es"}).get(f"/tables/{row.public_id}/?b=1").content.decode()
        or not row.records
    )


# ---- limits


def test_a_thrown_away_cookie_counts_for_its_network(ana, settings) -> None:
    settings.LIMITS = {**settings.LIMITS, "guest": (3, 3600)}
    settings.TRUST_PROXY = True

    def come(address: str) -> int:
        return Client(headers={**OWN, "X-Forwarded-For": f"198.51.100.9, {address}"}).post("/play/").status_code

    assert [come("192.0.2.1") for _ in range(3)] == [302] * 3
    assert come("192.0.2.1") == 429
    assert come("192.0.2.2") == 302, "each network for itself"
    assert Client(headers=OWN).get("/play/").status_code == 200
    browser = Client(headers={**OWN, "X-Forwarded-For": "192.0.2.1"})
    browser.force_login(ana.user)
    assert browser.post("/play/").status_code == 302, "players have limits of their own"


def test_a_full_league_says_so_and_offers_an_account(visitor, settings) -> None:
    settings.GUEST_TABLES = 1
    seating.sit(of_key("somebody", "192.0.2.7"), "partnership", "greedy")
    refused = visitor.post("/play/")
    page = refused.content.decode()
    assert (refused.status_code, "guests have taken all 1 tables" in page) == (429, True)
    assert faults(Page(page)) == []
    assert league.GUEST_COOKIE_NAME not in refused.cookies


def test_a_league_for_players_only_asks_to_log_in(visitor, ana, settings) -> None:
    settings.GUEST_TABLES = 0
    page = visitor.get("/play/").content.decode()
    assert faults(Page(page)) == []
    assert "only players with an account" in page
    assert visitor.post("/play/").headers["Location"] == "/accounts/login/?next=%2Fplay%2F"
    visitor.force_login(ana.user)
    assert visitor.post("/play/").headers["Location"].startswith("/tables/")


# ---- an account


@pytest.mark.parametrize("way", ["signup", "login"])
def test_who_signs_up_or_logs_in_keeps_the_tables(ana, way) -> None:
    browser = Client(headers=OWN)
    browser.post("/play/")
    over = newest()
    end(over)
    browser.post("/play/", {"again": over.public_id})
    running = newest()
    name = "berta" if way == "signup" else "ana"
    form = {"name": name, "username": name, "password": PASSWORD, "next": f"/tables/{over.public_id}/"}
    answer = browser.post(f"/accounts/{way}/", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/tables/{over.public_id}/")
    assert {row.player.name for row in Table.objects.select_related("player") if row.player} == {name}
    assert Table.objects.filter(player=None).count() == 0
    assert f"/tables/{running.public_id}/" in text(browser), "the running table goes on"
    assert "more hands until" not in text(browser), "unrated stays unrated"
    browser.logout()
    assert browser.get(f"/tables/{running.public_id}/").status_code == 404
    assert LeagueEvent.objects.filter(kind="table.adopted", actor=name).count() == 2


def test_a_login_without_a_table_changes_nothing(ana) -> None:
    browser = Client()
    assert browser.post("/accounts/login/", {"username": "ana", "password": PASSWORD}).status_code == 302
    assert LeagueEvent.objects.filter(kind="table.adopted").count() == 0


# ---- game, level, rules


def test_game_level_and_rules_are_chosen(visitor) -> None:
    page = text(visitor, "/play/", game="subastado")
    assert 'value="subastado" selected' in page
    groups = re.findall(r'<optgroup label="([^"]+)"', page)
    assert groups[0] == "The best known"
    assert re.findall(r'<option value="([a-z-]+)"(?: selected)?>(?:Very easy|Normal|Hard|Champion)<', page) == [
        "very-easy",
        "normal",
    ], "levels without a bot are not offered"
    seated = visitor.post(
        "/play/",
        {
            "game": "subastado",
            "level": "very-easy",
            "boards": 2,
            "players": 4,
            "mixture": "",
            "option_trick_winner": "",
        },
    )
    assert seated.status_code == 302
    row = newest()
    assert (row.pool.game, row.pool.players, row.boards, set(seats.bots(row).values())) == (
        "subastado",
        4,
        2,
        {"random"},
    )


def test_options_that_do_not_fit_are_said_at_their_field(visitor) -> None:
    wrong = visitor.post("/play/", {"game": "subastado", "players": 3, "option_match_points": "-7", "boards": "9"})
    page = wrong.content.decode()
    assert wrong.status_code == 422
    assert faults(Page(page)) == []
    assert "change the marked fields below" in page
    assert 'class="errors"' in page
    assert '<details class="tile" id="choose" open>' in page
    assert Table.objects.count() == 0


def test_another_game_is_shown_with_its_own_rules_before_anybody_plays(visitor) -> None:
    page = visitor.post(
        "/play/", {"game": "brisca", "level": "very-easy", "do": "refresh", "option_hand_size": "99999"}
    )
    assert page.status_code == 200
    assert 'value="brisca" selected' in page.content.decode()
    assert 'value="very-easy" selected' in page.content.decode()
    assert Table.objects.count() == 0


def test_again_deals_the_same_table_to_its_person_only(visitor, ana) -> None:
    visitor.post("/play/", {"game": "brisca", "players": 2, "level": "very-easy"})
    row = newest()
    end(row)
    other = Client(headers=OWN)
    other.force_login(ana.user)
    assert other.post("/play/", {"again": row.public_id}).status_code == 422
    assert visitor.post("/play/", {"again": row.public_id}).status_code == 302
    assert (newest().pool_id, seats.bots(newest())) == (row.pool_id, seats.bots(row))
    assert newest().pk != row.pk


@pytest.mark.slow
def test_the_page_costs_the_same_with_many_tables(visitor, ana) -> None:
    counts = []
    visitor.force_login(ana.user)
    for _ in range(2):
        for _ in range(3):
            visitor.post("/play/")
            end(newest())
        with CaptureQueriesContext(connection) as queries:
            visitor.get("/play/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


# ---- in a browser


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.django_db(transaction=True)
def test_a_stranger_has_cards_after_one_press_on_the_front_page(
    site: str,
    browser,
    table_worker: WorkerLoop,  # noqa: F811
    width: int,
) -> None:
    rows_of_house = [version.pk for version, _ in house.enter(["greedy"])]
    Match.objects.filter(parties__version__in=rows_of_house).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    phone = width < 500
    size = {"width": width, "height": 844 if phone else 800}
    context = browser.new_context(viewport=size, has_touch=phone, is_mobile=phone, locale="es-ES")
    context.set_default_timeout(PATIENT_MS)
    page = context.new_page()
    page.goto(f"{site}/")
    door = page.locator("form[action='/play/'] button").first
    assert "Juega una mano" in door.inner_text()
    if phone:
        door.tap()
    else:
        door.click()
    page.wait_for_url(re.compile(r"/tables/[a-z0-9]{10}/"))
    wait_for(table_worker.tables.look, "a table waits", PATIENT_MS / 1000)
    card = page.locator("#hand button[name=do][value^=play]:not([disabled])").first
    card.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight + 1"), "all of it in one view"
    assert (newest().player, newest().status in ("held", "resting")) == (None, True)
    where = page.url
    (cookie,) = [entry for entry in context.cookies() if entry["name"] == league.GUEST_COOKIE_NAME]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    page.goto(f"{site}/play/")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Continuar").click()
    page.wait_for_url(where)
    context.close()
