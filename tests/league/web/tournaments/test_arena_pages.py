"""Arenas in the browser: one button without scripts, who may do what, and an hour of 10 people and 40 bots with real processes."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from django.conf import settings
from django.test import Client

from league.domain.arenas import arenas, playing
from league.domain.bots import house
from league.domain.core import clock
from league.domain.people import players
from league.domain.tables import holding, seating
from league.models import Arena, ArenaEntry, ArenaSide, Player, RatingPoint, Table
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.page import Page, faults
from tests.support import rows
from tests.support.league import accepted
from tests.support.live import LiveLeague
from tests.support.processes import wait_for

GAME = "corriente"


def make_people() -> list[Player]:
    accepted(house.player(), "greedy", games=[GAME])
    persons = [players.create(name) for name in ("ana", "berto")]
    accepted(persons[0], "rufo", games=[GAME])
    return persons


def signed_in(player: Player) -> Client:
    client = Client(headers={"accept-language": "en"}, enforce_csrf_checks=True)
    client.force_login(player.user)
    return client


def press(client: Client, where: str, action: str, **fields: str) -> str:
    """Press a button of the page; return the page after it."""
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(where).content.decode())
    sent = {"csrfmiddlewaretoken": token[1] if token else "", "action": action, **fields}
    answer = client.post(f"{where}do/", sent)
    assert answer.status_code in (302, 403, 404), answer.content
    return client.get(where).content.decode() if answer.status_code == 302 else str(answer.status_code)


@pytest.mark.django_db
def test_one_button_leads_from_entering_to_the_next_hand_without_scripts() -> None:
    ana, berto = rows.once(make_people)
    now = clock.present()
    arena = arenas.create(GAME, now + timedelta(hours=1))
    where = f"/arenas/{arena.slug}/"
    visitor, client, other = Client(headers={"accept-language": "en"}), signed_in(ana), signed_in(berto)

    def has(text: str, *words: str) -> None:
        assert faults(Page(text)) == []
        for word in words:
            assert word in " ".join(text.split()), word

    has(visitor.get(where).content.decode(), "Log in and play", "It starts")
    has(client.get(where).content.decode(), ">Enter<", "How an arena goes")
    sitting = seating.sit(ana, GAME, "greedy")
    has(client.get(where).content.decode(), ">Enter<")  # A table of today keeps nobody out of a later arena.
    seating.leave(ana, sitting.public_id)
    sitting.delete()
    has(press(client, where, "play"), "You are in.", "Leave the arena")
    has(press(client, where, "stop"), ">Enter<")
    has(press(client, where, "enter", bot="rufo"), "rufo is entered.")
    assert press(other, where, "leave", bot="rufo") == "403"
    assert press(other, where, "enter", bot="nobody") == press(other, where, "nonsense") == "404"
    has(press(client, where, "leave", bot="rufo"), "Your bots")
    for answer in (visitor.post(f"{where}do/", {"action": "play"}), client.post(f"{where}do/", {"action": "play"})):
        assert answer.status_code == 302 if "login" in answer.headers.get("Location", "") else answer.status_code == 403
    assert client.get(f"{where}do/").status_code == 405

    Arena.objects.filter(pk=arena.pk).update(start=now)
    has(press(client, where, "play"), "Looking for somebody", "Look again", "Stop waiting")
    has(press(client, where, "stop"), "Play</button>")
    for reader in (client, other):
        press(reader, where, "play")
    playing.run()
    table = Table.objects.get()
    text = client.get(where).content.decode()
    has(text, "Your table is ready.", f'data-go href="/tables/{table.public_id}/"', "Tables in play")
    assert "data-go" not in visitor.get(where).content.decode()
    lease = holding.claim("host:1")
    assert lease is not None
    page = client.get(f"/tables/{table.public_id}/").content.decode()
    has(page, f'class="ib" href="{where}"', "this hand is lost", "Give up")
    seating.leave(ana, table.public_id)
    playing.run()
    has(client.get(f"/tables/{table.public_id}/").content.decode(), "You gave this hand up", ">Next hand<")
    has(other.get(f"/tables/{table.public_id}/").content.decode(), "You have won: the other side has left.")
    has(client.get(where).content.decode(), "so you pause until")
    has(other.get(where).content.decode(), "You: place 1, points: 2, hands: 1.", ">Next hand<")
    has(press(client, where, "play"), "you gave a hand up")

    Arena.objects.filter(pk=arena.pk).update(ends=clock.present(), time_zone="Europe/Madrid")
    playing.run()
    has(
        other.get(where).content.decode(),
        "berto has won with 2 points.",
        "You: place 1, points: 2, hands: 1.",
        "The next arena",
    )
    assert Arena.objects.count() == 2


# --- ten people and forty bots, with every process that a league has --------------------------------------------------

PEOPLE, BOTS, HANDS = 10, 4, 2  # Bots of each person.
GONE, LEAVES = (
    "p8",
    "p9",
)  # One who never answers, one who gives the first hand up. They must not meet: one of them would win.


class Session:
    """A person with a browser's cookies, reading pages and sending their forms over HTTP."""

    def __init__(self, site: str, player: Player) -> None:
        self.site, self.name = site, player.name
        client = Client()
        client.force_login(player.user)
        self.cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        self.opener = build_opener(HTTPCookieProcessor())
        self.hands, self.trouble = 0, ""
        self.ended = threading.Event()

    def read(self, path: str, data: str | None = None) -> str:
        headers = {"Cookie": f"{self.cookie}; csrftoken={'a' * 32}", "Accept-Language": "en", "Referer": self.site}
        request = Request(self.site + path, data.encode() if data is not None else None, headers)
        with self.opener.open(request, timeout=120) as answer:
            return str(answer.read().decode())

    def send(self, path: str, **fields: str) -> str:
        return self.read(
            path,
            "&".join(f"{name}={value.replace(' ', '+')}" for name, value in fields.items())
            + f"&csrfmiddlewaretoken={'a' * 32}",
        )

    def play(self, where: str, until: float) -> None:
        """Play HANDS hands of the arena, as a person without scripts does."""
        try:
            while self.hands < HANDS and time.monotonic() < until:
                page = self.send(f"{where}do/", action="play")
                ready = re.search(r"data-go href=\"(/tables/\w+/)\"", page)
                if ready is None:
                    time.sleep(1)
                    continue
                self.hand(ready[1], until)
                self.hands += 1
                if self.name in (GONE, LEAVES):
                    return
        except Exception as error:
            self.trouble = f"{self.name}: {error!r}"
        finally:
            self.ended.set()

    def play_after(self, other: Session, where: str, until: float) -> None:
        """Play once the other has stopped."""
        other.ended.wait(until - time.monotonic())
        self.play(where, until)

    def hand(self, table: str, until: float) -> None:
        rng = random.Random(self.name)
        while time.monotonic() < until:
            page = self.read(table)
            if "data-over" in page:
                return
            turn, choices = (
                re.search(r'name="turn" value="(\d+)"', page),
                re.findall(r'name="do" value="([^"]+)"', page),
            )
            legal = [choice for choice in choices if choice not in ("leave", "advice", "say")]
            if turn is None or not legal or self.name == GONE:
                time.sleep(0.3)
            elif self.name == LEAVES:
                self.send(f"{table}do/", do="leave")
                return
            else:
                self.send(f"{table}do/", turn=turn[1], do=rng.choice(legal))


