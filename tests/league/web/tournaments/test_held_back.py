"""Events that are held back or private: every page and every address of the API is read by who may not see them, and tells nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import product

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern

from league.api.http.index import operations
from league.domain.bots import tries
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import players, rights
from league.domain.ratings import ratings
from league.domain.tournaments import events, progress, releases, show
from league.domain.tournaments.standings import Standings, standings
from league.domain.upkeep import reconcile
from league.enums import Audience
from league.models import BotVersion, Event, Match, Player, Pool, Tournament
from league.service import changes, topics
from league.web.urls import urlpatterns
from tests.league.web.page import Page, faults
from tests.support import consulting
from tests.support import league as made
from tests.support.bots import HONEST
from tests.support.parts import mostly_slow

DOCUMENT = {
    "name": "Velvet night",
    "game": "partnership",
    "stages": [{"format": "round_robin", "boards": 2, "advance": 2}, {"format": "single_elimination", "boards": 2}],
}
HIDDEN = releases.ReleaseTerms(Audience.HIDDEN)


@pytest.fixture
def dora(league) -> Player:
    return players.create("dora", now=made.NOW)


def play(event: Event) -> Event:
    for _ in range(40):
        match = Match.objects.filter(tournament__event=event, status="queued").order_by("id").first()
        if match is None:
            if not reconcile.reconcile(now=made.later(5)).opened:
                break
            continue
        versions = list(match.parties.order_by("number").values_list("version_id", flat=True))
        made.play(match, winner=versions.index(min(versions)))
        progress.advance(match.tournament, now=made.later(5))
    for pool in Pool.objects.all():
        ratings.refresh(pool, now=made.later(6))
    event.refresh_from_db()
    return event


def signed_in(player: Player | None) -> Client:
    client = Client(headers={"accept-language": "en"})
    if player is not None:
        client.force_login(player.user)
    return client


def filled(route: str, names: Sequence[str], event: Event) -> Iterator[str]:
    """A route with everything in its places that belongs to the event, its bots and their people."""
    first = route.removeprefix("/api/v1/").removeprefix("embed/").split("/")[0]
    bots = ["luna", "sol"]
    choices = {
        "bots": bots,
        "t": list(event.tournaments.values_list("slug", flat=True)),
        "tournaments": list(event.tournaments.values_list("slug", flat=True)),
        "e": [event.slug],
        "events": [event.slug],
        "m": list(Match.objects.filter(tournament__event=event).values_list("public_id", flat=True))[:2],
        "matches": list(Match.objects.filter(tournament__event=event).values_list("public_id", flat=True))[:2],
        "g": [event.document["game"]],
        "games": [event.document["game"]],
        "players": [event.owner.name, "berto"],
        "versions": [str(pk) for pk in BotVersion.objects.filter(bot__slug__in=bots).values_list("pk", flat=True)],
        "pools": [str(pk) for pk in Pool.objects.values_list("pk", flat=True)],
    }.get(first, ["1"])
    also = {"other": bots[:2], "number": ["1"], "sitting": ["0"], "kind": ["open"]}
    for values in product(*(also.get(name, choices) if name in also else choices for name in names)):
        path = route
        for name, value in zip(names, values, strict=True):
            path = re.sub(rf"<[a-z]+:{name}>|\{{{name}\}}", value, path)
        yield path


def addresses(event: Event) -> list[str]:
    """Return the paths of all pages and of all reads of the API."""
    paths = []
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern) and pattern.name not in ("metrics", "logout", "live", "prefs"):
            route = str(pattern.pattern)
            paths += [f"/{path}" for path in filled(route, re.findall(r"<[a-z]+:(\w+)>", route), event)]
    for operation in operations():
        if operation["method"] == "GET":
            paths += filled(operation["path"], re.findall(r"\{(\w+)\}", operation["path"]), event)
    match = Match.objects.filter(tournament__event=event).first()
    assert match is not None
    paths += [
        f"/oembed?url=http://testserver/m/{match.public_id}/",
        f"/editor/?at={match.public_id}.1.0.0.0",
        "/m/?status=finished",
        "/m/?game=partnership",
        "/t/?cursor=x",
    ]
    paths += [f"/api/v1/tournaments?owner={event.owner.name}", "/api/v1/matches?status=finished"]
    paths += [f"/api/v1/matches?tournament={tournament.slug}" for tournament in event.tournaments.all()]
    return paths


def secrets_of(event: Event) -> list[str]:
    """Return the texts that name a match or table of the event, and the seeds of its cards."""
    cups = list(event.tournaments.all())
    ids = Match.objects.filter(tournament__event=event).values_list("public_id", flat=True)
    keys = [bytes(event.secret).hex(), *(bytes(cup.secret).hex() for cup in cups)]
    return [
        *ids,
        *(cup.slug for cup in cups),
        *keys,
        *([event.slug, event.name, event.invitation] if event.private else []),
    ]


def body_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def told(client: Client, event: Event, words: Sequence[str], paths: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return, by address, the words that its answer contains and the request did not."""
    leaks = {}
    for path in paths or addresses(event):
        cache.clear()  # These reads exceed the limit of a minute
        answer = client.get(path)
        assert answer.status_code < 500, path
        assert answer.status_code != 429, path
        text = body_of(answer).decode("utf-8", "replace") + str(answer.headers)
        # An address that is not found, or a query, may be repeated to the client that sent it
        repeated = path if answer.status_code in (302, 404) else path.partition("?")[2]
        leaked = [word for word in words if word in text and word not in repeated]
        if leaked:
            leaks[path] = leaked
    return leaks


