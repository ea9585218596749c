"""Notices: from the journal to the players concerned, once each, with any number of followers and after any crash."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.arenas import playing
from league.domain.bots import bots, challenges, closing, consent
from league.domain.core import journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.notices import following, inbox, notifying, sources, spreading, ways
from league.domain.notices.kinds import DEFAULTS, TEXTS
from league.domain.people import bans, players
from league.domain.tournaments import circuits
from league.enums import NoticeKind, NoticeWay
from league.models import (
    Arena,
    Bot,
    BotVersion,
    Event,
    Follow,
    LeagueEvent,
    Notice,
    NoticeSource,
    PlaceOfDay,
    Player,
    TableOfDay,
    Team,
)
from league.web.people import notice_words
from tests.league.web.conftest import League
from tests.league.web.page import Page, faults
from tests.support.league import NOW, later

SOON = later(1)


def texts(player: Player) -> dict[str, int]:
    """The texts of a player's notices with their counts."""
    return dict(Notice.objects.filter(player=player).values_list("text", "count"))


def people(count: int) -> list[Player]:
    from django.contrib.auth.models import User

    users = User.objects.bulk_create(User(username=f"p{number}") for number in range(count))
    return Player.objects.bulk_create(Player(user=user, name=user.username, created=NOW) for user in users)


def test_each_kind_has_a_default_a_sentence_and_a_source() -> None:
    assert set(DEFAULTS) == set(NoticeKind) == set(TEXTS.values())
    assert set(TEXTS) == set(notice_words.SENTENCES)
    assert {*sources.SOURCES, "pool.day"} == journal.NOTICED


def test_a_league_that_played_tells_each_player_once(league: League) -> None:
    spreading.run(now=SOON)
    assert not NoticeSource.objects.exists()
    assert set(texts(league.ana)) == {"started", "placed", "faulty"}
    assert set(texts(league.berto)) == {"started", "placed"}
    before = list(Notice.objects.order_by("pk").values())
    for line in LeagueEvent.objects.filter(kind__in=journal.NOTICED):
        NoticeSource.objects.create(line=line, due=SOON)  # As if a crash had undone the deletion alone.
    spreading.run(now=SOON)
    assert list(Notice.objects.order_by("pk").values()) == before
    for notice in Notice.objects.all():
        assert notice_words.sentence(notice)
        assert notice_words.address(notice)


def test_a_flood_is_one_line_with_a_count_that_reading_ends(league: League) -> None:
    spreading.run(now=SOON)
    Notice.objects.all().delete()
    facts = {"match": league.faulty.public_id, "version": 1, "fault": "crash"}
    for _number in range(100):
        journal.append("bot.failed", "bot:rufo", now=NOW, **facts)
    spreading.run(now=SOON)
    assert texts(league.ana) == {"faulty": 100}
    inbox.mark_read(league.ana, now=SOON)
    assert not inbox.has_unread(league.ana)
    journal.append("bot.failed", "bot:rufo", now=NOW, **facts)
    spreading.run(now=SOON)
    assert texts(league.ana) == {"faulty": 1}
    assert inbox.has_unread(league.ana)


def test_a_notice_names_few_of_many_games() -> None:
    words = {"bot": "rufo", "version": 1, "games": ["brisca", "guinote", "cabrero", "corriente", "bato"]}
    text = notice_words.sentence(Notice(text="partly_refused", words=words))
    assert text == "rufo v1 was accepted, but not for: Brisca, Guiñote, Tute cabrero and 2 more."


