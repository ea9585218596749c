"""Ratings of a large pool: who played at once, all strengths soon, the table after a while, and in the end what one fit of all boards says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from league.domain.matches import matches
from league.domain.people import players
from league.domain.ratings import leaderboards, ratings, refits, totals
from league.domain.upkeep import invariants, reconcile
from league.models import Match, PoolSums, Rating, RatingPoint
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started
from tests.support.parts import mostly_slow
from tests.support.processes import wait_for

pytestmark = pytest.mark.django_db
STAGES = pytest.mark.parametrize("stage", mostly_slow([refits.fit, refits.rank], lambda stage: stage is refits.rank))


@pytest.fixture(autouse=True)
def every_pool_is_large(settings) -> None:
    settings.RATINGS_AT_ONCE = 0


@pytest.fixture
def keeper() -> Iterator[Callable[[str], None]]:
    yield refits.keep_pools_as
    refits.keep_pools_as("")


@pytest.fixture
def cup(ana, berto):
    """Six bots, of which three have met and are ranked."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto):
    owners = [ana, berto, *(players.create(f"owner-{number}") for number in range(4))]
    cup = started(owners[0], [accepted(owner, f"bot-{number}") for number, owner in enumerate(owners)], boards=12)
    first = cup.matches.filter(parties__version__bot__slug__in=["bot-0", "bot-1", "bot-2"]).distinct()
    for match in first.exclude(parties__version__bot__slug__in=["bot-3", "bot-4", "bot-5"]):
        play(match, winner=match.parties.get(number=0).number, now=NOW)
    ratings.refresh(cup.pool, now=NOW)
    assert Rating.objects.count() == 3
    return cup


def match_of(cup, bot: int, other: int) -> Match:
    return cup.matches.filter(parties__version__bot__slug=f"bot-{bot}").get(parties__version__bot__slug=f"bot-{other}")


def table() -> dict[str, tuple[float, ...]]:
    rows = Rating.objects.order_by("version__bot__slug")
    names = ("elo", "margin", "boards", "opponents", "score", "rank_best", "rank_worst", "los_next", "field_score")
    return {row.version.bot.slug: tuple(getattr(row, name) or 0.0 for name in names) for row in rows}


def estimated() -> set[str]:
    return set(Rating.objects.filter(estimated=True).values_list("version__bot__slug", flat=True))


def exact(cup) -> dict[str, tuple[float, ...]]:
    """The table as one fit of all boards has it."""
    ratings.refresh(cup.pool, rebuild=True, now=later(999))
    return table()


def assert_alike(first: dict[str, tuple[float, ...]], other: dict[str, tuple[float, ...]]) -> None:
    assert first.keys() == other.keys()
    for bot, row in other.items():
        assert first[bot] == pytest.approx(row, abs=1e-7)


