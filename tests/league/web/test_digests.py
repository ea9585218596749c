"""The digest of a player's bots: each whole day or week, from whom they won most and to whom they lost most, and on which boards."""

from __future__ import annotations

import xml.etree.ElementTree as Tree
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.bots import digests
from league.domain.core import clock
from league.enums import Period
from league.models import Board, Party, RatingPoint
from tests.league.web.page import Page
from tests.support import league as made

ATOM = "{http://www.w3.org/2005/Atom}"
DAY = datetime(2026, 1, 1, tzinfo=UTC)
NEXT = DAY + timedelta(days=1)


def text_of(reader, url: str) -> str:
    return " ".join(Page(reader.get(url).content.decode()).text.split())


@pytest.fixture
def two(league):
    """Luna's two matches: level with rufo but for one board, and lost to sol by 12."""
    leads = {"rufo": (30, 0), "sol": (-20, 8)}
    for point in RatingPoint.objects.filter(version=league.luna):
        parties = list(Party.objects.filter(match=point.match).select_related("version__bot").order_by("number"))
        own, other = sorted(parties, key=lambda party: party.version_id != league.luna.pk)
        for board, lead in zip(
            Board.objects.filter(match=point.match).order_by("number"), leads[other.version.bot.slug], strict=True
        ):
            scores = [100, 100]
            scores[own.number] += lead
            board.scores = scores
            board.save()
    return league


def test_periods_are_whole_days_and_weeks_from_monday() -> None:
    thursday = made.NOW
    assert digests.last_whole(Period.DAY, thursday) == (DAY - timedelta(days=1), DAY)
    monday = datetime(2025, 12, 29, tzinfo=UTC)
    assert digests.last_whole(Period.WEEK, thursday) == (monday - timedelta(days=7), monday)
    assert digests.last_whole(Period.WEEK, monday) == (monday - timedelta(days=7), monday)


def test_it_names_who_won_most_from_whom_and_on_which_boards(two) -> None:
    digest = digests.build_digest(two.berto, DAY, NEXT)

    [line] = digest.lines
    assert (line.version, line.pool, line.matches, line.boards) == (two.luna, two.pool, 2, 4)
    changes = RatingPoint.objects.filter(version=two.luna).values_list("change", flat=True)
    assert line.elo == pytest.approx(sum(changes))
    assert line.worst is not None
    assert line.best is not None
    assert (line.worst.bot, line.worst.lead, [board.lead for board in line.worst.boards]) == ("sol", -12, [-20])
    assert (line.best.bot, line.best.lead, [board.lead for board in line.best.boards]) == ("rufo", 30, [30])
    assert not digest.more
    assert digests.build_digest(two.berto, NEXT, NEXT + timedelta(days=1)).lines == []
    assert digests.build_digest(two.berto, DAY - timedelta(days=1), DAY).lines == []
    assert digests.build_digest(two.ana, DAY, NEXT).lines[0].faults == 1


def test_so_many_matches_are_looked_at_and_no_more(two, monkeypatch) -> None:
    with CaptureQueriesContext(connection) as all_of_them:
        digests.build_digest(two.berto, DAY, NEXT)
    monkeypatch.setattr(digests, "MOST", 1)
    with CaptureQueriesContext(connection) as limited:
        digest = digests.build_digest(two.berto, DAY, NEXT)
    assert (digest.more, digest.lines[0].matches) == (True, 1)
    assert len(all_of_them) == len(limited) == 3


def test_page_and_feed_tell_it(two, reader, monkeypatch) -> None:
    monkeypatch.setattr(clock, "present", lambda: datetime(2026, 1, 6, 9, tzinfo=UTC))
    page = text_of(reader, "/players/berto/digest/day/?of=2026-01-01")
    assert "Donde más perdió: contra sol −12,0 : " in page
    assert "(−20,0)" in page
    assert "Donde más ganó: contra rufo +30,0 : " in page
    assert "4 repartos · 2 partidas" in page
    assert "luna" in text_of(reader, "/players/berto/digest/week/")
    assert "Ninguna partida puntuable en este periodo." in text_of(reader, "/players/berto/digest/day/")

    answer = reader.get("/players/berto/digest/week.atom")
    assert answer.headers["Content-Type"].startswith("application/atom+xml")
    [entry] = Tree.fromstring(answer.content).findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == "del 29 de diciembre de 2025 al 4 de enero de 2026"
    assert "Donde más perdió (12,0) fue contra sol: " in (entry.findtext(f"{ATOM}summary") or "")
    link = entry.find(f"{ATOM}link")
    assert link is not None
    assert "luna" in text_of(reader, link.get("href", "").removeprefix("http://testserver"))
    assert len(Tree.fromstring(reader.get("/players/berto/digest/day.atom").content).findall(f"{ATOM}entry")) == 0


@pytest.mark.parametrize(
    "end",
    [
        "month/",
        "day/?of=soon",
        "day/?of=2026-01-06",
        "week/?of=2026-01-01",
        "day/?of=9999-12-31",
        "day/?of=0001-01-01",
        "week/?of=0001-01-01",
    ],
)
def test_what_is_no_whole_period_is_not_there(league, reader, monkeypatch, end) -> None:
    monkeypatch.setattr(clock, "present", lambda: datetime(2026, 1, 6, 9, tzinfo=UTC))
    assert reader.get(f"/players/berto/digest/{end}").status_code == 404
