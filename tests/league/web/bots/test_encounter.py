"""The page of two bots against each other."""

from __future__ import annotations

from django.utils import translation

from league.domain.bots import totals
from league.domain.matches import encounters
from league.domain.tournaments.standings import standings
from league.templatetags.league_web import signed
from league.web.bots import charts
from tests.league.web.page import Page, faults
from tests.support import league as made


def test_the_page_tells_boards_share_and_difference(league, reader) -> None:
    made.play(made.started(league.ana, [league.luna, league.sol], name="Again", boards=4).matches.get())
    page = Page(reader.get("/bots/luna/vs/sol/").content.decode())
    assert faults(page) == []
    assert "Probabilidad de que luna sea el más fuerte" in page.text
    assert "/bots/sol/vs/luna/" in page.links


def test_a_difference_is_told_in_the_unit_of_the_game_on_both_pages(league, reader) -> None:
    made.play(made.started(league.ana, [league.rufo, league.luna], game="corriente", name="Stock").matches.get())
    totals.count_new(now=made.NOW)
    [games] = [
        encounter for encounter in encounters.list_encounters(league.rufo.bot, league.luna.bot) if encounter.size > 1
    ]
    with translation.override("es"):
        difference = signed(games.difference, 2)
    assert difference in Page(reader.get("/bots/rufo/vs/luna/").content.decode()).text
    assert difference in Page(reader.get(f"/bots/rufo/?tab=games&pool={games.pool.pk}").content.decode()).text


def test_standings_tell_scores_in_the_unit_of_the_game(league, reader) -> None:
    stock = made.started(league.ana, [league.rufo, league.luna], game="corriente", name="Stock")
    match = made.play(stock.matches.get())
    for row in standings(stock).rows:
        party = match.parties.get(version=row.entry.version)
        assert row.result.score_per_board == party.points / 2 / 1000  # two boards; 1000 scores are a game
        with translation.override("es"):
            score = signed(row.result.score_per_board, 2).lstrip("+")
        assert score in Page(reader.get("/t/stock/").content.decode()).text


def test_bots_that_never_met_are_told_so(league, reader) -> None:
    made.accepted(league.ana, "nova")
    assert "todavía no se han enfrentado" in reader.get("/bots/luna/vs/nova/").content.decode()


def test_a_bot_has_no_meeting_with_nobody_and_its_versions_with_each_other(league, reader) -> None:
    page = Page(reader.get("/bots/luna/vs/luna/").content.decode())
    assert faults(page) == []
    assert "Versiones de luna" in page.text
    assert reader.get("/bots/luna/vs/nobody/").status_code == 404


def test_course_reaches_from_edge_to_edge_and_marks_zero() -> None:
    assert charts.score_curve([3]) is None
    curve = charts.score_curve([10, -20, 30])
    assert curve is not None
    points = [tuple(map(float, point.split(","))) for point in curve.line.split()]
    assert (points[0][0], points[-1][0]) == (curve.start, curve.right)
    assert points[0][1] == curve.zero
    assert points[2][1] > curve.zero > points[3][1]  # SVG counts downwards
    assert "0" in [value for _, value in curve.ticks]
    assert curve.total == "+30"


def test_a_long_course_keeps_few_points_and_both_ends() -> None:
    curve = charts.score_curve(list(range(1, 5001)))
    assert curve is not None
    points = curve.line.split()
    assert len(points) <= charts.MOST_POINTS + 1
    assert float(points[-1].split(",")[0]) == curve.right


def test_an_axis_counts_whole_games_where_a_game_is_many_points() -> None:
    with translation.override("es"):
        curve = charts.score_curve([1000, 2000, 1000, 3118], 1000)
    assert curve is not None
    assert [value for _, value in curve.ticks] == ["0", "+1", "+2", "+3"]
    assert curve.total == "+3,118"
