"""Ratings are a function of the finished boards, in whatever way they came."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league import tasks
from league.domain.matches import matches
from league.domain.people import players
from league.domain.ratings import leaderboards, ratings, totals
from league.domain.tournaments import standings, tournaments
from league.enums import MatchStatus
from league.models import Board, BotVersion, Match, PoolSums, Rating, RatingPoint
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started
from tests.support.parts import mostly_slow


@pytest.fixture
def cup(ana, berto):
    """Three bots of three owners; rufo beats lola beats greedy, the anchor."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    house = players.create("house", reserved=True, now=NOW)
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(house, "greedy")]
    return started(ana, versions, boards=12)


def play_all(cup) -> None:
    order = {"rufo": 0, "lola": 1, "greedy": 2}
    for second, match in enumerate(cup.matches.filter(status="queued").order_by("id")):
        parties = sorted(match.parties.select_related("version__bot"), key=lambda party: order[party.version.bot.slug])
        play(match, winner=parties[0].number, now=later(second))


def rating_rows() -> list[tuple]:
    return list(
        Rating.objects.order_by("pk").values_list("version__bot__slug", "elo", "margin", "boards", "score", "rank_best")
    )


def test_refresh_writes_the_table_with_the_anchor_at_1000(cup) -> None:
    play_all(cup)

    assert ratings.refresh(cup.pool, now=NOW) is True

    board = leaderboards.leaderboard(cup.pool)
    assert [row.rating.version.bot.slug for row in board] == ["rufo", "lola", "greedy"]
    assert [row.rating.boards for row in board] == [24, 24, 24]
    assert [row.rating.score for row in board] == [1.0, 0.5, 0.0]
    assert board[2].rating.elo == 1000.0
    assert board[0].rating.elo > board[1].rating.elo > 1000.0
    assert {row.rating.provisional for row in board} == {True}  # 24 boards are fewer than 30
    assert all(row.rating.rank_best <= place <= row.rating.rank_worst for place, row in enumerate(board, 1))
    assert (board[0].rating.rank_best, board[2].rating.rank_worst) == (1, 3)


def test_refresh_again_changes_nothing(cup) -> None:
    play_all(cup)
    ratings.refresh(cup.pool, now=NOW)
    before = rating_rows()

    assert ratings.refresh(cup.pool, now=later(1)) is False
    assert (rating_rows(), RatingPoint.objects.count()) == (before, 6)


@pytest.mark.slow
def test_refresh_step_by_step_and_at_once_agree(cup) -> None:
    order = {"rufo": 0, "lola": 1, "greedy": 2}
    for second, match in enumerate(cup.matches.order_by("id")):
        parties = sorted(match.parties.select_related("version__bot"), key=lambda party: order[party.version.bot.slug])
        play(match, winner=parties[0].number, now=later(second))
        ratings.refresh(cup.pool, now=later(second))
    steps = (
        rating_rows(),
        list(RatingPoint.objects.order_by("at", "version_id").values_list("version_id", "elo", "change")),
    )

    ratings.refresh(cup.pool, rebuild=True, now=later(99))

    again = (
        rating_rows(),
        list(RatingPoint.objects.order_by("at", "version_id").values_list("version_id", "elo", "change")),
    )
    for first, second in zip(steps[0], again[0], strict=True):
        assert (
            first == pytest.approx(second, abs=1e-9)
            if not isinstance(first[0], str)
            else first[1:] == pytest.approx(second[1:], abs=1e-9)
        )
    for first, second in zip(steps[1], again[1], strict=True):
        assert first == pytest.approx(second, abs=1e-6)


def test_change_of_a_match_is_the_difference_of_two_fits(cup) -> None:
    play_all(cup)
    ratings.refresh(cup.pool, now=NOW)
    rufo = cup.entries.get(version__bot__slug="rufo").version_id

    first, second = RatingPoint.objects.filter(version_id=rufo).order_by("at")

    assert first.change == pytest.approx(first.elo - 1000)
    assert Rating.objects.get(version_id=rufo).elo >= second.elo or second.elo > 0
    assert RatingPoint.objects.filter(match__in=cup.matches.all()).count() == 6


def test_void_match_leaves_the_ratings(cup) -> None:
    play_all(cup)
    ratings.refresh(cup.pool, now=NOW)
    full = rating_rows()
    struck = cup.matches.order_by("id").last()
    matches.void(struck, actor="operator", why="wrong rules", now=NOW)

    assert ratings.stale_pools() == [cup.pool]
    assert ratings.refresh(cup.pool, now=NOW) is True
    assert ratings.stale_pools() == []

    assert rating_rows() != full
    assert sum(row[3] for row in rating_rows()) == 48
    assert not RatingPoint.objects.filter(match=struck).exists()


