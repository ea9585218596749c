"""A league that has been played, readers of its pages, and a real browser."""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.hashers import make_password
from django.core.cache import cache
from django.test import Client

import engine
from league.domain.bots import totals
from league.domain.matches import logs
from league.domain.people import players
from league.domain.ratings import ratings
from league.domain.tournaments import progress, tournaments
from league.models import Arena, ArenaEntry, BotVersion, Match, Player, Pool, Sitting, Tournament
from tests.support import league as made
from tests.support import rows
from tests.support.live import database_url
from tests.support.playing import choose
from tests.support.processes import Process, free_port

PATIENT_MS = 180_000  # Longest wait of a browser: on a busy machine a log-in may take half a minute
STDERR = "log of rufo v1"  # tests.support.league writes it for that bot
SECRETS = (*made.WORDS_OF_FAULT, STDERR)


@pytest.fixture(autouse=True)
def _fresh_limits() -> None:
    """Rate limits are counted in the cache, which outlives a test."""
    cache.clear()


@pytest.fixture(autouse=True)
def _files_of_the_tree(settings) -> None:
    """Static files as they stand in the tree, whatever a demo has collected under var/ before."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@dataclass
class League:
    """Ana's rufo met Berto's luna and Cira's sol in the cup, twice two boards each; rufo crashed in `faulty`. `next_cup` is open."""

    ana: Player
    berto: Player
    rufo: BotVersion
    luna: BotVersion
    sol: BotVersion
    cup: Tournament
    next_cup: Tournament
    faulty: Match
    clean: Match
    pool: Pool
    arena: Arena


@functools.cache
def hashed(password: str) -> str:
    """A password as the database keeps it, hashed once for the run: that takes longer than most tests."""
    return make_password(password)


def played() -> League:
    """Make that league in the present database."""
    ana = players.create("ana", now=made.NOW)
    ana.user.password = hashed("a long password")
    ana.user.save()
    berto, cira = players.create("berto", now=made.NOW), players.create("cira", now=made.NOW)
    rufo, luna, sol = made.accepted(ana, "rufo"), made.accepted(berto, "luna"), made.accepted(cira, "sol")
    cup = made.started(ana, [rufo, luna, sol])
    faulty, clean = None, None
    for match in cup.matches.order_by("id"):
        if faulty is None and match.parties.filter(version=rufo).exists():
            faulty = made.crash(match, rufo)
        else:
            clean = made.play(match)
    progress.advance(cup, now=made.NOW)
    ratings.refresh(cup.pool, now=made.NOW)
    totals.count_new(now=made.NOW)
    next_cup = tournaments.create(ana, "Next cup", "corriente", versions=[rufo], now=made.NOW)
    assert faulty is not None
    assert clean is not None
    hours = {"start": made.NOW, "ends": made.NOW.replace(year=2100), "created": made.NOW}
    arena = Arena.objects.create(slug="arena", pool=cup.pool, **hours)
    ArenaEntry.objects.create(arena=arena, player=ana, joined=made.NOW, points=2, games=1, wins=1)
    ArenaEntry.objects.create(arena=arena, bot=luna.bot, joined=made.NOW, games=1)
    return League(ana, berto, rufo, luna, sol, cup, next_cup, faulty, clean, cup.pool, arena)


def record(key: str, seed: str, *, players: int | None = None, deals: int | None = None) -> dict:
    """The record of a sitting of any game, played at random by the engine."""
    game = engine.load(key) if players is None else engine.load(key, players=players)
    state = game.new_match(seed=seed, deals=deals)
    rng = random.Random(seed)
    while not state.is_over:
        state.apply(choose(state, rng))
    return engine.replay.make(state)


def put(match: Match, replay: dict, **change: object) -> Sitting:
    """Let the first sitting of `match` hold another record."""
    match = Match.objects.get(pk=match.pk)
    rows = list(Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number"))
    opened = logs.opened(match)
    records = {place: opened.record(place) for place in opened.places()}
    logs.replace(match, logs.pack_records(records | {(rows[0].board.number, rows[0].number): {**replay, **change}}))
    return rows[0]


@pytest.fixture
def league(db) -> League:
    """That league."""
    return rows.once(played)


@pytest.fixture
def reader() -> Client:
    """Nobody, reading Spanish."""
    return Client(headers={"accept-language": "es"})


@pytest.fixture
def owner(league) -> Client:
    """Ana, who owns rufo and both tournaments."""
    client = Client(headers={"accept-language": "es"})
    client.force_login(league.ana.user)
    return client


@pytest.fixture
def stranger(league) -> Client:
    """Berto, who does not."""
    client = Client(headers={"accept-language": "es"})
    client.force_login(league.berto.user)
    return client


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[object]:
    """One Chromium for the run."""
    from playwright.sync_api import sync_playwright

    from tests.support.chromium import FLAGS

    # Playwright keeps an event loop in this thread, so Django must be allowed to run the queries of the tests.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def site(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """The address of gunicorn on the database of this test."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "league.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "4"]
    command += ["--worker-class", "league.service.web_worker.BufferingWorker", "--no-control-socket"]
    environment = {**os.environ, "DATABASE_URL": database_url(), "SECRET_KEY": configured.SECRET_KEY, "HTTPS": "0"}
    environment |= {"STATE_DIR": str(tmp_path), "BROKER_URL": "filesystem://"}
    process = Process("gunicorn", command, tmp_path / "log", env=environment, cwd=configured.BASE_DIR)
    process.wait_until(lambda: "Booting worker" in process.tail(), "it listens", 60)
    yield f"http://127.0.0.1:{port}"
    process.stop()


@dataclass
class Visit:
    """A page in the browser with all that went wrong in it."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def go(self, url: str) -> None:
        """Open an address."""
        self.page.goto(url)
        if self.page.locator("tute-replay").count():
            # its buttons and keys work from then on: a busy machine may be idle on the network long before
            self.page.locator("tute-replay.ready").wait_for(state="attached")


@pytest.fixture
def live(browser, live_server) -> tuple[str, League]:
    """The address of a served league, and the league."""
    return live_server.url, rows.once(played)


@pytest.fixture
def visit(browser) -> Iterator[object]:
    contexts = {}  # one for each way to look, so that style sheets and scripts are fetched once a test

    def open_page(url: str, *, width: int = 1280, height: int = 800, scheme: str = "light", **options: object) -> Visit:
        way = {"viewport": {"width": width, "height": height}, "color_scheme": scheme, "locale": "es-ES", **options}
        if repr(way) not in contexts:
            contexts[repr(way)] = browser.new_context(**way)
            contexts[repr(way)].set_default_timeout(PATIENT_MS)
        opened = Visit(contexts[repr(way)].new_page())
        opened.page.on(
            "console",
            lambda message: opened.complaints.append(message.text) if message.type in ("error", "warning") else None,
        )
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.hosts.add(request.url.split("/")[2]))
        open_it = opened.go if options.get("java_script_enabled", True) else opened.page.goto
        open_it(url)
        return opened

    yield open_page
    for context in contexts.values():
        context.close()