@pytest.mark.slow
def test_nothing_of_an_event_that_is_held_back_is_told(league, dora) -> None:
    field = [league.luna, league.sol, *(made.accepted(league.berto, name) for name in ("vega", "zoe"))]
    event = events.create(league.ana, DOCUMENT, field, terms=HIDDEN, now=made.NOW)
    before = {path: body_of(signed_in(None).get(path)) for path in shown_of_all(league)}
    points = ratings_of()
    play(event)
    assert event.status == "finished"
    words = secrets_of(event)
    assert len(words) > 8

    assert ratings_of() == points, "what is held back is unrated"
    for path, content in before.items():
        assert timeless(body_of(signed_in(None).get(path))) == timeless(content), path
    for viewer in (
        None,
        dora,
        league.berto,
    ):  # a stranger, somebody with an account, and the owner of three of its bots
        assert told(signed_in(viewer), event, words) == {}, viewer
    for cup in event.tournaments.all():
        body = signed_in(dora).get(f"/live?topic=tournament:{cup.pk}&since=0").content
        assert f"tournament:{cup.pk}".encode() not in body

    rights.change(dora, ["staff"], give=True, why="a test", actor="operator")
    for viewer in (league.ana, Player.objects.get(pk=dora.pk)):  # its owner, and an operator
        assert told(signed_in(viewer), event, words, open_doors(event)).keys() == set(open_doors(event))
    rights.change(dora, ["staff"], give=False, why="a test", actor="operator")

    releases.change(event, releases.ReleaseTerms(Audience.ENTRANTS), actor="ana")
    assert told(signed_in(league.berto), event, words, open_doors(event)).keys() == set(open_doors(event))
    assert told(signed_in(Player.objects.get(pk=dora.pk)), event, words, open_doors(event)) == {}
    with pytest.raises(Refused, match="only widen its audience"):
        releases.change(event, HIDDEN, actor="ana")

    moment = clock.present() + timedelta(days=1)
    with pytest.raises(Refused, match="it needs no release time"):
        releases.change(event, releases.ReleaseTerms(release=moment), actor="ana")

    releases.change(event, releases.OPEN, actor="ana")
    assert told(signed_in(None), event, words, open_doors(event)).keys() == set(open_doors(event))
    assert ratings_of() == points, "and stays so"


@pytest.mark.parametrize("terms", [HIDDEN, releases.ReleaseTerms(private=True)], ids=["hidden", "private"])
def test_whoever_may_not_see_a_match_cannot_follow_it(terms: releases.ReleaseTerms, league, dora) -> None:
    """A hidden subject answers like an absent one: its name is not repeated, and no version is sent."""
    consulting.enter("greedy")
    field = [league.rufo, made.accepted(league.ana, "vega")]
    event = events.create(league.ana, DOCUMENT, field, terms=terms, now=made.NOW)
    if event.status == "open":
        events.start(event, actor="ana", now=made.NOW)
    match = Match.objects.get(tournament__event=event)
    attempt = tries.begin(league.ana, HONEST, "partnership", "greedy")
    hidden = [topics.of_match(match.public_id), changes.of_tournament(match.tournament_id)]
    nowhere = [topics.of_match(attempt.work.public_id), topics.of_match("nobody"), changes.of_tournament(10**9)]

    def followed(viewer: Player | None, topic: str) -> str:
        (data,) = re.findall(r"data: (.*)", signed_in(viewer).get(f"/live?topic={topic}").content.decode())
        return data

    for topic in (*hidden, *nowhere):
        for viewer in (None, dora):
            assert followed(viewer, topic) == '{"tournament:0":0}', (topic, viewer)
    for topic in hidden:
        assert topic in followed(league.ana, topic)
    assert "match:" in followed(None, topics.of_match(league.clean.public_id))


