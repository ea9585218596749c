"""Boss leagues on the pages: how far a bot is, what cost it most, the leagues of a game, and the offer of an owner."""

from __future__ import annotations

import pytest
from django.db.models import F

from league.domain.core import clock
from league.enums import BossLeague
from league.models import Board, Boss, BossTest, Bot, Match, Rung, Sitting
from league.pure.bosses import season_of
from tests.league.api.client import Api
from tests.league.web.page import Page, faults
from tests.support.league import NOW


def read(client, path: str, language: str = "en") -> str:
    page = Page(client.get(path, headers={"accept-language": language}).content.decode())
    assert faults(page) == []
    return " ".join(page.text.split())


@pytest.fixture
def test(league, _one_moment: None) -> BossTest:
    """Rufo in silver, in the middle of its test against luna; it lost two boards of a match by 30 and 10 points."""
    boss = Boss.objects.create(
        game="partnership", season=season_of(clock.present()), league=BossLeague.SILVER, version=league.luna, secret=b""
    )
    Rung.objects.create(
        game="partnership", bot=league.rufo.bot, version=league.rufo, entered=NOW, due=NOW, league=BossLeague.SILVER
    )
    counts = {"won": 20, "drawn": 2, "lost": 10, "llr": 2.2, "matches": 1}
    test = BossTest.objects.create(
        game="partnership", version=league.rufo, opponent=league.luna, boss=boss, attempt=1, begun=NOW, **counts
    )
    match = Match.objects.filter(parties__version=league.rufo, parties__number=0, status="finished").first()
    Match.objects.filter(pk=match.pk).update(key=f"b:{test.pk}:1")
    boards = list(Board.objects.filter(match=match).order_by("number"))
    for board, lost in zip(boards, (30, 10), strict=False):
        Board.objects.filter(pk=board.pk).update(scores=[100, 100 + lost])
    sitting = Sitting.objects.filter(board=boards[0]).order_by("-number").first()
    worse = [0 if party == 0 else 200 for party in sitting.seating]
    Sitting.objects.filter(pk=sitting.pk).update(scores=worse)
    test.place = f"b={boards[0].number}&s={sitting.number}"
    test.match = match.public_id
    return test


def test_a_bot_shows_how_far_it_is_and_which_boards_cost_it_the_boss(test, reader, owner):
    for path in ("/bots/rufo/", "/bots/rufo/?tab=leagues", "/bots/rufo/?tab=leagues&game=partnership"):
        text = read(reader, path)
        assert "Silver 63 % of the way to beating luna. It has 65.6% of 32 boards." in text
        assert "These boards cost it most −30" in text
        assert "It stays It rises" in text
        assert "Open this decision in the editor" not in text, "a stranger has nothing to open"
        page = owner.get(path).content.decode().replace("&amp;", "&")
        assert f'href="/m/{test.match}/open/?{test.place}"' in page
        assert f'href="/m/{test.match}/?{test.place}"' in page
    assert owner.get(f"/m/{test.match}/open/?{test.place}").status_code == 302
    assert "Plata Lleva un 63 % del camino para ganar a luna." in read(reader, "/bots/rufo/?tab=leagues", "es")
    assert "rufo , Tute por parejas, Silver: 63 % of the way to beating luna." in read(owner, "/")


@pytest.mark.parametrize(
    ("verdict", "at", "contends", "text"),
    [
        ("not_stronger", BossLeague.SILVER, None, "Silver It did not beat luna. A new version can try again."),
        ("superseded", BossLeague.SILVER, NOW, "Silver It is waiting to meet luna."),
        ("stronger", BossLeague.GOLD, NOW, "Gold This league has no boss yet."),
        ("stronger", BossLeague.CROWN, None, "Gold It has beaten the boss of gold."),
    ],
)
def test_a_bot_shows_what_became_of_its_test(test, reader, verdict, at, contends, text):
    BossTest.objects.update(verdict=verdict)
    Rung.objects.update(league=at, contends=contends)
    assert text in read(reader, "/bots/rufo/?tab=leagues")


def test_a_game_shows_its_leagues_with_their_bosses_and_bots(test, reader):
    text = read(reader, "/g/partnership/?tab=leagues")
    assert "Wood Boss: none yet" in text
    assert "Silver Boss: luna" in text
    assert "Matches against a boss are unrated." in text
    Boss.objects.update(margin=60, house=F("version"))
    BossTest.objects.update(margin=60)
    margin = read(reader, "/g/partnership/?tab=leagues")
    assert "Silver Boss: luna , by 60 Elo" in margin
    assert "to beating luna. It has to be stronger by 60 Elo." in margin
    assert "rufo ana Silver 63 % of the way to beating luna." in text
    assert "rufo" in read(reader, "/g/partnership/?tab=leagues&league=2")
    for odd in ("1", "x", "99", "-1"):
        read(reader, f"/g/partnership/?tab=leagues&league={odd}")
    assert "No bot is in this league." in read(reader, "/g/partnership/?tab=leagues&league=1")


def test_the_api_has_the_leagues_of_a_bot(test):
    [row] = Api().results("bots/rufo/leagues")
    assert row == {
        "game": "partnership",
        "league": 2,
        "boss": "luna",
        "state": "running",
        "opponent": "luna",
        "margin": 0,
        "progress": 63,
        "won": 20,
        "drawn": 2,
        "lost": 10,
    }


def test_only_the_owner_offers_a_bot_as_a_boss(league, owner, stranger, settings):
    settings.LADDERS = True
    assert stranger.post("/bots/rufo/edit/", {"offered_as_boss": "1"}).status_code == 403
    assert "Offer as a boss" in read(owner, "/bots/rufo/?tab=settings")
    for on in (True, False):
        owner.post("/bots/rufo/edit/", {"offered_as_boss": str(int(on))})
        assert Bot.objects.get(slug="rufo").offered_as_boss is on
        assert ("Withdraw the offer" in read(owner, "/bots/rufo/?tab=settings")) is on
