"""A lost password is replaced by a link, once and within an hour; nobody learns who has a mail address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from league.domain.people import links, players, subscriptions, tokens
from league.models import LeagueEvent, Player
from league.service import mail
from tests.support import inbox
from tests.support.inbox import Inbox
from tests.support.league import NOW

NEW = "another long password"


@pytest.fixture(autouse=True)
def _quick(settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ana(db) -> Player:
    return players.create("ana", password="the first password", now=NOW)


def link_of(player: str = "ana") -> str:
    """Return the link that the operator hands out, without the site."""
    out = StringIO()
    call_command("password_link", player, "--by", "olga", "--site", "https://league.example/", stdout=out)
    return out.getvalue().strip().removeprefix("https://league.example")


def follow(client: Client, link: str, password: str = NEW) -> int:
    """Open a link and fill in the form behind it; the last status."""
    form = client.get(link, follow=True)
    if form.status_code != 200:
        return int(form.status_code)
    where = form.redirect_chain[-1][0]
    return int(client.post(where, {"new_password1": password, "new_password2": password}).status_code)


def test_link_of_an_operator_works_once_and_in_the_owners_sight(ana):
    at_home = Client()
    at_home.force_login(ana.user)
    _, key = tokens.create(ana, "laptop")
    link = link_of()

    assert follow(Client(), link, "short") == 200  # refused by the form; the link is not used up
    assert follow(Client(), link) == 302
    assert follow(Client(), link) == 404
    assert Client().login(username="ana", password=NEW)
    assert at_home.get("/accounts/me/").status_code == 302  # sessions and keys have ended
    assert tokens.authenticate(key) is None
    events = LeagueEvent.objects.filter(subject="player:ana").values_list("kind", "actor")
    assert ("player.link_made", "olga") in events
    assert ("player.password_set", "link") in events


def test_link_is_void_after_an_hour_or_a_login(ana, settings):
    link = link_of()
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert Client().get(link).status_code == 404
    settings.PASSWORD_RESET_TIMEOUT = 3600
    assert Client().get(link).status_code == 302
    Client().post("/accounts/login/", {"username": "ana", "password": "the first password"})
    assert Client().get(link).status_code == 404


@pytest.mark.parametrize("link", ["/accounts/reset/x/y/", "/accounts/reset/MQ/set-password/"])
def test_what_is_no_link_is_404(db, link):
    assert Client().get(link).status_code == 404


def test_without_a_mail_server_the_page_names_the_operators(db):
    page = Client().get("/accounts/forgotten/", headers={"Accept-Language": "en"}).content.decode()

    assert "Ask the operators" in page
    assert '<form method="post"><' not in page


@pytest.fixture
def letters(settings) -> Iterator[Inbox]:
    """The mail server of the league."""
    with inbox.opened(settings) as server:
        yield server


def ask(name: str) -> str:
    """The page after asking for a link."""
    page = Client().post("/accounts/forgotten/", {"username": name}, follow=True, headers={"Accept-Language": "en"})
    mail._thread.submit(lambda: None).result(60)  # the letter before it has gone
    return re.sub(r"csrf\S+ value=\S+", "", page.content.decode())


def keep_confirmed(player: Player, address: str) -> None:
    links.keep_address(player, address, now=NOW)
    player.user.refresh_from_db()
    assert subscriptions.confirm(subscriptions.ask(player, language="en", site="http://x", now=NOW), now=NOW)


def test_link_by_mail(ana, letters):
    berto = players.create("berto", password="the first password", now=NOW)
    keep_confirmed(ana, "ana@example.org")
    links.keep_address(berto, "berto@example.org", now=NOW)  # Nobody has confirmed it

    pages = [ask(name) for name in ("ana", "berto", "nobody")]

    assert len(set(pages)) == 1
    (letter,) = letters.letters
    assert "To: ana@example.org" in letter
    text = letter.replace("=\r\n", "").replace("=3D", "=")
    assert follow(Client(), re.search(r"http://testserver(/accounts/reset/\S+)", text)[1]) == 302
    assert Client().login(username="ana", password=NEW)


@pytest.mark.django_db(transaction=True)  # The thread that sends writes the failure into the journal.
def test_mail_server_that_is_away_keeps_nobody_waiting(ana, settings, caplog):
    settings.EMAIL_BACKEND, settings.MAIL = "django.core.mail.backends.smtp.EmailBackend", True
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", 1, False
    keep_confirmed(ana, "ana@example.org")

    assert "we have sent a link" in ask("ana")
    assert "a letter was not sent: ConnectionRefusedError" in caplog.text


def test_address_that_was_kept_before_addresses_were_confirmed_gets_its_link(ana, letters):
    ana.user.email = "ana@example.org"
    ana.user.save()
    ask("ana")
    assert len(letters.letters) == 1


def test_address_is_kept_with_the_password_and_shown_to_nobody(ana, settings):
    settings.MAIL = True
    client = Client()
    client.force_login(ana.user)

    def send(address: str, password: str) -> int:
        return int(client.post("/accounts/mail/", {"address": address, "password": password}).status_code)

    assert send("ana@example.org", "wrong") == 422
    assert send("nonsense", "the first password") == 422
    assert send("ana@example.org", "the first password") == 302
    ana.user.refresh_from_db()
    assert ana.user.email == "ana@example.org"
    pages = [client.get(page).content.decode() for page in ("/accounts/me/", "/accounts/mail/", "/players/ana/")]
    assert (
        "Your account has an email address"
        in client.get("/accounts/mail/", headers={"Accept-Language": "en"}).content.decode()
    )
    assert not any("ana@example.org" in page for page in pages)
    assert "ana@example.org" not in str(list(LeagueEvent.objects.values()))
    assert send("", "the first password") == 302
    ana.user.refresh_from_db()
    assert ana.user.email == ""


def test_link_is_void_once_the_address_has_changed(ana):
    link = link_of()
    links.keep_address(ana, "other@example.org", now=NOW + timedelta(seconds=1))

    assert Client().get(link).status_code == 404
