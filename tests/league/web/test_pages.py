"""Every page: it answers, in both languages, names its parts, asks nothing of other hosts, and makes a fixed number of queries."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from league.domain.core import clock
from league.domain.matches import embargoes
from league.domain.operators import acting
from league.domain.people import rights
from league.domain.puzzles import shelf
from league.domain.ratings import leaderboards
from league.models import BotVersion, Match, PlaceOfDay, Rating, TableOfDay
from league.web.games.leaders import leaders_of
from tests.league.web import weights
from tests.league.web.page import Page, faults
from tests.support import league as made

pytestmark = pytest.mark.usefixtures("_one_moment")

STATIC = settings.BASE_DIR / "league" / "static" / "league"


def addresses(league) -> dict[str, str]:
    return {
        "home": "/",
        "games": "/g/",
        "game": "/g/partnership/",
        "idle game": "/g/podrida/",
        "leagues": "/g/partnership/?tab=leagues",
        "lab": "/g/partnership/?tab=lab",
        "explorer": "/g/partnership/?tab=explorer",
        "new study": "/g/partnership/study/",
        "bots": "/bots/",
        "bot": "/bots/rufo/",
        "version": "/bots/rufo/v1/",
        "source": "/bots/rufo/v1/code/",
        "encounter": "/bots/luna/vs/sol/",
        "player": "/players/ana/",
        "digest": "/players/ana/digest/day/?of=2026-01-01",
        "tournaments": "/t/",
        "tournament": f"/t/{league.cup.slug}/",
        "open tournament": f"/t/{league.next_cup.slug}/",
        "matches": "/m/",
        "overall": "/overall/",
        "events": "/e/",
        "calendar": "/calendar/",
        "arena": "/arenas/arena/",
        "status": "/status/",
        "search": "/search/?q=ru",
        "players": "/players/",
        "about": "/about/",
        "privacy": "/privacy/",
        "welcome": "/accounts/welcome/",
        "tv": "/tv/",
        "match": f"/m/{league.clean.public_id}/",
        "faulty match": f"/m/{league.faulty.public_id}/",
        "board": f"/m/{league.clean.public_id}/b/1/",
        "comments": f"/talk/?about=match:{league.clean.public_id}:1:0",
        "certificate": f"/t/{league.cup.slug}/certificates/0/",
        "frame of a match": f"/embed/m/{league.clean.public_id}/",
        "frame of a puzzle": f"/embed/puzzles/{next(iter(shelf.shelf().by_id))}/",
        "docs": "/docs/",
        "doc": "/docs/protocol/",
        "learn": "/learn/",
        "how": "/learn/how/",
        "teach": "/teach/",
        "research": "/research/",
        "data": "/data/",
        "run your own": "/run-your-own/",
        "login": "/accounts/login/",
        "signup": "/accounts/signup/",
        "account": "/accounts/me/",
        "requests": "/accounts/requests/",
        "teams": "/teams/",
        "notices": "/notices/",
        "notice ways": "/notices/ways/",
        "follows": "/follows/",
        "password": "/accounts/password/",
        "passkeys": "/accounts/passkeys/",
        "webhooks": "/accounts/webhooks/",
        "mail": "/accounts/mail/",
        "close account": "/accounts/close/",
        "forgotten": "/accounts/forgotten/",
        "submit": "/submit/",
        "editor": "/editor/",
        "play": "/play/",
        "lobby": "/lobby/",
        "puzzles": "/puzzles/",
        "puzzle": f"/puzzles/{next(iter(shelf.shelf().by_id))}/",
        "mistakes": "/puzzles/mistakes/",
        "choose a game": "/t/new/",
        "new tournament": "/t/new/?game=cabrero&players=5",
    }


def pages_of_operators(league) -> dict[str, str]:
    return {
        "operators": "/operators/",
        "operators of a bot": "/operators/?subject=bot:rufo",
        "person": "/operators/?subject=player:ana",
        "limits of a person": "/operators/?subject=player:ana&list=limits",
        "operators' search": "/operators/?q=ru",
        "operators' search for nothing": "/operators/?q=nobody",
        "open cases": "/operators/cases/",
        "reported comments": "/operators/reports/",
        "volunteers": "/operators/volunteers/",
        "operator action": f"/operators/void/?subject=match:{league.clean.public_id}",
        "operator action with choices": "/operators/quota/?subject=player:ana",
    }


# Queries of a logged-in stranger: two are the session with the account, and the pending requests
QUERIES = {
    "home": 20,
    "games": 6,
    "game": 8,
    "idle game": 3,
    "leagues": 6,
    "lab": 5,
    "explorer": 5,
    "new study": 4,
    "bots": 3,
    "bot": 15,
    "version": 10,
    "source": 9,
    "encounter": 9,
    "player": 13,
    "digest": 6,
    "tournaments": 10,
    "tournament": 18,
    "open tournament": 22,
    "matches": 4,
    "overall": 8,
    "events": 4,
    "calendar": 7,
    "arena": 11,
    "match": 14,
    "faulty match": 14,
    "board": 9,
    "comments": 5,
    "frame of a match": 4,
    "frame of a puzzle": 1,
    "docs": 2,
    "doc": 2,
    "learn": 2,
    "how": 2,
    "teach": 2,
    "research": 3,
    "data": 3,
    "run your own": 2,
    "login": 1,
    "signup": 2,
    "account": 29,
    "certificate": 8,
    "requests": 9,
    "teams": 5,
    "passkeys": 3,
    "webhooks": 4,
    "notices": 4,
    "notice ways": 4,
    "follows": 3,
    "mail": 3,
    "close account": 2,
    "forgotten": 2,
    "status": 10,
    "search": 16,
    "players": 3,
    "about": 2,
    "privacy": 2,
    "welcome": 2,
    "tv": 10,
    "password": 2,
    "submit": 4,
    "editor": 11,
    "play": 7,
    "lobby": 6,
    "puzzles": 8,
    "puzzle": 4,
    "mistakes": 7,
    "choose a game": 10,
    "new tournament": 10,
}


def follow(client: Client, url: str):
    answer = client.get(url, follow=True)
    assert answer.status_code == 200, f"{url}: {answer.status_code}"
    return answer


def too_heavy(answer) -> list[str]:
    """The limits that a page with the style sheet breaks."""
    html = answer.content.decode()
    assert "/static/league/site.css" in html
    return weights.too_heavy(html)


def test_pages_keep_the_house_rules(league, owner, stranger) -> None:
    """And make as many queries as stated for a stranger, who is the second to read: what a process keeps for all is there."""
    counted, statements = {}, {}
    BotVersion.objects.filter(pk=league.rufo.pk).update(opened=made.NOW, licence="MIT")
    for name, url in addresses(league).items():
        answer = follow(owner, url)
        page = Page(answer.content.decode())
        assert (name, faults(page)) == (name, [])
        assert page.lang == "es"
        assert "Liga de Tute" in page.text
        assert "main" in page.ids
        assert (name, too_heavy(answer)) == (name, [])
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        with CaptureQueriesContext(connection) as queries:
            stranger.get(url)
        counted[name], statements[name] = len(queries), [query["sql"][:150] for query in queries]
    assert counted == QUERIES, "\n".join(str(statements[name]) for name in counted if counted[name] != QUERIES[name])


def test_pages_of_operators_keep_the_house_rules(league, owner, stranger) -> None:
    acting.act("pause", ["bot:rufo"], {}, why="a test", operator=None)
    for url in pages_of_operators(league).values():
        assert owner.get(url).status_code == 403
        assert Client().get(url).url.startswith("/accounts/login/")
    assert "/operators/" not in owner.get("/bots/rufo/").content.decode()
    rights.change(league.ana, ["staff", "void"], give=True, why="a test", actor="operator")
    for name, url in pages_of_operators(league).items():
        page = Page(follow(owner, url).content.decode())
        assert (name, faults(page), page.lang) == (name, [], "es")
        english = Page(owner.get(url, headers={"accept-language": "en"}).content.decode())
        assert english.lang == "en"
    for link in ("/bots/rufo/", f"/m/{league.clean.public_id}/", f"/t/{league.cup.slug}/", "/players/ana/"):
        links = [target for target in Page(owner.get(link).content.decode()).links if target.startswith("/operators/")]
        assert len(links) == 1
        about = Page(follow(owner, links[0]).content.decode())
        to_action = next(
            target for target in about.links if target.startswith("/operators/") and target.count("/") == 3
        )
        assert owner.get(to_action).status_code == 200
    assert "bot.stopped" in Page(follow(owner, "/operators/?subject=bot:rufo").content.decode()).text
    with CaptureQueriesContext(connection) as queries:
        owner.get("/operators/")
    assert len(queries) == 24
    assert "Un administrador suspendió este" in Page(stranger.get("/bots/rufo/").content.decode()).text


@pytest.mark.slow
def test_more_rows_make_no_more_queries(league, reader) -> None:
    def count(url: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            follow(reader, url)
        return len(queries)

    urls = ["/", "/bots/", "/m/", "/t/", f"/t/{league.cup.slug}/", "/g/partnership/", "/bots/rufo/", "/players/ana/"]
    follow(reader, "/")  # chooses the board of the day
    made.started(
        league.ana, [league.rufo, league.luna], name="First cup"
    )  # Running tournaments are not counted if none runs
    before = {url: count(url) for url in urls}
    more = [made.accepted(league.ana, f"extra-{number}") for number in range(3)]
    for match in made.started(league.ana, [league.rufo, *more], name="Second cup").matches.all():
        made.play(match)
    assert {url: count(url) for url in urls} == before


@pytest.mark.slow
def test_pages_speak_english_to_who_asks(league, owner) -> None:
    for url in addresses(league).values():
        english = Page(owner.get(url, follow=True, headers={"accept-language": "en"}).content.decode())
        assert english.lang == "en"
        assert "Tute League" in english.text


@pytest.mark.slow
def test_links_lead_somewhere(league, owner) -> None:
    links: dict[str, str] = {}
    for url in addresses(league).values():
        links |= {
            link.split("#")[0]: url for link in Page(follow(owner, url).content.decode()).links if link[0] in "/?"
        }
    for link, url in links.items():
        status = owner.get(link if link[0] == "/" else url.split("?")[0] + link).status_code
        assert status in (200, 302), f"{url} links to {link}, which answers {status}"


def test_a_missing_page_says_what_to_do(reader, db) -> None:
    for url in (
        "/nowhere",
        "/m/zzzzzzzzzz/",
        "/bots/nobody/",
        "/bots/nobody/v9/",
        "/g/mus/",
        "/t/none/",
        "/players/none/",
        "/docs/../x/",
    ):
        answer = reader.get(url)
        assert answer.status_code == 404, url
        assert "Página no encontrada" in answer.content.decode()


def test_bad_queries_are_answered(league, reader) -> None:
    match = f"/m/{league.clean.public_id}/"
    for url in (
        "/m/?cursor=x",
        "/m/?page=2",
        "/m/?status=nope&game=nope",
        f"{match}?b=x&s=-1",
        f"{match}?b=99999999999",
        "/g/partnership/?pool=x",
    ):
        assert reader.get(url).status_code == 200, url
    assert reader.get(f"{match}replay.json?as=9").status_code == 400
    assert reader.get(f"{match}replay.json?as=x").status_code == 400


def test_the_home_page_shows_the_league(league, reader) -> None:
    page = Page(reader.get("/").content.decode())
    assert "Tute por parejas" in page.text
    for name in ("rufo", "luna", "sol"):
        assert name in page.text
    assert f"/m/{league.clean.public_id}/" in page.links


@pytest.mark.slow
def test_the_home_page_tells_what_plays_and_what_is_open(league, reader) -> None:
    def text() -> str:
        cache.clear()
        return Page(reader.get("/").content.decode()).text

    now = clock.present()
    Match.objects.filter(pk=league.clean.pk).update(finished=now - timedelta(hours=1))
    assert "Repetición" in text()
    assert "Recién jugadas" in text()
    assert "Next cup" in text()
    embargoes.change(league.cup, now + timedelta(days=1), why="a test", actor="operator")
    assert "Repetición" not in text(), "cards that are withheld are not on the air"

    cup = made.started(league.ana, [league.rufo, league.luna], name="Third cup")
    running = made.running()
    assert running.tournament == cup
    assert "Recién jugadas" not in text()


@pytest.mark.slow
def test_the_list_of_games_tells_who_rises(league, reader) -> None:
    now = clock.present()
    assert "Bots que suben" not in Page(reader.get("/g/").content.decode()).text
    yesterday = TableOfDay.objects.create(
        pool=league.pool, day=now.date() - timedelta(days=1), ranked=1, since=now.date() - timedelta(days=8), taken=now
    )
    for place, version in enumerate((league.rufo, league.sol), 1):
        PlaceOfDay.objects.create(
            table=yesterday,
            bot=version.bot,
            place=place,
            elo=1100.0,
            provisional=False,
            rise=42.0 if place == 1 else None,
        )
    assert "rufo Tute por parejas +42" in " ".join(Page(reader.get("/g/").content.decode()).text.split())


@pytest.mark.slow
@pytest.mark.usefixtures("_one_moment")
def test_the_leaderboard_tells_what_moved_and_who_is_chosen(league, reader, owner) -> None:
    rows = [row.rating.version.bot for row in leaderboards.leaderboard(league.pool)]
    assert "Semana" not in reader.get("/g/partnership/").content.decode()
    today = clock.present().date()
    for days in (1, 9):
        table = TableOfDay.objects.create(
            pool=league.pool, day=today - timedelta(days=days), ranked=1, taken=clock.present()
        )
        for place, bot in enumerate(reversed(rows[:2]), 1):
            PlaceOfDay.objects.create(table=table, bot=bot, place=place, elo=1000.0, provisional=False)
    text = " ".join(Page(reader.get("/g/partnership/").content.decode()).text.split())
    assert "Semana" in text
    assert text.count("▲ sube 1") == 2  # the first, since yesterday and since a week
    assert text.count("▼ baja 1") == 2
    assert text.count("nuevo nuevo") == 1
    Rating.objects.filter(version=league.sol).update(idle=True, played=made.NOW)
    html = reader.get("/g/partnership/").content.decode()
    assert html.count('<tr class="faint">') == 1
    assert 'href="/bots/sol/"' not in table_of(reader.get("/g/partnership/?show=active"))
    assert table_of(owner.get("/g/partnership/?owner=ana")).count('href="/bots/') == 1
    assert "Mis bots" in owner.get("/g/partnership/").content.decode()
    assert (
        "No hay ningún bot de este tipo en la clasificación."
        in reader.get("/g/partnership/?show=house").content.decode()
    )


def test_a_league_by_resources_says_what_it_asks_and_what_its_numbers_are(league, reader, owner) -> None:
    Rating.objects.filter(version=league.sol).update(slowest_s=0.012)
    BotVersion.objects.filter(pk=league.luna.pk).update(opened=made.NOW, licence="MIT")
    for limit, bot, text in (("fast", "sol", "10 ms"), ("open", "luna", "leer el código")):
        answer = reader.get(f"/g/partnership/?limit={limit}")
        page = Page(answer.content.decode())
        assert faults(page) == []
        assert text in page.text
        assert "solo se cuentan los puestos entre estos" in " ".join(page.text.split())
        assert table_of(answer).count('scope="row"') == 1
        assert f'href="/bots/{bot}/"' in table_of(answer)
    assert "No hay ningún bot de este tipo" in owner.get("/g/partnership/?limit=open&owner=ana").content.decode()
    assert table_of(reader.get("/g/partnership/?limit=slow")).count('scope="row"') == 3


def table_of(answer) -> str:
    html = answer.content.decode()
    start = html.index('<table class="board">')
    return html[start : html.index("</table>", start)]


def test_the_leaderboard_has_margins_and_bars(league, reader) -> None:
    html = reader.get("/g/partnership/").content.decode()
    assert html.count('class="interval"') == 3
    assert len(re.findall(r"<strong>\d+</strong> <span class=\"soft\">± \d+</span>", html)) == 3
    assert html.count('<span class="chip">provisional</span>') == 3  # four boards each
    assert re.findall(r'<td class="num">(\d+) <span class="soft small">\(', html) == ["1", "2", "3"]
    assert 'class="faint"' not in html
    assert "Bradley-Terry" in html


def test_the_crosstable_always_has_the_number(league, reader) -> None:
    html = reader.get(f"/t/{league.cup.slug}/").content.decode()
    table = html[html.index('class="cross"') :]
    cells = re.findall(r'<td class="(up\d|down\d|even)">\s*<a\s[^>]*>(?:<strong>)?([\d½]+)</a>', table)
    assert len(cells) == 6
    assert league.cup.secret_sha256 in html
    secret = bytes(league.cup.secret).hex()
    assert secret in html  # finished: revealed
    assert f"tute verify --reveal {secret} --commitment {league.cup.secret_sha256} " in html
    assert "/docs/fairness/" in html


def test_the_secret_of_an_open_tournament_stays(league, owner) -> None:
    html = owner.get(f"/t/{league.next_cup.slug}/").content.decode()
    assert league.next_cup.secret_sha256 in html
    assert bytes(league.next_cup.secret).hex() not in html
    assert "tute verify --reveal" not in html


@pytest.mark.slow
def test_no_page_is_heavy(league, reader) -> None:
    """Signed out; the first test weighs them signed in. Pages of other kinds are weighed by `faults` wherever a test reads them."""
    assert (STATIC / "site.css").stat().st_size < 18_800
    for name, url in addresses(league).items():
        assert (name, too_heavy(reader.get(url, follow=True))) == (name, [])
    assert len(weights.too_heavy("".join(map(str, range(60_000))))) == 2


def test_the_front_page_ranks_as_the_leaderboard_does(league, db) -> None:
    board = next(leaders for leaders in leaders_of([league.pool.game], 1, 2) if leaders.pool == league.pool)
    assert [(line.row.place, line.row.rating.pk) for line in board.lines] == [
        (row.place, row.rating.pk) for row in leaderboards.leaderboard(league.pool)[:2]
    ]
    assert board.bots == 3
