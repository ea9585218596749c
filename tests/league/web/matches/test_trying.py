"""The editor: with script in a real browser beside a real worker, and without any."""

from __future__ import annotations

import hashlib
import html
import os
import re
import tomllib
from dataclasses import asdict

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engine.runner import Limits
from league.domain.bots import drafts, house, tries
from league.domain.bots.languages import JAVASCRIPT, LANGUAGES, PYTHON
from league.domain.jobs.handlers import tries as handler
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import leases, reports, workers
from league.domain.matches.reports import Receipt
from league.domain.people import players
from league.enums import VersionStatus
from league.models import BotVersion, Draft, Match, Player, Try
from league.models import Worker as WorkerRow
from league.web.matches.editing import TEXTS, template_text
from tests.league.web.conftest import PATIENT_MS
from tests.league.web.page import Page, faults
from tests.support import league, rows
from tests.support.chromium import until
from tests.support.league import BOT, accepted, started

VENDOR = settings.BASE_DIR / "league" / "static" / "league" / "vendor"
TEXT = BOT.decode()


def test_what_is_not_our_own_is_what_it_was() -> None:
    libraries = tomllib.loads((VENDOR / "vendored.toml").read_text(encoding="utf-8"))
    hashes = {library["file"]: library["sha256"] for library in libraries.values()}
    assert hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    for library in libraries.values():
        licence = (VENDOR / library["licence_file"]).read_text(encoding="utf-8")
        assert "Permission is hereby granted" in licence
        assert all(f"\n{package}: Copyright" in licence for package in library["packages"])


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


def form(**change: str) -> dict[str, str]:
    return {"source": TEXT, "game": "partnership", "rival": "greedy", "bot": "", "do": "try", **change}


def played(**fields: object) -> None:
    work = leases.claim("w1")
    assert work is not None
    assert work.kind == "try"
    leases.start(work)
    assert handler.report(work, tries.TryResult(**fields)) == Receipt.STORED


def filled(page: str) -> list[str]:
    """Return the filled buttons of the bar: the next good step."""
    bar = page[page.index('class="acts"') : page.index('id="problems"')]
    return re.findall(r'<button[^>]*class="button"[^>]*(?:value|popovertarget)="([\w-]+)"', bar)


@pytest.mark.django_db
def test_a_text_is_tried_and_submitted_without_script(client, ana) -> None:
    first = Page(client.get("/editor/").content.decode())
    assert faults(first) == []
    opened = client.get("/editor/").content.decode()
    assert "def choose_card" in opened  # the ten lines
    assert filled(opened) == ["try"]

    answer = client.post("/editor/", form(source=TEXT.replace("\n", "\r\n"), bot="Rufo"))
    where = answer.url
    assert Try.objects.get().source == TEXT
    waiting = client.get(where)
    assert "Waiting for a free place to play" in waiting.content.decode()

    played(
        stderr='Traceback (most recent call last):\n  File "/bot/bot.py", line 6, in act\n<b>KeyError: 1</b>\n',
        faults=[{"kind": "crash", "party": 0, "seat": 0, "board": 1, "sitting": 0, "step": 3, "detail": "exit code 1"}],
        lines=[[0, 0, '{"type":"act","id":1,"legal":["play 1o","play 3c"]}', '{"id":1,"do":"play 3c"}']],
        scores=[0, 0],
        decisions=1,
    )
    page = client.get(where).content.decode()
    assert faults(Page(page)) == []
    assert "bot.py, line 6, in act: &lt;b&gt;KeyError: 1&lt;/b&gt;" in page
    assert "three of cups" in page
    assert filled(page) == ["try"], "it has failed"
    assert TEXT.strip().splitlines()[-1] in page
    with CaptureQueriesContext(connection) as queries:
        client.get(where)
    assert len(queries) == 12

    refused = client.post("/editor/", form(do="submit"))
    assert (refused.status_code, "Give your bot a name" in refused.content.decode()) == (422, True)
    submitted = client.post("/editor/", form(do="submit", bot="Rufo", games="partnership"))
    assert submitted.url == "/bots/rufo/v1/"
    version = BotVersion.objects.get(bot__slug="rufo")
    assert (version.games, version.entry) == (["partnership"], "bot.py")
    assert TEXT.splitlines()[3] in client.get("/editor/?from=rufo/1").content.decode()