def test_refused_stopped_asked_and_challenged(league: League) -> None:
    spreading.run(now=SOON)
    Notice.objects.all().delete()
    version = BotVersion.objects.get(pk=league.rufo.pk)
    journal.append("version.moved", f"version:{version.pk}", now=NOW, was="validating", to="rejected")
    journal.append("version.refused", f"version:{version.pk}", now=NOW, games=["partnership"])
    consent.set_policy(league.sol.bot, "ask", actor="cira", now=NOW)
    request = consent.ask(league.next_cup, Bot.objects.get(slug="sol"), league.ana, "please", now=NOW)
    challenges.challenge(league.ana, league.rufo, [league.luna], "partnership", now=NOW)
    bots.stop(Bot.objects.get(slug="rufo"), why="a test", actor="eva", now=NOW)
    spreading.run(now=SOON)
    assert set(texts(league.ana)) == {"refused", "partly_refused", "stopped"}
    assert set(texts(league.berto)) == {"challenged"}
    cira = Player.objects.get(name="cira")
    [notice] = Notice.objects.filter(player=cira)
    assert notice_words.sentence(notice) == "ana asks to enter sol in Next cup."
    assert notice_words.address(notice) == "/accounts/requests/"
    transitions.move(request, "refused", now=NOW, actor="cira")
    spreading.run(now=SOON)
    [answer] = Notice.objects.filter(player=league.ana, text="request_refused")
    assert notice_words.sentence(answer) == "sol does not play in Next cup: its owner refused your request."
    assert notice_words.address(answer) == f"/t/{league.next_cup.slug}/"
    closing.close(league.ana, now=NOW)
    assert not Notice.objects.filter(player=cira).exists(), "the name is gone everywhere"
    assert not Notice.objects.filter(player=league.ana).exists()


def test_followers_hear_in_batches_and_a_killed_pass_goes_on(league: League, monkeypatch) -> None:
    spreading.run(now=SOON)
    luna, many = Bot.objects.get(slug="luna"), people(25)
    Follow.objects.bulk_create(Follow(player=player, bot=luna, created=NOW) for player in many)
    with CaptureQueriesContext(connection) as few:
        journal.append("version.moved", f"version:{league.luna.pk}", now=NOW, was="validating", to="accepted")
    assert len([query for query in few if "INSERT" in query["sql"]]) == 2, "the worker's transaction knows no followers"
    monkeypatch.setattr(spreading, "BATCH", 10)
    monkeypatch.setattr(spreading, "MOST", 10)
    assert spreading.run(now=SOON) == 10
    store = notifying.store

    def killed(notes, *, now):
        store(notes, now=now)
        raise SystemExit

    monkeypatch.setattr(notifying, "store", killed)
    with pytest.raises(SystemExit):
        spreading.run(now=SOON)
    monkeypatch.setattr(notifying, "store", store)
    while spreading.run(now=SOON):
        pass
    assert Notice.objects.filter(text="new_version").count() == 25
    assert not NoticeSource.objects.exists()


def test_one_line_that_fails_keeps_no_other_from_being_told(league: League, monkeypatch) -> None:
    spreading.run(now=SOON)
    journal.append("bot.failed", "bot:rufo", now=NOW)  # Without its facts.
    journal.append("bot.stopped", "bot:luna", now=NOW)
    spreading.run(now=SOON)
    assert "stopped" in texts(league.berto)
    assert NoticeSource.objects.get().due > SOON


def test_followed_players_and_winners(league: League) -> None:
    fan = players.create("fan", now=NOW)
    for kind, name in (
        ("player", "ana"),
        ("bot", "luna"),
        ("bot", "rufo"),
        ("bot", "sol"),
        ("tournament", league.cup.slug),
    ):
        target = following.find(kind, name, fan)
        assert target is not None
        following.follow(fan, target, now=NOW)
        following.follow(fan, target, now=NOW)
    spreading.run(now=SOON)
    assert {"won", "ended", "started", "entered", "new_version"} == set(texts(fan))
    entered = Notice.objects.filter(player=fan, text="entered")
    assert {row.words["bot"] for row in entered} == {"rufo"}, "only bots of the player herself"
    luna = following.find("bot", "luna", fan)
    assert following.count_followers(luna, fan) == (1, True)
    following.unfollow(fan, luna)
    assert following.count_followers(luna, None) == (0, False)


def test_limits_blocks_and_oneself(league: League, monkeypatch) -> None:
    luna = following.find("bot", "luna", league.ana)
    with pytest.raises(Refused):
        following.follow(league.berto, luna, now=NOW)
    following.follow(league.ana, luna, now=NOW)
    following.follow(league.ana, league.berto, now=NOW)
    monkeypatch.setattr(following, "MOST", 2)
    with pytest.raises(Refused, match="2"):
        following.follow(league.ana, following.find("bot", "sol", league.ana), now=NOW)
    consent.block(league.berto, "ana", now=NOW)
    assert not Follow.objects.exists(), "whom one blocks follows no more"
    with pytest.raises(Refused, match="blocked"):
        following.follow(league.ana, luna, now=NOW)