def open_doors(event: Event) -> list[str]:
    """Return some of the addresses that show an event to people who may see it."""
    paths = ["/m/", "/t/", "/bots/luna/", "/players/berto/news.atom", "/api/v1/matches", "/api/v1/tournaments"]
    return [*paths, f"/e/{event.slug}/", f"/api/v1/events/{event.slug}"]


def shown_of_all(league) -> list[str]:
    pool = league.pool.pk
    pages = ["/", "/m/", "/t/", "/tv/", "/overall/", "/g/partnership/", "/players/berto/news.atom", "/api/v1/matches"]
    pages += [
        f"/{path}"
        for path in (f"api/v1/pools/{pool}", f"api/v1/pools/{pool}/leaderboard", f"api/v1/pools/{pool}/history")
    ]
    return [*pages, "/bots/luna/", "/bots/sol/", "/bots/luna/vs/sol/", "/players/berto/", "/g/partnership/boards.jsonl"]


def ratings_of() -> list[tuple[int, float]]:
    return list(Pool.objects.order_by("pk", "ratings__pk").values_list("ratings__version", "ratings__elo"))


def timeless(content: bytes) -> bytes:
    """Remove times and versions from a page."""
    text = re.sub(rb"<time [^>]*>[^<]*|data-(now|begins|live|since|versions)=\"[^\"]*\"", b"", content)
    text = re.sub(rb"<(meta|link|body|main)[^>]*>", b"", text)
    return re.sub(rb"<updated>[^<]*", b"", text)


def test_a_player_sees_that_the_bot_is_entered_and_the_owner_who_has_joined(league) -> None:
    event = events.create(league.ana, DOCUMENT, [league.rufo], terms=releases.ReleaseTerms(private=True), now=made.NOW)
    guest, owner, address = signed_in(league.berto), signed_in(league.ana), f"/e/{event.slug}/"

    def text(client: Client) -> str:
        return " ".join(Page(client.get(address, headers={"accept-language": "en"}).content.decode()).text.split())

    assert "0 players have joined" in text(owner), "the owner is none of them"
    guest.post(f"{address}join/{event.invitation}/")
    assert "1 player has joined. berto" in text(owner), "the owner reads who is missing"
    assert "Enter luna" in text(guest)
    assert "Withdraw" not in text(guest)
    guest.post(f"{address}enter/", {"bot": "luna", "action": "enter"})
    assert "luna is entered." in text(guest)
    assert "Enter luna" not in text(guest)
    assert "Withdraw" in text(guest)
    assert "open requests expire" not in text(guest), "nobody was asked"


