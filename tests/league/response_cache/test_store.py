"""The store of answers: its keys, conditions, limits, and the counters that it follows."""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg
import pytest
from django.core.cache import cache
from django.core.signals import request_started
from django.db import close_old_connections, connection

from league import response_cache
from league.domain.bots import bots
from league.domain.core import clock, queue
from league.domain.matches import leases, reports
from league.domain.people import tokens
from league.domain.ratings import ratings
from league.models import Bot, Match, Rating
from league.service import changes
from tests.league.response_cache.conftest import Answered
from tests.league.web.conftest import League
from tests.support import league as made
from tests.support.parts import mostly_slow


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
