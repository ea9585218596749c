"""Answers to puzzles: what counts for ratings and days in a row, and which puzzle is next."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from django.db import connection

from engine.puzzles import Puzzle, _identity, read
from engine.themes import THEMES
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.puzzles import answers, shelf
from league.domain.puzzles.answers import SOLUTION
from league.models import Player, PuzzleAnswer, PuzzleRating, Solver
from league.pure.calendar import calendars
from tests.support.league import NOW, later

MADRID, NEW_YORK = "Europe/Madrid", "America/New_York"


def puzzles() -> list[Puzzle]:
    return list(shelf.shelf().by_id.values())


def wrong(puzzle: Puzzle) -> str:
    return next(text for text in puzzle.legal if text not in puzzle.best)


def test_the_first_answer_moves_both_ratings_and_a_later_one_none(ana: Player) -> None:
    puzzle = puzzles()[0]
    verdict = answers.answer(puzzle, wrong(puzzle), ana, now=NOW)
    assert (verdict.solved, verdict.first) == (False, True)
    assert verdict.change is not None
    assert verdict.change < -100
    assert verdict.puzzle_rating is not None
    assert verdict.puzzle_rating > 1600
    rows = (Solver.objects.values().get(), PuzzleRating.objects.values().get())

    again = answers.answer(puzzle, puzzle.best[0], ana, now=later(60))
    assert (again.solved, again.first, again.change) == (True, False, None)
    assert (Solver.objects.values().get(), PuzzleRating.objects.values().get()) == rows
    assert answers.standing(ana, now=NOW).is_provisional


def test_a_solution_that_is_shown_counts_as_wrong_and_an_unknown_choice_not_at_all(ana: Player) -> None:
    first, second = puzzles()[:2]
    assert answers.answer(first, SOLUTION, ana, now=NOW).lost is None
    assert not PuzzleAnswer.objects.get().solved
    assert answers.answer(first, first.best[0], ana, now=NOW).first is False
    for text in ("", "play 9x", "\0", "x" * 9999):
        with pytest.raises(Refused):
            answers.answer(second, text, ana, now=NOW)
    assert Solver.objects.get().answers == 1


def test_a_guest_leaves_nothing(db: None) -> None:
    puzzle = puzzles()[0]
    verdict = answers.answer(puzzle, puzzle.best[0], None, zone=MADRID, now=NOW)
    assert (verdict.solved, verdict.first, verdict.standing) == (True, None, None)
    assert not any(model.objects.exists() for model in (PuzzleAnswer, Solver, PuzzleRating))


def test_a_settled_puzzle_hardly_moves_for_a_new_account(ana: Player) -> None:
    puzzle = puzzles()[0]
    PuzzleRating.objects.create(puzzle=puzzle.id, rating=1500, deviation=50, answers=200)
    answers.answer(puzzle, wrong(puzzle), ana, now=NOW)
    assert 0 < PuzzleRating.objects.get().rating - 1500 < 6


@pytest.mark.parametrize(
    ("days", "streak", "longest"),
    [
        # Answers at these times (UTC), in the zone of the player, and the streak after the last one.
        ([("2026-03-01T22:59", MADRID), ("2026-03-01T23:01", MADRID)], 2, 2),  # Midnight in Madrid
        ([("2026-03-01T22:59", "UTC"), ("2026-03-01T23:01", "UTC")], 1, 1),
        ([("2026-03-01T10:00", ""), ("2026-03-02T10:00", ""), ("2026-03-04T10:00", "")], 1, 2),  # A day is missing
        ([("2026-03-28T22:30", MADRID), ("2026-03-29T21:30", MADRID), ("2026-03-29T22:30", MADRID)], 3, 3),  # Summer time
        # To the west the same date comes again, and counts once
        ([("2026-03-01T23:30", MADRID), ("2026-03-02T00:30", NEW_YORK), ("2026-03-02T20:00", NEW_YORK)], 1, 1),
        ([("2026-03-01T10:00", "No/Such"), ("2026-03-02T10:00", "\0")], 2, 2),  # UTC
    ],
)  # fmt: skip
def test_days_in_a_row_are_those_of_the_players_clock(ana: Player, days, streak: int, longest: int) -> None:
    at = NOW
    for puzzle, (time, zone) in zip(puzzles(), days, strict=False):
        at = datetime.fromisoformat(f"{time}:00+00:00")
        answers.answer(puzzle, puzzle.best[0], ana, zone=zone, now=at)
    standing = answers.standing(ana, now=at)
    assert (standing.streak, standing.longest, standing.done_today) == (streak, longest, True)


def test_a_streak_lasts_until_the_next_midnight_without_an_answer(ana: Player) -> None:
    puzzle = puzzles()[0]
    answers.answer(puzzle, puzzle.best[0], ana, zone=MADRID, now=datetime(2026, 7, 1, 12, tzinfo=UTC))
    for at, streak, is_over in (
        (datetime(2026, 7, 1, 21, 59, tzinfo=UTC), 1, True),
        (datetime(2026, 7, 1, 22, 0, tzinfo=UTC), 1, False),
        (datetime(2026, 7, 2, 22, 0, tzinfo=UTC), 0, False),
    ):
        standing = answers.standing(ana, now=at)
        assert (standing.streak, standing.done_today) == (streak, is_over)
    assert answers.standing(ana, now=datetime(2026, 7, 1, 12, tzinfo=UTC)).midnight == datetime(
        2026, 7, 1, 22, tzinfo=UTC
    )


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_at_once_counts_once() -> None:
    ana = players.create("ana", now=NOW)
    puzzle = puzzles()[0]
    firsts: list[bool | None] = []

    def send() -> None:
        firsts.append(answers.answer(puzzle, puzzle.best[0], ana, now=NOW).first)
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, firsts)) == [False, False, False, True]
    solver = Solver.objects.get()
    assert (solver.answers, solver.streak, PuzzleRating.objects.get().answers) == (1, 1, 1)


def test_the_next_puzzle_is_the_nearest_of_its_theme_that_is_not_answered(ana: Player) -> None:
    here = shelf.shelf()
    ruffs = here.about("ruff")
    assert len(ruffs) > 2
    PuzzleRating.objects.create(puzzle=ruffs[1].id, rating=1700)
    PuzzleRating.objects.create(puzzle=ruffs[2].id, rating=1650)
    assert answers.next_puzzle(here, ana, theme="ruff", rating=1800) == ruffs[1]
    answers.answer(ruffs[1], ruffs[1].best[0], ana, now=NOW)
    assert answers.next_puzzle(here, ana, theme="ruff", rating=1800) == ruffs[2]
    assert answers.next_puzzle(here, None, theme="ruff") == ruffs[0]
    assert answers.next_puzzle(here, None, theme="ruff", game="no-such") is None
    assert set(here.theme_counts()) <= set(THEMES)


def test_the_puzzle_of_the_day_does_not_change_when_one_is_found(db: None) -> None:
    here, today = shelf.shelf(), date(2026, 7, 1)
    row = next(item for item in here.by_id.values() if item.id == here.of_day(today, ["brisca"]).id)
    later_shelf = shelf.Shelf([*here.by_id.values()], {row.id: today})
    before = shelf.Shelf([item for item in here.by_id.values() if item != row])
    assert later_shelf.of_day(today, ["brisca"]) == before.of_day(today, ["brisca"])
    assert later_shelf.of_day(date(2026, 7, 2), ["brisca"]) is not None


@pytest.mark.parametrize(
    "event", [{}, {"e": "trick"}, {"e": "play", "seat": 0, "card": "??"}, {"e": "play", "seat": 0, "card": 1}]
)
def test_a_puzzle_whose_events_make_no_sense_hides_no_other(db: None, event: dict) -> None:
    """A file, or a worker, may have one whose id is right."""
    good = puzzles()[0]
    events = [*good.events, event]
    odd = replace(good, events=events, id=_identity(good.game, good.options, good.players, good.seat, events))
    assert list(shelf.Shelf([read(odd.line()), good]).by_id) == [good.id]


def test_a_zone_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calendars.zone_named(MADRID)
    monkeypatch.setattr(calendars, "available_timezones", set)
    assert answers.is_zone(MADRID)
    assert not answers.is_zone("Mars/Base")
