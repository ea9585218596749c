"""A larger league and its site, and answers of the site as clients receive them."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import brotli
import pytest
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext

from engine.judging import Child
from league.domain.consultations import asking as consultations
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.domain.people import players
from league.domain.tournaments import circuits, events, releases, tournaments
from league.enums import EntryPolicy
from league.models import Tournament
from league.response_cache import ResponseCache
from league.service import changes
from tests.league.web.conftest import League, played
from tests.support import consulting, rows
from tests.support import league as made


class Answered:
    """An answer as a client receives it."""

    watched = True  # counted statements go through cursors (league.service.direct)

    def __init__(self, site: Callable, path: str, **headers: str) -> None:
        address, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": address,
            "QUERY_STRING": query,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
            **headers,
        }
        lines: list[tuple[str, str]] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
            self.status = int(status[:3])
            lines[:] = headers

        with CaptureQueriesContext(connection) if self.watched else nullcontext([]) as queries:
            answer = site(environ, start_response)
            self.raw = b"".join(answer)
            if hasattr(answer, "close"):
                answer.close()
        self.sql = [query["sql"] for query in queries]
        self.headers = {name.lower(): value for name, value in lines}
        assert len(self.headers) == len(lines), "a header comes twice"

    @property
    def body(self) -> bytes:
        return {"gzip": gzip.decompress, "br": brotli.decompress}.get(self.headers.get("content-encoding", ""), bytes)(
            self.raw
        )

    @property
    def kept(self) -> bool:
        """True if the cache gave it: one query, for the counters."""
        return len(self.sql) == 1 and "league_change" in self.sql[0]


@pytest.fixture(autouse=True)
def _connection_stays() -> Iterator[None]:
    """Keep the connection of the test, which holds its league, open after a request, as Django's client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def _plain(settings) -> None:
    cache.clear()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    settings.ALLOWED_HOSTS = ["testserver"]


DOCUMENT = {
    "name": "Velvet night",
    "game": "partnership",
    "stages": [{"format": "round_robin", "boards": 2, "advance": 2}, {"format": "single_elimination", "boards": 2}],
}


@dataclass
class Larger(League):
    """That league with an open knock-out."""

    knockout: Tournament


@pytest.fixture
def league(db, monkeypatch, settings) -> Larger:
    """A league whose matches are all audited, with cheap analyses."""
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    settings.AUDIT_PERCENT = 100
    return rows.once(make_larger)


def make_larger() -> Larger:
    """Make a league with an open knock-out, an event with entries, a recurring league without a season, and requests about matches."""
    league = played()
    three = [league.rufo, league.luna, league.sol]
    knockout = tournaments.create(
        league.ana, "Knock-out", "partnership", boards=1, format="single_elimination", versions=three, now=made.NOW
    )
    terms = releases.ReleaseTerms(due=made.later(86400))
    shy = made.accepted(players.create("shy", now=made.NOW), "shy", policy=EntryPolicy.ASK)
    events.create(league.ana, DOCUMENT, [*three, shy], terms=terms, now=made.NOW)
    circuit = circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=made.NOW)
    circuits.join(circuit, league.rufo.bot, player=league.ana, now=made.NOW)
    asking.ask(league.faulty, "open", league.ana, now=made.NOW)
    consulting.enter("greedy")
    consultations.ask(consulting.told(league.clean), 1, 0, 0, "greedy", league.ana, now=made.NOW)
    return Larger(**vars(league), knockout=knockout)


@pytest.fixture
def site(monkeypatch) -> ResponseCache:
    monkeypatch.setattr(changes, "CLOCK_S", 1e9)  # The clock stands still.
    return ResponseCache(get_wsgi_application())
