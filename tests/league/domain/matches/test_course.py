"""The course of a validation, as the page of the version shows it."""

from __future__ import annotations

from league.domain.matches import validation
from league.models import Match
from tests.support.league import NOW, later, running, uploaded


def test_the_course_counts_games_and_estimates_the_rest(ana) -> None:
    version = uploaded(ana, "rufo", games=("brisca", "cabrero", "corriente", "partnership"))
    queued = validation.course(version, now=NOW)
    assert queued is not None
    assert (queued.checked, queued.games, queued.left_s) == (0, 4, 4 * validation.GAME_S)

    match = running()
    Match.objects.filter(pk=match.pk).update(progress=50, started=NOW)
    half = validation.course(version, now=later(60))
    assert half is not None
    assert (half.checked, half.left_s, half.minutes) == (2, 60, 1)
    Match.objects.filter(pk=match.pk).update(status="finished", finished=NOW)
    assert validation.course(version, now=later(90)) is None