@pytest.mark.django_db
def test_nothing_is_lost_by_a_refusal(client, settings) -> None:
    settings.QUOTA_TRIES = 1
    for change, status, why in (
        ({"source": " "}, 422, "there is no code"),
        ({"game": "chess"}, 422, "chess"),
        ({"rival": "rufo"}, 422, "rufo"),
        ({"rival": "greedy", "game": "brisca"}, 422, "does not play brisca"),
        ({"do": "submit", "bot": "///"}, 422, "cannot be used"),
        ({"source": TEXT + "#" * tries.MOST_SOURCE}, 422, "the editor takes 64"),
        ({}, 302, ""),
        ({"source": TEXT + "# kept"}, 429, "you have made 1 tries"),
    ):
        answer = client.post("/editor/", form(**change))
        text = answer.content.decode()
        assert (answer.status_code, why in text) == (status, True), (change, text[-3000:])
        assert (
            status == 302
            or not change.get("source", "").strip()
            or "# kept" not in change["source"]
            or "# kept" in text
        )
    assert Try.objects.count() == 1


@pytest.mark.django_db
def test_nobody_else_sees_a_try(client, ana) -> None:
    attempt = tries.begin(ana, TEXT, "partnership", "greedy")
    other = players.create("berto")
    other.user.is_staff = True
    other.user.save()
    foreign = Client()
    foreign.force_login(other.user)
    where = f"/tries/{attempt.work.public_id}/"
    assert client.get(where).status_code == 200
    assert (foreign.get(where).status_code, foreign.get(where + "replay.json").status_code) == (404, 404)
    assert foreign.get("/editor/?from=greedy/1").status_code == 404
    assert Client().get(where).url.startswith("/accounts/login/")
    for path in (
        f"/m/{attempt.work.public_id}/",
        f"/m/{attempt.work.public_id}.jsonl",
        f"/api/v1/matches/{attempt.work.public_id}",
    ):
        assert client.get(path).status_code == 404
    for path in ("/m/", "/status/", "/players/ana/", "/bots/greedy/", "/api/v1/matches"):
        assert attempt.work.public_id not in client.get(path).content.decode()


@pytest.mark.django_db
def test_a_visitor_writes_and_loses_nothing(ana) -> None:
    visitor = Client(headers={"accept-language": "en"})
    page = visitor.get("/editor/?game=cabrero")
    assert page.status_code == 200
    assert faults(Page(page.content.decode())) == []
    for do in ("submit", "here"):
        answer = visitor.post("/editor/", form(do=do, source=TEXT + "# of a visitor", bot="rufo"))
        text = answer.content.decode()
        assert answer.status_code == 401
        assert faults(Page(text)) == []
        assert "# of a visitor" in text
        assert "/accounts/signup/?next=/editor/" in text
    ended = visitor.post("/editor/", form(source=TEXT + "# of a member", member="1"))
    assert (ended.status_code, "# of a member" in ended.content.decode()) == (401, True)
    assert visitor.post("/editor/draft/", {"source": TEXT}).status_code == 401
    assert visitor.get("/editor/?from=rufo/1").url.startswith("/accounts/login/")
    assert not Try.objects.exists()
    assert not Draft.objects.exists()


