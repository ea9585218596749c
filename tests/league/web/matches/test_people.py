"""Tables of several people in the browser: nobody is sent a card that their seat may not know, whatever they ask for."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

import engine
from engine.game import declared
from engine.rules.resolving import choices
from engine.runner.spec import BotSpec, MatchSpec
from engine.runner.table import Advise, Question, Taken, play_table
from engine.sandbox import Sandbox
from league.domain.bots import house
from league.domain.people import players
from league.domain.tables import holding, people, rooms, seating
from league.enums import TableWatching
from league.models import Table
from league.web.common.words import card_name
from league.web.previews import links
from tests.league.web.page import Page, faults
from tests.support import rows, tables
from tests.support.league import accepted
from tests.support.parts import mostly_slow
from tests.support.runtimes import lend

SOME = ["brisca"]
LINE = re.compile(r'<li id="d\d+p\d+".*?</li>', re.S)
MOST = 150  # Decisions of a table; some options make long matches.
OFTEN = 17  # Decisions between two looks at the table, each by another viewer.


def make_house() -> None:
    accepted(house.player(), "greedy", games=engine.games())


class Enough(Exception):
    """The match is long enough."""


class Viewer:
    """A person at a seat, or a spectator (seat None). They read every page of a table."""

    def __init__(self, name: str, seat: int | None) -> None:
        self.seat, self.client = seat, Client(headers={"accept-language": "en"})
        self.steps, self.lines, self.events = "moved", list[str](), list[dict[str, object]]()  # As `seat.js` has them.
        self.player = players.create(name) if name else None
        if self.player is not None:
            self.client.force_login(self.player.user)

    def look(self, row: Table, hidden: dict[str, str]) -> None:
        """Read everything that is served of the table. hidden: cards that this viewer may not know, with their names."""
        where = f"/tables/{row.public_id}/"
        if self.seat is None and row.watching == TableWatching.NOBODY:
            for path in (where, f"{where}replay.json", f"/api/v1{where}".rstrip("/")):
                assert self.client.get(path).status_code == 404
            assert row.public_id not in self.client.get("/live", {"topic": f"table:{row.public_id}"}).content.decode()
            return
        part = self.client.get(where, headers={"X-Part": self.steps}).content.decode()
        page = self.client.get(where).content.decode()
        record = self.client.get(f"{where}replay.json").json()
        self.renew(part)
        assert self.events == record["events"]
        assert self.lines == LINE.findall(page)
        api = self.client.get(f"/api/v1{where}".rstrip("/")).content.decode()
        live = self.client.get("/live", {"topic": f"table:{row.public_id}", "since": "1"}).content.decode()
        assert re.findall(r"^data: (.*)$", live, re.M)
        picture = re.search(r'property="og:image" content="[^"]*/preview/([^"/]+)[.]png"', page)
        assert picture is None or not (links.read(picture[1]).laid or links.read(picture[1]).hands)
        assert not {"ETag", "Last-Modified"} & set(self.client.get(where).headers), "no digest of what others hold"
        for text in (part, page):
            words = Page(text).text.lower()
            for card, name in hidden.items():
                assert name.lower() not in words, (self.seat, card)
        for text in (part, page, json.dumps(record["events"]), api, live):
            for card in hidden:
                assert not re.search(rf'(?:#card-|play |"|&quot;){card}["&]', text), (self.seat, card)
        for path in (f"/embed{where}", f"/embed{where}replay.json"):
            assert self.client.get(path).status_code == 404

    def renew(self, part: str) -> None:
        """Take over what a part of the page says of the hand, as `table.js` does."""
        if '<ol class="steps"' not in part:  # Nothing has happened that spectators may know.
            return
        ((self.steps, first),) = re.findall(r'data-steps="([^"]*)" data-first="(\d+)"', part)
        before = self.events[: int(first)]
        (record,) = re.findall(r'<script id="record" type="application/json">(.*?)</script>', part)
        self.events = before + json.loads(record)["events"]
        self.lines = self.lines[: sum(event["e"] != "match" for event in before)] + LINE.findall(part)


@pytest.mark.django_db
@pytest.mark.parametrize("games", mostly_slow([SOME, engine.games()], SOME.__eq__), ids=["some", "all"])
def test_nobody_is_sent_a_card_that_the_seat_may_not_know(games: list[str], tmp_path: Path) -> None:
    rows.once(make_house)
    looked = 0
    (tmp_path / "bot.py").write_text("")
    behind = BotSpec("behind", tmp_path, "python", "bot.py")  # Nobody is away, so it is never asked.
    lend(tmp_path)
    box = Sandbox(tier="none", state_dir=tmp_path)  # No bot runs.
    for game in games:
        for seats in [number for number in declared(game).players if number in (2, 3)] or [min(declared(game).players)]:
            looked += _play(game, seats, box, behind)
    assert looked >= 2 * len(games)


def _options(game: str, seats: int, rng: random.Random) -> dict[str, object]:
    """Return options of a game, at random, that go together."""
    options: dict[str, object] = {}
    for name, choice in sorted(choices(declared(game), seats).items()):
        candidate = options | {name: rng.choice(tables.values(choice))}
        if rng.random() < 0.5:
            with suppress(engine.OptionError):
                engine.load(game, players=seats, **candidate)
                options = candidate
    return options


def _play(game: str, seats: int, box: Sandbox, behind: BotSpec) -> int:
    """Play a board with people at all seats, with the referee and the rows of a worker; return how often the viewers looked."""
    rng, looks = random.Random(f"{game} {seats}"), 0
    options, watching = _options(game, seats, rng), rng.choice(TableWatching.values)
    viewers = [Viewer(f"{game.replace('_', '-')}-{seats}-{seat}", seat) for seat in range(seats)]
    sitters = [viewer.player for viewer in viewers if viewer.player is not None]
    row = rooms.gather(sitters[0], game, players=seats, options=options, watching=watching)
    for sitter in sitters[1:]:
        rooms.take_seat(sitter, row.public_id)
    rooms.start(sitters[0], row.public_id)
    lease = holding.claim("host:1")
    assert lease is not None
    audience = [Viewer("", None), *viewers]
    texts = engine.load(game, players=seats, **options).pack.texts

    def ask(question: Question, decisions: Sequence[Taken], advise: Advise) -> str:
        nonlocal looks
        if question.number >= MOST:
            raise Enough
        holding.ask(lease, question, decisions)
        views = {question.seat: question.events} | {view.seat: view.events for view in question.others}
        if question.number % OFTEN == 0:
            viewer = audience[looks % len(audience)]
            open_text = json.dumps(question.spectated if viewer.seat is None else views[viewer.seat])
            viewer.look(row, {card: card_name(card) for card in texts if f'"{card}"' not in open_text})
            looks += 1
        answer = rng.choice(question.legal)
        row.refresh_from_db()
        seating.act(sitters[question.seat], row.public_id, row.question, answer)
        return answer

    spec = MatchSpec(
        row.public_id,
        game,
        lease.secret,
        f"table-{row.public_id}",
        range(1, 2),
        (behind,),
        players=seats,
        options=options,
    )
    parties, delay = [0] * seats, people.delay(row)
    try:
        result = play_table(spec, parties, range(seats), box, taken=[], ask=ask, stop=lambda: False, delay=delay)
    except Enough:
        return looks
    assert result is not None
    (record,) = json.loads(json.dumps(result.records))
    for view in result.views:
        without_board = [{name: value for name, value in event.items() if name != "board"} for event in view.events]
        assert without_board == engine.redact(record["events"], view.seat)
    holding.finish(lease, result, 10**6)
    return looks


@pytest.mark.django_db
def test_a_link_seats_whoever_opens_it_and_gives_nobody_the_rights_of_the_host() -> None:
    rows.once(make_house)
    ana, berto, guest, stranger = (
        Client(headers={"accept-language": "en"}, enforce_csrf_checks=True) for _ in range(4)
    )
    for name, client in (("ana", ana), ("berto", berto)):
        client.force_login(players.create(name).user)

    def send(client: Client, to: str, **fields: object) -> HttpResponse:
        page = client.get("/play/" if to == "/play/" else to.removesuffix("do/")).content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        return client.post(to, {"csrfmiddlewaretoken": token[1] if token else "", **fields})

    where = send(ana, "/play/", do="friends", game="partnership", level="normal", clock="30").headers["Location"]
    do = f"{where}do/"
    page = ana.get(where)
    text = " ".join(page.content.decode().split())
    assert faults(Page(text)) == []
    assert "no-store" in page.headers["Cache-Control"]
    for words in (
        "bots: Normal",
        "clock: 30 seconds an answer",
        "Start with 3 bots",
        'value="start"',
        'value="change"',
        where,
    ):
        assert words in text
    assert ana.post(do, {"do": "start"}).status_code == 403, "without a token"
    for client in (berto, guest, stranger):
        text = client.get(where).content.decode()
        assert faults(Page(text)) == []
        assert ('value="sit"' in text, 'value="start"' in text, 'value="change"' in text) == (True, False, False)
        for word in ("start", "change", "swap", "send-away", "ready", "rematch", "leave", "say"):
            send(client, do, do=word, phrase="luck")
    row = Table.objects.get()
    assert (row.gathering, row.people.count(), row.level) == (True, 1, "normal")
    assert send(guest, do, do="sit").status_code == send(berto, do, do="sit", seat=2).status_code == 302
    assert settings.GUEST_COOKIE_NAME in guest.cookies
    assert [(person.number, person.player_id is None) for person in row.people.order_by("number")] == [
        (0, False),
        (1, True),
        (2, False),
    ]
    assert "your partner" in berto.get(where).content.decode()
    assert send(berto, do, do="change", game="brisca").status_code == 404
    wrong = send(ana, do, do="change", game="brisca", level="normal", boards="9", clock="30")
    assert wrong.status_code == 422
    assert faults(Page(wrong.content.decode())) == []
    refreshed = send(ana, do, do="refresh", game="brisca", level="normal")
    assert 'value="brisca" selected' in refreshed.content.decode()
    assert send(ana, do, do="change", game="guinote", level="normal", boards="2", clock="0").status_code == 302
    row.refresh_from_db()
    assert (row.pool.game, row.boards, row.clock_s) == ("guinote", 2, 0)
    for client in (ana, berto, guest):
        assert send(client, do, do="ready").status_code == 302
    row.refresh_from_db()
    assert (row.gathering, row.status) == (False, "waiting")
    for client in (ana, stranger):
        assert faults(Page(client.get(where).content.decode())) == []
    assert "You are watching." in stranger.get(where).content.decode()
    send(stranger, do, do="sit")
    assert row.people.count() == 3
    for client in (ana, berto, guest):
        send(client, do, do="leave")
    row.refresh_from_db()
    assert row.status == "left"
    assert stranger.get(where).status_code == 404
    follows = f'data-topic="table:{row.public_id}"'
    assert follows in ana.get(where).content.decode(), "somebody may ask for a rematch"
    send(berto, do, do="rematch")
    text = ana.get(where).content.decode()
    assert (follows in text, "Join the rematch" in text) == (False, True)
    assert "with guest, berto" in " ".join(ana.get("/play/").content.decode().split())
