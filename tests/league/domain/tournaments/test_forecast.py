"""The forecast of a tournament's duration, from the pace of the last matches of its game."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.core.errors import Refused
from league.domain.matches import estimates, workers
from league.domain.tournaments import forecast
from league.models import Match
from league.pure.calendar import event_plan
from tests.league.pure.calendar.test_event_plan import GOOD
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, started


@pytest.fixture
def played(ana, berto) -> list[Match]:
    """Three matches of two boards in two sittings each; the last one took 20 seconds, those before 8 each."""
    return rows.once(make_played, ana, berto)


def make_played(ana, berto) -> list[Match]:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena")]
    matches = [play(match) for match in started(ana, versions, boards=2).matches.order_by("id")]
    for number, match in enumerate(matches):
        took = timedelta(seconds=20 if number == 2 else 8)
        Match.objects.filter(pk=match.pk).update(started=later(100 * number), finished=later(100 * number) + took)
    return matches


def test_without_matches_the_pace_is_that_of_house_bots_and_one_worker(db) -> None:
    assert forecast.measure_pace("partnership", now=NOW) == forecast.DurationEstimate(0.3, False, 1)


def test_the_pace_is_seconds_a_sitting_of_finished_matches_of_the_game(played: list[Match]) -> None:
    assert forecast.measure_pace("partnership", now=NOW) == forecast.DurationEstimate(36 / 12, True, 1)
    assert forecast.measure_pace("corriente", now=NOW).measured is False

    Match.objects.filter(pk=played[2].pk).update(status="void")
    assert forecast.measure_pace("partnership", now=NOW).sitting_s == 16 / 8


def test_only_the_last_matches_are_measured(played: list[Match], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "RECENT", 1)
    assert forecast.measure_pace("partnership", now=NOW).sitting_s == 20 / 4


def test_workers_that_play_share_the_work(played: list[Match]) -> None:
    for name in ("w1", "w2", "w3"):
        workers.register(name, tier="landlock", now=NOW)
    workers.register("refuses", tier="", refusal="no sandbox", now=NOW)

    estimate = forecast.forecast(
        "partnership", entries=4, boards=2, format="round_robin", at=forecast.measure_pace("partnership", now=NOW)
    )

    assert estimate.pace.workers == 3
    assert (estimate.matches, estimate.boards, estimate.sittings) == ((6, 6), (12, 12), (24, 24))
    assert estimate.seconds == (24.0, 24.0)


def test_what_cannot_be_played_is_refused(db) -> None:
    with pytest.raises(Refused):
        forecast.forecast("partnership", entries=1, boards=2, format="round_robin")


def test_stages_of_an_event_are_told_one_by_one(db) -> None:
    """Two groups of three in two rounds of a Swiss; then the best two of each group in a double elimination."""
    first, second = forecast.forecast_stages(event_plan.read_plan(GOOD), 6)

    assert (first.matches, first.boards, first.sittings) == ((4, 4), (8, 8), (16, 16))
    assert first.seconds == pytest.approx((16 * 0.3, 16 * 0.3))
    assert second == forecast.forecast("partnership", entries=4, boards=4, format="double_elimination")
