"""Small parts of the pages: Markdown, charts, shades, numbers."""

from __future__ import annotations

import pytest
from django.utils import translation

import engine
from league.domain.ratings.leaderboards import RankedBot
from league.models import BotVersion, Rating, RatingPoint
from league.templatetags import league_web
from league.web.bots import charts
from league.web.common import game_lines, markdown
from league.web.games.bars import Axis, with_bars
from league.web.tournaments.crosstable import shade
from tests.league.web.page import Page, faults
from tests.support.league import later


def test_markdown_is_safe() -> None:
    html = markdown.html(
        "# T\n<script>x</script> <b onclick=x>y</b> [z](javascript:alert(1)) ![i](javascript:x)\n\n|a|\n|-:|\n|1|"
    )
    assert "<script" not in html
    assert "<b" not in html
    assert 'href="javascript' not in html
    assert 'src="javascript' not in html
    assert "style=" not in html
    assert '<td class="num">1</td>' in html


def test_links_are_led_or_only_text() -> None:
    html = markdown.html(
        "[a](a.md) [b `c`](b.md) ![d](d.png) ![e](a.png)", lambda link: {"a.md": "/a/", "a.png": "/a"}.get(link, "")
    )

    assert '<a href="/a/">a</a> b <code>c</code>' in html
    assert '<img src="/a" alt="e"' in html
    assert "b.md" not in html
    assert "d.png" not in html


def test_headings_can_be_linked_to() -> None:
    assert '<h2 id="the-clock">The clock</h2>' in markdown.html("## The clock")
    assert markdown.title("text\n\n# The `clock`\n", "x") == "The clock"
    assert markdown.title("no heading", "x") == "x"


@pytest.mark.parametrize(
    ("share", "css"),
    [
        (0.5, "even"),
        (0.51, "even"),
        (0.55, "up1"),
        (0.7, "up2"),
        (1.0, "up3"),
        (0.45, "down1"),
        (0.3, "down2"),
        (0.0, "down3"),
    ],
)
def test_shades_of_the_crosstable(share: float, css: str) -> None:
    assert shade(share) == css


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.5, "½"), (3.5, "3½"), (4, "4"), (None, "")])
def test_board_points_are_written_with_halves(value: float | None, text: str) -> None:
    assert league_web.board_points(value) == text


def test_signs_are_true_minus_signs() -> None:
    with translation.override("es"):
        assert [league_web.signed(value, 1) for value in (1.25, -3.0, 0.01, None)] == ["+1,2", "−3,0", "0,0", ""]


def rating(elo: float, margin: float, *, provisional: bool = False) -> RankedBot:
    return RankedBot(1, Rating(elo=elo, margin=margin, provisional=provisional))


def test_bars_share_an_axis_that_holds_every_interval() -> None:
    lines, axis = with_bars([rating(1100, 50), rating(950, 50), rating(1000, 240, provisional=True)])
    bars = [line.bar for line in lines]
    assert axis == Axis(750, 1250)
    assert (bars[0].start, bars[0].width, bars[0].middle) == (60.0, 20.0, 70.0)
    assert (bars[1].start, bars[1].width) == (30.0, 20.0)
    assert (bars[2].start, bars[2].width) == (2.0, 96.0)
    assert bars[0].anchor == 50.0
    assert with_bars([]) == ([], None)


def test_a_history_marks_its_versions() -> None:
    points = [
        RatingPoint(elo=1000 + 10 * i, margin=40, at=later(i), version=BotVersion(number=1 + i // 3)) for i in range(6)
    ]
    chart = charts.rating_chart(points)
    assert chart is not None
    assert [number for _, number in chart.marks] == [1, 2]
    assert len(chart.line.split()) == 6
    assert len(chart.band.split()) == 12
    assert charts.rating_chart(points[:1]) is None


def test_a_long_history_is_thinned_and_keeps_its_end() -> None:
    points = [RatingPoint(elo=1000 + i, margin=40, at=later(i), version=BotVersion(number=1)) for i in range(1000)]
    chart = charts.rating_chart(points)
    assert chart is not None
    assert len(chart.line.split()) <= charts.MOST_POINTS + 1
    assert chart.points[0] is points[-1]


@pytest.mark.parametrize("key", engine.games())
def test_a_game_is_described_in_the_language_of_the_reader(key: str) -> None:
    lines = engine.load(key).declared.line
    for language in ("es", "en"):
        with translation.override(language):
            assert game_lines.describe_game(key).line == lines[language]
    with translation.override("fr"):
        assert game_lines.describe_game(key).line == lines["en"]


def test_spans() -> None:
    assert game_lines.number_range((3, 4, 5, 6)) == "3–6"
    assert game_lines.number_range((2, 4)) == "2, 4"


def test_the_table_over_all_games_names_every_rated_bot(league, reader) -> None:
    page = Page(reader.get("/overall/").content.decode())
    assert faults(page) == []
    assert "margen del 95 %." in page.text
    assert {"/bots/rufo/", "/bots/luna/", "/bots/sol/", "/g/partnership/"} <= set(page.links)


def test_days_of_a_calendar_are_named() -> None:
    with translation.override("es"):
        assert league_web.day_names("fri,15") == "viernes, 15"
