"""Every address: its answer is stored and follows every change, or there is a reason why it is not stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.urls import resolve

from engine.runner import audit as runner
from league.api import urls as api_urls
from league.domain.audits import sampling
from league.domain.bots import bots
from league.domain.core import clock
from league.domain.jobs.handlers import audits
from league.domain.judgements import asking, summing
from league.domain.matches import embargoes, leases, matches, reports
from league.domain.people import bans, players, tokens
from league.domain.ratings import daily, idle, ratings
from league.domain.talk import comments, places
from league.domain.tournaments import circuits, enrolment, events, progress, releases, requests, tournaments
from league.enums import Audience
from league.models import Bot, Circuit, Comment, EntryRequest, Event, Match, Rating, Tournament
from league.response_cache import ResponseCache
from league.service import changes
from league.web import urls as pages_urls
from tests.league.response_cache.conftest import Answered, Larger
from tests.support import consulting, jobs
from tests.support import league as made
from tests.support.parts import mostly_slow


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