@pytest.mark.django_db
def test_a_visitor_tries_and_keeps_it_by_signing_up(ana, settings) -> None:
    visitor = Client(enforce_csrf_checks=True, headers={"accept-language": "en"})
    page = visitor.get("/editor/").content.decode()
    stale = visitor.post("/editor/", form(source=TEXT + "# kept"))
    assert (stale.status_code, "# kept" in stale.content.decode(), Try.objects.count()) == (403, True, 0)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    answer = visitor.post("/editor/", form(csrfmiddlewaretoken=token[1]))
    where, cookie = answer.url, answer.cookies[settings.GUEST_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert "Waiting for a free place to play" in visitor.get(where).content.decode()
    played(scores=[0, 0], decisions=1)
    answer = visitor.get(where)
    assert faults(Page(answer.content.decode())) == []
    assert "no-store" in answer["Cache-Control"]
    assert "Your latest tries" in answer.content.decode()

    for other in (Client(), Client(headers={"cookie": f"{settings.GUEST_COOKIE_NAME}=forged"})):
        assert other.get(where).url.startswith("/accounts/login/")
        assert other.get(f"{where}replay.json").url.startswith("/accounts/login/")
        assert "Your latest tries" not in other.get("/editor/").content.decode()
    member = Client()
    member.force_login(ana.user)
    assert member.get(where).status_code == 404
    assert member.get(f"{where}replay.json").status_code == 404

    word = "a long password 7"
    signing = Client(headers={"accept-language": "en"})
    signing.cookies[settings.GUEST_COOKIE_NAME] = cookie.value
    signing.post("/accounts/signup/", {"name": "eva", "password": word, "password2": word})
    assert Try.objects.get().owner == Player.objects.get(name="eva")
    assert signing.get(where).status_code == 200
    assert visitor.get(where).url.startswith("/accounts/login/")


@pytest.mark.django_db
def test_an_address_tries_so_often_an_hour_whatever_its_cookies(ana, settings) -> None:
    settings.LIMITS = {**settings.LIMITS, "guest-try": (1, 3600)}
    assert Client().post("/editor/", form()).status_code == 302
    refused = Client(headers={"accept-language": "en"}).post("/editor/", form(source=TEXT + "# kept"))
    text = refused.content.decode()
    assert (refused.status_code, "# kept" in text, "visitors from your network have made 1 tries" in text) == (
        429,
        True,
        True,
    )
    settings.LIMITS = {**settings.LIMITS, "guest-try": (5, 3600)}
    assert Client(REMOTE_ADDR="192.0.2.8").post("/editor/", form(do="series")).status_code == 302
    assert Try.objects.latest("pk").work.boards_planned == 20
    assert Client(REMOTE_ADDR="192.0.2.8").post("/editor/", form()).status_code == 429, "a series counts as five tries"
    settings.GUEST_TRIES = 0
    assert Client(REMOTE_ADDR="192.0.2.7").post("/editor/", form()).status_code == 401


@pytest.mark.slow
@pytest.mark.django_db
def test_a_bot_in_javascript_keeps_its_language(client, ana) -> None:
    code = template_text("first", JAVASCRIPT)
    page = client.get("/editor/?language=javascript").content.decode()
    assert faults(Page(page)) == []
    assert "chooseCard" in page
    assert "bot.mjs" in page
    assert "<b>beats</b>(card, other)" in page
    assert "would_win" not in page, "the help is that of the other language"
    assert client.post("/editor/draft/", {"source": code + "// draft", "language": "javascript"}).status_code == 204
    assert "// draft" in client.get("/editor/").content.decode(), "what was changed last"
    assert 'href="/editor/?language=javascript"' in client.get("/").content.decode()
    assert "// draft" not in client.get("/editor/?language=python").content.decode()
    assert client.post("/editor/draft/", {"source": code, "language": "basic"}).status_code == 422

    where = client.post("/editor/", form(source=code, language="javascript")).url
    assert Try.objects.get().language == "javascript"
    played(
        stderr="file:///bot/bot.mjs:6\n  x();\n  ^\n\nReferenceError: x is not defined\n    at file:///bot/bot.mjs:6:3\n",
        faults=[{"kind": "crash", "party": 0, "seat": 0, "board": 1, "sitting": 0, "step": 3, "detail": "exit code 1"}],
        scores=[0, 0],
    )
    broken = client.get(where).content.decode()
    assert 'data-line="6"' in broken
    assert "bot.mjs, line 6: ReferenceError: x is not defined" in broken
    assert 'data-language="javascript"' in broken

    submitted = client.post("/editor/", form(do="submit", bot="nodo", source=code, language="javascript"))
    assert submitted.url == "/bots/nodo/v1/"
    version = BotVersion.objects.get(bot__slug="nodo")
    assert (version.runtime, version.entry) == ("node", "bot.mjs")
    assert not Draft.objects.exists()
    assert "Open in the editor" in client.get(submitted.url).content.decode()
    assert client.get("/bots/nodo/v1/source").content.decode() == code
    for again in ("/editor/?from=nodo/1", "/editor/?bot=nodo"):
        opened = client.get(again).content.decode()
        assert 'data-language="javascript"' in opened
        assert "chooseCard" in opened
    assert "choose_card" in client.get("/editor/?bot=nodo&language=python").content.decode()


@pytest.mark.django_db
def test_a_language_without_a_runtime_says_so(client) -> None:
    workers.register("w:1", tier="landlock")
    WorkerRow.objects.update(runtimes=["python", "binary"])
    assert "(not on this server)" in client.get("/editor/").content.decode()
    WorkerRow.objects.update(runtimes=["python", "binary", "node"])
    assert "(not on this server)" not in client.get("/editor/").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_the_template_for_the_game_comes_first(client) -> None:
    for game, text, title in (
        ("subastado", "class Bidder", "For auctions"),
        ("cabrero", "class Avoider", "For games in which points hurt"),
        ("partnership", "class MyBot", "First bot"),
    ):
        page = client.get(f"/editor/?game={game}").content.decode()
        assert text in page
        first = re.search(r'<ul id="starts">\s*<li><a[^>]*>([^<:]+)', page)
        assert first is not None
        assert first[1].strip() == title


@pytest.mark.django_db
def test_a_form_older_than_the_session_keeps_the_code(ana) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"accept-language": "en"})
    strict.force_login(ana.user)
    refused = strict.post("/editor/", form(source=TEXT + "# kept"))
    text = refused.content.decode()
    assert refused.status_code == 403
    assert "# kept" in text
    assert not Try.objects.exists()
    assert strict.post("/editor/draft/", {"source": TEXT}).status_code == 403
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
    assert token is not None
    again = strict.post("/editor/", form(source=TEXT + "# kept", csrfmiddlewaretoken=token[1]))
    assert again.url.startswith("/tries/")