@contextmanager
def meanwhile(happens: Callable[[], Any], when: str) -> Iterator[None]:
    """Something happens before the first statement with these words that is in no transaction of ours."""
    statements = []

    def look(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if when in sql and not statements and not refits._KeeperState.writing.locked():
            statements.append(sql)
            happens()
        return execute(sql, *rest)

    with connection.execute_wrapper(look):
        yield
    assert statements


def test_each_stage_comes_closer_and_the_last_one_is_the_fit_of_all_boards(cup) -> None:
    before = table()
    for first, other in ((0, 3), (3, 4), (4, 5)):
        play(match_of(cup, first, other), now=later(10))

    assert refits.count_new(cup.pool, now=later(11)) is True

    counted = table()
    assert estimated() == {"bot-0", "bot-3", "bot-4", "bot-5"}
    assert counted["bot-1"] == before["bot-1"]
    assert [counted[f"bot-{number}"][2] for number in range(6)] == [36, 24, 24, 24, 24, 12]
    assert [counted[f"bot-{number}"][3] for number in range(6)] == [3, 2, 2, 2, 2, 1]
    assert RatingPoint.objects.filter(at=later(10)).count() == 6
    assert not Match.objects.filter(status="finished", counted=None).exists()
    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()

    assert refits.fit(cup.pool, now=later(12)) is True
    fitted = table()
    assert estimated() == set()
    assert fitted["bot-0"][1] == before["bot-0"][1], "margins come with the table"

    assert refits.rank(cup.pool, now=later(13)) is True
    ranked = table()
    truth = exact(cup)
    for bot, row in truth.items():
        assert fitted[bot][0] == pytest.approx(row[0], abs=refits.MOVED + 1e-3)
    assert_alike(ranked, truth)


def test_a_stage_that_nobody_owes_does_nothing(cup) -> None:
    assert refits.count(cup.pool, now=NOW) == 0
    assert refits.fit(cup.pool, now=NOW) is False
    assert refits.rank(cup.pool, now=NOW) is False
    assert ratings.stale_pools() == []


@pytest.mark.slow
def test_results_beyond_a_batch_are_counted_by_further_transactions(cup, monkeypatch) -> None:
    monkeypatch.setattr(refits, "BATCH", 2)
    for other in (3, 4, 5):
        play(match_of(cup, 0, other), now=later(other))

    assert refits.count(cup.pool, now=later(10)) == 2
    assert match_of(cup, 0, 5).counted is None, "the oldest come first"
    assert refits.count_new(cup.pool, now=later(10)) is True
    assert match_of(cup, 0, 5).counted == later(10)


@STAGES
def test_who_plays_while_all_are_fitted_stays_as_estimated(cup, stage) -> None:
    play(match_of(cup, 0, 3), now=later(10))
    refits.count_new(cup.pool, now=later(10))

    def another() -> None:
        play(match_of(cup, 1, 4), now=later(20))
        assert refits.count(cup.pool, now=later(20)) == 1

    with meanwhile(another, 'SELECT "league_rating"."version_id"'):
        assert stage(cup.pool, now=later(15)) is True

    assert estimated() == {"bot-1", "bot-4"}
    assert Rating.objects.get(version__bot__slug="bot-1").boards == 36
    head = PoolSums.objects.get()
    assert head.stamp not in (head.fitted, head.ranked)
    assert head.fitted_until == later(15)
    assert refits.fit(cup.pool, now=later(25)) is True
    assert refits.rank(cup.pool, now=later(25)) is True
    assert estimated() == set()
    assert_alike(table(), exact(cup))


@STAGES
def test_a_table_that_was_made_anew_meanwhile_is_not_overwritten(cup, stage) -> None:
    play(match_of(cup, 0, 3), now=later(10))
    refits.count_new(cup.pool, now=later(10))

    def struck() -> None:
        matches.void(match_of(cup, 0, 3), actor="operator", why="wrong rules", now=later(11))
        ratings.refresh(cup.pool, now=later(11))

    with meanwhile(struck, 'SELECT "league_rating"."version_id"'):
        assert stage(cup.pool, now=later(12)) is False
    assert (len(table()), ratings.stale_pools()) == (3, [])
    assert refits.fit(cup.pool, now=later(12)) is False


@pytest.mark.slow
def test_strengths_of_later_sums_outlive_a_table_that_took_long(cup) -> None:
    play(match_of(cup, 0, 3), now=later(10))
    refits.count_new(cup.pool, now=later(10))

    def more() -> None:
        play(match_of(cup, 1, 4), now=later(20))
        refits.count(cup.pool, now=later(20))
        assert refits.fit(cup.pool, now=later(21)) is True
        strengths.update({bot: row[0] for bot, row in table().items()})

    strengths: dict[str, float] = {}
    with meanwhile(more, 'SELECT "league_rating"."version_id"'):
        assert refits.rank(cup.pool, now=later(15)) is True

    assert {bot: row[0] for bot, row in table().items()} == strengths
    head = PoolSums.objects.get()
    assert (head.fitted_until, head.ranked_until, head.fitted == head.stamp) == (later(21), later(15), True)


@pytest.mark.slow
def test_a_newer_version_stands_for_its_bot_at_once_where_the_older_is_provisional(cup) -> None:
    new = accepted(players.Player.objects.get(name="owner-3"), "bot-5")
    rival = cup.entries.get(version__bot__slug="bot-0").version
    play(match_of(cup, 5, 1), now=later(5))
    refits.count_new(cup.pool, now=later(5))
    other = started(rival.bot.owner, [new, rival], boards=12, name="Other")
    play(other.matches.get(), now=later(10))

    refits.count_new(cup.pool, now=later(10))

    rows = {row.rating.version_id for row in leaderboards.leaderboard(cup.pool)}
    assert new.pk in rows
    assert len(rows) == 4
    added = Rating.objects.get(version=new)
    assert (added.provisional, added.rank_best, added.rank_worst, added.estimated) == (True, 1, 5, True)
    assert 0 < added.field_score < 1
    assert added.margin > 50


@pytest.mark.slow
def test_fits_wait_for_a_while_and_ranks_for_longer(cup, settings) -> None:
    settings.RATINGS_FIT_S, settings.RATINGS_RANK_S = 3, 30
    play(match_of(cup, 0, 3), now=later(100))
    refits.count_new(cup.pool, now=later(100))
    assert (refits.fit_due(now=later(100)), refits.rank_due(now=later(100))) == (1, 1), "after a rest at once"

    play(match_of(cup, 1, 4), now=later(101))
    refits.count_new(cup.pool, now=later(101))
    assert (refits.fit_due(now=later(102)), refits.rank_due(now=later(102))) == (0, 0)
    assert (refits.fit_due(now=later(104)), refits.rank_due(now=later(104))) == (1, 0)
    assert refits.rank_due(now=later(131)) == 1
    assert (refits.fit_due(now=later(999)), refits.rank_due(now=later(999))) == (0, 0)


@pytest.mark.slow
def test_the_moment_is_never_after_a_result_that_is_not_in(cup) -> None:
    """A worker's report may be committed after a fit, and have ended before it."""
    refits.count_new(cup.pool, now=later(50))
    assert PoolSums.objects.get().fitted_until == NOW
    play(match_of(cup, 0, 3), now=later(60))
    refits.count_new(cup.pool, now=later(61))
    refits.fit(cup.pool, now=later(62))
    refits.rank(cup.pool, now=later(62))
    assert PoolSums.objects.get().ranked_until == later(62)

    play(match_of(cup, 1, 4), now=later(55))
    refits.count_new(cup.pool, now=later(63))

    head = PoolSums.objects.get()
    assert (head.fitted_until, head.ranked_until) == (later(55), later(55))


@pytest.mark.slow
def test_a_pool_is_left_to_the_process_that_keeps_it_until_that_is_silent(cup, keeper) -> None:
    keeper("one")
    play(match_of(cup, 0, 3), now=later(10))
    assert refits.count_new(cup.pool, now=later(10)) is True

    keeper("two")
    play(match_of(cup, 1, 4), now=later(11))
    assert refits.count_new(cup.pool, now=later(11)) is False
    assert (refits.count_waiting(now=later(11)), refits.fit_due(now=later(20)), refits.rank_due(now=later(29))) == (
        0,
        0,
        0,
    )

    keeper("one")
    assert refits.count_waiting(now=later(12)) == 1
    assert PoolSums.objects.get().keeper_until == later(12) + refits.KEEP
    refits.count_waiting(now=later(25))
    assert PoolSums.objects.get().keeper_until == later(25) + refits.KEEP, "it lives, though nobody plays"

    keeper("two")
    play(match_of(cup, 2, 5), now=later(40))
    assert refits.count_new(cup.pool, now=later(40)) is False
    assert refits.count_new(cup.pool, now=later(46)) is True
    assert PoolSums.objects.get().keeper == "two"


def test_a_result_waits_for_one_part_of_a_table_and_not_for_the_last() -> None:
    lock, order = refits.FairLock(), []

    def count() -> None:
        with lock:
            order.append("result")

    other = threading.Thread(target=count)
    with lock:
        other.start()
        wait_for(lambda: lock.waiting == 1, "the result waits", 60, every=0.001)
        order.append("part")
    with lock:
        order.append("part")
    other.join()
    assert order == ["part", "result", "part"]


@pytest.mark.slow
def test_a_process_that_dies_between_two_stages_costs_nothing(cup, django_capture_on_commit_callbacks) -> None:
    for seconds, (bot, other) in enumerate(((0, 3), (1, 4))):
        play(match_of(cup, bot, other), now=later(seconds))
        with django_capture_on_commit_callbacks(execute=True):
            refits.count_new(cup.pool, now=later(seconds))
    totals._memory.clear()

    play(match_of(cup, 2, 5), now=later(9))
    reconcile.reconcile(now=later(99))

    assert totals.read_stored(cup.pool).dump() == totals.recount(cup.pool).dump()
    assert estimated() == set()
    assert_alike(table(), exact(cup))


@pytest.mark.slow
def test_what_a_process_remembers_is_what_is_kept(cup, django_capture_on_commit_callbacks) -> None:
    for seconds, (bot, other) in enumerate(((0, 3), (1, 4), (2, 5))):
        play(match_of(cup, bot, other), now=later(seconds))
        with django_capture_on_commit_callbacks(execute=True):
            refits.count_new(cup.pool, now=later(seconds))
            if bot:
                refits.fit(cup.pool, now=later(seconds))
    head = PoolSums.objects.get()
    memory = totals.cached_at(cup.pool, head.stamp)

    assert memory is not None
    assert memory.whole.dump() == totals.recount(cup.pool).dump()
    assert head.matches == 6


def test_what_is_struck_out_leaves_a_large_pool_too(cup) -> None:
    play(match_of(cup, 0, 3), now=later(10))
    refits.count_new(cup.pool, now=later(10))
    matches.void(match_of(cup, 0, 3), actor="operator", why="wrong rules", now=later(11))

    refits.count_new(cup.pool, now=later(12))

    assert set(table()) == {"bot-0", "bot-1", "bot-2"}
    assert RatingPoint.objects.filter(match=match_of(cup, 0, 3)).count() == 0


def test_the_proof_is_of_the_table_that_follows(cup) -> None:
    play(match_of(cup, 0, 3), now=later(10))
    refits.count_new(cup.pool, now=later(10))

    assert list(invariants.cold_fits(None, later(20))) == []
    assert (estimated(), ratings.stale_pools()) == (set(), [])
    Rating.objects.filter(version__bot__slug="bot-0").update(elo=1234.5)
    assert [finding.check for finding in invariants.cold_fits(None, later(20))] == ["ratings"]


def test_history_of_a_large_pool_is_told_match_by_match(cup) -> None:
    start = Rating.objects.get(version__bot__slug="bot-0").elo
    play(match_of(cup, 0, 3), now=later(10))
    play(match_of(cup, 0, 4), now=later(20))
    refits.count_new(cup.pool, now=later(21))

    first, second = RatingPoint.objects.filter(version__bot__slug="bot-0", at__gt=NOW).order_by("at")
    assert first.change == pytest.approx(first.elo - start)
    assert second.change == pytest.approx(second.elo - first.elo)
    assert second.elo == Rating.objects.get(version__bot__slug="bot-0").elo
    assert second.at - first.at == timedelta(seconds=10)
