"""Rate limits by address and by account: a refusal comes before the page does anything."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, get_resolver

from league.domain.people import players
from league.service import limits
from league.web.common.limits import CHANGES, DOWNLOADS, FORMS, HEAVY
from tests.support.league import NOW

ONE = (1, 3600)
MANY = (1000, 3600)


@pytest.fixture
def few(settings, db) -> None:
    """One of everything in an hour."""
    settings.LIMITS = dict.fromkeys(settings.LIMITS, ONE)


def at(where: str) -> Client:
    """A visitor at an address."""
    return Client(REMOTE_ADDR=where)


def log_in(client: Client, name: str = "ana", password: str = "wrong") -> int:
    """The status of a try."""
    return client.post("/accounts/login/", {"username": name, "password": password}).status_code


def test_every_page_that_is_counted_exists():
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)} | {"admin:login"}
    assert names >= CHANGES | DOWNLOADS | HEAVY | set(FORMS)
    with pytest.raises(NoReverseMatch):
        get_resolver().reverse("nothing")


@pytest.mark.parametrize("page", ["/accounts/login/", "/admin/login/", "/accounts/signup/"])
def test_forms_are_counted_by_address(few, page):
    visitor = at("10.0.0.1")
    tries = [visitor.post(page, {"username": f"n{number}", "password": "x"}) for number in range(2)]

    assert tries[0].status_code in (200, 422)
    assert tries[1].status_code == 429
    assert 1 <= int(tries[1]["Retry-After"]) <= 3600
    assert visitor.get(page).status_code == 200
    assert at("10.0.0.2").post(page, {"username": "other", "password": "x"}).status_code in (200, 422)


def test_changes_of_tournaments_are_counted_by_account(few):
    client = Client()
    client.force_login(players.create("ana", now=NOW).user)
    answers = [client.post(address, {"action": "enter"}).status_code for address in ("/e/none/enter/", "/t/none/do/")]
    assert answers == [404, 429]


def test_refusal_speaks_the_language_of_the_reader(few):
    at("10.0.0.1").get("/overall/")
    spanish = at("10.0.0.1").get("/overall/", headers={"Accept-Language": "es"})
    english = at("10.0.0.1").get("/overall/", headers={"Accept-Language": "en"})

    assert (spanish.status_code, english.status_code) == (429, 429)
    assert "Demasiadas peticiones" in spanish.content.decode()
    assert "Too many requests" in english.content.decode()


def test_account_is_counted_from_all_addresses_but_its_owner_is_not_locked_out(settings, db):
    settings.LIMITS = {**settings.LIMITS, "login": MANY, "account": (2, 3600)}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    players.create("ana", password="correct horse", now=NOW)
    home = at("10.0.0.9")
    assert log_in(home, password="correct horse") == 302

    strangers = [log_in(at(f"10.0.1.{number}"), name="ANA" if number else "ana") for number in range(3)]

    assert strangers == [200, 429, 429]  # the owner's own try was the first of the two
    assert log_in(at("10.0.0.9"), password="correct horse") == 302
    assert log_in(at("10.0.1.7"), name="berto") == 200


def test_change_of_password_is_counted_by_account(few, ana):
    clients = [at(f"10.0.0.{number}") for number in range(2)]
    for client in clients:
        client.force_login(ana.user)

    assert [client.post("/accounts/password/", {}).status_code for client in clients] == [200, 429]


def test_downloads_and_heavy_pages_are_counted_by_account_or_address(few, ana):
    member, visitor = at("10.0.0.1"), at("10.0.0.1")
    member.force_login(ana.user)

    for client in (member, visitor):
        assert client.get("/overall/").status_code == 200
        assert client.get("/m/nothing.jsonl").status_code == 404
        assert client.get("/overall/").status_code == 429
        assert client.get("/m/nothing.txt").status_code == 429
    assert visitor.get("/docs/").status_code == 200


@pytest.mark.parametrize(
    ("remote", "forwarded", "trusted", "expected"),
    [
        ("10.0.0.1", "", False, "10.0.0.1"),
        ("10.0.0.1", "8.8.8.8", False, "10.0.0.1"),
        ("10.0.0.1", "1.1.1.1, 8.8.8.8", True, "8.8.8.8"),
        ("10.0.0.1", "8.8.8.8, 2001:db8:1:2:3:4:5:6", True, "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "", False, "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", "", False, "10.0.0.1"),
        ("", "", False, ""),
        ("10.0.0.1", "nonsense", True, "nonsense"),
    ],
)
def test_address_that_is_counted(settings, remote, forwarded, trusted, expected):
    settings.TRUST_PROXY = trusted
    request = RequestFactory().get("/", REMOTE_ADDR=remote, headers={"X-Forwarded-For": forwarded} if forwarded else {})

    assert limits.address(request) == expected
