"""The seat of a person: without script, by keyboard and by touch in a real browser, with a worker beside it; no hidden card is sent."""

from __future__ import annotations

import json
import os
import random
import re
import threading
from dataclasses import replace

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Error as PlaywrightError

import engine
from engine.runner.table import NEXT, Question, TableResult
from league.domain.bots import house
from league.domain.jobs.worker import WorkerLoop
from league.domain.people import players
from league.domain.tables import holding, seating
from league.enums import VersionStatus
from league.models import BotVersion, Match, Player, Table, TablePerson
from league.service import listening
from league.web.matches import offers
from league.web.matches import tables as web
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.page import Page, faults
from tests.support import rows, seats
from tests.support.league import accepted
from tests.support.playing import choose
from tests.support.processes import wait_for
from tests.support.seats import hold, rated


@pytest.mark.slow
def test_every_action_of_every_game_can_be_taken_on_the_page() -> None:
    for game in [*map(engine.load, engine.games()), engine.load("cabrero", illegal_move="accuse")]:
        for seed in range(6):
            state, rng = game.new_match(seed=seed, deals=1), random.Random(seed)
            while not state.is_over:
                legal = [game.action_text(action) for action in state.legal_actions()]
                hand = [state.game.pack.texts[card] for card in state.hand_of(state.current_seat)]
                offer = offers.offer(legal, hand)
                buttons = [*offer.extras, *offer.numbers, *offer.cards, *offer.words, *offer.accusations]
                declined = [offer.not_now] if offer.not_now and offer.not_now.do else []
                choices = {choice.do for choice in [*offer.hand, *buttons, *declined]}
                for text in legal:
                    cards = set(text.split()[1:])
                    by_marks = (
                        text.startswith("discard") and cards <= set(hand) and offer.least <= len(cards) <= offer.most
                    )
                    assert text in choices or by_marks, (game.key, text)
                assert all((choice.name or choice.text) != choice.do for choice in buttons), (game.key, offer)
                state.apply(choose(state, rng))


# ---- without script


@pytest.fixture
def ana() -> Player:
    return rows.once(make_ana)


def make_ana() -> Player:
    accepted(house.player(), "greedy")
    return players.create("ana")


@pytest.fixture
def client(ana) -> Client:
    ana_client = Client(headers={"accept-language": "en"})
    ana_client.force_login(ana.user)
    return ana_client


def sitting(client: Client, **change: object) -> Table:
    form = {"game": "partnership", "rival": "greedy", "partner": "", "boards": 1, **change}
    answer = client.post("/play/", form)
    assert answer.status_code == 302, answer.content.decode()[-3000:]
    return Table.objects.select_related("pool").get(public_id=answer.url.split("/")[2])