@pytest.mark.slow
def test_a_private_event_is_known_to_who_has_its_link(league, dora) -> None:
    event = events.create(league.ana, DOCUMENT, [league.rufo], terms=releases.ReleaseTerms(private=True), now=made.NOW)
    assert event.status == "open"
    Event.objects.filter(pk=event.pk).update(per_player=2)
    join = f"/e/{event.slug}/join/{event.invitation}/"
    stranger, guest, owner = signed_in(None), signed_in(league.berto), signed_in(league.ana)
    for client in (stranger, guest):
        assert client.get(f"/e/{event.slug}/").status_code == 404
        page = Page(client.get(join).content.decode())
        assert faults(page) == []
        assert "Velvet night" in page.text
        assert client.get(join[:-2] + "/").status_code == 404
    assert stranger.post(join).status_code == 200
    assert event.guests.count() == 1  # its owner, who has a bot in it
    assert guest.post(join).url == f"/e/{event.slug}/"
    made.accepted(league.berto, "vega")
    for name in ("luna", "vega"):
        guest.post(f"/e/{event.slug}/enter/", {"bot": name, "action": "enter"})
    guest.post(f"/e/{event.slug}/enter/", {"bot": "sol", "action": "enter"})  # another's
    guest.post(f"/e/{event.slug}/enter/", {"bot": "vega", "action": "leave"})
    entered = event.requests.filter(status="granted").order_by("pk")
    assert list(entered.values_list("bot__slug", flat=True)) == ["rufo", "luna"]
    guest.post(f"/e/{event.slug}/enter/", {"bot": "vega", "action": "enter"})
    assert signed_in(dora).post(f"/e/{event.slug}/enter/", {"bot": "luna"}).status_code == 404

    signed_in(league.berto).post(f"/e/{event.slug}/enter/", {"bot": "rufo", "action": "leave"})  # another's
    assert entered.count() == 3
    owner.post(f"/e/{event.slug}/enter/", {"bot": "vega", "action": "leave"})
    assert entered.count() == 2
    guest.post(f"/e/{event.slug}/enter/", {"bot": "vega", "action": "enter"})
    assert entered.count() == 2, "only the owner lets it in again"
    owner.post(f"/e/{event.slug}/enter/", {"bot": "vega", "action": "enter"})
    assert entered.count() == 3

    old = event.invitation
    owner.post(f"/e/{event.slug}/do/", {"action": "renew"})
    event.refresh_from_db()
    assert event.invitation not in ("", old)
    assert guest.post(f"/e/{event.slug}/do/", {"action": "renew"}).status_code == 403
    assert signed_in(dora).post(join).status_code == 404
    assert event.invitation in owner.get(f"/e/{event.slug}/").content.decode()
    assert event.invitation not in guest.get(f"/e/{event.slug}/").content.decode()
    owner.post(f"/e/{event.slug}/do/", {"action": "close"})
    assert signed_in(dora).get(f"/e/{event.slug}/join/{event.invitation}/").status_code == 404
    owner.post(f"/e/{event.slug}/do/", {"action": "renew"})

    owner.post(f"/e/{event.slug}/do/", {"action": "start"})
    event.refresh_from_db()
    play(event)
    assert event.status == "finished"
    assert not Match.objects.filter(tournament__event=event, rated=True).exists()
    words = secrets_of(event)
    for viewer in (None, dora):
        assert told(signed_in(viewer), event, words) == {}
    leaks = told(guest, event, words, ["/e/", "/api/v1/events", *open_doors(event)])
    assert leaks.keys() == {"/e/", "/api/v1/events", *open_doors(event)}
    assert event.invitation not in str(leaks)
    for client in (guest, owner):
        assert faults(Page(client.get(f"/e/{event.slug}/").content.decode())) == []


@pytest.mark.slow
def test_an_event_opens_by_the_clock(league) -> None:
    opens = clock.present() + timedelta(days=1)
    event = play(
        events.create(
            league.ana, DOCUMENT, [league.luna, league.sol], terms=releases.ReleaseTerms(Audience.HIDDEN, release=opens)
        )
    )
    cup = Tournament.objects.filter(event=event).first()
    assert cup is not None
    assert (event.opens, cup.opens) == (opens, opens)
    reader = signed_in(None)
    assert reader.get(f"/t/{cup.slug}/").status_code == 404
    past = clock.present() - timedelta(seconds=1)
    Event.objects.update(opens=past)
    Tournament.objects.filter(event=event).update(opens=past)
    assert reader.get(f"/t/{cup.slug}/").status_code == 200
    with pytest.raises(Refused, match="has been released"):
        releases.change(event, HIDDEN, actor="ana")


