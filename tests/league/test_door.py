"""Kept answers: given while nothing that they show has changed, to strangers alone, and never older than a change."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from engine.judging import Child
from engine.runner import audit as runner
from league.api import urls as api_urls
from league.domain.audits import carrying as audits
from league.domain.audits import sampling
from league.domain.bots import bots
from league.domain.consultations import asking as consultations
from league.domain.core import clock, keyset
from league.domain.judgements import asking, carrying, summing
from league.domain.matches import embargoes, leases, matches, reports, sight
from league.domain.people import bans, players, tokens
from league.domain.ratings import daily, idle, ratings
from league.domain.tournaments import brackets, circuits, enrolment, events, progress, releases, requests, tournaments
from league.door import Door
from league.enums import Audience, EntryPolicy
from league.models import Audit, Bot, Circuit, EntryRequest, Event, Match, Rating, Tournament
from league.service import kept, marks
from league.service.remembered import forget
from league.web import urls as pages_urls
from tests.league.web.conftest import League, played
from tests.support import consulting, rows
from tests.support import league as made
from tests.support.parts import mostly_slow


class Answered:
    """An answer as a client has it."""

    watched = True  # who counts statements has them said by cursors (league.service.direct)

    def __init__(self, door: Callable, path: str, **headers: str) -> None:
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

        with CaptureQueriesContext(connection) if self.watched else nullcontext([]) as seen:
            answer = door(environ, start_response)
            self.raw = b"".join(answer)
            if hasattr(answer, "close"):
                answer.close()
        self.sql = [query["sql"] for query in seen]
        self.headers = {name.lower(): value for name, value in lines}
        assert len(self.headers) == len(lines), "a header comes twice"

    @property
    def body(self) -> bytes:
        return {"gzip": gzip.decompress, "br": brotli.decompress}.get(self.headers.get("content-encoding", ""), bytes)(
            self.raw
        )

    @property
    def kept(self) -> bool:
        """Given at the door: one query, for the versions."""
        return len(self.sql) == 1 and "league_change" in self.sql[0]


@pytest.fixture(autouse=True)
def _connection_stays() -> Iterator[None]:
    """The connection of the test, in which its league is, is not closed after a request, as the client of Django does it."""
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
    """With a knock-out that is open, and all else that `league` makes."""

    knockout: Tournament


@pytest.fixture
def league(db, monkeypatch, settings) -> Larger:
    """That league. All its matches are audited, and analyses are cheap."""
    monkeypatch.setattr(carrying, "Child", partial(Child, nodes=300))
    settings.AUDIT_PERCENT = 100
    return rows.once(make_larger)


def make_larger() -> Larger:
    """Make a league with an open knock-out, an event with entries, a recurring league without a season, and requests about matches."""
    league = played()
    three = [league.rufo, league.luna, league.sol]
    knockout = tournaments.create(
        league.ana, "Knock-out", "partnership", boards=1, format="single_elimination", versions=three, now=made.NOW
    )
    terms = releases.Terms(due=made.later(86400))
    shy = made.accepted(players.create("shy", now=made.NOW), "shy", policy=EntryPolicy.ASK)
    events.create(league.ana, DOCUMENT, [*three, shy], terms=terms, now=made.NOW)
    circuit = circuits.create(league.ana, "Liga", "partnership", days="fri", at="20:00", time_zone="UTC", now=made.NOW)
    circuits.join(circuit, league.rufo.bot, by=league.ana, now=made.NOW)
    asking.ask(league.faulty, "open", league.ana, now=made.NOW)
    consulting.enter("greedy")
    consultations.ask(consulting.told(league.clean), 1, 0, 0, "greedy", league.ana, now=made.NOW)
    return Larger(**vars(league), knockout=knockout)


@pytest.fixture
def door() -> Door:
    return Door(get_wsgi_application())


def pages(league: Larger) -> list[str]:
    pool = league.pool.pk
    return [
        "/",
        "/g/",
        "/g/partnership/",
        "/overall/",
        "/bots/",
        "/bots/rufo/",
        "/bots/luna/vs/sol/",
        "/players/ana/",
        "/players/ana/news.atom",
        "/t/",
        f"/t/{league.cup.slug}/",
        f"/t/{league.cup.slug}/standings.csv",
        f"/t/{league.cup.slug}/crosstable.png",
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
        f"/m/{league.clean.public_id}/replay.json",
        f"/m/{league.clean.public_id}.txt",
        "/bots/rufo/v1/",
        "/api/v1/bots",
        "/api/v1/bots/rufo",
        "/api/v1/bots/rufo/versions",
        "/api/v1/bots/rufo/judged",
        "/api/v1/bots/luna/versus/sol",
        "/api/v1/versions",
        f"/api/v1/versions/{league.rufo.pk}",
        f"/api/v1/versions/{league.rufo.pk}/audits",
        f"/api/v1/versions/{league.rufo.pk}/ratings",
        "/api/v1/players",
        "/api/v1/players/ana",
        "/api/v1/tournaments",
        *(
            f"/api/v1/tournaments/{one.slug}{rest}"
            for one in (league.cup, league.next_cup, league.knockout)
            for rest in ("", "/entries", "/rounds", "/bracket", "/standings")
        ),
        "/api/v1/events",
        "/api/v1/events/velvet-night",
        "/api/v1/circuits",
        "/api/v1/circuits/liga",
        "/api/v1/circuits/liga/seasons",
        "/api/v1/matches",
        *(f"/api/v1/matches/{league.clean.public_id}{rest}" for rest in ("", "/boards", "/boards/1")),
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/replay",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/replay?seat=0",
        f"/api/v1/matches/{league.faulty.public_id}",
        f"/api/v1/matches/{league.faulty.public_id}/analysis/open",
        f"/api/v1/matches/{league.clean.public_id}/boards/1/sittings/0/seats/0/answers/greedy",
        "/api/v1/pools",
        f"/api/v1/pools/{pool}",
        f"/api/v1/pools/{pool}/leaderboard",
        f"/api/v1/pools/{pool}/leaderboard?at=2030-01-01T00:00:00Z",
        f"/api/v1/pools/{pool}/history",
        "/api/v1/overall",
    ]


@pytest.mark.parametrize("part", mostly_slow(range(4), (0).__eq__))
def test_what_has_not_changed_is_given_again(league, door, part):
    for path in pages(league)[part::4]:
        first, second = Answered(door, path), Answered(door, path)
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
    "/docs/source/docker/systemd",
    *(f"/api/v1/{rest}" for rest in ("games", "games/guinote", "formats", "schema")),
]


def test_what_only_a_release_changes_is_given_again(db):
    django, asked = get_wsgi_application(), []

    def application(environ, start_response):
        asked.append(environ["PATH_INFO"])
        return django(environ, start_response)

    door = Door(application)
    for path in OF_RELEASE:
        first, second = Answered(door, path), Answered(door, path)
        assert (path, first.status, second.status) == (path, 200, 200)
        assert second.body == first.body
    assert asked == OF_RELEASE


# Of which nothing is kept, and why (docs/site.md)
NOT_KEPT = {
    "it follows the clock, or heartbeats of workers": """
        queue tv event-show tournament-forecast event-forecast api:queue
    """,
    "it is streamed": "game-boards match-log puzzles-file live",
    "it holds a form, or is never cached": """
        puzzles puzzle puzzle-replay login signup forgotten reset mail-confirm digest-stop event-join
    """,
    "it follows what kind of answer the client takes": "api:index",
    "it is for probes": "healthz readyz metrics version-json",
    "it is no page": "None api:None",  # an icon elsewhere; addresses that the API has not
    "it is for who is logged in": """
        account requests mail password submit editor try try-replay match-sent tables table table-replay operators operator-action
        tournament-new bots-found event-new circuit-new bot-edit
        api:me api:my-limits api:my-requests api:my-blocks api:my-block api:tokens api:token api:request api:tries api:try api:tables api:table
        api:table-advice api:circuit-requests api:event-requests api:tournament-requests api:operator-actions api:operator-journal
    """,
    "it is only written to": """
        prefs logout challenge match-judge match-consult table-do tournament-do event-do event-enter circuit-do
        api:challenges api:forecast api:entry api:circuit-bot api:circuit-bots api:table-choices api:table-leave
        api:request-grant api:request-refuse api:event-bots api:event-cancel api:event-embargo api:event-join api:event-link api:event-show
        api:event-start api:tournament-cancel api:tournament-close api:tournament-embargo api:tournament-extend api:tournament-pause
        api:tournament-resume api:tournament-start
    """,
}


def test_every_address_is_kept_or_there_is_a_reason(league):
    paths = [*pages(league), *OF_RELEASE, f"{SHOW}replay.json"]
    kept_ones = {resolve(path.partition("?")[0]).view_name for path in paths}
    others = [name for names in NOT_KEPT.values() for name in names.split()]
    there = {str(one.name) for one in pages_urls.urlpatterns} | {f"api:{one.name}" for one in api_urls.urlpatterns}
    assert len(others) == len(set(others))
    assert kept_ones & set(others) == set()
    assert kept_ones | set(others) == there


SHOW = "/e/one-board-an-hour/show/"


def test_a_board_of_a_show_is_kept_once_it_is_shown(league, door, monkeypatch):
    document = {"name": "One board an hour", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    terms = releases.Terms(Audience.HIDDEN, release=made.later(3600), pace_s=3600)
    event = events.create(league.ana, document, [league.luna, league.sol], terms=terms, now=made.NOW)
    made.play(Match.objects.get(tournament__event=event))
    progress.advance(event.tournaments.get(), now=made.NOW)
    events.advance(event, now=made.NOW)
    first, second = (f"{SHOW}replay.json?n={number}" for number in (1, 2))

    def at(hours: float) -> list[tuple[int, bool]]:
        monkeypatch.setattr(clock, "present", lambda: made.later(3600 * (1 + hours)))
        return [(one.status, one.kept) for one in (Answered(door, path) for path in (first, second))]

    assert at(-0.01) == [(404, False)] * 2
    assert at(0.5) == [(200, False), (404, False)]
    said = next(iter(door.store._answers.values())).versions
    assert at(0.6) == [(200, True), (404, False)]
    assert at(1.5) == [(200, True), (200, False)]
    assert at(1.6) == [(200, True), (200, True)]
    door.store.clear()
    assert lacking(Answered(door, first), said) == set()
    assert at(1.7) == [(200, True), (200, False)]
    Event.objects.filter(pk=event.pk).update(shown_from=made.later(10**7))
    assert at(1.8) == [(404, False)] * 2


def test_it_is_packed_as_the_client_takes_it(league, door):
    plain = Answered(door, "/t/")
    for accepted, coding in (
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("br;q=0, gzip", "gzip"),
        ("", None),
        ("identity", None),
    ):
        found = Answered(door, "/t/", HTTP_ACCEPT_ENCODING=accepted)
        assert found.kept
        assert found.headers.get("content-encoding") == coding
        assert int(found.headers["content-length"]) == len(found.raw)
        assert found.body == plain.body
        assert (len(found.raw) < len(plain.raw) / 2) == (coding is not None)


def test_who_has_it_is_told_so(league, door):
    for path in ("/t/", "/api/v1/matches"):
        tag = Answered(door, path, HTTP_ACCEPT_ENCODING="gzip").headers["etag"]
        for wanted in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            found = Answered(door, path, HTTP_IF_NONE_MATCH=wanted)
            assert (found.status, found.raw, found.kept) == (304, b"", True)
            assert "content-type" not in found.headers
        door.store.clear()
        assert Answered(door, path, HTTP_IF_NONE_MATCH=tag).status == 304
        assert Answered(door, path, HTTP_IF_NONE_MATCH=tag).kept, "what was made anew for a 304 is kept, too"
        assert Answered(door, path, HTTP_IF_NONE_MATCH='"other"').status == 200


def logged_in(player) -> dict[str, str]:
    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(player.user.pk), player.user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session.save()
    return {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}={session.session_key}"}


@pytest.mark.parametrize("part", mostly_slow(range(4), (0).__eq__))
def test_nobody_is_given_what_another_sees(league, door, part):
    cookie = logged_in(league.ana)
    _row, key = tokens.create(league.ana, "test", scope="manage")
    token = {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    for path in pages(league)[part::4]:
        own = Answered(door, path, **cookie)
        assert not own.kept
        assert len(door.store) == 0, "what somebody sees who is logged in is kept"
        if path.startswith("/api/"):
            assert not Answered(door, path, **token).kept
            assert len(door.store) == 0
        stranger = Answered(door, path)
        assert Answered(door, path).kept
        again = Answered(door, path, **cookie)
        assert not again.kept
        if not path.startswith("/api/") and not path.endswith((".json", ".atom", ".csv", ".png", ".txt")):
            assert b">ana</a>" in again.body or b"/accounts/me/" in again.body
            assert b"/accounts/me/" not in stranger.body
            assert b"csrfmiddlewaretoken" not in stranger.body
        door.store.clear()


def test_languages_and_colours_have_answers_of_their_own(league, door):
    seen = {}
    for name, headers in {
        "es": {},
        "en": {"HTTP_ACCEPT_LANGUAGE": "en-GB,en;q=0.8"},
        "cookie": {"HTTP_COOKIE": "django_language=en; theme=dark"},
        "dark": {"HTTP_COOKIE": "theme=dark"},
    }.items():
        seen[name] = Answered(door, "/t/", **headers).body
        assert Answered(door, "/t/", **headers).body == seen[name]
    assert len(set(seen.values())) == 4
    assert b'lang="en"' in seen["cookie"]
    assert b'data-theme="dark"' in seen["cookie"]
    spanish = Answered(door, "/api/v1/bots", HTTP_ACCEPT_LANGUAGE="es").headers["content-language"]
    assert (spanish, Answered(door, "/api/v1/bots").headers["content-language"]) == ("es", "en")
    assert Answered(door, "/t/", HTTP_COOKIE="messages=x").kept is False
    assert Answered(door, "/t/", HTTP_HOST="evil.example").status == 400


def test_the_key_reads_what_the_answer_reads(league, door):
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
    paths = ["/t/", "/api/v1/bots?page_size=1"]

    def read(headers: dict[str, str]) -> list[tuple[bytes, str]]:
        answers = [Answered(door, path, **headers) for path in paths]
        return [(one.body, one.headers["content-language"]) for one in answers]

    def read_alone(headers: dict[str, str]) -> list[tuple[bytes, str]]:
        cache.clear()
        door.store.clear()
        return read(headers)

    alone = [read_alone(headers) for headers in (*others, *odd)]
    for first in (*odd, *others):
        read_alone(first)
        assert [read(headers) for headers in (*others, *odd)] == alone, first


def validate() -> None:
    waiting = Match.objects.filter(kind="validation", status="queued", parties__version__bot__slug="rufo")
    made.play(waiting.distinct().get())


def judge() -> None:
    held = carrying.claim("host:1", now=made.NOW)
    assert held is not None
    assert carrying.carry_out(held, stop=lambda: False, now=made.NOW)


def consult() -> None:
    assert consulting.carry_out(settings.STATE_DIR / "consulted")


def audit() -> None:
    sampling.draw(now=made.NOW)
    while (held := leases.claim("w", now=made.NOW)) is not None:
        leases.start(held, now=made.NOW)
        assert audits.report(held.pk, held.token, runner.Audit(runner.SAME, 30), now=made.NOW)


def play_on(tournament: Tournament) -> None:
    while match := Match.objects.filter(tournament=tournament, status="queued").first():
        made.play(match)
        progress.advance(tournament, now=made.NOW)


def changes(league: Larger) -> dict[str, Callable[[], object]]:
    """What players, operators and the scheduler do, in an order in which all of it can be done."""
    second = made.accepted(players.create("eva", now=made.NOW), "nueva")
    circuit = Circuit.objects.get(slug="liga")

    def play() -> None:
        cup = made.started(league.ana, [league.rufo, league.luna], name="Third cup")
        for match in cup.matches.order_by("id"):
            made.play(match)

    def knock_out() -> None:
        tournaments.start(league.knockout, now=made.NOW)
        play_on(league.knockout)

    def event() -> Event:
        return Event.objects.get(slug="velvet-night")

    asked = EntryRequest.objects.get(event=event(), bot__slug="shy", status="asked")
    return {
        "a judgement": judge,
        "a consultation": consult,
        "its sums": summing.count_new,
        "audits": audit,
        "a knock-out": knock_out,
        "a request is granted": lambda: requests.grant(asked, by=asked.bot.owner, now=made.NOW),
        "a description": lambda: bots.describe(Bot.objects.get(slug="rufo"), "Plays well."),
        "a judgement is asked for": lambda: asking.ask(league.clean, "open", league.ana, now=made.NOW),
        "a bot joins a circuit": lambda: circuits.join(circuit, league.luna.bot, by=league.berto, now=made.NOW),
        "another leaves it": lambda: circuits.leave(circuit, league.rufo.bot, by=league.ana, now=made.NOW),
        "a circuit rests": lambda: circuits.set_active(circuit, False, actor="ana", now=made.NOW),
        "an event begins": lambda: events.start(event(), actor="ana", now=made.NOW),
        "its first match": lambda: made.play(Match.objects.filter(tournament__event=event())[0]),
        "its other matches": lambda: play_on(event().tournaments.get()),
        "its next stage": lambda: events.advance(event(), now=made.NOW),
        "an upload": lambda: made.uploaded(league.ana, "rufo"),
        "a validation": validate,
        "an operator stops a bot": lambda: bots.stop(Bot.objects.get(slug="luna"), why="a test", actor="operator"),
        "and lets it go": lambda: bots.let_go(Bot.objects.get(slug="luna"), why="a test", actor="operator"),
        "a ban": lambda: bans.ban(second.bot.owner, why="a test", actor="operator"),
        "an embargo": lambda: embargoes.change(league.cup, made.later(10**9), why="a test", actor="operator"),
        "an entry": lambda: enrolment.enter(league.next_cup, league.sol, by=league.sol.bot.owner),
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
def test_nothing_is_older_than_a_change(league, door):
    changed = set()
    for path in pages(league):
        Answered(door, path)
    for what, act in changes(league).items():
        act()
        cache.clear()  # so many reads are more than a stranger has in a minute
        for path in pages(league):
            given = Answered(door, path)
            if given.kept:  # what was made anew is new
                fresh = Answered(Door(door.application), path)
                assert timeless(given.body) == timeless(fresh.body), f"{path} is as it was before {what}"
            else:
                changed.add(path)
    assert changed == set(pages(league))


def test_play_elsewhere_leaves_what_does_not_show_it(league, door):
    elsewhere = made.started(league.ana, [league.rufo, league.luna], name="Elsewhere").matches.get()
    match, version = league.clean.public_id, league.luna.pk
    api = [
        *(f"/matches/{match}{rest}" for rest in ("", "/boards/1", "/boards/1/sittings/0/replay")),
        *(f"/versions/{version}", f"/versions/{version}/audits", "/events", "/events/velvet-night"),
        *(f"/tournaments/{league.cup.slug}{rest}" for rest in ("", "/rounds", "/bracket")),
    ]
    paths = [*(f"/api/v1{one}" for one in api), "/e/velvet-night/", f"/m/{match}.txt", f"/t/{league.cup.slug}/"]
    for path in paths:
        Answered(door, path)
    made.play(elsewhere)
    assert [path for path in paths if not Answered(door, path).kept] == []
    assert not Answered(door, "/m/").kept


def timeless(body: bytes) -> bytes:
    """Without words like "now" and "3 seconds ago"."""
    body = re.sub(rb"(<time [^>]*>|<updated>)[^<]*", rb"\1", body)
    return re.sub(rb"(hace|ago|[0-9]+)[^<]{0,30}(segundo|second|minuto|minute)[^<]{0,20}", b"", body)


# What stands for the rows of a table besides the keys of its own triggers, since it changes with them
WITH_OTHERS = {
    # Written in the transaction in which their match begins, finishes or is struck out
    "league_board": {"matches", "tournament:", "pool:", "results"},
    "league_party": {"matches", "tournament:", "pool:", "results"},
    "league_round": {"tournament:", "matches"},
    "league_sitting": {"matches", "tournament:"},
    # Of a match that is struck out, or of an event that has ended or could not begin
    "league_leagueevent": {"matches", "tournament:", "pool:", "events"},
    # Written with the result; taken away with its age, or repaired by an operator, which a kept answer outlives by seconds
    "league_matchlog": {"matches", "tournament:"},
    # Never changes
    "league_logdictionary": {"matches", "tournament:"},
    "league_package": {"bots"},
    # Written when a version is accepted or refused
    "league_check": {"bots"},
    # Written together with the ratings, or with their table
    "league_ratingpoint": {"pools"},
    "league_placeofday": {"pools", "ratings:"},
    "league_meetingsum": {"played"},
    # Of these only names are shown beside other rows, and names never change
    "league_pool": {"ratings:", "matches", "tournament:", "tournaments"},
    "league_player": {"tournaments", "tournament:"},
    "league_bot": {"tournaments", "ratings:"},
    "league_tournament": {"pool:"},
    "league_event": {"tournaments", "tournament:"},
    "auth_user": {"bots", "tournaments", "tournament:"},
}


def standing_for(table: str) -> set[str]:
    """The keys that change with the rows of a table, without what is named after a colon."""
    own = " ".join(key for one in marks.ALL if one.table == table for key in (*one.keys, *one.also))
    return set(re.findall(r"'([a-z]+:?)'", own)) | WITH_OTHERS.get(table, set())


# Of these addresses alone: tables of whose rows they show only what never changes
NEVER_CHANGES = {
    r"/api/v1/versions/[0-9]+": {"league_match"},  # the names of the matches that have validated it
}


def lacking(found: Answered, said: Iterable[str]) -> set[str]:
    """The tables that an answer was made of and for which none of the keys that it says stands."""
    keys = {key if ":" not in key else key.split(":")[0] + ":" for key in said}
    read = {word for sql in found.sql for word in re.findall(r"\b(?:league|auth)_\w+", sql)}
    read &= set(connection.introspection.table_names())
    return {table for table in read - {"league_change"} if not standing_for(table) & keys}


@pytest.mark.parametrize("part", mostly_slow(range(4), (0).__eq__))
def test_every_table_that_a_page_reads_is_in_what_it_says(league, door, part):
    missing = {}
    for path in pages(league)[part::4]:
        found = Answered(door, path)
        said = next(iter(door.store._answers.values())).versions
        door.store.clear()
        names = next((names for pattern, names in NEVER_CHANGES.items() if re.fullmatch(pattern, path)), set())
        if not_said := lacking(found, said) - names:
            missing[path] = not_said
    assert missing == {}


def test_a_change_while_an_answer_is_made_is_seen(league, door):
    path = f"/api/v1/pools/{league.pool.pk}/leaderboard"
    done = []

    def disturb(execute, sql, params, many, context):
        found = execute(sql, params, many, context)
        if '"league_rating"' in sql and not done:
            done.append(True)
            Rating.objects.update(elo=1234.5)  # after the answer has read its rows
        return found

    with connection.execute_wrapper(disturb):
        first = Answered(door, path)
    assert done
    assert b"1234.5" not in first.body
    assert b"1234.5" in Answered(door, path).body


def test_a_kept_answer_ends_by_the_clock(league, door, monkeypatch):
    Answered(door, "/t/")
    assert Answered(door, "/t/").kept
    then = kept.now()
    monkeypatch.setattr(kept, "now", lambda: then + kept.MOST_S + 1)
    assert not Answered(door, "/t/").kept


def test_a_store_holds_so_many_bytes():
    store = kept.Store(most=10_000)
    for number in range(50):
        store.keep(number, kept.Answer(b"x" * 1000, [], {}))
    assert len(store) == 10_000 // kept.Answer(b"x" * 1000, [], {}).most
    assert store.find(49) is not None
    assert store.find(0) is None
    store.drop(49)
    assert store.find(49) is None


def grown(act: Callable[[], object], league: League) -> set[str]:
    keys = [
        *("bots", "audits", "pools", "matches", "tournaments"),
        *(marks.of_pool(league.pool.pk), marks.of_ratings(league.pool.pk), marks.of_tournament(league.next_cup.pk)),
    ]
    before = marks.read(keys)
    act()
    after = marks.read(keys)
    assert all(after[key] >= before[key] for key in keys)
    return {key.partition(":")[0] for key in keys if after[key] > before[key]}


def test_each_change_counts_for_what_it_changes(league):
    cup = made.started(league.ana, [league.rufo, league.luna], name="Fourth cup")
    held: list[Match] = []

    def claim() -> None:
        found = leases.claim("w9", now=made.NOW)
        assert found is not None
        held.append(found)

    assert grown(claim, league) == set()
    assert grown(lambda: leases.start(held[0], now=made.NOW), league) == {"matches"}
    assert grown(lambda: leases.heartbeat(held[0].pk, held[0].token, progress=50, now=made.NOW), league) == set()
    assert grown(lambda: reports.report(held[0].pk, held[0].token, made.result(held[0]), now=made.NOW), league) >= {
        "matches",
        "pool",
    }
    assert grown(lambda: ratings.refresh(cup.pool), league) >= {"pools", "ratings", "pool"}
    assert grown(lambda: bots.describe(Bot.objects.get(slug="sol"), "New."), league) == {"bots"}


def test_folding_leaves_the_versions(league, monkeypatch):
    monkeypatch.setattr(marks, "FOLD_ABOVE", 3)
    keys = ["bots", "pools", "matches", "tournaments", marks.of_pool(league.pool.pk)]
    before = marks.read(keys)
    assert all(before.values())
    assert marks.fold() > 3
    assert marks.read(keys) == before
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT key) FROM league_change")
        rows, names = cursor.fetchone()
    assert rows == names


def test_triggers_that_are_gone_are_made_again(db):
    def there() -> set[str]:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE '%\\_mark'")
            else:
                cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            return {name for (name,) in cursor.fetchall()}

    before = there()
    assert len(before) == sum(len(one.on) for one in marks.ALL)
    with connection.cursor() as cursor:
        on = " ON league_bot" if connection.vendor == "postgresql" else ""
        gone = min(name for name in before if name.startswith("league_bot_update_"))
        cursor.execute(f"DROP TRIGGER {gone}{on}")
    marks.install(connection)
    assert there() == before


class Unwatched(Answered):
    """The same without anybody looking: as it is in a server."""

    watched = False


def lists(league: League) -> list[str]:
    """What is put together from finished lines."""
    return [
        f"/api/v1/pools/{league.pool.pk}/leaderboard",
        "/api/v1/matches",
        "/api/v1/bots",
        "/api/v1/players",
        "/api/v1/pools",
        "/api/v1/versions",
        "/api/v1/bots/luna/versions",
        "/api/v1/tournaments",
        f"/api/v1/tournaments/{league.next_cup.slug}/entries",
        "/api/v1/events",
        "/api/v1/circuits",
        "/api/v1/overall",
        f"/api/v1/pools/{league.pool.pk}/history",
        f"/api/v1/versions/{league.rufo.pk}/ratings",
        f"/api/v1/tournaments/{Tournament.objects.get(pk=league.cup.pk).slug}/rounds",
        f"/api/v1/matches/{league.clean.public_id}/boards",
    ]


def filtered(league: League) -> list[str]:
    """The same by their filters, those among them that leave nothing."""
    table, matches, bots, _players, pools, versions, of_luna, tournaments, *_, history, of_rufo, _rounds, _boards = (
        lists(league)
    )
    of = {
        table: (
            "show=active",
            "show=house",
            "owner=ana",
            "show=active&owner=ana",
            "every_version=true",
            "owner=nobody",
        ),
        matches: (
            *("game=partnership", "game=tute", f"pool={league.pool.pk}", f"tournament={league.cup.slug}", "bot=rufo"),
            *(f"version={league.rufo.pk}", "player=ana", "kind=tournament", "status=finished", "status=running"),
            *("rated=true", "rated=false", "player=ana&status=finished&game=partnership", "game=&status="),
        ),
        bots: ("owner=ana", "state=active", "house=true", "house=false&owner=ana", "owner="),
        pools: ("game=partnership", "players=2", "game=tute&players=4"),
        versions: ("owner=ana", "bot=rufo", "status=accepted"),
        of_luna: ("status=accepted", "status=rejected"),
        tournaments: ("status=open", "game=partnership", "owner=ana&status=finished", f"pool={league.pool.pk}"),
        history: ("bot=rufo", f"version={league.luna.pk}", "bot=nobody"),
        of_rufo: (f"pool={league.pool.pk}", "pool=999999"),
    }
    return [f"{path}?{query}" for path, queries in of.items() for query in queries]


def pages_of(path: str) -> list[str]:
    """All pages of a list, forward and back."""
    found, step = [], f"{path}{'&' if '?' in path else '?'}page_size=2"
    while step:
        told = json.loads(through_django(step))
        found += [step, *([near(told["previous"])] if told["previous"] else [])]
        step = near(told["next"] or "")
    return found


def near(link: str) -> str:
    return link.removeprefix("http://testserver")


def through_django(path: str) -> bytes:
    cache.clear()
    return Client().get(path).content


def compare(door: Door, paths: list[str], what: str, gone: Sequence[str] = ()) -> None:
    """Pages of lines, made anew, are what the view tells: of those that are `gone` that there is nothing."""
    cache.clear()
    for path in paths:
        door.store.clear()
        found = Unwatched(door, path)
        there = 404 if path in gone else 200
        assert (found.status, found.body) == (there, through_django(path)), f"{path} after {what}"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_finished_lines_tell_what_the_view_tells(league, door):
    """After all that happens to a league, and after every change of what a line shows, those included that only hands can make."""
    forget()
    for path in lists(league):
        assert not Answered(door, path).kept  # from here on the door knows how an answer begins
        compare(door, pages_of(path), "nothing")
    compare(door, filtered(league), "nothing")
    views, door.application = door.application, None
    compare(door, lists(league), "nothing")  # no view is asked any more
    door.application = views
    door.store.clear()
    found = Answered(door, "/api/v1/matches")
    assert (found.status, len(found.sql)) == (200, 2), "the lines are there: the versions, and which rows there are"
    rufo, cup = league.rufo, league.cup
    by_hand: dict[str, Callable[[], object]] = {
        "a name": lambda: Bot.objects.filter(pk=rufo.bot_id).update(slug="rufus"),
        "an owner": lambda: Bot.objects.filter(pk=rufo.bot_id).update(owner=league.sol.bot.owner),
        "a player's name": lambda: type(league.ana).objects.filter(pk=league.ana.pk).update(name="anna"),
        "a bot of the house": lambda: Bot.objects.filter(pk=rufo.bot_id).update(is_house=True),
        "what its author is told": lambda: (
            type(rufo).objects.filter(pk=rufo.pk).update(fault="crash", fault_detail="x")
        ),
        "games": lambda: type(rufo).objects.filter(pk=league.luna.pk).update(games=["tute"]),
        "a secret that is held back": lambda: type(cup).objects.filter(pk=cup.pk).update(secret_after=sight.NEVER),
        "a pool": lambda: type(league.pool).objects.filter(pk=league.pool.pk).update(revised=made.NOW),
        "scores of a board": lambda: league.clean.boards.filter(number=1).update(scores=[1, -1]),
        "a seed": lambda: league.next_cup.entries.update(seed=7, withdrawn=made.NOW),
        "a bot that cannot be sealed": lambda: type(rufo).objects.filter(pk=rufo.pk).update(sealable=False),
        "a name of a tournament": lambda: type(cup).objects.filter(pk=cup.pk).update(slug="cup-of-all"),
        "a tournament that is held back": lambda: type(cup).objects.filter(pk=cup.pk).update(opens=sight.NEVER),
        "and shown": lambda: type(cup).objects.filter(pk=cup.pk).update(opens=made.NOW),
        "a name of a stage": lambda: Tournament.objects.filter(event__slug="velvet-night", stage=1).update(slug="one"),
        "a stage that is held back": lambda: Tournament.objects.filter(slug="one").update(opens=sight.NEVER),
    }
    told = {"status": "running", "document": {}, "due": made.NOW, "pace_s": 7, "finished": made.NOW, "opens": made.NOW}
    for field, value in {**told, "secret_after": sight.NEVER, "embargo": made.NOW, "private": True}.items():
        by_hand[f"{field} of an event"] = partial(Event.objects.filter(slug="velvet-night").update, **{field: value})
    for field, value in {"margin": 33.3, "los_next": None, "idle": True, "estimated": True, "played": None}.items():
        by_hand[field] = partial(Rating.objects.filter(version=rufo).update, **{field: value})
    for field, value in {"reason": "because", "progress": 7, "rated": False, "attempts": 9, "status": "void"}.items():
        by_hand[field] = partial(Match.objects.filter(pk=league.clean.pk).update, **{field: value})
    for what, act in {**changes(league), **by_hand}.items():
        act()
        held = Match.objects.filter(pk=league.clean.pk, tournament__opens=sight.NEVER).exists()
        compare(door, lists(league), what, lists(league)[-2:] if held else ())
        compare(door, [f"/api/v1/tournaments/{league.knockout.slug}/rounds"], what)
        compare(door, [one for one in filtered(league) if "nobody" not in one][::9], what)
    forget()
    for spoken in ("es", "en"):  # lines that are made for who reads Spanish are told everybody
        for path in lists(league):
            cache.clear()
            Answered(door, path, HTTP_ACCEPT_LANGUAGE=spoken)  # how an answer begins
            door.store.clear()
            found, view = (
                Answered(door, path, HTTP_ACCEPT_LANGUAGE=spoken),
                Client().get(path, headers={"Accept-Language": spoken}),
            )
            assert (found.headers["content-language"], found.body) == (spoken, view.content), path


@pytest.mark.slow
def test_what_lines_do_not_tell_the_view_tells(league, door, settings):
    for path in lists(league):
        first = Answered(door, path)
        assert Answered(door, path).kept
        door.store.clear()
        again = Answered(door, path)
        assert (again.status, again.body, again.kept) == (200, first.body, False)
        own = {"x-request-id", "ratelimit", "date"}
        assert {name: value for name, value in again.headers.items() if name not in own} == {
            name: value for name, value in first.headers.items() if name not in own
        }
        assert "r=118" in again.headers["ratelimit"], "it counts as one"
        assert (Answered(door, path, HTTP_IF_NONE_MATCH=first.headers["etag"])).status == 304
        for query, status in {
            "cursor=x": 400,
            "page_size=0": 400,
            "page_size=2&page_size=3": 400,
            "colour=red": 400,
            "page_size=1": 200,
        }.items():
            assert Answered(door, f"{path}?{query}").status == status
        assert b'"errors"' in Answered(door, f"{path}?cursor=x").body
        cache.clear()
    assert Answered(door, "/api/v1/pools/999999999/leaderboard").status == 404
    assert Answered(door, f"/api/v1/matches?cursor={keyset.write([0], back=False)}").status == 200
    cache.clear()
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": {"anon": (2, 60)}}
    for status in (200, 200, 429):
        door.store.clear()
        found = Answered(door, "/api/v1/matches?page_size=1")
        assert (found.status, found.headers["ratelimit-policy"]) == (status, '"anon";q=2;w=60')


@pytest.mark.django_db(transaction=True)
def test_filtered_lists_need_no_row_of_their_own(league, door):
    for path in lists(league):
        Answered(door, path)
    for path in filtered(league):
        Answered(door, path)
        door.store.clear()
        cache.clear()
        found = Answered(door, path)
        assert (path, found.status) == (path, 200)
        if json.loads(found.body)["results"]:  # versions, rows, and the ids of game, tournament or what is counted
            assert len(found.sql) <= 4, path
            assert not [
                sql for sql in found.sql if '"league_party"."points"' in sql or '"league_bot"."stopped_for"' in sql
            ]
    for query in ("game=a%00b", "owner=a%00b", "status=x", "version=0", "player=" + "x" * 81, "bot=rufo&bot=luna"):
        for path in lists(league):
            assert Answered(door, f"{path}?{query}").status in (200, 400), query


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_has_a_token_reads_lists_as_they_may_see_them(league, door, settings):
    """Matches that are held back are in the lists of their owner, the staff, who takes part, and nobody else, in whatever order they ask.

    So are private events, and the stages and the secret of what is not shown yet.
    """
    held = events.create(
        league.ana,
        {"name": "Secret", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]},
        [league.rufo, made.accepted(league.ana, "second")],
        terms=releases.Terms(private=True),
        now=made.NOW,
    )
    if not Match.objects.filter(tournament__event=held).exists():
        events.start(held, actor="ana", now=made.NOW)
    hidden = set(Match.objects.filter(tournament__event=held).values_list("public_id", flat=True))
    assert hidden
    document = {"name": "Dark", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    terms = releases.Terms(Audience.HIDDEN)
    dark = events.create(league.ana, document, [league.rufo, league.luna], terms=terms, now=made.NOW)
    staff, guest = players.create("olga", staff=True), players.create("gala")
    releases.add(held, [guest.pk], now=made.NOW)
    Event.objects.filter(pk__in=(held.pk, dark.pk)).update(finished=made.NOW)
    keys = {one.name: tokens.create(one, "test", scope="read")[1] for one in (league.ana, league.berto, staff, guest)}
    slug = held.tournaments.get().slug
    paths = [*lists(league), *filtered(league)[::3], f"/api/v1/matches?tournament={slug}"]
    made.play(Match.objects.filter(tournament__event=held)[0])
    [played] = Match.objects.filter(tournament__event=held, status="finished").values_list("public_id", flat=True)
    of_held = f"/api/v1/tournaments/{slug}"
    secret = (f"{of_held}/entries", f"{of_held}/rounds", f"/api/v1/matches/{played}/boards")
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"anon": (999, 60), "user": (999, 60)},
    }
    seen: dict[str, set[str]] = {}
    for turn in range(3):  # the view, which notes the token; then lines that are made; then lines that are there
        for name, key in {"": "", **keys}.items():
            headers = {"HTTP_AUTHORIZATION": f"Bearer {key}"} if key else {}
            for path in (*paths, *secret):
                found = Answered(door, path, **headers)
                wanted = Client().get(path, **headers)
                may = path not in secret or name in ("ana", "olga", "gala")
                assert (found.status, found.body) == (200 if may else 404, wanted.content), (turn, name, path)
                if path == "/api/v1/tournaments":
                    assert (slug in {one["slug"] for one in json.loads(found.body)["results"]}) == (
                        name in ("ana", "olga", "gala")
                    )
                if path == "/api/v1/events":
                    known = {one["slug"]: one for one in json.loads(found.body)["results"]}
                    own, part = name in ("ana", "olga"), name in ("ana", "olga", "gala")
                    assert (held.slug in known, part and bool(known[held.slug]["secret"])) == (part, part)
                    shown = known[dark.slug]
                    assert (bool(shown["secret"]), bool(shown["tournaments"])) == (own, own)
                if path.startswith("/api/v1/matches?") or path == "/api/v1/matches":
                    seen.setdefault(name, set()).update(one["id"] for one in json.loads(found.body)["results"])
                if turn == 2 and key and json.loads(found.body).get("results"):
                    assert not [sql for sql in found.sql if '"league_party"."points"' in sql]
                    assert len(found.sql) <= 6, path
        door.store.clear()
    assert {name for name, ids in seen.items() if ids & hidden} == {"ana", "olga", "gala"}
    assert seen["berto"] == seen[""]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pages_of_rounds_hold_so_many_matches(league, door, monkeypatch):
    """Forward and back they are those of the view, and a match that is leased, which moves no mark, is told so."""
    monkeypatch.setattr(brackets, "MOST_MATCHES", 2)
    bots = [made.accepted(league.ana, f"more-{number}") for number in range(4)]
    cup = made.started(league.ana, bots, name="Fifth cup")
    path = f"/api/v1/tournaments/{cup.slug}/rounds"
    Answered(door, path)
    assert len(json.loads(through_django(path))["results"]) == 1
    compare(door, [path, *pages_of(path)], "a start")
    held = leases.claim("w", now=made.NOW)
    compare(door, [path, *pages_of(path)], "a lease")
    assert b'"leased"' in Unwatched(door, path).body
    leases.start(held, now=made.NOW)
    compare(door, [path, *pages_of(path)], "its start")
    made.play(cup.matches.filter(status="queued")[0])
    compare(door, [path, *pages_of(path)], "a match")
    door.store.clear()
    assert not [sql for sql in Answered(door, path).sql if '"league_party"' in sql]


@pytest.mark.django_db(transaction=True)
def test_when_a_season_is_due_follows_from_the_clock(league, door, monkeypatch):
    """A line that is there tells it, whatever moments of its calendar have passed since it was made."""
    path, told = "/api/v1/circuits", []
    Answered(door, path)
    for day in range(16):
        monkeypatch.setattr(clock, "present", lambda: made.later(86400 * day))  # noqa: B023 - called at once
        door.store.clear()
        cache.clear()
        found = Answered(door, path)
        assert found.body == through_django(path)
        assert not day or not [sql for sql in found.sql if '"league_season"' in sql]
        told.append(json.loads(found.body)["results"][0]["next_due"])
    assert sorted(set(told)) == ["2026-01-02T20:00:00Z", "2026-01-09T20:00:00Z"]
    circuits.open_due(now=made.later(86400 * 15))
    door.store.clear()
    found = Answered(door, path)
    assert (found.body, '"league_season"' in "".join(found.sql)) == (through_django(path), True)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_audits_have_shown_of_a_version_is_a_finished_line(league, door):
    path = f"/api/v1/versions/{league.rufo.pk}/audits"
    version, shown = type(league.rufo).objects.filter(pk=league.rufo.pk), set()
    Answered(door, path)
    acts = {
        "nothing": lambda: None,
        "audits": audit,
        "a manifest": lambda: version.update(deterministic=True),
        "what one differs in": lambda: Audit.objects.filter(pk=league.rufo.audits.all()[0].pk).update(
            verdict="differs"
        ),
        "one that says nothing": lambda: Audit.objects.filter(verdict="differs").update(decisions=0),
        "all that is gone": lambda: league.rufo.audits.all().delete(),
    }
    for what, act in acts.items():
        act()
        compare(door, [path], what)
        door.store.clear()
        found = Answered(door, path)
        assert len(found.sql) == 2, "the versions, and what the line follows from"
        shown.add(found.body)
    assert len(shown) == len(acts)
    door.store.clear()
    assert Answered(door, f"{path}?page_size=1").status == 400
    assert Answered(door, "/api/v1/versions/999999999/audits").status == 404


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_encounters_of_two_bots_are_finished_lines(league, door):
    """They hold until there is another rated result, or a name is another one."""
    path, shown = "/api/v1/bots/luna/versus/sol", set()
    Answered(door, path)
    cup = made.started(league.ana, [league.luna, league.sol], name="Fourth cup")
    other = tournaments.create(
        league.ana, "Others", "corriente", versions=[league.luna, league.sol], boards=1, now=made.NOW
    )
    tournaments.start(other, now=made.NOW)
    of_cup, of_other = cup.matches.order_by("id")[0], other.matches.order_by("id")[0]
    rows = Match.objects.filter(pk=of_cup.pk)
    acts = {
        "nothing": lambda: None,
        "a match": lambda: made.play(of_cup),
        "one in another pool": lambda: made.play(of_other),
        "one that is not rated any more": lambda: rows.update(rated=False),
        "and is again": lambda: rows.update(rated=True),
        "one that is void": lambda: matches.void(Match.objects.get(pk=of_cup.pk), actor="operator", why="a test"),
        "another revision": lambda: type(league.pool).objects.update(revision=77),
        "a match that is gone": lambda: Match.objects.filter(pk=of_other.pk).delete(),
    }
    for what, act in acts.items():
        act()
        compare(door, [path, *pages_of(path)], what)
        door.store.clear()
        found = Answered(door, path)
        assert len(found.sql) == 1, "the versions"
        shown.add(found.body)
    assert len(shown) == len(acts) - 2, "rated again, it is as it was; void, as not rated"
    Bot.objects.filter(slug="sol").update(slug="sun")
    assert [Answered(door, one).status for one in (path, path.replace("sol", "luna"), path.replace("sol", "sun"))] == [
        404,
        404,
        200,
    ]
    for query in ("cursor=x", "page_size=0", "colour=red"):
        assert Answered(door, f"{path.replace('sol', 'sun')}?{query}").status == 400


def test_a_token_that_may_not_read_is_refused_by_django(league, door, settings):
    row, key = tokens.create(league.ana, "test", scope="read")
    path, headers = "/api/v1/bots", {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    assert Answered(door, path).status == 200

    def says(**other: str) -> tuple[int, bool]:
        found = Answered(door, path, **{**headers, **other})
        return found.status, len(found.sql) == 2

    assert says() == (200, False), "its first use is noted"
    assert says() == (200, True), "the kept answer to everybody: who has the token, and the versions"
    door.store.clear()
    found = Answered(door, path, **headers)
    assert 'user";q=600' in found.headers["ratelimit-policy"]
    assert found.body == Answered(door, path).body
    assert Answered(door, path, **headers, HTTP_IF_NONE_MATCH=found.headers["etag"]).status == 304
    for wrong in ("Bearer", "Bearer x", f"Basic {key}", "Bearer \xff"):
        assert says(HTTP_AUTHORIZATION=wrong)[0] == 401, wrong
    old = tokens.ApiToken.objects.filter(pk=row.pk)
    old.update(last_used=made.NOW)
    assert says() == (200, False)
    assert old.get().last_used > made.NOW
    old.update(expires=made.NOW)
    assert says()[0] == 401
    old.update(expires=None)
    assert says() == (200, True)
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": {"anon": (9, 60), "user": (2, 60)}}
    cache.clear()
    for status in (200, 200, 429):
        door.store.clear()
        assert says()[0] == status
    cache.clear()
    bans.ban(league.ana, why="a test", actor="operator")
    assert says()[0] == 401
    row, key = tokens.create(league.berto, "test")
    headers = {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    assert [says()[0], says()[0]] == [200, 200]
    tokens.revoke(row)
    assert says()[0] == 401


@pytest.mark.django_db(transaction=True)
def test_places_further_down_are_counted_once(league, door):
    """Who goes through a table from page to page has nothing counted, and after a fit all of it is counted anew."""
    path = lists(league)[0]
    steps = [one for one in pages_of(path) if "cursor" in one]
    Answered(door, path)
    Unwatched(door, f"{path}?page_size=2")

    def counted() -> list[int]:
        cache.clear()
        found = [Answered(door, one) for one in steps]
        assert [one.body for one in found] == [through_django(one) for one in steps]
        door.store.clear()
        return [len([sql for sql in one.sql if "COUNT(" in sql.upper()]) for one in found]

    counted()
    assert counted() == [0] * len(steps)
    Rating.objects.filter(version=league.rufo).update(elo=2000.0)
    assert sum(counted()) <= 1
    assert counted() == [0] * len(steps)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans nothing ahead")
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_gone_is_another_one(league, door):
    path = "/api/v1/matches"
    whole = Unwatched(door, path).body
    door.store.clear()
    assert Unwatched(door, path).body == whole
    planned = "SELECT count(*), pg_backend_pid() FROM pg_prepared_statements WHERE name LIKE 'tute%'"

    def there() -> tuple[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(planned)
            return cursor.fetchone()

    number, backend = there()
    assert number >= 2
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    request_started.connect(close_old_connections)
    try:
        for _ in range(2):
            door.store.clear()
            assert (
                Unwatched(door, path).body == whole
            )  # who has taken them may do so again: a cursor says it from here on
            assert there() == (0, backend)
        with psycopg.connect(
            **{**connection.get_connection_params(), "context": None, "cursor_factory": None}
        ) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [backend])
        for _ in range(3):
            assert Unwatched(door, path).body == whole
        number, other_one = there()
        assert (number >= 1, other_one != backend) == (True, True)
    finally:
        request_started.disconnect(close_old_connections)