def test_unrated_matches_do_not_count(ana) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(ana, "nena")])
    play(cup.matches.get())

    assert ratings.stale_pools() == []
    assert ratings.refresh(cup.pool, now=NOW) is False
    assert Rating.objects.count() == 0


@pytest.mark.slow
def test_leaderboard_lists_one_version_per_bot(ana, berto) -> None:
    old, rival = accepted(ana, "rufo"), accepted(berto, "lola")
    first = started(ana, [old, rival], boards=40, name="First")
    play(first.matches.get())
    second = started(ana, [accepted(ana, "rufo"), rival], boards=4, name="Second")
    play(second.matches.get())
    ratings.refresh(first.pool, now=NOW)
    other = started(ana, [old, rival], game="corriente", boards=4, name="Other")
    play(other.matches.get())
    ratings.refresh(other.pool, now=NOW)

    names = {str(row.rating.version) for row in leaderboards.leaderboard(first.pool)}
    every = {str(row.rating.version) for row in leaderboards.leaderboard(first.pool, every_version=True)}

    assert every == {"rufo v1", "rufo v2", "lola v1"}
    assert len(leaderboards.leaderboard(first.pool, every_version=True)) == 3, (
        "those of another pool are not among them"
    )
    best = Rating.objects.filter(pool=first.pool, version__bot=old.bot).order_by("-certain").first()
    assert names == {str(best.version), "lola v1"}, "a bot stands where its best version stands"


def test_standings_order_and_crosstable(cup) -> None:
    play_all(cup)

    table = standings.standings(cup)

    assert [(row.entry.version.bot.slug, row.result.place, row.result.points) for row in table.rows] == [
        ("rufo", 1, 24.0),
        ("lola", 2, 12.0),
        ("greedy", 3, 0.0),
    ]
    number = {row.entry.version.bot.slug: row.entry.number for row in table.rows}
    cell = table.cells[number["rufo"], number["lola"]]
    assert (cell.boards, cell.wins, cell.draws, cell.losses) == (12, 12, 0, 0)
    both = [row.entry for row in table.rows[:2]]
    assert standings.meetings(cup, both, both)[both[0].number, both[1].number] == [
        Match.objects.get(table="-".join(map(str, sorted((number["rufo"], number["lola"]))))).public_id
    ]
    assert table.statuses == {"finished": 3}


def test_standings_ignore_void_matches(cup) -> None:
    play_all(cup)
    matches.void(cup.matches.order_by("id")[0], actor="operator", why="x", now=NOW)

    table = standings.standings(cup)

    assert sum(row.result.boards for row in table.rows) == 48
    assert table.statuses == {"finished": 2, "void": 1}


@pytest.mark.parametrize("entrants", mostly_slow([2, 5], (2).__eq__))
def test_number_of_queries_does_not_grow(ana, berto, entrants: int) -> None:
    versions = [accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(entrants)]
    cup = started(ana, versions, boards=1)
    for match in cup.matches.all():
        play(match)
    ratings.refresh(cup.pool, now=NOW)
    cup = tournaments.Tournament.objects.select_related("pool").get(pk=cup.pk)

    with CaptureQueriesContext(connection) as board:
        lines = [
            (row.rating.version.bot.slug, row.rating.version.bot.owner.name)
            for row in leaderboards.leaderboard(cup.pool)
        ]
    with CaptureQueriesContext(connection) as table:
        owners = [row.entry.version.bot.owner.name for row in standings.standings(cup).rows]

    assert (len(lines), len(owners)) == (entrants, entrants)
    assert (len(board), len(table)) == (1, 3)
    assert Match.objects.filter(status=MatchStatus.FINISHED).count() == entrants * (entrants - 1) // 2


@pytest.mark.django_db
def test_message_about_a_pool_that_is_gone_is_no_failure(caplog) -> None:
    tasks.refresh_ratings(987_654)

    assert "the pool does not exist" in caplog.text


