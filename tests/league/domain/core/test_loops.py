"""Loops that must live: they go on from whatever comes, or the process hears that they do not."""

from __future__ import annotations

import threading

import pytest

from league.domain.core.loops import Loops

EVERY = 0.001


def test_a_loop_goes_on_from_any_error_and_counts_it(caplog: pytest.LogCaptureFixture) -> None:
    loops, often = Loops(), threading.Event()
    rounds: list[int] = []

    def fail() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 3:
            often.set()
        raise KeyError("a match that finished between two questions")

    loops.start("look", fail, EVERY)
    assert often.wait(60)
    loops.leave()

    assert loops.errors["look"] == len(rounds) >= 3
    assert loops.trouble == ""
    assert "a match that finished between two questions" in caplog.records[0].getMessage()
    assert [bool(record.exc_info) for record in caplog.records[:3]] == [True, False, False]


def test_a_loop_that_is_lost_says_so_and_why(caplog: pytest.LogCaptureFixture) -> None:
    loops, signal = Loops(), threading.Event()
    loops.lost = signal.set

    def end() -> None:
        raise SystemExit(0)

    loops.start("pulse", end, EVERY)
    assert signal.wait(60)
    loops.leave()

    assert loops.trouble == "the loop 'pulse' is lost: SystemExit: 0"
    assert caplog.records[-1].levelname == "CRITICAL"
