"""Forecasts: number of matches and duration of a tournament before it is created, from its format and the measured speed of the workers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from engine.runner import Limits, bounds
from league.domain.core.errors import Refused
from league.domain.matches import estimates, workers
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import booking, formats, tournaments
from league.models import Player
from league.pure import formats as pure
from league.pure.calendar.event_plan import EventPlan
from league.pure.pairing.movements import snake


@dataclass(frozen=True)
class DurationEstimate:
    """The seconds of one sitting of a game, True if they were measured, and the number of workers."""

    sitting_s: float
    measured: bool
    workers: int


@dataclass(frozen=True)
class Forecast:
    """The minimum and maximum of each number. `seconds`: at the current speed with the current workers (at least one).

    match_most_s: the most seconds that the bots of one match may use together.
    """

    matches: tuple[int, int]
    boards: tuple[int, int]
    sittings: tuple[int, int]
    seconds: tuple[float, float]
    pace: DurationEstimate
    match_most_s: float


def measure_pace(game: str, *, now: datetime | None = None) -> DurationEstimate:
    """Measure the pace from the last matches of the game in any pool. Two queries."""
    sitting = estimates.sitting_time(game)
    return DurationEstimate(sitting.seconds, sitting.measured, max(1, workers.count_able(now=now)))


def forecast(
    game: str,
    *,
    entries: int,
    boards: int,
    format: str,
    parameters: Mapping[str, Any] | None = None,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    mixed: bool = False,
    at: DurationEstimate | None = None,
    limited: bool = False,
    owner: Player | None = None,
) -> Forecast:
    """Forecast a tournament. Raise Refused if it cannot be played, or (`limited`) exceeds the limit of `owner` (None: an anonymous client)."""
    form = formats.format_named(format)
    loaded = pools.load(game, players, dict(options or {}))
    seats = formats.entries_at_table(loaded, mixed=mixed)
    formats.check_game(format, loaded, mixed=mixed)
    field = formats.make_field(
        format, formats.choose_parameters(format, parameters), entries=entries, boards=boards, seats=seats, mixed=mixed
    )
    try:
        pure.check_field(form, field)
        size = form.size(field)
    except ValueError as error:
        raise Refused.from_error(error) from error
    if limited:
        booking.check(owner, form, field)
    speed = at or measure_pace(game)
    sittings = (size.boards[0] * seats, size.boards[1] * seats)
    each = speed.sitting_s / speed.workers
    most = bounds.match_s(Limits(), loaded, seats, boards)
    longest = 60 * field.number("minutes") + most if form.timed else math.inf
    seconds = min(sittings[0] * each, longest), min(sittings[1] * each, longest)
    return Forecast(size.matches, size.boards, sittings, seconds, speed, most)


def forecast_stages(plan: EventPlan, entries: int) -> list[Forecast]:
    """Forecast each stage of an event. Raise Refused if it cannot be played. Three queries."""
    at, forecasts, entrants = measure_pace(plan.game), [], entries
    for stage in plan.stages:
        boards = stage.boards or tournaments.default_boards(plan.game, plan.players, dict(plan.options))
        sizes = [len(members) for members in snake(list(range(entrants)), stage.groups)]
        each = [
            forecast(
                plan.game,
                entries=size,
                boards=boards,
                format=stage.format,
                parameters=stage.parameters,
                players=plan.players,
                options=plan.options,
                mixed=plan.mixed,
                at=at,
            )
            for size in sizes
        ]
        forecasts.append(_sum(each, at))
        entrants = sum(min(size, stage.advance or 0) for size in sizes)
    return forecasts


def room(plan: EventPlan, owner: Player) -> int:
    """Return the most entries that an event takes: those whose boards its owner may have queued. One query."""
    most = quotas.most(owner, quotas.BOARDS)
    limit = sys.maxsize if most is None else most
    return booking.room_of(settings.MAX_ENTRIES, fewest(plan), limit, lambda n: _count_boards(plan, n))


def fewest(plan: EventPlan) -> int:
    """Return the fewest entries with which all stages of an event can be played; MAX_ENTRIES if that is never so."""
    numbers = range(2, settings.MAX_ENTRIES)
    return next((n for n in numbers if _count_boards(plan, n) < math.inf), settings.MAX_ENTRIES)


def _count_boards(plan: EventPlan, entrants: int) -> float:
    """Return the most boards of all stages, as `booking.count_boards`."""
    options, total = dict(plan.options), 0.0
    seats = formats.entries_at_table(pools.load(plan.game, plan.players, options), mixed=plan.mixed)
    for stage in plan.stages:
        boards = stage.boards or tournaments.default_boards(plan.game, plan.players, options)
        field = formats.make_field(
            stage.format, stage.parameters, entries=0, boards=boards, seats=seats, mixed=plan.mixed
        )
        sizes = [len(members) for members in snake(list(range(entrants)), stage.groups)]
        form = formats.format_named(stage.format)
        total += sum(booking.count_boards(form, field, entries=size) for size in sizes)
        if total == math.inf:
            break
        entrants = sum(min(size, stage.advance or 0) for size in sizes)
    return total


def _sum(each: Sequence[Forecast], at: DurationEstimate) -> Forecast:
    def both(pairs: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
        low, high = zip(*pairs, strict=True)
        return sum(low), sum(high)

    return Forecast(
        both(row.matches for row in each),
        both(row.boards for row in each),
        both(row.sittings for row in each),
        both(row.seconds for row in each),
        at,
        max(row.match_most_s for row in each),
    )