def test_the_banned_the_house_and_those_who_want_nothing_are_told_nothing(league: League) -> None:
    house = players.create(players.HOUSE, reserved=True, now=NOW)
    ways.choose(league.ana, {NoticeKind.FAILED: NoticeWay.NEVER}, now=NOW)
    bans.ban(league.berto, why="a test", actor="eva", now=NOW)
    people_told = [league.ana, league.berto, house]
    assert notifying.notify(people_told, "paused", "x", now=NOW, bot="rufo") == 0
    assert notifying.notify(people_told, "challenged", "x", now=NOW, bot="rufo") == 1
    assert notifying.notify(people_told, "challenged", "x", now=NOW, bot="rufo") == 0
    with pytest.raises(Refused):
        ways.choose(league.ana, {"failed": "pigeon"}, now=NOW)


def test_the_members_of_a_team_hear_of_its_bots(league: League) -> None:
    spreading.run(now=SOON)
    team = Team.objects.create(name="tute", created=NOW)
    team.members.create(player=league.berto, role="reader", invited=NOW, since=NOW)
    team.members.create(player=Player.objects.get(name="cira"), role="reader", invited=NOW)
    Bot.objects.filter(slug="rufo").update(team=team)
    journal.append("bot.stopped", "bot:rufo", now=NOW)
    spreading.run(now=SOON)
    assert set(Notice.objects.filter(text="stopped").values_list("player__name", flat=True)) == {"ana", "berto"}


def test_what_is_withheld_waits_for_its_release(league: League) -> None:
    spreading.run(now=SOON)
    Notice.objects.all().delete()
    event = Event.objects.create(
        slug="secret",
        name="Secret",
        owner=league.ana,
        document={},
        secret=b"",
        secret_sha256="",
        created=NOW,
        opens=NOW + timedelta(days=1),
        audience="hidden",
        status="finished",
    )
    league.cup.__class__.objects.filter(pk=league.cup.pk).update(event=event, stage=1, opens=event.opens)
    event.guests.create(player=league.berto, created=NOW)
    journal.append("event.finished", "event:secret", now=NOW)
    journal.append("bot.failed", "bot:luna", now=NOW, match=league.clean.public_id, version=1, fault="crash")
    assert spreading.run(now=SOON) == 0
    assert spreading.run(now=NOW + timedelta(days=2)) > 0
    assert set(texts(league.berto)) == {"placed", "faulty"}

    Event.objects.update(opens=sight.NEVER)
    Notice.objects.all().delete()
    journal.append("event.finished", "event:secret", now=NOW)
    assert spreading.run(now=SOON) == 0
    assert not NoticeSource.objects.exists()


def test_overtaken_once_a_day_by_a_bot_that_stood_below(league: League) -> None:
    spreading.run(now=SOON)
    names = ["rufo", "luna", "sol"]
    rows = {name: Bot.objects.get(slug=name) for name in names}

    def day(number: int, order: list[str]) -> None:
        table = TableOfDay.objects.create(pool=league.pool, day=date(2026, 2, number), ranked=number, taken=NOW)
        PlaceOfDay.objects.bulk_create(
            PlaceOfDay(table=table, bot=rows[name], place=place, elo=0, provisional=False)
            for place, name in enumerate(order, 1)
        )
        journal.append("pool.day", f"pool:{league.pool.pk}", now=NOW, day=f"2026-02-{number:02}")

    day(1, ["rufo", "luna", "sol"])
    day(2, ["sol", "rufo", "luna"])
    spreading.run(now=SOON)
    lost = {row.player.name: row.words for row in Notice.objects.filter(text="overtaken").select_related("player")}
    assert set(lost) == {"ana", "berto"}
    assert (lost["ana"]["rival"], lost["ana"]["place"]) == ("sol", 2)
    falls, reached = sources.falls(TableOfDay.objects.latest("day"), 0, 2)
    assert ([fall.bot.slug for fall in falls], reached) == (["rufo"], 2)
    falls, reached = sources.falls(TableOfDay.objects.latest("day"), 2, 2)
    assert ([(fall.bot.slug, fall.rival) for fall in falls], reached) == ([("luna", "sol")], None)


