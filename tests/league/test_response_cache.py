"""The response cache gives answers again while nothing that they show has changed, to anonymous readers only."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import brotli
import psycopg
import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from engine.judging import Child
from engine.runner import audit as runner
from league import response_cache
from league.api import urls as api_urls
from league.domain.audits import sampling
from league.domain.bots import bots
from league.domain.consultations import asking as consultations
from league.domain.core import clock, queue
from league.domain.jobs.handlers import analysis, audits
from league.domain.judgements import asking, summing
from league.domain.matches import embargoes, leases, matches, reports
from league.domain.people import bans, players, tokens
from league.domain.ratings import daily, idle, ratings
from league.domain.talk import comments, places
from league.domain.tournaments import circuits, enrolment, events, progress, releases, requests, tournaments
from league.enums import Audience, EntryPolicy
from league.models import Bot, Circuit, Comment, EntryRequest, Event, Match, Rating, Tournament
from league.response_cache import ResponseCache
from league.service import changes
from league.web import urls as pages_urls
from tests.league.web.conftest import League, played
from tests.support import consulting, jobs, rows
from tests.support import league as made
from tests.support.parts import mostly_slow


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


def pages(league: Larger) -> list[str]:
    pool = league.pool.pk
    return [
        "/",
        "/g/",
        "/g/partnership/",
        "/g/partnership/?tab=explorer",
        "/g/partnership/?tab=lab",
        "/overall/",
        "/bots/",
        "/bots/rufo/",
        "/bots/luna/vs/sol/",
        "/players/",
        "/players/ana/",
        "/research/",
        "/data/",
        "/sitemap.xml",
        "/sitemap-bots-0.xml",
        "/players/ana/news.atom",
        "/t/",
        "/calendar/",
        "/arenas/arena/",
        "/calendar/all.ics",
        "/calendar/partnership.ics",
        f"/t/{league.cup.slug}/",
        f"/t/{league.cup.slug}/standings.csv",
        f"/t/{league.cup.slug}/crosstable.png",
        f"/t/{league.cup.slug}/certificates/0/",
        f"/t/{league.cup.slug}/certificates/0.json",
        f"/t/{league.cup.slug}/crosstable.csv",
        f"/t/{league.cup.slug}/matches.csv",
        f"/t/{league.knockout.slug}/",
        "/players/ana/digest/day/?of=2026-01-01",
        "/players/ana/digest/week.atom",
        f"/t/{league.next_cup.slug}/",
        "/g/partnership/ratings.csv",
        "/e/",
        "/e/velvet-night/",
        "/e/velvet-night/marks.csv",
        "/c/liga/",
        "/m/",
        f"/m/{league.clean.public_id}/",
        f"/m/{league.clean.public_id}/b/1/",
        f"/embed/m/{league.clean.public_id}/",
        f"/oembed?url=http://testserver/m/{league.clean.public_id}/",
        f"/m/{league.clean.public_id}/replay.json",
        f"/m/{league.clean.public_id}.txt",
        "/bots/rufo/v1/",
        "/api/v1/games/partnership/choices",
        "/api/v1/bots",
        "/api/v1/bots/rufo",
        "/api/v1/bots/rufo/versions",
        "/api/v1/bots/rufo/judged",
        "/api/v1/bots/rufo/leagues",
        "/api/v1/bots/luna/versus/sol",
        "/api/v1/versions",
        f"/api/v1/versions/{league.rufo.pk}",
        f"/api/v1/versions/{league.rufo.pk}/audits",
        f"/api/v1/versions/{league.rufo.pk}/ratings",
        "/api/v1/players",
        "/api/v1/players/ana",
        "/api/v1/tournaments",
        *(
            f"/api/v1/tournaments/{cup.slug}{rest}"
            for cup in (league.cup, league.next_cup, league.knockout)
            for rest in ("", "/entries", "/rounds", "/bracket", "/standings")
        ),
        "/api/v1/events",
        "/api/v1/events/velvet-night",
        "/api/v1/circuits",
        "/api/v1/circuits/liga",
        "/api/v1/circuits/liga/seasons",
        "/api/v1/matches",
        *(f"/api/v1/matches/{league.clean.public_id}{rest}" for rest in ("", "/boards", "/boards/1")),
        f"/api/v1/boards?match={league.clean.public_id}",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/replay",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/comments",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/replay?seat=0",
        f"/api/v1/matches/{league.faulty.public_id}",
        f"/api/v1/matches/{league.faulty.public_id}/analysis/open",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/seats/0/answers/greedy",
        "/api/v1/data",
        "/api/v1/pools",
        f"/api/v1/pools/{pool}",
        f"/api/v1/pools/{pool}/leaderboard",
        f"/api/v1/pools/{pool}/leaderboard?at=2030-01-01T00:00:00Z",
        f"/api/v1/pools/{pool}/history",
        "/api/v1/overall",
    ]


PARTS = 8  # The pages are shared out, and one share is quick


@pytest.mark.parametrize("part", mostly_slow(range(PARTS), (0).__eq__))
def test_unchanged_answers_are_given_again(league, site, part):
    for path in pages(league)[part::PARTS]:
        first, second = Answered(site, path), Answered(site, path)
        assert (path, first.status, first.kept) == (path, 200, False)
        assert (path, second.status, second.kept) == (path, 200, True)
        assert second.body == first.body
        same = {"content-type", "cache-control", "content-security-policy", "vary", "etag", "content-language"}
        assert {name: second.headers.get(name) for name in same} == {name: first.headers.get(name) for name in same}
        assert "Accept-Encoding" in second.headers["vary"]
        assert second.headers["x-request-id"] != first.headers["x-request-id"]
        assert "set-cookie" not in first.headers


OF_RELEASE = [
    "/docs/",
    "/docs/testing/",
    "/learn/",
    "/teach/",
    "/learn/how/",
    "/run-your-own/",
    "/about/",
    "/privacy/",
    "/robots.txt",
    "/certificates/key.pem",
    "/docs/source/docker/systemd",
    *(f"/api/v1/{rest}" for rest in ("games", "games/guinote", "formats", "schema")),
]


def test_answers_of_a_release_are_given_again(db):
    django, paths = get_wsgi_application(), []

    def application(environ, start_response):
        paths.append(environ["PATH_INFO"])
        return django(environ, start_response)

    site = ResponseCache(application)
    for path in OF_RELEASE:
        first, second = Answered(site, path), Answered(site, path)
        assert (path, first.status, second.status) == (path, 200, 200)
        assert second.body == first.body
    assert paths == OF_RELEASE


# The addresses whose answers are not kept, by the reason (docs/site.md).
NOT_KEPT = {
    "it follows the clock, or heartbeats of workers": """
        queue status tv event-show tournament-forecast event-forecast api:queue
    """,
    "it is streamed, or a file of this release": "game-boards match-log puzzles-file live kit data-file",
    "its address says what it holds, and browsers keep it": "preview",
    "it holds a form, or is never cached": """
        search puzzles puzzle puzzle-next puzzle-of-day puzzle-replay embed-puzzle embed-table embed-table-replay
        login signup forgotten reset mail-confirm mail-stop event-join talk
    """,
    "it follows what kind of answer the client takes": "api:index",
    "it is for probes": "healthz readyz metrics version-json",
    "it is no page": "None api:None tables",  # an icon and an old address; addresses that the API has not
    "it is for who is logged in": """
        account own-data close-account webhooks passkeys requests mail password submit editor try try-replay match-sent match-open compare play
        table table-replay deals operators operator-cases operator-action operator-reports operator-volunteers comment
        lobby notices notice notice-ways follows api:my-notices
        teams team bot-hand-on bot-git classes class-new class class-join class-edit class-marks class-student class-boards class-assignment-new
        class-assignment class-assignment-edit class-alike calendar-own
        mistakes mistake mistake-replay
        draft version-source version-package version-code welcome tournament-new bots-found event-new circuit-new bot-edit
        api:me api:my-limits api:my-requests api:my-blocks api:my-block api:tokens api:token api:request api:tries api:try api:tables api:table
        bot-tuning study study-new api:studies api:study api:study-stop
        api:tunings api:tuning api:tuning-stop api:fetch api:my-puzzles api:puzzle-next
        api:lobby api:arenas api:arena api:arena-standing api:my-challenges api:my-offers api:my-teams api:team api:team-history
        api:table-challenges api:my-classes api:class api:class-marks api:assignments api:hand-ins
        api:table-advice api:circuit-requests api:event-requests api:tournament-requests api:operator-actions api:operator-journal
    """,
    "it is only written to": """
        team-do class-do class-hand-in data-licence calendar-link arena-do version-publish api:bot-remote api:bot-fetches api:bot-push
        follow prefs logout passkey-login challenge match-judge match-consult table-do tournament-do event-do event-enter circuit-do
        api:notices-read api:challenges api:forecast api:entry api:circuit-bot api:circuit-bots api:table-choices api:table-leave
        api:request-grant api:request-refuse api:event-bots api:event-cancel api:event-embargo api:event-join api:event-link api:event-show
        api:table-seat api:table-start api:table-swap api:table-send-away api:table-rematch api:table-challenge api:table-phrases api:deals-tables
        api:puzzle-answers api:arena-play api:arena-stop api:arena-bots api:teams api:team-members api:team-member api:team-bots api:team-bot
        api:bot-offer api:bot-offer-accept
        api:event-start api:tournament-cancel api:tournament-close api:tournament-embargo api:tournament-extend api:tournament-pause
        api:tournament-resume api:tournament-start api:volunteer
    """,
}


def test_every_address_is_kept_or_there_is_a_reason(league):
    paths = [*pages(league), *OF_RELEASE, f"{SHOW}replay.json"]
    kept_ones = {resolve(path.partition("?")[0]).view_name for path in paths}
    others = [name for names in NOT_KEPT.values() for name in names.split()]
    view_names = {str(route.name) for route in pages_urls.urlpatterns} | {
        f"api:{route.name}" for route in api_urls.urlpatterns
    }
    assert len(others) == len(set(others))
    assert kept_ones & set(others) == set()
    assert kept_ones | set(others) == view_names


SHOW = "/e/one-board-an-hour/show/"


def test_a_board_of_a_show_is_kept_once_it_is_shown(league, site, monkeypatch):
    document = {"name": "One board an hour", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    terms = releases.ReleaseTerms(Audience.HIDDEN, release=made.later(3600), pace_s=3600)
    event = events.create(league.ana, document, [league.luna, league.sol], terms=terms, now=made.NOW)
    made.play(Match.objects.get(tournament__event=event))
    progress.advance(event.tournaments.get(), now=made.NOW)
    events.advance(event, now=made.NOW)
    first, second = (f"{SHOW}replay.json?n={number}" for number in (1, 2))

    def at(hours: float) -> list[tuple[int, bool]]:
        monkeypatch.setattr(clock, "present", lambda: made.later(3600 * (1 + hours)))
        return [(answer.status, answer.kept) for answer in (Answered(site, path) for path in (first, second))]

    assert at(-0.01) == [(404, False)] * 2
    assert at(0.5) == [(200, False), (404, False)]
    counts = next(iter(site.store._answers.values())).counts
    assert at(0.6) == [(200, True), (404, False)]
    assert at(1.5) == [(200, True), (200, False)]
    assert at(1.6) == [(200, True), (200, True)]
    site.store.clear()
    assert lacking(Answered(site, first), counts) == set()
    assert at(1.7) == [(200, True), (200, False)]
    Event.objects.filter(pk=event.pk).update(shown_from=made.later(10**7))
    assert at(1.8) == [(404, False)] * 2


def test_answers_are_compressed_as_the_client_accepts(league, site):
    plain = Answered(site, "/t/")
    for accepted, coding in (
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("br;q=0, gzip", "gzip"),
        ("", None),
        ("identity", None),
    ):
        answer = Answered(site, "/t/", HTTP_ACCEPT_ENCODING=accepted)
        assert answer.kept
        assert answer.headers.get("content-encoding") == coding
        assert int(answer.headers["content-length"]) == len(answer.raw)
        assert answer.body == plain.body
        assert (len(answer.raw) < len(plain.raw) / 2) == (coding is not None)


def test_a_client_that_has_the_answer_gets_304(league, site):
    for path in ("/t/", "/api/v1/matches"):
        tag = Answered(site, path, HTTP_ACCEPT_ENCODING="gzip").headers["etag"]
        for condition in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            answer = Answered(site, path, HTTP_IF_NONE_MATCH=condition)
            assert (answer.status, answer.raw, answer.kept) == (304, b"", True)
            assert "content-type" not in answer.headers
        site.store.clear()
        assert Answered(site, path, HTTP_IF_NONE_MATCH=tag).status == 304
        assert Answered(site, path, HTTP_IF_NONE_MATCH=tag).kept, "an answer rendered for a 304 is kept, too"
        assert Answered(site, path, HTTP_IF_NONE_MATCH='"other"').status == 200


def test_other_conditions_are_for_django(league, site):
    for header in ("HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"):
        condition = {header: '"other"' if header == "HTTP_IF_MATCH" else "Thu, 01 Jan 2026 00:00:00 GMT"}
        for path in ("/t/", "/api/v1/bots"):
            site.store.clear()
            new = Answered(site, path, **condition)
            assert Answered(site, path).status == 200
            assert Answered(site, path).kept
            again = Answered(site, path, **condition)
            assert (again.status, again.body) == (new.status, new.body), (header, path)


def logged_in(player) -> dict[str, str]:
    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(player.user.pk), player.user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session.save()
    return {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}={session.session_key}"}


@pytest.mark.parametrize("part", mostly_slow(range(PARTS), (0).__eq__))
def test_answers_for_one_reader_are_not_kept(league, site, part):
    cookie = logged_in(league.ana)
    _row, key = tokens.create(league.ana, "test", scope="manage")
    token = {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    for path in pages(league)[part::PARTS]:
        own = Answered(site, path, **cookie)
        assert not own.kept
        assert len(site.store) == 0, "the answer for a logged-in reader is kept"
        if path.startswith("/api/"):
            assert not Answered(site, path, **token).kept
            assert len(site.store) == 0
        stranger = Answered(site, path)
        assert Answered(site, path).kept
        again = Answered(site, path, **cookie)
        assert not again.kept
        if not path.startswith(("/api/", "/embed/", "/oembed")) and not path.endswith(
            (".json", ".atom", ".csv", ".ics", ".png", ".txt", ".xml")
        ):
            assert b">ana</a>" in again.body or b"/accounts/me/" in again.body
            assert b"/accounts/me/" not in stranger.body
            assert b"csrfmiddlewaretoken" not in stranger.body
        site.store.clear()


def test_each_language_and_theme_has_its_own_answer(league, site):
    bodies = {}
    for name, headers in {
        "en": {},
        "es": {"HTTP_ACCEPT_LANGUAGE": "es-ES,es;q=0.8"},
        "cookie": {"HTTP_COOKIE": "django_language=es; theme=dark"},
        "dark": {"HTTP_COOKIE": "theme=dark"},
    }.items():
        bodies[name] = Answered(site, "/t/", **headers).body
        assert Answered(site, "/t/", **headers).body == bodies[name]
    assert len(set(bodies.values())) == 4
    assert b'lang="es"' in bodies["cookie"]
    assert b'data-theme="dark"' in bodies["cookie"]
    spanish = Answered(site, "/api/v1/bots", HTTP_ACCEPT_LANGUAGE="es").headers["content-language"]
    assert (spanish, Answered(site, "/api/v1/bots").headers["content-language"]) == ("es", "en")
    assert Answered(site, "/t/", HTTP_COOKIE="messages=x").kept is False
    assert Answered(site, "/t/", HTTP_HOST="evil.example").status == 400


@pytest.mark.parametrize("part", mostly_slow(range(3), (0).__eq__))
def test_the_key_reads_what_the_answer_reads(league, site, part):
    """Whatever a first reader sends, others get the answer that is made for them alone."""
    others = [{}, {"HTTP_ACCEPT_LANGUAGE": "en"}, {"HTTP_COOKIE": "theme=dark"}, {"HTTP_COOKIE": "django_language=en"}]
    odd = [
        {"HTTP_ACCEPT_LANGUAGE": ", ".join(["fr"] * 60 + ["en"])},
        {"HTTP_ACCEPT_LANGUAGE": ", ".join(["fr"] * 60 + ["es"])},
        {"HTTP_ACCEPT_LANGUAGE": "en, " + "x" * 600},
        {"HTTP_ACCEPT_LANGUAGE": "en;q=0.9, " + "de, " * 45 + "es;q=1"},
        {"HTTP_COOKIE": "theme=\xa0dark"},
        {"HTTP_COOKIE": "theme=\x85dark; django_language=\xa0en"},
        {"HTTP_COOKIE": "theme=dark; theme=light"},
        {"HTTP_COOKIE": 'theme="dark"; django_language="en"'},
        {"SCRIPT_NAME": "/other"},
    ]
    paths = ["/players/", "/api/v1/bots?page_size=1"]

    def read(headers: dict[str, str]) -> list[tuple[bytes, str]]:
        answers = [Answered(site, path, **headers) for path in paths]
        return [(answer.body, answer.headers["content-language"]) for answer in answers]

    def read_alone(headers: dict[str, str]) -> list[tuple[bytes, str]]:
        cache.clear()
        site.store.clear()
        return read(headers)

    alone = [read_alone(headers) for headers in (*others, *odd)]
    for first in (*odd, *others)[part::3]:
        read_alone(first)
        assert [read(headers) for headers in (*others, *odd)] == alone, first


def validate() -> None:
    waiting = Match.objects.filter(kind="validation", status="queued", parties__version__bot__slug="rufo")
    made.play(waiting.distinct().get())


def judge() -> None:
    job = jobs.ANALYSIS.claim("host:1", now=made.NOW)
    assert job is not None
    assert jobs.run(job, now=made.NOW)


def consult() -> None:
    assert consulting.carry_out(settings.STATE_DIR / "consulted")


def audit() -> None:
    sampling.draw(now=made.NOW)
    while (work := leases.claim("w", now=made.NOW)) is not None:
        leases.start(work, now=made.NOW)
        assert audits.report(work, runner.AuditResult(runner.SAME, 30), now=made.NOW) == reports.Receipt.STORED


def play_on(tournament: Tournament) -> None:
    while match := Match.objects.filter(tournament=tournament, status="queued").first():
        made.play(match)
        progress.advance(tournament, now=made.NOW)


def acts_on(league: Larger) -> dict[str, Callable[[], object]]:
    """Return what players, operators and the scheduler do, in an order in which every act is possible."""
    second = made.accepted(players.create("eva", now=made.NOW), "nueva")
    circuit = Circuit.objects.get(slug="liga")

    def play() -> None:
        cup = made.started(league.ana, [league.rufo, league.luna], name="Third cup")
        for match in cup.matches.order_by("id"):
            made.play(match)

    def talk(name: str) -> None:
        place = places.find(name, league.berto)
        assert place is not None
        comments.write(league.berto, place, name)

    def knock_out() -> None:
        tournaments.start(league.knockout, now=made.NOW)
        play_on(league.knockout)

    def event() -> Event:
        return Event.objects.get(slug="velvet-night")

    request = EntryRequest.objects.get(event=event(), bot__slug="shy", status="asked")
    return {
        "a judgement": judge,
        "a consultation": consult,
        "its sums": summing.count_new,
        "audits": audit,
        "a knock-out": knock_out,
        "a request is granted": lambda: requests.grant(request, player=request.bot.owner, now=made.NOW),
        "a description": lambda: bots.describe(Bot.objects.get(slug="rufo"), "Plays well."),
        "a judgement is asked for": lambda: asking.ask(league.clean, "open", league.ana, now=made.NOW),
        "a bot joins a circuit": lambda: circuits.join(circuit, league.luna.bot, player=league.berto, now=made.NOW),
        "another leaves it": lambda: circuits.leave(circuit, league.rufo.bot, player=league.ana, now=made.NOW),
        "a circuit rests": lambda: circuits.set_active(circuit, False, actor="ana", now=made.NOW),
        "an event begins": lambda: events.start(event(), actor="ana", now=made.NOW),
        "its first match": lambda: made.play(Match.objects.filter(tournament__event=event())[0]),
        "its other matches": lambda: play_on(event().tournaments.get()),
        "its next stage": lambda: events.advance(event(), now=made.NOW),
        "an upload": lambda: made.uploaded(league.ana, "rufo"),
        "a validation": validate,
        "an operator stops a bot": lambda: bots.stop(Bot.objects.get(slug="luna"), why="a test", actor="operator"),
        "and lets it go": lambda: bots.release(Bot.objects.get(slug="luna"), why="a test", actor="operator"),
        "a comment on a match": lambda: talk(f"match:{league.clean.public_id}:1:0"),
        "a comment under a tournament": lambda: talk(f"tournament:{league.cup.slug}"),
        "it is hidden": lambda: comments.hide(Comment.objects.latest("pk"), why="a test", actor="operator"),
        "a ban": lambda: bans.ban(second.bot.owner, why="a test", actor="operator"),
        "an embargo": lambda: embargoes.change(league.cup, made.later(10**9), why="a test", actor="operator"),
        "an entry": lambda: enrolment.enter(league.next_cup, league.sol, player=league.sol.bot.owner),
        "a start": lambda: tournaments.start(league.next_cup),
        "a match that begins": lambda: made.running(),
        "matches played": play,
        "ratings": lambda: ratings.refresh(league.pool),
        "a match made void": lambda: matches.void(
            Match.objects.get(pk=league.clean.pk), actor="operator", why="a test"
        ),
        "ratings without it": lambda: ratings.refresh(league.pool),
        "a cancelled tournament": lambda: progress.cancel(league.next_cup, actor="ana", why="a test"),
        "a new player": lambda: players.create("dora", now=made.NOW),
        "tables of yesterday": lambda: daily.keep(),
        "idle bots": lambda: idle.mark(),
        "a line of ratings that goes": lambda: Rating.objects.all()[0].delete(),
    }


@pytest.mark.slow
@pytest.mark.usefixtures("_one_moment")  # The front page shows another deal in each slot of TV.
def test_nothing_is_older_than_a_change(league, site):
    changed = set()
    for path in pages(league):
        Answered(site, path)
    for what, act in acts_on(league).items():
        act()
        cache.clear()  # These reads exceed the limit of a minute
        for path in pages(league):
            answer = Answered(site, path)
            if answer.kept:  # An answer that was built again is new
                fresh = Answered(ResponseCache(site.application), path)
                assert timeless(answer.body) == timeless(fresh.body), f"{path} is as it was before {what}"
            else:
                changed.add(path)
    assert changed == set(pages(league))


def test_play_elsewhere_leaves_other_answers(league, site):
    elsewhere = made.started(league.ana, [league.rufo, league.luna], name="Elsewhere").matches.get()
    match, version = league.clean.public_id, league.luna.pk
    api = [
        *(f"/matches/{match}{rest}" for rest in ("", "/boards/1", "/boards/1/sittings/0/replay")),
        *(f"/versions/{version}", f"/versions/{version}/audits", "/events", "/events/velvet-night"),
        *(f"/tournaments/{league.cup.slug}{rest}" for rest in ("", "/rounds", "/bracket")),
    ]
    paths = [*(f"/api/v1{address}" for address in api), "/e/velvet-night/", f"/m/{match}.txt", f"/t/{league.cup.slug}/"]
    for path in paths:
        Answered(site, path)
    made.play(elsewhere)
    assert [path for path in paths if not Answered(site, path).kept] == []
    assert not Answered(site, "/m/").kept


def timeless(body: bytes) -> bytes:
    """Without words like "now" and "3 seconds ago"."""
    body = re.sub(rb"(<time [^>]*>|<updated>)[^<]*|data-now=\"[0-9]+\"", rb"\1", body)
    return re.sub(rb"(hace|ago|[0-9]+)[^<]{0,30}(segundo|second|minuto|minute)[^<]{0,20}", b"", body)


# What stands for the rows of a table besides the keys of its own triggers, since it changes with them
WITH_OTHERS = {
    # Written in the transaction in which their match begins, finishes or is struck out
    "league_board": {"matches", "tournament:", "pool:", "results"},
    "league_party": {"matches", "tournament:", "pool:", "results"},
    "league_round": {"tournament:", "matches"},
    "league_sitting": {"matches", "tournament:"},
    # A voided match, or an event that has ended or could not begin
    "league_leagueevent": {"matches", "tournament:", "pool:", "events"},
    # Written with the result; taken away with its age, or repaired by an operator, which a kept answer outlives by seconds
    "league_matchlog": {"matches", "tournament:"},
    # Percent of an analysis under way, which may be old by seconds
    "league_job": {"judgements"},
    # The clock chooses the puzzle of the day
    "league_foundpuzzle": {"clock"},
    # How many more bots an open tournament takes, and how long another one would last: old by seconds
    "league_quota": {"clock"},
    "league_worker": {"clock"},
    # Never changes
    "league_logdictionary": {"matches", "tournament:"},
    "league_package": {"bots"},
    # Written when a version is accepted or refused
    "league_check": {"bots"},
    # Written in the transaction in which a match is counted
    "league_choicesum": {"choices"},
    # Written together with the ratings, or with their table
    "league_ratingpoint": {"pools"},
    "league_placeofday": {"pools", "ratings:"},
    "league_meetingsum": {"played"},
    # Other rows show only their names, which never change
    "league_pool": {"ratings:", "matches", "tournament:", "tournaments"},
    "league_player": {"tournaments", "tournament:"},
    "league_bot": {"tournaments", "ratings:"},
    "league_tournament": {"pool:"},
    "league_event": {"tournaments", "tournament:"},
    "auth_user": {"bots", "tournaments", "tournament:"},
}


def standing_for(table: str) -> set[str]:
    """The keys that change with the rows of a table, without what is named after a colon."""
    own = " ".join(key for rule in changes.RULES if rule.table == table for key in (*rule.keys, *rule.also))
    return set(re.findall(r"'([a-z]+:?)'", own)) | WITH_OTHERS.get(table, set())


# Tables of whose rows these addresses show only what never changes
NEVER_CHANGES = {
    r"/api/v1/versions/[0-9]+": {"league_match"},  # the names of the matches that have validated it
    r"/arenas/[^/]+/": {
        "league_table",
        "league_arenaside",
    },  # they begin and end with a change of an entry, but for a void one: 10 s
    r"/m/[^/]+/": {"league_choicesum"},  # The page may show older numbers of the explorer for 10 s.
    r"/data/|/api/v1/data": {"league_datafile"},  # written once a month: 10 s
}


def lacking(answer: Answered, counts: Iterable[str]) -> set[str]:
    """Return the tables that an answer was read from and that none of its counters covers."""
    keys = {key if ":" not in key else key.split(":")[0] + ":" for key in counts}
    read = {word for sql in answer.sql for word in re.findall(r"\b(?:league|auth)_\w+", sql)}
    read &= set(connection.introspection.table_names())
    return {table for table in read - {"league_change"} if not standing_for(table) & keys}


@pytest.mark.parametrize("part", mostly_slow(range(PARTS), (0).__eq__))
def test_a_view_names_counters_for_every_table_that_it_reads(league, site, part):
    missing = {}
    for path in pages(league)[part::PARTS]:
        answer = Answered(site, path)
        counts = next(iter(site.store._answers.values())).counts
        site.store.clear()
        names = next((names for pattern, names in NEVER_CHANGES.items() if re.fullmatch(pattern, path)), set())
        if not_said := lacking(answer, counts) - names:
            missing[path] = not_said
    assert missing == {}


def test_what_follows_the_clock_is_rendered_again_as_it_moves_on(league, site, monkeypatch):
    assert [Answered(site, "/").kept for _ in range(2)] == [False, True]
    monkeypatch.setattr(changes, "CLOCK_S", 5e8)
    assert Answered(site, "/").kept is False
    assert Answered(site, "/t/").kept is False
    assert Answered(site, "/t/").kept is True


def test_a_change_while_an_answer_is_made_is_seen(league, site):
    path = f"/api/v1/pools/{league.pool.pk}/leaderboard"
    selected, disturbed = [], []

    def disturb(execute, sql, params, many, context):
        if selected and not disturbed:  # At the next statement, since SQLite reads rows one by one.
            disturbed.append(True)
            Rating.objects.update(elo=98765.25)
        if '"league_rating"' in sql:
            selected.append(True)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(disturb):
        first = Answered(site, path)
    assert disturbed
    assert b"98765.25" not in first.body
    assert b"98765.25" in Answered(site, path).body


def test_a_kept_answer_ends_by_the_clock(league, site, monkeypatch):
    Answered(site, "/t/")
    assert Answered(site, "/t/").kept
    then = response_cache.now()
    monkeypatch.setattr(response_cache, "now", lambda: then + response_cache.MAX_AGE_S + 1)
    assert not Answered(site, "/t/").kept


def test_the_store_is_bounded_by_bytes():
    store = response_cache.Store(max_bytes=10_000)
    for number in range(50):
        store.keep(number, response_cache.StoredResponse(b"x" * 1000, [], {}))
    assert len(store) == 10_000 // response_cache.StoredResponse(b"x" * 1000, [], {}).weight
    assert store.find(49) is not None
    assert store.find(0) is None


def grown(act: Callable[[], object], league: League) -> set[str]:
    keys = [
        *("bots", "audits", "pools", "matches", "tournaments"),
        *(
            changes.of_pool(league.pool.pk),
            changes.of_ratings(league.pool.pk),
            changes.of_tournament(league.next_cup.pk),
        ),
    ]
    before = changes.read(keys)
    act()
    after = changes.read(keys)
    assert all(after[key] >= before[key] for key in keys)
    return {key.partition(":")[0] for key in keys if after[key] > before[key]}


def test_each_change_counts_for_its_keys(league):
    cup = made.started(league.ana, [league.rufo, league.luna], name="Fourth cup")
    claims: list[Match] = []

    def claim() -> None:
        work = leases.claim("w9", now=made.NOW)
        assert work is not None
        claims.append(work)

    assert grown(claim, league) == set()
    assert grown(lambda: leases.start(claims[0], now=made.NOW), league) == {"matches"}
    assert grown(lambda: queue.beat(claims[0], progress=50, now=made.NOW), league) == set()
    assert grown(lambda: reports.report(claims[0], made.result(claims[0]), now=made.NOW), league) >= {
        "matches",
        "pool",
    }
    assert grown(lambda: ratings.refresh(cup.pool), league) >= {"pools", "ratings", "pool"}
    assert grown(lambda: bots.describe(Bot.objects.get(slug="sol"), "New."), league) == {"bots"}


def test_folding_leaves_the_counts(league, monkeypatch):
    monkeypatch.setattr(changes, "FOLD_ABOVE", 3)
    keys = ["bots", "pools", "matches", "tournaments", changes.of_pool(league.pool.pk)]
    before = changes.read(keys)
    assert all(before.values())
    assert changes.fold() > 3
    assert changes.read(keys) == before
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT key) FROM league_change")
        rows, names = cursor.fetchone()
    assert rows == names


def test_missing_triggers_are_created_again(db):
    def there() -> set[str]:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE '%\\_mark'")
            else:
                cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            return {name for (name,) in cursor.fetchall()}

    before = there()
    assert len(before) == sum(len(rule.on) for rule in changes.RULES)
    with connection.cursor() as cursor:
        on = " ON league_bot" if connection.vendor == "postgresql" else ""
        gone = min(name for name in before if name.startswith("league_bot_update_"))
        cursor.execute(f"DROP TRIGGER {gone}{on}")
    changes.install(connection)
    assert there() == before


class Unwatched(Answered):
    """An answer whose statements are not counted, as in a server."""

    watched = False


def test_a_token_gets_no_kept_answer(league, site):
    _row, key = tokens.create(league.ana, "test", scope="read")
    path = "/api/v1/bots"
    anonymous = Answered(site, path)
    assert Answered(site, path).kept
    for header, status in {f"Bearer {key}": 200, "Bearer x": 401, f"Basic {key}": 401, "Bearer \xff": 401}.items():
        answer = Answered(site, path, HTTP_AUTHORIZATION=header)
        assert (answer.status, answer.kept) == (status, False), header
        assert (answer.body == anonymous.body) == (status == 200)
    assert len(site.store) == 1


def test_the_due_time_of_a_season_follows_the_clock(league, site, monkeypatch):
    path, due = "/api/v1/circuits", set()
    for day in range(16):
        monkeypatch.setattr(clock, "present", lambda: made.later(86400 * day))  # noqa: B023 - called at once
        site.store.clear()
        due.add(json.loads(Answered(site, path).body)["results"][0]["next_due"])
    assert sorted(due) == ["2026-01-02T20:00:00Z", "2026-01-09T20:00:00Z"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans nothing ahead")
@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_replaced(league, site):
    path = "/api/v1/matches"
    whole = Unwatched(site, path).body
    assert Unwatched(site, path).body == whole
    planned = "SELECT count(*), pg_backend_pid() FROM pg_prepared_statements WHERE name LIKE 'tute%'"

    def there() -> tuple[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(planned)
            return cursor.fetchone()

    number, backend = there()
    assert number >= 1
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    request_started.connect(close_old_connections)
    try:
        for _ in range(2):  # the session may drop its plans again: a cursor asks from here on
            assert Unwatched(site, path).body == whole
            assert there() == (0, backend)
        with psycopg.connect(
            **{**connection.get_connection_params(), "context": None, "cursor_factory": None}
        ) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [backend])
        for _ in range(3):
            assert Unwatched(site, path).body == whole
        number, other_one = there()
        assert (number >= 1, other_one != backend) == (True, True)
    finally:
        request_started.disconnect(close_old_connections)