@pytest.mark.django_db
def test_a_draft_comes_back_and_ends_when_it_is_submitted(client, ana) -> None:
    assert client.post("/editor/draft/", {"draft": "", "source": TEXT + "# draft"}).status_code == 204
    assert "# draft" in client.get("/editor/").content.decode()
    assert "# draft" not in client.get("/editor/?template=careful").content.decode()
    assert client.post("/editor/draft/", {"draft": "luna", "source": TEXT}).status_code == 422
    other = Client()
    other.force_login(players.create("berto").user)
    assert "# draft" not in other.get("/editor/").content.decode()
    assert client.get("/editor/draft/").status_code == 405

    submitted = client.post("/editor/", form(do="submit", bot="My_Bot 2", draft="", source=TEXT + "# draft"))
    assert submitted.url == "/bots/my-bot-2/v1/"
    assert "Your bot is called my-bot-2" in client.get(submitted.url).content.decode()
    assert not Draft.objects.exists()
    assert "# draft" in client.get("/editor/?bot=my-bot-2").content.decode()  # The text of its last version
    client.post("/editor/draft/", {"draft": "my-bot-2", "source": TEXT + "# newer"})
    assert "# newer" in client.get("/editor/?bot=my-bot-2").content.decode()
    assert (
        client.post("/editor/draft/", {"draft": "my-bot-2", "do": "discard"}).url
        == "/editor/?bot=my-bot-2&language=python"
    )
    assert "# newer" not in client.get("/editor/?bot=my-bot-2").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_every_template_can_be_submitted(client) -> None:
    for language in LANGUAGES.values():
        for name in TEXTS[language.key]:
            text = template_text(name, language)
            assert tries.checked(text).startswith(b'"""' if language is PYTHON else b"// ")
            page = client.get(f"/editor/?template={name}&language={language.key}").content.decode()
            assert text.splitlines()[0] in html.unescape(page)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_refused_name_is_said_at_its_field(client, ana) -> None:
    accepted(players.create("berto"), "luna")
    for name, why in (("", "Give your bot a name"), ("luna", "taken by another player"), ("///", "cannot be used")):
        answer = client.post("/editor/", form(do="submit", bot=name))
        page = answer.content.decode()
        assert answer.status_code == 422
        assert page.count(html.escape(why)) == 2  # In the summary with a link to the field, and at the field
        assert 'href="#id_bot"' in page
        assert "<title>Not sent" in page
        assert faults(Page(page)) == []