@pytest.mark.slow
def test_kept_sums_are_those_of_the_boards_after_every_match(cup) -> None:
    for second, match in enumerate(cup.matches.order_by("id")):
        play(match, now=later(second))
        ratings.refresh(cup.pool, now=later(second))

        assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()
        assert PoolSums.objects.get(pool=cup.pool).matches == second + 1

    matches.void(cup.matches.order_by("id")[1], actor="operator", why="x", now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()
    assert PoolSums.objects.get(pool=cup.pool).matches == 2


@pytest.mark.slow
def test_refresh_reads_no_board_that_counts_already(cup) -> None:
    first, *others = cup.matches.order_by("id")
    play(first)
    ratings.refresh(cup.pool, now=NOW)
    Board.objects.filter(match=first).update(scores=[0, 0])  # nobody may do this; here it shows what is read

    for match in others:
        play(match)
    ratings.refresh(cup.pool, now=NOW)

    drawn = totals.recount(cup.pool).totals[:, 2].sum()
    assert totals.read_stored(cup.pool).totals[:, 2].sum() > drawn


@pytest.mark.slow
def test_queries_of_a_refresh_do_not_grow_with_the_pool(ana, berto) -> None:
    versions = [accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(6)]
    cup = started(ana, versions, boards=1)
    counts = []
    for match in cup.matches.filter(rated=True).order_by("id"):
        play(match)
        with CaptureQueriesContext(connection) as queries:
            ratings.refresh(cup.pool, now=NOW)
        counts.append(len(queries))

    assert len(counts) == 9
    assert max(counts[1:]) == min(counts[1:])


def shape(board: list[leaderboards.RankedBot]) -> list[tuple]:
    return [(str(row.rating.version), row.place, round(row.rating.elo, 9), row.rating.boards) for row in board]


@pytest.mark.slow
def test_tables_of_a_past_moment_are_those_that_were_shown_then(cup) -> None:
    tables = []
    for second, match in enumerate(cup.matches.order_by("id")):
        play(match, now=later(10 * second))
        ratings.refresh(cup.pool, now=later(10 * second))
        tables.append((shape(leaderboards.leaderboard(cup.pool)), standings.standings(cup).cells))
    struck = cup.matches.order_by("id")[0]
    matches.void(struck, actor="operator", why="x", now=later(100))
    ratings.refresh(cup.pool, now=later(100))
    now = shape(leaderboards.leaderboard(cup.pool)), standings.standings(cup).cells

    for second, (board, cells) in enumerate(tables):
        at = later(10 * second + 5)
        assert shape(leaderboards.leaderboard(cup.pool, at=at)) == board
        assert standings.standings(cup, at).cells == cells
    assert (shape(leaderboards.leaderboard(cup.pool, at=later(101))), standings.standings(cup, later(101)).cells) == now
    assert now[0] != tables[-1][0]
    assert leaderboards.leaderboard(cup.pool, at=later(-1)) == []
    with CaptureQueriesContext(connection) as queries:
        leaderboards.leaderboard(cup.pool, at=later(5))
    assert len(queries) == 6


def test_an_unrated_match_counts_in_no_past_table(ana) -> None:
    """Two bots of one player."""
    cup = started(ana, [accepted(ana, "rufo"), accepted(ana, "nena")])
    play(cup.matches.get())
    ratings.refresh(cup.pool, now=NOW)

    assert leaderboards.leaderboard(cup.pool) == []
    assert leaderboards.leaderboard(cup.pool, at=later(1)) == []


@pytest.mark.parametrize(
    ("before", "last", "after"),
    [
        (None, {}, (None, False, None)),
        (None, {7: (later(5), 0.1)}, (later(5), False, 0.1)),
        ((later(9), True, 0.2), {}, (later(9), True, 0.2)),
        ((later(9), True, 0.2), {8: (later(20), 0.3)}, (later(9), True, 0.2)),  # another version's
        ((later(9), True, 0.2), {7: (later(20), 0.3)}, (later(20), False, 0.3)),
        ((later(9), True, 0.2), {7: (later(5), 0.1)}, (later(9), False, 0.2)),  # a match that is counted late
        ((None, True, None), {7: (later(5), None)}, (later(5), False, None)),
    ],
)
def test_a_match_ends_idleness_and_may_have_the_slowest_decision(before, last, after) -> None:
    columns = ("played", "idle", "slowest_s")
    was = None if before is None else Rating(version_id=7, **dict(zip(columns, before, strict=True)))
    row = Rating(version_id=7)

    ratings.note_played(row, was, {version: ratings.MatchNotes(*notes) for version, notes in last.items()})

    assert tuple(getattr(row, name) for name in columns) == after


def test_a_bot_stands_where_its_best_version_stands_and_uploading_changes_that_only_by_proof(ana):
    first = accepted(ana, "rufo")
    second = BotVersion.objects.create(bot=first.bot, number=2, package=first.package, created=NOW)
    other = accepted(ana, "nena")

    assert ratings.choose_listed({first.pk: 950.0, second.pk: 700.0, other.pk: 1.0}) == {first.pk, other.pk}
    assert ratings.choose_listed({first.pk: 950.0, second.pk: 950.0}) == {second.pk}
