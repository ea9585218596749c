"""The digest by mail: who gets it, what stands in it, and that no crash and no mail server makes two of one, or none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail as outgoing
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.core import clock
from league.domain.matches import sight
from league.domain.notices import inbox as inbox_of_site
from league.domain.notices import letters, notifying, ways
from league.domain.people import bans, links, players, subscriptions
from league.enums import NoticeKind, NoticeWay
from league.models import LeagueEvent, Match, Notice, Subscription, Tournament
from league.service import mail
from league.web.people.letters import write
from tests.league.web.conftest import League
from tests.league.web.page import Page, faults
from tests.support import inbox as inboxes
from tests.support.inbox import Inbox
from tests.support.live import LiveLeague
from tests.support.processes import wait_for

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


def killed_by(monkeypatch, end: BaseException) -> None:
    """Let the process die, or its line break, after the server has the next letter."""
    sending = EmailMessage.send

    def send_and_end(self: EmailMessage) -> int:
        sending(self)
        monkeypatch.setattr(EmailMessage, "send", sending)
        raise end

    monkeypatch.setattr(EmailMessage, "send", send_and_end)


def test_a_digest_of_unknown_arrival_is_sent_once_more_under_the_same_id(subscribed, monkeypatch) -> None:
    killed_by(monkeypatch, SystemExit())
    with pytest.raises(SystemExit):
        send(MORNING)
    assert send(MORNING + timedelta(minutes=4)) == 0, "the claim of the dead process has not ended"
    killed_by(monkeypatch, SystemExit())
    with pytest.raises(SystemExit):
        send(MORNING + timedelta(minutes=6))
    for later in (timedelta(minutes=30), timedelta(hours=5)):
        assert send(MORNING + later) == 0, "a third copy is never sent"
    first, copy = outgoing.outbox
    assert first.extra_headers["Message-ID"] == copy.extra_headers["Message-ID"]
    assert first.body == copy.body


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_sender_leaves_one_copy_to_be_sent(inbox, settings) -> None:
    now, ana = clock.present(), players.create("ana", email="ana@example.org")
    Subscription.objects.create(player=ana, address="ana@example.org", confirmed=now, site=SITE, language="en")
    ways.choose(ana, {NoticeKind.FAILED: NoticeWay.ONCE}, now=now)
    notifying.notify([ana], "paused", "p", now=now, bot="rufo")
    inbox.silent = True
    live = LiveLeague(MAIL_URL=f"smtp://127.0.0.1:{inbox.server_address[1]}?tls=no", SECRET_KEY=settings.SECRET_KEY)
    try:
        sender = live.start("send_letters")
        wait_for(lambda: inbox.letters, "the server has the text", 60)
        sender.kill()
        inbox.silent = False
        assert send(now + timedelta(minutes=5)) == 0
        assert send(now + timedelta(minutes=15)) == 1
        assert send(now + timedelta(hours=9)) == 0
        first, copy = inbox.read
        assert (first["Message-ID"], first.get_content()) == (copy["Message-ID"], copy.get_content())
    finally:
        live.close()


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


@pytest.fixture
def at_once(league) -> League:
    """Ana wants letters at once when a bot fails."""
    subscribe(league.ana, "")
    ways.choose(league.ana, {NoticeKind.FAILED: NoticeWay.ONCE}, now=EVENING)
    return league


def fail(league: League, number: int, now: datetime = EVENING, bot: str = "rufo") -> None:
    notifying.notify([league.ana], "paused", f"p{number}", now=now, bot=bot)


def test_a_letter_at_once_goes_once_to_its_reader_and_one_click_ends_its_kind(at_once, inbox) -> None:
    for number in range(3):
        fail(at_once, number)
    notifying.notify([at_once.ana], "challenged", "c", now=EVENING, bot="rufo", player="berto", match="x")
    assert send(EVENING) == 1, "one letter for a kind; the other kind waits for a digest"
    assert send(EVENING + timedelta(hours=1)) == 0
    [letter] = inbox.read
    assert letter["To"] == "ana@example.org"
    assert letter.get_content().count("The league has paused rufo") == 3
    assert f"{SITE}/bots/rufo/" in letter.get_content()
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = letter["List-Unsubscribe"].strip(" <>\r\n").removeprefix(SITE)
    stranger = Client(enforce_csrf_checks=True, headers={"accept-language": "en"})
    page = stranger.get(path).content.decode()
    assert "One of my bots fails" in page, Page(page).text
    assert faults(Page(page)) == []
    assert ways.ways_of(at_once.ana)[NoticeKind.FAILED] == NoticeWay.ONCE, "programs that guard a mailbox open links"
    assert stranger.post(path.replace("failed", "table")).status_code == 404, "the proof is for one kind"
    fail(at_once, 4)
    assert stranger.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert send(EVENING) == 0, "what was due is not sent either"
    assert ways.ways_of(at_once.ana)[NoticeKind.FAILED] == NoticeWay.SITE
    assert Notice.objects.filter(player=at_once.ana).count() == 5, "on the site it is all the same"


def test_letters_at_once_survive_kills_races_floods_and_a_server_that_is_away(at_once, inbox, monkeypatch) -> None:
    fail(at_once, 0)
    inbox.refuses = b"MAIL"
    assert send(EVENING) == 0
    assert send(EVENING + timedelta(minutes=4)) == 0
    inbox.refuses = b""
    assert send(EVENING + timedelta(minutes=5)) == 1, "it is certain that the first one was not accepted"

    fail(at_once, 1)
    atomic = transaction.atomic

    def late() -> transaction.Atomic:
        monkeypatch.setattr(transaction, "atomic", atomic)
        assert send(EVENING) == 1
        return atomic()

    monkeypatch.setattr(transaction, "atomic", late)
    assert send(EVENING) == 0, "two schedulers send one letter"

    for number, end in enumerate((SystemExit(), SMTPServerDisconnected()), 2):
        evening = EVENING + timedelta(minutes=number)
        fail(at_once, number)
        killed_by(monkeypatch, end)
        with suppress(SystemExit):
            assert send(evening) == 0
        assert send(evening + timedelta(minutes=5)) == 0
        fail(at_once, 10 * number)
        assert send(evening + timedelta(hours=1)) == 2, "the same letter once more, and one with what is new"
        assert send(evening + timedelta(hours=9)) == 0
    copies = Counter(letter["Message-ID"] for letter in inbox.read)
    assert sorted(copies.values()) == [1, 1, 1, 1, 2, 2]
    Notice.objects.all().delete()
    inbox.letters.clear()
    Subscription.objects.update(letters=0)

    for number in range(4, 40):
        fail(at_once, number)
        send(EVENING)
    assert len(inbox.letters) == letters.MOST_A_DAY
    fail(at_once, 40, EVENING + timedelta(days=1))
    assert send(EVENING + timedelta(days=1)) == 1


def test_no_letter_to_the_banned_nor_with_headers_from_a_name_nor_to_an_address_not_confirmed(at_once, inbox) -> None:
    ways.choose(at_once.ana, {NoticeKind.EVENT: NoticeWay.ONCE}, now=EVENING)
    place = {"kind": "event", "slug": "x", "tournament": "x\r\nBcc: everybody@example.org"}
    notifying.notify([at_once.ana], "started", "e", now=EVENING, **place)
    assert send(EVENING) == 1
    [letter] = inbox.read
    assert letter["Bcc"] is None
    assert letter["Subject"].startswith("x Bcc: everybody")

    fail(at_once, 1)
    links.keep_address(at_once.ana, "other@example.org", now=EVENING)
    assert send(EVENING) == 0
    fail(at_once, 2)
    assert not Notice.objects.filter(due__isnull=False).exists()
    bans.ban(at_once.ana, why="a test", actor="eva", now=EVENING)
    fail(at_once, 3)
    assert send(EVENING) == 0
    assert Notice.objects.filter(player=at_once.ana).count() == 3


def test_a_digest_has_the_unread_notices_of_its_period_once(subscribed) -> None:
    for number in range(2):
        notifying.notify([subscribed.berto], "paused", f"p{number}", now=EVENING, bot="luna")
    inbox_of_site.mark_read(subscribed.berto, Notice.objects.filter(about="p0"), now=EVENING)
    assert send(MORNING) == 1
    assert outgoing.outbox[0].body.count("The league has paused luna") == 1
    assert send(MORNING + timedelta(days=1)) == 0
    notifying.notify([subscribed.berto], "paused", "p2", now=MORNING, bot="luna")
    assert send(MORNING + timedelta(days=2)) == 1, "without matches, too"