def make_crowd() -> list[Player]:
    accepted(house.player(), "greedy", games=[GAME])
    persons = [players.create(f"p{number}") for number in range(PEOPLE)]
    for person in persons:
        for number in range(BOTS):
            accepted(person, f"bot-{person.name}-{number}", games=[GAME])
    return persons


@pytest.fixture
def processes(transactional_db: None) -> Iterator[LiveLeague]:
    league = LiveLeague(
        ARENA_DRAW_S="1", ARENA_WAIT_S="1", ARENA_REST_S="5", TABLES_PER_WORKER="10", SANDBOX_MIN_TIER="none"
    )
    yield league
    league.close()


@pytest.mark.slow
def test_an_arena_of_forty_bots_and_ten_people(processes: LiveLeague, site: str, visit, tmp_path: Path) -> None:
    persons = make_crowd()
    arena = arenas.create(GAME, clock.present(), minutes=10, clock_s=20)
    for person in persons:
        for bot in person.bots.all():
            arenas.enter_bot(arena, bot, person)
    assert arena.entries.filter(bot__isnull=False).count() == PEOPLE * BOTS + 1
    where = f"/arenas/{arena.slug}/"
    processes.start("worker")
    processes.start("scheduler")
    page = visit(f"{site}{where}", width=1280, height=800, locale="en-GB").page
    phone = visit(f"{site}{where}", width=390, height=844, locale="en-GB").page
    sessions = [Session(site, person) for person in persons]
    until = time.monotonic() + 240
    by_person = {session.name: session for session in sessions}
    later = by_person.pop(LEAVES)
    threads = [threading.Thread(target=session.play, args=(where, until)) for session in by_person.values()]
    threads.append(threading.Thread(target=later.play_after, args=(by_person[GONE], where, until)))
    for thread in threads:
        thread.start()
    page.locator("table.places tbody tr").nth(3).wait_for(timeout=PATIENT_MS)  # Live: nobody loads this page again.
    for name, screen in (("desk", page), ("phone", phone)):
        screen.screenshot(path=tmp_path / f"arena-{name}.png", full_page=True)
    for thread in threads:
        thread.join()
    assert [session.trouble for session in sessions if session.trouble] == [], processes.logs()
    assert Counter(session.hands for session in sessions) == {HANDS: PEOPLE - 2, 1: 2}, processes.logs()

    Arena.objects.filter(pk=arena.pk).update(ends=clock.present())
    wait_for(lambda: Arena.objects.get(pk=arena.pk).finished is not None, "the end of the arena", 60)
    for name, screen in (("desk", page), ("phone", phone)):
        screen.get_by_role("heading", name="point").wait_for(timeout=PATIENT_MS)
        screen.screenshot(path=tmp_path / f"arena-end-{name}.png", full_page=True)
        assert screen.evaluate("document.documentElement.scrollWidth <= innerWidth")

    tables = Table.objects.filter(sides__entry__arena=arena).distinct()
    assert set(tables.values_list("status", flat=True)) <= {"finished", "left"}, processes.logs()
    assert not ArenaSide.objects.filter(points=None).exists()
    by_name = {str(row.player or row.bot): row for row in ArenaEntry.objects.filter(arena=arena)}
    for name in (GONE, LEAVES):
        [side] = ArenaSide.objects.filter(entry=by_name[name]).select_related("table")
        other = side.table.sides.exclude(pk=side.pk).get()
        # On a busy machine the other side may be late, or its bot may fail, before this one has its turn.
        has_won = other.given_up is not None and (side.given_up is None or side.given_up > other.given_up)
        has_won |= bool(side.table.fault) and side.given_up is None
        facts = (name, side.given_up, other.given_up, side.table.status, side.table.fault)
        assert (by_name[name].games, by_name[name].points) == (1, 2 if has_won else 0), facts
    assert sum(row.points for row in by_name.values()) == 2 * tables.count(), "each table has a winner, or a tie"
    for table in tables:
        sides = [side.entry for side in table.sides.select_related("entry__bot", "entry__player")]
        owners = {side.bot.owner for side in sides if side.bot is not None}
        assert not owners & {side.player for side in sides}, "nobody meets a bot of their own"
    places = [row.place for row in arenas.standing(arena)]
    assert places == sorted(places)
    assert places[0] == 1
    assert not RatingPoint.objects.exists()
    assert json.dumps(places)
