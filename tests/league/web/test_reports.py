"""Reports of users of other sites, tried here on the pages (docs/reports.md)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pytest
from django.core import mail as outgoing
from django.core.checks import run_checks
from django.test import Client

from league.domain.people import links, subscriptions
from league.domain.tournaments import tournaments
from league.models import Tournament
from league.service import mail
from tests.league.web.conftest import League
from tests.support.chromium import FLAGS
from tests.support.league import NOW

PASSWORD = "a long password"


def token(page: str) -> str:
    """Return the CSRF token of a page's main form."""
    form = page.partition("<main")[2]
    match = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    assert match
    return match.group(1)


@pytest.mark.parametrize("page", ["/accounts/login/", "/accounts/signup/"])
def test_a_form_of_a_second_tab_leads_on_when_the_first_has_logged_in(league: League, page: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    tabs = [token(browser.get(f"{page}?next=/bots/").content.decode()) for _ in range(2)]
    form = {"username": "ana", "password": PASSWORD, "next": "/bots/", "csrfmiddlewaretoken": tabs[0]}
    first = browser.post("/accounts/login/", form)
    assert (first.status_code, first["Location"]) == (302, "/bots/")
    other = browser.post(page, {**form, "name": "dora", "csrfmiddlewaretoken": tabs[1]})
    assert (other.status_code, other["Location"]) == (302, "/bots/")
    for elsewhere in ("https://evil.example/", "//evil.example", "javascript:alert(1)"):
        assert browser.post(page, {**form, "next": elsewhere})["Location"] == "/"


def test_a_form_from_another_site_is_refused_whoever_is_logged_in(league: League) -> None:
    browser = Client(enforce_csrf_checks=True)
    for _ in range(2):
        assert browser.post("/accounts/logout/").status_code == 403
        assert browser.post("/play/", {"game": "partnership"}).status_code == 403
        browser.force_login(league.ana.user)


@pytest.fixture
def letters(league: League, settings) -> League:
    """The league with a mail server; ana has a confirmed address."""
    settings.MAIL = True
    links.keep_address(league.ana, "ana@example.org", now=NOW)
    league.ana.user.refresh_from_db()
    assert subscriptions.confirm(subscriptions.ask(league.ana, language="en", site="http://x", now=NOW), now=NOW)
    return league


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}, {"Forwarded": "host=evil.example"}]
)
def test_a_reset_link_leads_to_the_league_whatever_host_the_request_names(letters: League, headers: dict) -> None:
    answer = Client(raise_request_exception=False).post("/accounts/forgotten/", {"username": "ana"}, headers=headers)
    mail._thread.submit(lambda: None).result(60)
    assert (answer.status_code, len(outgoing.outbox)) == ((400, 0) if "Host" in headers else (302, 1))
    assert all("evil" not in letter.body and "http://testserver/" in letter.body for letter in outgoing.outbox)


def test_a_league_that_takes_every_host_may_send_no_letters(settings) -> None:
    settings.MAIL, settings.ALLOWED_HOSTS = True, ["league.example", "*"]
    assert "league.E003" in [problem.id for problem in run_checks()]
    settings.ALLOWED_HOSTS = ["league.example"]
    assert "league.E003" not in [problem.id for problem in run_checks()]


def cells(client: Client, path: str) -> Iterator[str]:
    answer = client.get(path)
    assert answer.status_code == 200, path
    for row in csv.reader(io.StringIO(answer.content.decode())):
        yield from row


def test_no_cell_of_a_table_is_a_formula(league: League, owner: Client) -> None:
    for name in ("=1+1", "+cmd", "@SUM(A1)", "-2+3"):
        tournaments.create(league.ana, name, "corriente", now=NOW)
    Tournament.objects.filter(pk=league.cup.pk).update(name="a;=HYPERLINK(1)")
    paths = [f"/t/{league.cup.slug}/{file}.csv" for file in ("standings", "matches", "crosstable")]
    for path in [*paths, "/g/partnership/ratings.csv"]:
        for cell in cells(owner, path):
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or re.fullmatch(r"-[\d.]+(e-?\d+)?", cell), (
                cell
            )
            assert ";=" not in cell, "some countries separate cells by a semicolon"


def test_nobody_is_logged_out_by_a_link(league: League, owner: Client) -> None:
    assert owner.get("/accounts/logout/").status_code == 405
    assert owner.get("/accounts/me/").status_code == 200


@pytest.mark.slow
def test_after_a_log_out_the_back_button_shows_nothing_of_the_account(live, browser, chromium: str) -> None:
    """Also not from the memory in which browsers keep whole pages, which Playwright switches off."""
    url, _ = live
    options = {"executable_path": chromium, "args": list(FLAGS)}
    keeps = browser.browser_type.launch(**options, ignore_default_args=["--disable-back-forward-cache"])
    page = keeps.new_page()
    page.goto(f"{url}/accounts/login/")
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", PASSWORD)
    page.click("main form button.button")
    page.goto(f"{url}/docs/luck/")
    page.goto(f"{url}/docs/")
    page.locator("form[action='/accounts/logout/'] button").first.evaluate("button => button.click()")
    page.wait_for_url(f"{url}/")
    for _ in range(2):
        page.go_back(wait_until="commit")
    page.wait_for_function("location.pathname === '/docs/luck/'")
    assert page.locator("form[action='/accounts/logout/']").count() == 0, "the page of who has left"
    keeps.close()
