"""The answers of players to puzzles. The first answer to a puzzle counts; later ones are judged but not stored.

An answer that counts moves the ratings of player and puzzle (Glicko-2) and the player's days in a row. The rating opens nothing and has no list, so
nobody gains by a second account: its first answers, of which each puzzle takes one, move a puzzle that many have answered by a point or two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Count, Q

from engine.puzzles import Puzzle
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.puzzles.shelf import Shelf
from league.models import Player, PuzzleAnswer, PuzzleRating, Solver
from league.models.puzzles import Glicko
from league.pure.calendar import calendars
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.rating.glicko import BASE, PROVISIONAL, GlickoRating, rate

SOLUTION = "solution"  # Sent instead of a choice by who gives up: it counts as a wrong answer.
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SolverStanding:
    """A player's puzzle rating and days in a row.

    is_provisional: the deviation is still large. streak: 0 if the last day with an answer is before yesterday; done_today: today's answer is given.
    midnight: when the player's day ends.
    """

    rating: float
    deviation: float
    answers: int
    streak: int
    longest: int
    done_today: bool
    zone: str
    midnight: datetime

    @property
    def is_provisional(self) -> bool:
        """Return True if the rating says little yet."""
        return self.deviation > PROVISIONAL


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """The judgement of an answer.

    lost: None if the player asked for the solution. first: True if it counts, False if the player answered before; None for an anonymous client.
    change: of the player's rating; None if the answer does not count. puzzle_rating: after the answer; None if nobody has answered.
    """

    answer: str
    solved: bool
    lost: float | None
    first: bool | None
    change: float | None = None
    standing: SolverStanding | None = None
    puzzle_rating: float | None = None


def judge(puzzle: Puzzle, text: str) -> tuple[bool, float | None]:
    """Return True for a right answer, and its loss. Raise Refused if the puzzle has no such choice."""
    if text == SOLUTION:
        return False, None
    if text not in puzzle.lost:
        raise Refused("{text!r} is none of the choices here", text=text[:40])
    return text in puzzle.best, puzzle.lost[text]


def answer(
    puzzle: Puzzle, text: str, player: Player | None, *, zone: str = "", now: datetime | None = None
) -> AnswerVerdict:
    """Judge an answer, and store and rate it if it is the player's first. Raise Refused if the puzzle has no such choice.

    zone: the time zone of the player's clock, by which days in a row are counted; that of the last answer if it is empty or unknown.
    """
    now = clock.now_or(now)
    solved, lost = judge(puzzle, text)
    if player is None:
        return AnswerVerdict(text, solved, lost, None, puzzle_rating=ratings([puzzle.id]).get(puzzle.id))
    with transaction.atomic():
        players.lock(player.pk)
        columns = {"game": puzzle.game, "answer": text, "solved": solved, "created": now}
        _row, first = PuzzleAnswer.objects.get_or_create(player=player, puzzle=puzzle.id, defaults=columns)
        solver, change = Solver.objects.filter(player=player).first() or Solver(player=player), None
        if first:
            change = _rate(solver, puzzle.id, solved)
            count_day(solver, zone, now)
            solver.save()
    rating = ratings([puzzle.id]).get(puzzle.id)
    return AnswerVerdict(text, solved, lost, first, change, _standing(solver, now), rating)


def _rate(solver: Solver, puzzle: str, solved: bool) -> float:
    """Move the ratings of player and puzzle. Return the change of the player's. The player is locked before the puzzle."""
    PuzzleRating.objects.get_or_create(puzzle=puzzle)
    row = PuzzleRating.objects.select_for_update().get(puzzle=puzzle)
    before, its = _glicko(solver), _glicko(row)
    _put(solver, rate(before, [(its, float(solved))]))
    _put(row, rate(its, [(before, float(not solved))]))
    row.save()
    return comparable(solver.rating - before.rating, ELO_DIGITS)


def _glicko(row: Glicko) -> GlickoRating:
    return GlickoRating(row.rating, row.deviation, row.volatility)


def _put(row: Glicko, after: GlickoRating) -> None:
    row.rating, row.deviation, row.volatility = after.rating, after.deviation, after.volatility
    row.answers += 1


def count_day(solver: Solver, zone: str, now: datetime) -> None:
    """Count the player's day, once: two answers on it, or an earlier day after a journey to the west, change nothing. Do not save."""
    if zone and is_zone(zone):
        solver.zone = zone
    today = day_of(solver, now)
    if solver.day is None or today > solver.day:
        solver.streak = solver.streak + 1 if solver.day == today - DAY else 1
        solver.longest, solver.day = max(solver.longest, solver.streak), today


def is_zone(zone: str) -> bool:
    """Return True if this machine knows the time zone."""
    try:
        calendars.zone_named(zone)
    except ValueError:
        return False
    return True


def day_of(solver: Solver, now: datetime) -> date:
    """Return the date in the player's time zone."""
    return now.astimezone(_zone(solver)).date()


def _zone(solver: Solver) -> ZoneInfo:
    return ZoneInfo(solver.zone if is_zone(solver.zone) else "UTC")


def standing(player: Player, *, now: datetime | None = None) -> SolverStanding:
    """Return the player's rating and days in a row. One query."""
    return _standing(Solver.objects.filter(player=player).first() or Solver(player=player), clock.now_or(now))


def _standing(row: Solver, now: datetime) -> SolverStanding:
    today = day_of(row, now)
    return SolverStanding(
        rating=row.rating,
        deviation=row.deviation,
        answers=row.answers,
        streak=row.streak if row.day is not None and row.day >= today - DAY else 0,
        longest=row.longest,
        done_today=row.day is not None and row.day >= today,
        zone=row.zone,
        midnight=datetime.combine(today + DAY, datetime.min.time(), _zone(row)).astimezone(UTC),
    )


def ratings(puzzles: Collection[str]) -> dict[str, float]:
    """Return the ratings of those of these puzzles that somebody has answered. One query."""
    return dict(PuzzleRating.objects.filter(puzzle__in=puzzles).values_list("puzzle", "rating"))


def next_puzzle(
    shelf: Shelf, player: Player | None, *, theme: str = "", game: str = "", rating: float | None = None
) -> Puzzle | None:
    """Return the puzzle nearest to `rating`, or to the player's, that they have not answered; None if there is none. At most three queries.

    A puzzle that nobody has answered counts as average; the order of the shelf decides between equals.
    """
    answered = tried(player) if player else frozenset()
    rows = [item for item in shelf.about(theme, game) if item.id not in answered]
    if rating is None:
        rating = standing(player).rating if player else BASE
    by_id, wish = ratings([item.id for item in rows]) if rows else {}, rating
    return min(rows, key=lambda item: comparable(abs(by_id.get(item.id, BASE) - wish), ELO_DIGITS), default=None)


def tried(player: Player) -> frozenset[str]:
    """Return the puzzles that a player has answered. One query."""
    return frozenset(PuzzleAnswer.objects.filter(player=player).values_list("puzzle", flat=True))


def tally(player: Player) -> dict[str, tuple[int, int]]:
    """Return the numbers of puzzles that a player has answered and solved, by game. One query."""
    rows = PuzzleAnswer.objects.filter(player=player).values("game").order_by("game")
    counted = rows.annotate(tried=Count("pk"), right=Count("pk", filter=Q(solved=True)))
    return {row["game"]: (row["tried"], row["right"]) for row in counted}