@pytest.mark.slow
@pytest.mark.django_db
def test_a_series_answers_in_a_sentence(client, ana) -> None:
    where = client.post("/editor/", form(do="series")).url
    boards = [{"number": number, "scores": [100 + number % 3 * 20, 90]} for number in range(1, 21)]
    played(boards=boards, decisions=400)
    page = client.get(where).content.decode()
    assert faults(Page(page)) == []
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Won 20 of 20 boards against greedy" in text
    assert re.search(r"Ahead by \d+ ± \d+ points a board; better than greedy: 95 % sure", text)
    cards = re.search(r'name="cards" value="(\w+)"', page)
    assert cards is not None
    again = client.post("/editor/", form(do="series-again", cards=cards[1], source=TEXT + "# changed")).url
    played(boards=[{**board, "scores": [80, 90]} for board in boards], decisions=400)
    text = " ".join(re.sub(r"<[^>]+>", "", client.get(again).content.decode()).split())
    assert "Your last change · same 20 deals" in text
    assert "weaker than the previous code" in text
    even = [{"number": number, "scores": [90 + (-20 if number % 2 else 20), 90]} for number in range(1, 21)]
    level = client.post("/editor/", form(do="series", source=TEXT + "# even")).url
    played(boards=[{"number": 1, "scores": [78, 90]}, *even[1:]], decisions=400)
    page = client.get(level).content.decode()
    assert re.search(r"Level, ± \d+ points a board", " ".join(re.sub(r"<[^>]+>", "", page).split())), "not ahead by 0"
    assert filled(page) == ["submit-as"]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_try_by_other_rules(client, ana) -> None:
    BotVersion.objects.update(games=[])
    where = client.post("/editor/", form(game="brisca", players="3")).url
    assert Try.objects.get().work.pool.players == 3
    assert re.search(r'<option value="3" selected', client.get(where).content.decode())
    assert "Lost this board" not in client.get(where).content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_a_decision_of_a_match_is_opened_in_the_editor(client, ana) -> None:
    version, greedy = accepted(ana, "rufo"), BotVersion.objects.get(bot__slug="greedy")
    match = started(ana, [version, greedy], boards=1).matches.get()
    work = leases.claim("w1", prefer=match.pk)
    assert work is not None
    leases.start(work)
    outcome = league.result(work)
    for board in outcome.boards:
        for sitting in board.sittings:
            steps = len(sitting.replay["actions"])
            details = {"limits": asdict(Limits()), "seeds": [1, 2, 3, 4], "boards": [1]}
            times = {name: [0] * steps for name in ("seats", "cpu", "wall", "latency")}
            sitting.replay.update(
                {"pass": details, "faults": [], "timings": {"unit": "us", "steps": list(range(steps)), **times}}
            )
    assert reports.report(work, outcome) == reports.Receipt.STORED

    where = f"/m/{match.public_id}/sent/?b=1&s=1"
    assert where.replace("&", "&amp;") in client.get(f"/m/{match.public_id}/?b=1&s=1").content.decode()
    page = Page(client.get(where).content.decode())
    assert faults(page) == []
    first = next(link for link in page.links if "at=" in link)
    opened = client.get(first).content.decode()
    at = re.search(r'name="at" value="([^"]+)"', opened)
    assert at is not None
    assert at[1].startswith(f"{match.public_id}.1.1.")
    assert TEXT.splitlines()[3] in opened  # The text of the version that played
    answer = client.post("/editor/", form(at=at[1], do="here"))
    assert Try.objects.get().at["match"] == match.public_id
    played(
        lines=[[0, 1, '{"type":"act","id":1,"legal":["play 1o","play 3c"]}', "play 3c"]], logged="play 1o", decisions=1
    )
    answered = client.get(answer.url).content.decode()
    assert faults(Page(answered)) == []
    assert re.search(r'In the match: .*<span class="deed">.*ace of coins', answered, re.DOTALL)
    assert at[1] in answered
    for wrong in ("", "a.b", f"{match.public_id}.1.0.1.0", "x.1.1.1.1"):
        assert client.post("/editor/", form(at=wrong, do="here")).status_code == 422
    stranger = Client()
    stranger.force_login(players.create("berto").user)
    assert stranger.get(where).status_code == 404


