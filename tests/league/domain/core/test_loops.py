"""Loops that must live: they go on from whatever comes, or the process hears that they do not."""

from __future__ import annotations

import threading

import pytest

from league.domain.core import clock, loops
from league.domain.core.loops import Loops
from league.models import Player, Worker

EVERY = 0.001


def test_a_loop_goes_on_from_any_error_and_counts_it(caplog: pytest.LogCaptureFixture) -> None:
    ours, often = Loops(), threading.Event()
    rounds: list[int] = []

    def fail() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 3:
            often.set()
        raise KeyError("a match that finished between two questions")

    ours.start("look", fail, EVERY)
    assert often.wait(60)
    ours.leave()

    assert ours.errors["look"] == len(rounds) >= 3
    assert ours.trouble == ""
    assert "a match that finished between two questions" in caplog.records[0].getMessage()
    assert [bool(record.exc_info) for record in caplog.records[:3]] == [True, False, False]


def test_a_loop_that_is_lost_says_so_and_why(caplog: pytest.LogCaptureFixture) -> None:
    ours, signal = Loops(), threading.Event()
    ours.lost = signal.set

    def end() -> None:
        raise SystemExit(0)

    ours.start("pulse", end, EVERY)
    assert signal.wait(60)
    ours.leave()

    assert ours.trouble == "the loop 'pulse' is lost: SystemExit: 0"
    assert caplog.records[-1].levelname == "CRITICAL"


@pytest.mark.django_db
def test_a_loop_rests_while_nothing_changes_in_the_league() -> None:
    rounds: list[bool] = []
    more = [True, False]

    def work() -> bool:
        rounds.append(more.pop(0) if more else False)
        return rounds[-1]

    look = loops._after_changes(work, idle=3600)
    for _ in range(5):
        look()
    assert rounds == [True, False], "after work it looks again, and then rests"
    Worker.objects.create(name="host:1", tier="none", started=clock.present(), seen=clock.present())
    look()
    assert len(rounds) == 2, "a heartbeat is no news"
    Player.objects.create_user("ana")
    look()
    assert len(rounds) == 3
    eager = loops._after_changes(work, idle=1e-9)
    eager()
    eager()
    assert len(rounds) == 5, "the time is up"