@pytest.mark.django_db
def test_a_table_without_script_shows_what_the_seat_may_know_to_its_player_alone(client, ana) -> None:
    first = Page(client.get("/play/?game=codillo").content.decode())
    assert faults(first) == []
    assert 'value="codillo" selected' in client.get("/play/?game=codillo").content.decode()
    row = sitting(client)
    where = f"/tables/{row.public_id}/"
    lease = holding.claim("host:1")
    assert lease is not None
    holding.release(lease, holding.NO_SEATS)
    assert "No bot is free for this table right now." in client.get(where).content.decode()
    holding.release(holding.claim("host:1") or lease, "worker host:1 was told to stop")
    waiting = client.get(where).content.decode()
    assert faults(Page(waiting)) == []
    assert "Waiting for the bots to start." in waiting
    assert where in client.get("/play/").content.decode()
    again = client.post("/play/", {"game": "partnership", "rival": "greedy", "boards": 1})
    assert (again.status_code, again.headers["Location"]) == (302, where), "the running table is opened"
    old = client.get("/tables/?game=codillo")
    assert (old.status_code, old.headers["Location"]) == (301, "/play/?game=codillo")

    lease, state = hold(row)
    page = client.get(where)
    text = page.content.decode()
    assert faults(Page(text)) == []
    legal = TablePerson.objects.get().legal
    assert set(re.findall(r'name="do" value="(play [^"]+)"', text)) == {
        action for action in legal if action.startswith("play")
    }
    with CaptureQueriesContext(connection) as queries:
        client.get(where)
    assert len(queries) == 4

    # What `seat.js` asks for when the table has moved: the same steps and choices, without the rest
    part = client.get(where, headers={"X-Part": "moved"}).content.decode()
    for same in (r'<li id="[^"]*" class="[^"]*"', r'name="do" value="(?!leave)[^"]*"', r'<section id="seat"[^>]*>'):
        assert re.findall(same, part) == re.findall(same, text) != []
    assert 'id="leave"' in part
    assert len(part) < len(text) / 2

    # All that a browser is sent, against all that it may not know
    secret = bytes(Table.objects.values_list("secret", flat=True).get())
    sent = part + "\n".join(
        client.get(path).content.decode()
        for path in (where, f"{where}replay.json", "/play/", "/players/ana/", "/status/", "/", "/m/")
    )
    assert secret.hex() not in sent
    assert state.seed.hex() not in sent
    replay = client.get(f"{where}replay.json").json()
    assert set(replay) <= {"game", "players", "options", "events", "seats", "cards", "labels", "sides", "unit"}
    assert replay["events"][1]["to"] == [0]
    known_cards = {
        card for event in engine.redact(state.events, 0) for card in re.findall(r"'([1-7RCS][oceb])'", str(event))
    }
    for card in (game_card for game_card in engine.load("partnership").pack.texts if game_card not in known_cards):
        assert f"'{card}'" not in str(replay["events"]), card
        assert f"#card-{card}" not in text, card

    foreign = Client()
    foreign.force_login(players.create("berto").user)
    for path in (where, f"{where}replay.json"):
        assert (foreign.get(path).status_code, Client().get(path).status_code) == (404, 404)
    assert foreign.post(f"{where}do/", {"do": legal[0], "turn": row.turn or 0}).status_code == 404

    # Only who sits there hears of it, and no more than to which decision it has moved
    turn = Table.objects.get().question
    topic = f"table:{row.public_id}"
    assert f'data-since="{turn + 1}"' in text
    assert f'data-topic="{topic}"' in text
    for who, heard in ((client, {topic: turn + 1}), (foreign, {"tournament:0": 0}), (Client(), {"tournament:0": 0})):
        (told_of,) = re.findall(r"data: (.*)", who.get(f"/live?topic={topic}").content.decode())
        assert json.loads(told_of) == heard

    refused = client.post(f"{where}do/", {"do": "play 9z", "turn": turn}, follow=True)
    assert "not possible now" in refused.content.decode()
    response = client.post(f"{where}do/", {"do": legal[0], "turn": turn, "listens": 1})
    assert (response.status_code, response.content) == (204, b"")
    thinks = client.get(where).content.decode()
    assert "The bots are thinking." in thinks
    assert 'data-since="0"' in thinks
    late = client.post(f"{where}do/", {"do": legal[0], "turn": 0}, follow=True)
    assert "answered already" in late.content.decode()

    framed, described = f"/embed{where}?b=1", {"url": f"http://testserver{where}?b=1"}
    for who in (client, Client()):  # A running table has no frame, not even for its player.
        assert who.get(framed).content == who.get("/embed/tables/none/").content
        assert who.get(framed.replace("?", "replay.json?")).status_code == 404
        assert who.get("/oembed", described).status_code == 404

    state.apply(engine.load("partnership").parse_action(legal[0]))
    while not state.is_over:
        state.apply(state.legal_actions()[0])
    record = engine.replay.make(state, {"match": row.public_id})
    holding.finish(lease, TableResult([state.scores()], [{**record, "faults": [], "notes": []}], []), 1000)
    for who in (client, foreign, Client()):  # Everybody may see a finished table
        over = who.get(where).content.decode()
        assert faults(Page(over)) == []
        assert "data-topic" not in over
        assert re.search(
            "You (won|lost) the hand"
            if who is client
            else "(ana . greedy 2|greedy 1 . greedy 3) (won the hand|gana la mano)",
            over,
        )
        assert "tute-replay" in who.get(f"{where}?b=1").content.decode()
        assert who.get(f"{where}replay.json").json()["events"][1]["hands"] == record["events"][1]["hands"]
    frames = {who.get(framed, headers={"accept-language": "en"}).content for who in (client, foreign, Client())}
    records = {who.get(framed.replace("?", "replay.json?")).content for who in (client, Client(headers=client.headers))}
    assert (len(frames), len(records)) == (1, 1), "a frame knows no reader"
    assert b"ana \xe2\x80\x93 greedy 1" in frames.pop()
    assert {seat["name"] for seat in json.loads(records.pop())["seats"]} == {"ana", "greedy 1", "greedy 2", "greedy 3"}
    assert f"/embed{where}?b=1" in client.get("/oembed", described).json()["html"]
    assert "share-embed" in Client().get(f"{where}?b=1").content.decode()
    assert where in client.get("/play/").content.decode(), "listed among the tables of its player"