def test_a_season_and_an_arena_are_announced_and_a_league_is_followed(league: League) -> None:
    hours = {"days": "thu", "at": "14:00", "time_zone": "Europe/Madrid"}
    liga = circuits.create(league.ana, "Liga", "partnership", boards=1, **hours, now=NOW)
    circuits.join(liga, league.luna.bot, player=league.berto, now=NOW)
    fan = players.create("fan", now=NOW)
    assert following.find("circuit", liga.slug, fan) == liga
    following.follow(fan, liga, now=NOW)
    Arena.objects.filter(pk=league.arena.pk).update(start=NOW + timedelta(minutes=50))
    for minutes in (0, 10, 20):
        spreading.run(now=NOW + timedelta(minutes=minutes))
    assert (texts(league.berto)["starts_soon"], texts(fan)["starts_soon"]) == (1, 1)
    assert (texts(league.ana)["arena_soon"], "arena_soon" in texts(fan)) == (1, False), "only who has entered"
    client = Client(headers={"accept-language": "en"})
    client.force_login(fan.user)
    assert "Liga starts soon" in client.get("/notices/").content.decode()
    assert client.post(f"/follows/circuit/{liga.slug}/", {"next": f"/c/{liga.slug}/"}).url == f"/c/{liga.slug}/"
    assert "Stop following" in client.get(f"/c/{liga.slug}/").content.decode()
    assert "Liga" in client.get("/follows/").content.decode()

    circuits.join(liga, league.rufo.bot, player=league.ana, now=NOW)
    circuits.open_due(now=NOW + timedelta(hours=2))
    Arena.objects.filter(pk=league.arena.pk).update(ends=NOW + timedelta(hours=1))
    playing.run(now=NOW + timedelta(hours=2))
    spreading.run(now=NOW + timedelta(hours=2))
    assert texts(fan)["started"] == 1, "once a season, however many divisions"
    client.force_login(league.ana.user)
    assert "The arena of Tute por parejas has ended: you are in place 1." in client.get("/notices/").content.decode()


def test_the_puzzle_of_the_day_comes_once_a_day_to_who_has_chosen_it(league: League, settings) -> None:
    early = NOW.replace(hour=5)
    spreading.run(now=early)
    Notice.objects.all().delete()
    spreading.run(now=NOW)
    assert not LeagueEvent.objects.filter(kind="puzzle.day").exists(), "nobody has chosen it"
    ways.choose(league.ana, {"puzzle": "digest"}, now=early)
    ways.choose(league.berto, {"puzzle": "once"}, now=early)
    ways.choose(players.create("nemo", now=early), {"puzzle": "never"}, now=early)
    spreading.run(now=early)
    assert not Notice.objects.filter(text="puzzle_of_day").exists(), "not before the morning"
    for minute in (0, 1, 600):
        spreading.run(now=NOW + timedelta(minutes=minute))
    rows = Notice.objects.filter(text="puzzle_of_day").order_by("player")
    assert [(row.player, row.count, row.about) for row in rows] == [
        (player, 1, "puzzle.day:2026-01-01") for player in (league.ana, league.berto)
    ]
    spreading.run(now=NOW + timedelta(days=1))
    assert Notice.objects.filter(text="puzzle_of_day").count() == 4
    at = notice_words.address(rows[0])
    first, second = (Client().get(at).url for _ in range(2))
    assert first == second
    assert first.startswith("/puzzles/")
    assert Client().get("/puzzles/day/2999-01-01/").url == "/puzzles/"
    assert Client().get("/puzzles/day/x/").status_code == 404


def test_a_tournament_that_starts_soon_and_old_notices(league: League) -> None:
    spreading.run(now=SOON)
    event = Event.objects.create(
        slug="soon",
        name="Soon",
        owner=league.ana,
        document={},
        secret=b"",
        secret_sha256="",
        created=NOW,
        status="open",
        due=NOW + timedelta(minutes=30),
        entrance="anybody",
    )
    event.requests.create(bot=league.luna.bot, asker=league.berto, status="granted", created=NOW, answered=NOW)
    for _number in range(3):
        spreading.run(now=SOON)
    assert LeagueEvent.objects.filter(kind="event.soon").count() == 1
    assert texts(league.berto)["starts_soon"] == 1
    spreading.run(now=NOW + spreading.KEPT + timedelta(days=1))
    assert not Notice.objects.exists()


