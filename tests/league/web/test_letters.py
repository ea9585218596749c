"""The digest by mail: who gets it, what stands in it, and that no crash and no mail server makes two of one, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise

import pytest
from django.core import mail as outgoing
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.core import clock
from league.domain.matches import sight
from league.domain.notices import letters
from league.domain.people import bans, links, subscriptions
from league.models import LeagueEvent, Match, Subscription, Tournament
from league.service import mail
from league.web.people.letters import write
from tests.league.web.conftest import League
from tests.league.web.page import Page, faults
from tests.support import inbox as inboxes
from tests.support.inbox import Inbox

DAY = datetime(2026, 1, 1, tzinfo=UTC)  # The bots of the league have played on it
EVENING, MORNING = DAY + timedelta(hours=20), DAY + timedelta(days=1, hours=6)
SITE = "https://league.example"


@pytest.fixture(autouse=True)
def _mail(settings) -> None:
    settings.MAIL = True


@pytest.fixture
def inbox(settings) -> Iterator[Inbox]:
    with inboxes.opened(settings) as server:
        yield server


@pytest.fixture
def subscribed(league) -> League:
    """Berto, whose luna has played, has asked for it each day on the evening of that day."""
    subscribe(league.berto, "day")
    return league


def subscribe(player, period: str, *, language: str = "en") -> None:
    links.keep_address(player, f"{player.name}@example.org", now=EVENING)
    player.user.refresh_from_db()
    assert subscriptions.confirm(subscriptions.ask(player, language="en", site=SITE, now=EVENING), now=EVENING)
    subscriptions.choose(player, period, language=language, site=SITE, now=EVENING)
    assert send(EVENING) == 0


def send(now: datetime) -> int:
    return letters.send_due(write, now=now)


def test_one_letter_a_period_over_a_real_line_in_the_words_of_the_page(subscribed, inbox, monkeypatch) -> None:
    assert send(MORNING) == 1
    for moment in (MORNING, MORNING + timedelta(hours=12), MORNING + timedelta(days=1), MORNING + timedelta(days=9)):
        assert send(moment) == 0, "nothing was played since, so it is silent"

    [letter] = inbox.read
    text = letter.get_content().replace("\r\n", "\n")
    assert (letter["To"], letter["Subject"]) == ("berto@example.org", "Digest of berto's bots: Jan. 1, 2026")
    assert letter.get_content_type() == "text/plain"
    monkeypatch.setattr(clock, "present", lambda: MORNING)
    page = Client(headers={"accept-language": "en"}).get("/players/berto/digest/day/").content.decode()
    shown_text = " ".join(Page(page).text.split())
    for line in text.split("\n\n")[1].splitlines():
        words = re.sub(r"(\S+) +https://league.example/m/(\w+)/b/(\d+)/", r"\2 · \3 (\1)", line).strip().rstrip(":")
        assert words in shown_text.replace(" :", ":"), words
    boards = set(re.findall(rf"{SITE}(/m/\w+/b/\d/)", text))
    assert boards
    assert boards <= set(re.findall(r"/m/\w+/b/\d/", page))
    assert f"{SITE}/players/berto/digest/day/?of=2026-01-01" in text

    subscriptions.choose(subscribed.berto, "week", language="es", site=SITE, now=EVENING)
    assert send(EVENING) == 0
    assert send(DAY + timedelta(days=4, hours=1)) == 1, "the week ends on Monday, the fifth"
    spanish = inbox.read[-1]
    assert spanish["Subject"].startswith("Resumen de los bots de berto: del 29 de diciembre de 2025")
    assert "partidas" in spanish.get_content()


def test_one_click_ends_it_without_a_login(subscribed) -> None:
    send(MORNING)
    [letter] = outgoing.outbox
    headers = letter.extra_headers
    link = headers["List-Unsubscribe"].strip("<>")
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert link in letter.body
    stranger = Client(enforce_csrf_checks=True, headers={"accept-language": "en"})
    path = link.removeprefix(SITE)

    read = stranger.get(path).content.decode()
    assert "berto receives the digest by email." in read
    assert Subscription.objects.get().period == "day", "programs that guard a mailbox open links"
    answer = stranger.post(path, {"List-Unsubscribe": "One-Click"})
    assert (answer.status_code, Subscription.objects.get().period) == (200, "")
    assert "berto no longer receives the digest." in answer.content.decode()
    for page in (read, answer.content.decode()):
        assert faults(Page(page)) == []
    assert stranger.post(path).status_code == 200
    assert LeagueEvent.objects.filter(kind="player.digest_chosen", actor="link").count() == 1
    assert send(MORNING + timedelta(days=1)) == 0
    for wrong in (path[:-2] + "/", path.replace("stop/", "stop/9"), "/accounts/digest/stop/x/"):
        assert stranger.post(wrong).status_code == 404

    links.keep_address(subscribed.berto, "new@example.org", now=MORNING)
    assert stranger.get(path).status_code == 404, "the link of another address"


def test_an_address_is_confirmed_before_anything_else_is_sent_to_it(league, owner, inbox, monkeypatch) -> None:
    now = clock.present()
    owner.post("/accounts/mail/", {"address": "ana@example.org", "password": "a long password"})
    mail._thread.submit(lambda: None).result(60)
    [letter] = inbox.read
    assert letter["To"] == "ana@example.org"
    path = re.search(r"http://testserver(/accounts/mail/confirm/\S+)", letter.get_content())[1]
    english = {"headers": {"accept-language": "en"}}

    page = owner.get("/accounts/mail/", **english).content.decode()
    assert "Your address is not confirmed" in page
    assert owner.post("/notices/ways/", {"period": "day", "language": "en"}).status_code == 302
    assert owner.post("/accounts/mail/", {"ask": "1"}).status_code == 422, (
        "a letter a moment is no way to reach strangers"
    )
    assert owner.post("/notices/ways/", {"period": "hour", "language": "en"}).status_code == 422
    for days in range(5):
        assert send(now + timedelta(days=days)) == 0
    Client().post("/accounts/forgotten/", {"username": "ana"})
    mail._thread.submit(lambda: None).result(60)
    assert len(inbox.letters) == 1

    stranger = Client(headers={"accept-language": "en"})
    assert faults(Page(stranger.get(path).content.decode())) == []
    assert Subscription.objects.get().confirmed is None, "programs that guard a mailbox open links"
    assert stranger.get(path[:-3] + "0/").status_code == 404
    monkeypatch.setattr(clock, "present", lambda: now + timedelta(days=3, minutes=1))
    assert stranger.post(path).status_code == 404
    monkeypatch.setattr(clock, "present", lambda: now + timedelta(days=2))
    assert stranger.post(path).status_code == 302
    assert Subscription.objects.get().confirmed is not None
    page = owner.get("/accounts/mail/", **english).content.decode()
    assert "Your email address is confirmed." in page
    assert faults(Page(page)) == []
    assert '<option value="day" selected>' in owner.get("/notices/ways/", **english).content.decode()
    assert "ana@example.org" not in page + str(list(LeagueEvent.objects.values()))
    assert owner.post("/accounts/mail/", {"ask": "1"}).status_code == 422, "nothing is left to confirm"
    assert owner.post("/notices/ways/", {"period": "", "language": "en"}).status_code == 302
    assert Subscription.objects.get().period == ""


@pytest.mark.slow
def test_a_mail_server_that_fails_is_tried_again_after_growing_pauses(subscribed, inbox, caplog) -> None:
    subscribe(subscribed.ana, "day")
    inbox.refuses = b"MAIL"
    tries = []
    now = MORNING
    while now < MORNING + timedelta(days=3):
        before = list(Subscription.objects.order_by("pk").values_list("tries", flat=True))
        assert send(now) == 0
        after = list(Subscription.objects.order_by("pk").values_list("tries", flat=True))
        assert sum(after) - sum(before) <= 1, "one of them is enough to see that the server fails"
        if after[1] > before[1]:
            tries.append(now)
        now += timedelta(minutes=5)
    pauses = [later - earlier for earlier, later in pairwise(tries)]
    assert pauses[0] < timedelta(minutes=11)
    assert pauses == sorted(pauses)
    assert max(pauses) <= letters.LONGEST_PAUSE + timedelta(minutes=5)
    assert "example.org" not in caplog.text

    inbox.refuses = b""
    while len(inbox.letters) < 2:
        send(now)
        now += timedelta(hours=1)
    assert now < MORNING + timedelta(days=4)
    assert sorted(letter["To"] for letter in inbox.read) == ["ana@example.org", "berto@example.org"]
    assert all("Jan. 1, 2026" in letter["Subject"] for letter in inbox.read), "days later it is still told of that day"
    assert send(now) == send(now + timedelta(days=1)) == 0


def test_an_address_that_is_refused_keeps_no_other_from_its_letter(subscribed, inbox, caplog) -> None:
    inbox.refuses = b"RCPT"
    assert send(MORNING) == 0
    assert "[550]" in caplog.text
    assert "example.org" not in caplog.text
    inbox.refuses = b""
    subscribe(subscribed.ana, "day")
    assert send(MORNING + timedelta(minutes=1)) == 1
    assert inbox.read[0]["To"] == "ana@example.org"


def test_who_is_killed_while_sending_sends_nothing_twice(subscribed, monkeypatch) -> None:
    sending = EmailMessage.send

    def killed(self: EmailMessage) -> int:
        sending(self)
        raise SystemExit

    monkeypatch.setattr(EmailMessage, "send", killed)
    with pytest.raises(SystemExit):
        send(MORNING)
    monkeypatch.setattr(EmailMessage, "send", sending)
    for later in (timedelta(minutes=4), timedelta(minutes=5), timedelta(hours=5)):
        assert send(MORNING + later) == 0
    assert len(outgoing.outbox) == 1


def test_two_schedulers_send_one(subscribed, monkeypatch) -> None:
    claim = letters._claim

    def late(row: Subscription, now: datetime) -> bool:
        monkeypatch.setattr(letters, "_claim", claim)
        assert send(now) == 1
        return claim(row, now)

    monkeypatch.setattr(letters, "_claim", late)
    assert send(MORNING) == 0
    assert len(outgoing.outbox) == 1


def test_nothing_is_sent_of_what_is_held_back_nor_to_who_is_banned(subscribed) -> None:
    Tournament.objects.update(opens=sight.NEVER)
    assert send(MORNING) == 0
    Tournament.objects.update(opens=DAY + timedelta(days=5))
    Subscription.objects.update(told=DAY, due=MORNING)
    assert send(MORNING) == 0

    Tournament.objects.update(opens=None)
    Subscription.objects.update(told=DAY, due=MORNING)
    bans.ban(subscribed.berto, why="a test", actor="eva", now=EVENING)
    assert send(MORNING) == 0
    bans.lift(subscribed.berto, why="a test", actor="eva", now=EVENING)
    assert send(MORNING) == 1
    assert Match.objects.filter(parties__version=subscribed.luna).exists()


def test_a_pass_is_bounded_and_costs_little_where_nothing_is_due(subscribed, settings) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert send(EVENING) == 0
    assert len(queries) == 2
    subscribe(subscribed.ana, "day")
    assert letters.send_due(write, now=MORNING, most=1) == 1
    out = StringIO()
    call_command("send_letters", stdout=out)  # With today's date, months later
    assert out.getvalue() == "0 letters were sent\n", "what is older than a week is not told any more"
    assert [row.tries for row in Subscription.objects.all()] == [0, 0]
    settings.MAIL = False
    with CaptureQueriesContext(connection) as queries:
        assert send(MORNING) == 0
    assert len(queries) == 0
    with pytest.raises(CommandError, match="MAIL_URL"):
        call_command("send_letters")