@pytest.mark.django_db(transaction=True)
def test_who_listens_gets_the_next_part_with_the_answer_if_the_bots_answer_at_once(client, monkeypatch) -> None:
    monkeypatch.setattr(web, "AT_ONCE_S", 60.0)
    row = sitting(client)
    where = f"/tables/{row.public_id}/"
    lease, state = hold(row)
    row.refresh_from_db()
    legal = seats.person(row).legal
    hand = [card for card in seats.person(row).hand if card not in legal[0]]
    following = Question(row.turn + 1, 1, ["play " + hand[0]], hand, engine.redact(state.events, 0), [])

    def answer_at_once() -> None:
        wait_for(lambda: Table.objects.filter(pk=row.pk, turn=None).exists(), "the person answers", 60, every=0.01)
        holding.ask(lease, following, [])
        connection.close()

    with listening.LISTENER.subscribe("table:other"):
        wait_for(lambda: listening.LISTENER.is_listening, "the thread listens", 60)
        bots = threading.Thread(target=answer_at_once)
        bots.start()
        form = {"do": legal[0], "turn": row.question, "listens": 1}
        response = client.post(f"{where}do/", form, headers={"x-part": "moved"})
        bots.join(60)
        part = response.content.decode()
        assert response.status_code == 200
        assert f'data-since="{row.question + 2}"' in part
        assert f'value="play {hand[0]}"' in part
        page = client.get(where, headers={"x-part": "moved"}).content.decode()
        assert re.sub(r"\w{64}", "", part) == re.sub(r"\w{64}", "", page), "but for the tokens of the forms"

        monkeypatch.setattr(web, "WAITING", threading.BoundedSemaphore(1))
        assert web.WAITING.acquire()
        form = {"do": "play " + hand[0], "turn": row.question + 1, "listens": 1}
        assert client.post(f"{where}do/", form, headers={"x-part": "moved"}).status_code == 204, "enough of them wait"
        monkeypatch.setattr(web, "SOON_S", 3600.0)
        holding.ask(lease, replace(following, number=row.turn + 2), [])
        form = {"do": "play " + hand[0], "turn": row.question + 2}
        assert client.post(f"{where}do/", form).status_code == 302, "without a script, too"