@pytest.mark.slow
def test_an_event_is_shown_board_by_board(league) -> None:
    field = [league.luna, league.sol, made.accepted(league.berto, "vega")]
    terms = releases.ReleaseTerms(Audience.HIDDEN, release=made.later(3600), pace_s=3600)
    event = play(events.create(league.ana, DOCUMENT, field, terms=terms, now=made.NOW))
    total = releases.boards_of(event)
    assert total > 6
    assert (event.shown_from, event.opens) == (made.later(3600), made.later(3600 * (1 + total)))

    before = show.at(event, now=made.later(3599))
    assert before is not None
    assert (before.number, before.board, before.begins) == (0, None, made.later(3600))
    boards = []
    for number in range(1, total + 1):
        first, last = (show.at(event, now=made.later(3600 * number + seconds)) for seconds in (0, 3599))
        assert first == last
        assert first is not None
        assert (first.number, first.total, first.begins) == (number, total, made.later(3600 * number))
        assert show.shown(event, number, now=made.later(3600 * number)) == first.board
        assert show.shown(event, number + 1, now=made.later(3600 * number)) is None
        boards.append(first.board)
    assert boards == list(show.boards(event))
    over = show.at(event, now=made.later(3600 * (total + 1)))
    assert over is not None
    assert over.over

    for cup in event.tournaments.all():
        numbers = [
            number
            for number, board in enumerate(boards, 1)
            if board is not None and board.match.tournament_id == cup.pk
        ]
        for number in numbers:  # The table moves with each board, and shows no other
            table = show.table(event, cup, number)
            assert sum(row.result.points for row in table.rows) == number - numbers[0]
        assert places(show.table(event, cup, numbers[-1] + 1)) == places(standings(cup))


def places(table: Standings) -> list[tuple[int, str, float]]:
    return [(row.result.place, row.entry.version.bot.slug, row.result.points) for row in table.rows]


@pytest.mark.slow
def test_a_show_without_a_moment_begins_when_its_owner_says_so(league, monkeypatch) -> None:
    terms = releases.ReleaseTerms(Audience.HIDDEN, pace_s=60)
    event = play(events.create(league.ana, DOCUMENT, [league.luna, league.sol], terms=terms, now=made.NOW))
    now = made.later(3600)
    monkeypatch.setattr(clock, "present", lambda: now)
    owner, address = signed_in(league.ana), f"/e/{event.slug}/"
    assert 'value="begin_show"' in owner.get(address).content.decode()
    assert owner.get(f"{address}show/").status_code == 404
    assert (
        owner.post(f"{address}do/", {"action": "begin_show", "audience": "hidden", "pace_s": "60"}).status_code == 302
    )

    event.refresh_from_db()
    assert event.shown_from == made.later(3610)
    assert event.opens == made.later(3610 + 60 * show.boards(event).count())
    assert 'value="begin_show"' not in owner.get(address).content.decode()
    for seconds, status in ((9, 404), (10, 200)):
        monkeypatch.setattr(clock, "present", lambda: now + timedelta(seconds=seconds))  # noqa: B023 - called at once
        assert signed_in(None).get(f"{address}show/replay.json?n=1").status_code == status


@pytest.mark.parametrize("everywhere", mostly_slow((False, True), (False).__eq__))
def test_who_watches_sees_no_board_before_its_moment(league, everywhere: bool) -> None:
    field = [league.luna, league.sol, made.accepted(league.berto, "vega")]
    now = clock.present()
    terms = releases.ReleaseTerms(Audience.HIDDEN, release=now + timedelta(hours=3), pace_s=3600)
    event = events.create(league.ana, DOCUMENT, field, terms=terms)
    reader, address = signed_in(None), f"/e/{event.slug}/show/"
    assert "once all boards are played" in Page(reader.get(address).content.decode()).text
    play(event)
    assert "The show starts at" in Page(reader.get(address).content.decode()).text

    counts = {}
    for hours in (2, 5):
        Event.objects.update(shown_from=now - timedelta(hours=hours, minutes=-30), opens=now + timedelta(hours=9))
        Tournament.objects.filter(event=event).update(opens=now + timedelta(hours=9))
        with CaptureQueriesContext(connection) as queries:
            page = Page(reader.get(address).content.decode())
        counts[hours] = len(queries)
        assert faults(page) == []
        assert f"Board {hours} of" in page.text
        statuses = [reader.get(f"{address}replay.json?n={n}&s=0").status_code for n in (0, hours, hours + 1)]
        assert statuses == [404, 200, 404]
        for path in (address, f"{address}replay.json?n=1&s=0"):
            body = body_of(reader.get(path)).decode()
            assert not [word for word in secrets_of(event) if word in body]
    assert counts[2] == counts[5], "as many queries late in the show as early"
    assert told(reader, event, secrets_of(event), () if everywhere else open_doors(event)) == {}

    Event.objects.update(shown_from=now - timedelta(days=30), opens=now)
    assert "All boards have been shown." in Page(reader.get(address).content.decode()).text
    assert reader.get("/e/nothing/show/").status_code == 404