# ---- in a browser


def house_plays() -> None:
    for version, _ in house.enter():
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)


class Author:
    """A person before a page: what the browser complained about is kept, and pictures are taken if a folder is named."""

    def __init__(self, browser, width: int, height: int) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
        self.context.set_default_timeout(PATIENT_MS)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.width, self.folder = width, os.environ.get("SCREENSHOTS", "")

    def _hear(self, message) -> None:
        refused = re.search(r"status of (401|403|422)", message.text)  # Answers that the page expects
        if message.type in ("error", "warning") and not refused:
            self.complaints.append(f"{message.text} {message.location}")

    def write(self, text: str) -> None:
        self.part("c")
        self.page.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def part(self, name: str) -> None:
        tab = self.page.locator(f".edtabs a[href='#{name}']")
        if tab.is_visible():
            tab.click()

    def text(self) -> str:
        return self.page.evaluate("document.getElementById('id_source').value")

    def look(self, name: str) -> None:
        if self.folder:
            self.page.screenshot(path=f"{self.folder}/editor-{name}-{self.width}.png")
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    def is_in_view(self, *selectors: str) -> None:
        for selector in selectors:
            box = self.page.locator(selector).first.bounding_box()
            assert box is not None, selector
            assert box["y"] >= 0, selector
            assert box["y"] + box["height"] <= self.page.viewport_size["height"], selector


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_a_student_writes_tries_and_submits_a_bot(
    site: str, browser, worker: WorkerLoop, width: int, height: int
) -> None:
    house_plays()
    author = Author(browser, width, height)
    page, wide = author.page, width > 1000

    # A visitor writes at once
    page.goto(f"{site}/editor/")
    until(
        page,
        "() => document.querySelector('.code-editor')?.shadowRoot.querySelector('.cm-content')?.textContent.includes('choose_card')",
    )
    if wide:
        author.is_in_view(".edcode", ".edboard", ".edcons", "button[value=try]", "button[value=series]")
    author.look("new")
    text = template_text("first") + "# by a visitor\n"
    author.write(text)
    page.locator("button[popovertarget=submit-as]").click()
    page.fill("#id_bot", "carta")
    page.locator("#submit-as button[value=submit]").click()
    page.wait_for_selector("#account[open]")
    author.look("account")
    page.locator("#account a.button").click()
    page.fill("[name=name]", "eva")
    page.fill("[name=password]", "a long password 7")
    page.locator("main button.button:not(.plain)").click()
    page.wait_for_url("**/editor/")
    until(page, "() => document.getElementById('id_source').value.includes('# by a visitor')")
    until(page, "() => document.querySelector('.saved').textContent !== ''")
    author.look("back")

    # Who has no mouse gets in, and out again
    if wide:
        page.locator(".cm-content").focus()
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "id_game"

    # A name of the view is completed
    author.write(text + "    view.woul")
    page.keyboard.press("Backspace")
    until(page, "() => document.querySelector('.code-editor').shadowRoot.querySelector('[role=option]') !== null")
    author.look("names")
    page.keyboard.press("Enter")
    assert author.text().endswith("view.would_win()")

    # It plays, in the same view
    author.write(text)
    page.evaluate("window.stays = true")
    page.locator("button[value=try]").click()
    page.wait_for_url("**/tries/*/")
    assert worker.look() is True
    until(page, "() => document.querySelector('tute-replay.ready .felt .card') !== null")
    assert page.evaluate("window.stays") is True
    assert page.evaluate("scrollY") == 0
    assert page.locator("#o-asked .asked li").count() > 6
    assert "this board" in page.evaluate("document.getElementById('o-result').textContent")
    if wide:
        author.is_in_view(".edcode", "#board .felt", "#board [data-do=play]", "#o-result .answer")
    hands = "() => [...document.querySelectorAll('#board .hand [data-card]')].map((one) => one.dataset.card).join()"
    dealt = page.evaluate(hands)
    author.look("played")

    # Broken: its line is marked, with the message
    author.write(text.replace("winners or cards", "losers or cards"))
    played = page.url
    page.locator("button[value=again]").click()
    page.wait_for_url(lambda url: "/tries/" in url and url != played)
    assert worker.look() is True
    until(
        page,
        "() => document.getElementById('console').textContent.includes(\"NameError: name 'losers' is not defined\")",
    )
    author.part("c")
    marked = "document.querySelector('.code-editor').shadowRoot.querySelector('.cm-bad')"
    assert "losers or cards" in page.evaluate(f"{marked}.textContent")
    assert "losers" in page.evaluate(f"{marked}.dataset.message")
    author.look("broken")

    # Mended, on the same cards
    author.write(text)
    broken = page.url
    page.locator("button[value=again]").click()
    page.wait_for_url(lambda url: "/tries/" in url and url != broken)
    assert worker.look() is True
    until(
        page,
        "() => document.querySelector('#o-result .answer') !== null && document.querySelector('tute-replay.ready .card') !== null",
    )
    assert page.evaluate(hands) == dealt

    # How strong it is, in a sentence
    page.locator("button[value=series]").click()
    page.wait_for_selector("#console .waiting", state="attached")
    assert worker.look() is True
    until(page, "() => document.querySelectorAll('#console .cells li').length === 20")
    assert re.search(r"Won \d+ of 20 boards", page.evaluate("document.getElementById('o-result').textContent"))
    author.part("o")
    author.look("series")

    # Submitted: the name is asked at the button
    page.locator("button[popovertarget=submit-as]").click()
    page.locator("#submit-as button[value=submit]").click()
    until(page, "() => document.querySelector('#submit-as .errors') !== null")
    assert page.evaluate("document.activeElement.id") == "id_bot"
    author.look("nameless")
    page.fill("#id_bot", "Mi Bot")
    page.locator("#submit-as summary").click()
    page.locator("#submit-as input[value=brisca]").check()
    page.locator("#submit-as button[value=submit]").click()
    page.wait_for_url("**/bots/mi-bot/v1/")
    assert "Your bot is called mi-bot" in page.inner_text("#main")
    assert worker.look() is True
    page.reload()
    assert "Accepted in its game" in page.inner_text("#main")
    author.look("accepted")

    # The next version begins with this text
    page.get_by_role("link", name="Open in the editor").click()
    page.wait_for_url("**/editor/?from=mi-bot/1")
    until(page, "() => document.querySelector('.code-editor') !== null")
    assert author.text() == text
    assert Draft.objects.count() == 0
    author.look("next")
    author.context.close()
    assert author.complaints == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_visitor_tries_a_bot_in_javascript_and_keeps_it(site: str, browser, worker: WorkerLoop) -> None:
    """A walk on a phone; that of the student is at a desk, too."""
    house_plays()
    author = Author(browser, 390, 844)
    page = author.page
    page.goto(f"{site}/editor/")
    page.get_by_role("link", name="JavaScript", exact=True).click()
    page.wait_for_url("**/editor/?language=javascript*")
    until(page, "() => document.querySelector('.code-editor') !== null")
    author.look("javascript")
    text = template_text("first", JAVASCRIPT)

    # A name of the view is completed
    author.write(text + "  view.beatt")
    page.keyboard.press("Backspace")
    until(page, "() => document.querySelector('.code-editor').shadowRoot.querySelector('[role=option]') !== null")
    page.keyboard.press("Enter")
    assert author.text().endswith("view.beats()")

    # Broken: its line is marked
    author.write(text.replace("winners.length", "wins.nothing.length"))
    page.locator("button[value=try]").click()
    page.wait_for_url("**/tries/*/")
    assert worker.look() is True
    until(
        page,
        "() => document.getElementById('console').textContent.includes('bot.mjs, line 9, in chooseCard: TypeError')",
    )
    author.part("c")
    marked = "document.querySelector('.code-editor').shadowRoot.querySelector('.cm-bad')"
    assert "wins.nothing.length" in page.evaluate(f"{marked}.textContent")
    author.look("javascript-broken")

    # Mended, on the same cards
    author.write(text)
    broken = page.url
    page.locator("button[value=again]").click()
    page.wait_for_url(lambda url: "/tries/" in url and url != broken)
    assert worker.look() is True
    until(page, "() => document.querySelector('tute-replay.ready .felt .card') !== null")
    assert "this board" in page.evaluate("document.getElementById('o-result').textContent")
    author.look("javascript-played")

    # A visitor may play, but not submit. Signed up: the tries and the draft are there, and it is submitted
    until(page, "() => document.querySelector('.code-editor') !== null")
    page.locator("button[popovertarget=submit-as]").click()
    page.fill("#id_bot", "nodo")
    page.locator("#submit-as button[value=submit]").click()
    page.wait_for_selector("#account[open]")
    page.locator("#account a.button").click()
    page.fill("[name=name]", "eva")
    page.fill("[name=password]", "a long password 7")
    page.locator("main button.button:not(.plain)").click()
    page.wait_for_url("**/tries/*/")
    until(page, "() => document.querySelector('.code-editor') !== null")
    assert author.text() == text
    assert list(Try.objects.values_list("owner__name", flat=True)) == ["eva", "eva"]
    page.locator("button[popovertarget=submit-as]").click()
    page.fill("#id_bot", "nodo")
    page.locator("#submit-as button[value=submit]").click()
    page.wait_for_url("**/bots/nodo/v1/")
    version = BotVersion.objects.get(bot__slug="nodo")
    assert (version.runtime, version.entry) == ("node", "bot.mjs")
    page.get_by_role("link", name="Open in the editor").click()
    page.wait_for_url("**/editor/?from=nodo/1")
    until(page, "() => document.querySelector('.code-editor') !== null")
    assert author.text() == text
    author.context.close()
    assert author.complaints == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_ended_session_loses_nothing(site: str, browser) -> None:
    house_plays()
    player = players.create("ana", password="a long password 7")
    session = Client()
    session.force_login(player.user)
    author = Author(browser, 1280, 800)
    value = session.cookies[settings.SESSION_COOKIE_NAME].value
    author.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}])
    page = author.page
    page.goto(f"{site}/editor/")
    until(page, "() => document.querySelector('.code-editor') !== null")
    author.write(TEXT + "# first")
    until(page, "() => /Draft saved \\d/.test(document.querySelector('.saved').textContent)")
    assert drafts.find(player, drafts.NEW) is not None

    # The session ends while the page is open
    author.context.clear_cookies()
    author.write(TEXT + "# second")
    page.locator("button[value=try]").click()
    page.wait_for_selector("#account[open]")
    assert "Log in again" in page.inner_text("#account")
    page.locator("#account a.button").click()
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", "a long password 7")
    page.locator("main button.button:not(.plain)").click()
    page.wait_for_url("**/editor/")
    until(page, "() => document.getElementById('id_source').value.includes('# second')")

    # A second page logged in again meanwhile: the token of the first is old, and the try begins all the same
    author.context.clear_cookies()
    session.force_login(Player.objects.get(name="ana").user)
    value = session.cookies[settings.SESSION_COOKIE_NAME].value
    author.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}])
    page.locator("button[value=try]").click()
    until(
        page, "() => location.pathname.startsWith('/tries/') || document.querySelector('#problems').textContent !== ''"
    )
    assert page.inner_text("#problems") == ""
    assert Try.objects.get().source == TEXT + "# second"
    author.context.close()
    assert author.complaints == []