@pytest.mark.slow
@pytest.mark.django_db
def test_advice_is_asked_for_without_script(client, ana) -> None:
    row = sitting(client, advice="on")
    where, topic = f"/tables/{row.public_id}/", f"table:{row.public_id}"
    lease, _state = hold(row)
    row.refresh_from_db()
    text = client.get(where).content.decode()
    assert faults(Page(text)) == []
    assert 'value="advice"' in text
    with CaptureQueriesContext(connection) as queries:
        client.get(where)
    assert len(queries) == 4
    form = {"do": "advice", "turn": row.question}
    assert client.post(f"{where}do/", {**form, "listens": 1}).status_code == 204
    thinks = client.get(where).content.decode()
    assert faults(Page(thinks)) == []
    assert "greedy is thinking about your cards." in thinks
    assert "data-waits" in thinks
    holding.advise(lease, row.turn, seats.person(row).legal[0])
    page = client.post(f"{where}do/", form, follow=True).content.decode()
    assert faults(Page(page)) == []
    assert "greedy advises: " in page
    assert 'class="ok advised"' in page or not seats.person(row).legal[0].startswith("play ")
    (heard,) = re.findall(r"data: (.*)", client.get(f"/live?topic={topic}").content.decode())
    assert json.loads(heard)[topic] > 10**5, "who looks is told that it is there"
    TablePerson.objects.update(advice="?")
    assert "greedy has no advice here." in client.get(where).content.decode()
    client.post(f"{where}do/", {"do": "leave"})
    assert "his table is finished" in client.post(f"{where}do/", form, follow=True).content.decode()
    plain = sitting(client)
    hold(plain)
    assert 'value="advice"' not in client.get(f"/tables/{plain.public_id}/").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_cards_are_put_away_together_and_a_table_is_left(client, ana, settings) -> None:
    accepted(house.player(), "random", games=["bato"])
    row = sitting(client, game="bato", rival="random")
    lease = holding.claim("host:1")
    assert lease is not None
    legal = ["discard", "discard 1o", "discard 1o 3c"]
    holding.ask(lease, Question(0, 1, legal, ["1o", "3c"], [], []), [])
    where = f"/tables/{row.public_id}/"
    page = client.get(where).content.decode()
    assert faults(Page(page)) == []
    assert 'type="checkbox" name="put" value="3c"' in page
    client.post(f"{where}do/", {"do": "discard", "put": ["3c", "1o"], "turn": 0})
    assert holding.answer(lease, 0) == "discard 1o 3c"
    holding.ask(lease, Question(1, 1, [f"bid {n}" for n in range(60, 120, 5)], ["1o"], [], []), [])
    assert "Bid 65" in client.get(where).content.decode()
    client.post(f"{where}do/", {"do": "bid 65", "turn": 1})
    assert holding.answer(lease, 1) == "bid 65"
    holding.ask(lease, Question(2, 1, [NEXT], [], [], [[1, 2, 3, 4]]), [])
    assert "Next hand" in client.get(where).content.decode()
    client.post(f"{where}do/", {"do": "leave"})
    assert "You left this table" in client.get(where).content.decode()
    settings.TABLES = 0
    assert client.get("/play/").status_code == 404
    assert "/play/" not in client.get("/").content.decode()


@pytest.mark.django_db
def test_a_person_sees_how_well_they_play(client, ana) -> None:
    assert "My record" not in client.get("/play/").content.decode()
    row = sitting(client)
    rated(row.seats.get(number=1).version, "partnership", 1000)
    lease, _ = hold(row)
    number = Table.objects.get().turn
    seating.act(ana, row.public_id, 0, TablePerson.objects.get().legal[0])
    holding.finish(lease, TableResult([[60, 70, 60, 70]], [{}]), number + 1)
    page = client.get("/play/").content.decode()
    assert faults(Page(page)) == []
    assert "My record" in page
    assert "9 more hands until you have a rating" in " ".join(page.split())
    assert "0–0–1" in page
    assert re.search(r"<strong>\s*lost</strong>\s*60–70", page), "and how the last ones ended"


# ---- in a browser


MY_TURN = "document.querySelector('.game:not([data-locked]):has(tute-table.ready) #hand button[name=do]') !== null"
OVER = "document.querySelector('#seat[data-over]') !== null && document.querySelector('.banner') !== null"


def is_so(page, fact: str) -> bool:
    """Return True if it holds; False while a page is being loaded."""
    try:
        return bool(page.evaluate(f"() => {fact}"))
    except PlaywrightError:
        return False


def comes(page, fact: str) -> None:
    wait_for(lambda: is_so(page, fact), fact, PATIENT_MS / 1000, every=0.02)


