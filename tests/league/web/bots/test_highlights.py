"""The page of a bot tells how its versions compare, its best and worst boards, and its faults; that of its owner, what is new."""

from __future__ import annotations

import xml.etree.ElementTree as Tree
from datetime import timedelta

import pytest

from engine.analysis import JUDGE
from league.domain.ratings import ratings
from league.models import Board, JudgedSum, PlayedSum, RatingPoint
from league.web.bots import charts
from league.web.bots.highlights import Highlight, highlights
from tests.league.web.page import Page
from tests.support import league as made

ATOM = "{http://www.w3.org/2005/Atom}"


def newest(league, slug: str) -> list[RatingPoint]:
    points = RatingPoint.objects.filter(version__bot__slug=slug).select_related("version", "match")
    return list(points.order_by("-at", "-id"))


def text_of(reader, url: str) -> str:
    return " ".join(Page(reader.get(url).content.decode()).text.split())


def test_the_best_and_worst_boards_are_those_of_the_widest_leads(league, reader) -> None:
    match = league.clean
    first, second = match.parties.select_related("version__bot").order_by("number")
    own, theirs = first.version.bot.slug, second.version.bot.slug
    Board.objects.filter(match__in=[point.match_id for point in newest(league, own)]).update(scores=[10, 10])
    Board.objects.filter(match=match, number=1).update(scores=[160, 100])
    Board.objects.filter(match=match, number=2).update(scores=[65, 100])

    boards = highlights(league.pool, newest(league, own))

    def told(rows: list[Highlight]) -> list[tuple]:
        return [(row.match, row.number, row.others, row.lead) for row in rows]

    assert told(boards.best) == [(match.public_id, 1, (theirs,), 60)]
    assert told(boards.worst) == [(match.public_id, 2, (theirs,), -35)]
    assert boards.matches == 2
    text = text_of(reader, f"/bots/{own}/?tab=games")
    assert f"{match.public_id} · 1 {theirs} v1 +60" in text
    assert f"{match.public_id} · 2 {theirs} v1 −35" in text
    mirrored = highlights(league.pool, newest(league, theirs))
    assert (mirrored.best[0].lead, mirrored.worst[0].lead) == (35, -60)
    assert highlights(league.pool, []).best == []


@pytest.mark.slow
def test_faults_and_versions_are_told(league, reader) -> None:
    assert f"{league.faulty.public_id} " in text_of(reader, "/bots/rufo/?tab=games").split("Últimos fallos")[1]
    assert "Puntuación por versión" not in text_of(reader, "/bots/rufo/?tab=games")
    second = made.accepted(league.ana, "rufo")
    cup = made.started(league.ana, [second, league.luna], name="Second cup")
    made.play(cup.matches.get(), winner=cup.matches.get().parties.get(version=second).number)
    ratings.refresh(league.pool, now=made.NOW)
    section = text_of(reader, "/bots/rufo/?tab=games").split("Puntuación por versión")[1]
    newer, older = (float(v.ratings.get().elo) for v in (second, league.rufo))
    assert f"+{newer - older:.0f}" in section.split("v1")[0]


def test_a_chart_has_dates_and_names_versions_apart(league) -> None:
    last_point = newest(league, "luna")[0]

    def point(number: int, days: int) -> RatingPoint:
        version = type(last_point.version)(number=number)
        return RatingPoint(elo=1000.0 + days, margin=50.0, at=made.NOW + timedelta(days=days), version=version)

    chart = charts.rating_chart([point(1 + (day > 30) + (day > 31) + (day > 60), day) for day in range(91)])

    assert chart is not None
    assert [number for _, number in chart.marks] == [1, 2, None, 4]
    assert [(at - made.NOW).days for _, at in chart.dates] == [0, 30, 60, 90]
    assert not chart.hours
    short = charts.rating_chart([point(1, 0), point(1, 1)])
    assert short is not None
    assert short.hours
    assert [(at - made.NOW).days for _, at in short.dates] == [0, 1]


def test_the_page_and_the_feed_of_a_player_tell_the_same_news(league, reader) -> None:
    rejected = made.uploaded(league.ana, "nena")
    rejected.status = "rejected"
    rejected.save()
    made.uploaded(league.ana, "mudo")  # no verdict yet
    league.cup.refresh_from_db()
    place = league.cup.entries.get(version=league.rufo).place
    assert place

    answer = reader.get("/players/ana/news.atom")

    assert answer["Content-Type"].startswith("application/atom+xml")
    entries = Tree.fromstring(answer.content).findall(f"{ATOM}entry")
    titles = {entry.findtext(f"{ATOM}title") for entry in entries}
    assert titles == {"rufo v1: aceptado", "nena v1: rechazado", f"rufo v1: puesto {place} en Cup"}
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == 3
    for entry in entries:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        assert reader.get(link.get("href").removeprefix("http://testserver")).status_code == 200
    page = text_of(reader, "/players/ana/")
    assert all(title in page for title in titles)
    assert "owner=ana" in reader.get("/players/ana/").content.decode()
    assert reader.get("/players/nobody/news.atom").status_code == 404


def test_what_the_decisions_gave_away_is_told_beside_all_bots(league, reader) -> None:
    match = league.clean
    first = match.parties.select_related("version__bot").order_by("number")[0]
    key = {"pool": league.pool, "kind": "fair", "judge": JUDGE}
    sums = {"boards": 2, "decisions": 50, "judged": 40, "right": 30, "lost": 100.0, "judged_judged": 800.0}
    for phase in ("all", "lead"):
        JudgedSum.objects.create(
            version=first.version, phase=phase, lost_lost=5200.0, lost_judged=2000.0, **key, **sums
        )
        JudgedSum.objects.create(version=None, phase=phase, boards=4, judged=80, right=20, lost=320.0, **key)

    page = text_of(reader, f"/bots/{first.version.bot.slug}/?pool={league.pool.pk}")

    assert "con lo que el bot sabía" in page
    # 2.5 a decision; of two boards of 20 decisions, one lost 10 more than the mean and one 10 less
    assert "salidas 2,50 ± 6,35 4,00 75,0 % 25,0 % 40" in page
    assert "a cartas vistas" not in page


def test_results_and_habits_are_told_from_sums(league, reader) -> None:
    page = text_of(reader, f"/bots/luna/?pool={league.pool.pk}")
    sums = {row.version_id: row for row in PlayedSum.objects.filter(pool=league.pool)}
    own, every = sums[league.luna.pk], sums[None]
    assert own.boards == 4
    assert f"{own.wins}–{own.draws}–{own.losses}" in page
    habit = page.split("Cómo juega")[1]
    shares = [f"{100 * row.trump_leads / row.leads:.1f}".replace(".", ",") for row in (own, every)]
    assert f"Sale de triunfo {shares[0]} % {shares[1]} %" in habit
    assert "rufo 1 2 " in page.split("Cara a cara")[1]
    assert f"{own.boards} {own.wins}–" in text_of(reader, "/players/berto/").split("Resultados por juego")[1]