def test_each_page_is_for_its_player_alone(league: League, owner: Client, stranger: Client) -> None:
    notifying.notify([league.ana], "stopped", "s", now=NOW, bot="rufo")
    row = Notice.objects.get()
    guest, careless = Client(), Client(enforce_csrf_checks=True)
    careless.force_login(league.ana.user)
    for path in ("/notices/", "/notices/ways/", "/follows/", f"/notices/{row.pk}/"):
        assert guest.get(path).url.startswith("/accounts/login/"), path
        assert owner.get(path).status_code in (200, 302)
        assert "no-store" in owner.get(path).headers["Cache-Control"]
    Notice.objects.update(read=None)
    assert stranger.get(f"/notices/{row.pk}/").status_code == 404
    stranger.post("/notices/")
    assert Notice.objects.get().read is None, "nobody reads the notices of others"
    assert owner.get(f"/notices/{10**12}/").status_code == 404
    for path in ("/notices/", "/notices/ways/", "/follows/bot/luna/"):
        assert careless.post(path).status_code == 403
        assert guest.post(path).url.startswith("/accounts/login/")
    assert owner.get("/follows/bot/luna/").status_code == 405
    assert owner.post("/follows/bot/luna/", {"next": "//evil.example"}).url == "/follows/"
    assert owner.post("/follows/bot/luna/", {"next": "/bots/luna/"}).url == "/bots/luna/"
    assert owner.post("/follows/bot/luna/", {"action": "stop"}).status_code == 302
    assert not Follow.objects.exists()
    secret = Event.objects.create(
        slug="secret",
        name="Secret",
        owner=league.ana,
        document={},
        secret=b"",
        secret_sha256="",
        created=NOW,
        private=True,
        opens=sight.NEVER,
    )
    for path in (f"/follows/event/{secret.slug}/", "/follows/pigeon/luna/", "/follows/bot/nobody/"):
        assert stranger.post(path).status_code == 404


def test_the_bell_rings_for_its_player_and_opening_a_notice_silences_it(
    league: League, owner: Client, stranger: Client, reader: Client
) -> None:
    Notice.objects.all().delete()
    notifying.notify([league.ana], "stopped", "s", now=NOW, bot="rufo")
    bell = '<span class="count">1</span>'
    assert bell in owner.get("/bots/luna/").content.decode()
    assert bell not in stranger.get("/bots/luna/").content.decode()
    assert 'href="/notices/"' not in reader.get("/bots/luna/").content.decode()
    page = owner.get("/notices/").content.decode()
    assert "Un administrador ha suspendido a rufo." in page
    assert faults(Page(page)) == []
    assert owner.get(f"/notices/{Notice.objects.get().pk}/").url == "/bots/rufo/"
    assert bell not in owner.get("/notices/").content.decode()
    owner.post("/notices/ways/", dict.fromkeys(NoticeKind, "never"))
    assert set(ways.ways_of(league.ana).values()) == {NoticeWay.NEVER}
    assert owner.post("/notices/ways/", {"failed": "x"}).status_code == 422


@pytest.mark.slow
def test_a_person_follows_a_bot_and_reads_of_its_new_version(live, visit, browser) -> None:
    url, league = live
    spreading.run(now=SOON)
    user = Client()
    user.force_login(league.ana.user)
    visited = visit(f"{url}/bots/luna/", width=390, height=844)
    page = visited.page
    page.context.add_cookies([{"name": "sessionid", "value": user.cookies["sessionid"].value, "url": url}])
    page.reload()
    page.click("text=Seguir")
    page.wait_for_selector("text=Dejar de seguir")
    assert "1 seguidor" in page.inner_text("main")
    journal.append("version.moved", f"version:{league.luna.pk}", now=NOW, was="validating", to="accepted")
    spreading.run(now=SOON)
    page.goto(f"{url}/notices/")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    before = int(page.inner_text(".bell .count"))
    page.click("text=luna tiene una versión nueva: v1.")
    page.wait_for_url("**/bots/luna/v1/")
    assert int(page.inner_text(".bell .count")) == before - 1
    page.goto(f"{url}/notices/")
    page.click("text=Marcar todos como leídos")
    page.wait_for_selector("text=Marcar todos como leídos", state="detached")
    assert page.locator(".bell .count").count() == 0
    page.set_viewport_size({"width": 320, "height": 700})
    for path in ("/notices/", "/notices/ways/", "/follows/", "/bots/luna/"):
        page.goto(f"{url}{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert visited.complaints == []