def look(page, name: str) -> None:
    """A picture for people, where they want one; and nothing is wider than the screen."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for scheme in ("light", "dark") if (folder := os.environ.get("SCREENSHOTS")) else ():
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{folder}/seat-{name}-{scheme}.png", full_page="over" in name)


def sit_down(page, site: str, game: str, *, touch: bool) -> None:
    page.goto(f"{site}/play/?game={game}")
    look(page, f"{game}-sit")
    if touch:
        page.locator("#choose form button:not([value=refresh], [value=friends])").last.tap()
    else:
        page.locator("#choose form summary").last.focus()
        page.keyboard.press("Enter")
        for _ in range(6):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "advice":
                break
        for key in ("Space", "Tab", "Enter"):
            page.keyboard.press(key)
    page.wait_for_url(re.compile(r"/tables/[a-z0-9]{10}/"))


# The middle of the part of a button that is covered by nothing, which is where a person taps.
SEEN = """(button) => {
  const box = button.getBoundingClientRect(), seen = [];
  for (let x = box.left; x < box.right; x += 2) for (let y = box.top; y < box.bottom; y += 4) {
    if (button.contains(document.elementFromPoint(x, y))) seen.push([x, y]);
  }
  return seen[seen.length >> 1];
}"""


def answer(page, *, touch: bool) -> None:
    """Play the last card that may be played, or say the last word."""
    before = page.locator("#seat").get_attribute("data-turn")
    if page.locator("[data-not-now]").count():
        page.locator("[data-not-now]").click()
    cards = page.locator("#hand .hand .ok")
    if touch:
        choice = cards.last if cards.count() else page.locator("#hand button[name=do]").last
        raised = page.locator("#hand li.lifted .ok")
        page.touchscreen.tap(*choice.evaluate(SEEN))
        if raised.count():
            raised.tap()
    else:
        page.locator("#hand button[name=do]:not([value=advice])").first.focus()
        page.keyboard.press("ArrowLeft")
        if page.evaluate("document.activeElement.value") == "advice":
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
    comes(
        page,
        f"document.querySelector('#seat')?.dataset.turn !== '{before}' || document.querySelector('#seat[data-over]') !== null",
    )


def ask(page, game: str) -> None:
    """Ask for advice, by keyboard."""
    page.focus("#hand button[value=advice]")
    page.keyboard.press("Enter")
    comes(page, f"({MY_TURN}) && document.querySelector('#hand .advice')?.textContent.includes('counting')")
    look(page, f"{game}-advice")


def play_through(page, game: str, *, touch: bool) -> int:
    """Answer until the table is over; how often."""
    for turns in range(1000):
        comes(page, f"({MY_TURN}) || ({OVER})")
        if is_so(page, OVER):
            return turns
        if turns in (0, 3):
            look(page, f"{game}-{turns}")
        if turns == 2:  # As after a lost line
            page.reload()
            page.evaluate("window.stays = true")
            comes(page, MY_TURN)
        assert turns == 0 or page.evaluate("window.stays") is True, "an answer loads no page"
        page.evaluate("window.stays = true")
        if turns == 1 and not touch:
            ask(page, game)
        answer(page, touch=touch)
    raise AssertionError("it never ends")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_person_plays_a_match_by_keyboard_and_one_by_touch(site: str, browser, worker: WorkerLoop) -> None:
    for version, _ in house.enter():
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    session = Client()
    session.force_login(players.create("ana").user)
    complaints: list[str] = []
    for game, touch, listens in (("remate", False, True), ("partnership", True, False)):
        size = {"width": 360, "height": 740} if touch else {"width": 1280, "height": 900}
        context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, locale="es-ES")
        context.set_default_timeout(PATIENT_MS)
        value = session.cookies[settings.SESSION_COOKIE_NAME].value
        cookies = {settings.SESSION_COOKIE_NAME: value, "rest": "0"}
        context.add_cookies([{"name": name, "value": text, "url": site} for name, text in cookies.items()])
        page = context.new_page()
        if listens:  # nothing is looked at by itself: events alone bring what the bots do
            page.add_init_script(
                "const timer = setTimeout; window.setTimeout = (f, ms) => f.name === 'look' ? 0 : timer(f, ms)"
            )
        else:  # no event comes
            page.route("**/live?*", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=""))
        page.on(
            "console",
            lambda message: (
                complaints.append(f"{message.text} {message.location}")
                if message.type in ("error", "warning")
                else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        turns = 0
        while turns <= 2:  # past the lost line: a tute may end a match before it
            sit_down(page, site, game, touch=touch)
            wait_for(worker.tables.look, "a table waits", PATIENT_MS / 1000)
            turns = play_through(page, game, touch=touch)
        row = Table.objects.latest("pk")
        assert (row.status, seating.opened(row)[0]["over"]) == ("finished", True)
        look(page, f"{game}-over")
        context.close()
    assert complaints == []


class Company:
    """Three people in their browsers: ana at a desk, berto on a phone, and a guest on a narrow one."""

    def __init__(self, browser, site: str) -> None:
        self.browser, self.site = browser, site
        self.complaints: list[str] = []
        sizes = {"ana": (1280, 800), "berto": (390, 844), "": (320, 700)}
        self.pages = {seat: self._enter(name, *size) for seat, (name, size) in enumerate(sizes.items())}

    def _enter(self, name: str, width: int, height: int):
        size, touch = {"width": width, "height": height}, width < 500
        context = self.browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, locale="en-GB")
        context.set_default_timeout(PATIENT_MS)
        context.add_cookies([{"name": "rest", "value": "0", "url": self.site}])
        if name:
            session = Client()
            session.force_login(players.create(name).user)
            value = session.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": self.site}])
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def gather(self) -> None:
        """Open a table with an option, send the link, and get ready."""
        desk, *invited = self.pages.values()
        desk.goto(f"{self.site}/play/?game=partnership#choose")
        desk.evaluate("document.querySelectorAll('#choose details').forEach((one) => { one.open = true; })")
        desk.select_option("#choose [name=option_hand_songs]", "winning_side")
        desk.click("#choose button[value=friends]")
        desk.wait_for_url(re.compile(r"/tables/[a-z0-9]{10}/"))
        for page in invited:
            page.goto(desk.url)
            page.click("button[value=sit]")
            page.wait_for_selector("button[value=ready]")
        comes(desk, "document.querySelectorAll('.rs:not(.free)').length === 3")
        self.look("room")
        for page in (*invited, desk):
            page.click("button[value=ready]")

    def look(self, name: str) -> None:
        for seat, page in self.pages.items():
            look(page, f"{name}-{seat}")

    @staticmethod
    def asked() -> int:
        """Return the seat whose turn it is."""
        due = TablePerson.objects.exclude(legal=[])
        wait_for(due.exists, "a question", 60)
        return due.get().number

    def play(self, *, until: int | None = None) -> None:
        """Have the person answer whose turn it is; `until`: nobody, once it is the turn of this seat."""
        while (seat := self.asked()) != until:
            comes(self.pages[seat], MY_TURN)
            others = [page for other, page in self.pages.items() if other != seat]
            assert [page.locator("#hand").count() for page in others] == [0, 0], "the others wait"
            answer(self.pages[seat], touch=False)
            if until is None:
                return


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_people_play_together_and_one_of_them_is_cut_off(site: str, browser, worker: WorkerLoop) -> None:
    accepted(house.player(), "greedy")
    company = Company(browser, site)
    desk, phone, _ = company.pages.values()
    company.gather()
    row = Table.objects.select_related("pool").get()
    assert (row.gathering, row.pool.options, row.people.count()) == (False, {"hand_songs": "winning_side"}, 3)
    wait_for(worker.tables.look, "a table waits", PATIENT_MS / 1000)
    for _ in range(4):
        company.play()
    company.look("people")
    company.play(until=1)
    comes(phone, MY_TURN)
    phone.context.set_offline(True)
    Table.objects.update(clock_s=1)
    comes(desk, "[...document.querySelectorAll('.pl .name')].some((one) => one.textContent === 'bot for berto')")
    Table.objects.update(clock_s=0)
    look(desk, "people-cut-off")
    phone.context.set_offline(False)
    comes(phone, "document.querySelector('#back') !== null")
    look(phone, "people-back")
    for person in TablePerson.objects.filter(away=True):  # On a slow machine a second was too short for others, too.
        company.pages[person.number].click("#back button")
    company.play(until=1)
    company.play()
    assert TablePerson.objects.filter(away=True).count() == 0
    desk.click("#say summary")
    desk.click("button[value=thanks]")
    comes(phone, "[...document.querySelectorAll('.badge.words')].some((one) => one.textContent === 'Thanks')")
    for page in company.pages.values():  # Who leaves ends the table for nobody else; the last one ends it.
        assert Table.objects.get().status != "left"
        page.evaluate("document.getElementById('menu').open = true")
        page.click("#leave button")
        page.wait_for_load_state()
    wait_for(lambda: Table.objects.get().status == "left", "the end", 30)
    for page in company.pages.values():
        page.context.close()
    assert company.complaints == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_cut_a_sleeping_screen_and_a_second_device_lose_nothing(site: str, browser, worker: WorkerLoop) -> None:
    accepted(house.player(), "greedy")
    session = Client()
    session.force_login(players.create("ana").user)
    cookies = {settings.SESSION_COOKIE_NAME: session.cookies[settings.SESSION_COOKIE_NAME].value, "rest": "0"}
    complaints: list[str] = []

    def device(width: int, height: int):
        touch, size = width < 500, {"width": width, "height": height}
        context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, locale="en-GB")
        context.set_default_timeout(PATIENT_MS)
        context.add_cookies([{"name": name, "value": value, "url": site} for name, value in cookies.items()])
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    phone, desk = device(390, 844), device(1280, 800)
    phone.goto(f"{site}/play/")
    phone.click("main form button.button")
    phone.wait_for_url(re.compile(r"/tables/[a-z0-9]{10}/"))
    wait_for(worker.tables.look, "a table waits", PATIENT_MS / 1000)

    def turn_of(page) -> str:
        comes(page, MY_TURN)
        return page.locator("#seat").get_attribute("data-turn") or ""

    def is_at(page, number: str) -> None:
        comes(page, f"({MY_TURN}) && document.querySelector('#seat').dataset.turn === '{number}'")

    turn_of(phone)
    answer(phone, touch=False)
    before = turn_of(phone)
    # The line is cut while a card is on its way: it is not lost, and not played twice.
    phone.context.set_offline(True)
    phone.locator("#hand button[name=do]").first.focus()
    phone.keyboard.press("Enter")
    comes(phone, "'lost' in document.querySelector('.game').dataset")
    look(phone, "bad-line-cut")
    phone.wait_for_timeout(30_000)
    phone.context.set_offline(False)
    comes(phone, "!('lost' in document.querySelector('.game').dataset)")
    is_at(phone, before)
    # A second device shows the same and answers; the first one follows.
    desk.goto(phone.url)
    is_at(desk, before)
    look(desk, "bad-line-second")
    answer(desk, touch=False)
    after = turn_of(desk)
    assert int(after) == int(before) + 1
    is_at(phone, after)
    # The screen sleeps, and the table goes on without it.
    lifecycle = phone.context.new_cdp_session(phone)
    lifecycle.send("Page.setWebLifecycleState", {"state": "frozen"})
    for _ in range(2):
        answer(desk, touch=False)
        after = turn_of(desk)
    lifecycle.send("Page.setWebLifecycleState", {"state": "active"})
    is_at(phone, after)
    look(phone, "bad-line-awake")
    answer(phone, touch=False)
    is_at(desk, turn_of(phone))
    row = Table.objects.get()
    answers = row.actions.filter(seat=0).count()
    assert (answers, row.question) == (5, 5)
    for page in (phone, desk):
        page.context.close()
    assert complaints == []
