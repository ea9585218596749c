"""Forecasts: number of matches and duration of a tournament before it is created, from its format and the measured speed of the workers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
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
class Pace:
    """The seconds of one sitting of a game, True if they were measured, and the number of workers."""

    sitting_s: float
    measured: bool
    workers: int


ANY = Pace(1.0, False, 1)  # For callers that need the boards, but not the time.


@dataclass(frozen=True)
class Forecast:
    """The minimum and maximum of each number. `seconds`: at the current speed with the current workers (at least one).

    match_most_s: the most seconds that the bots of one match may use together.
    """

    matches: tuple[int, int]
    boards: tuple[int, int]
    sittings: tuple[int, int]
    seconds: tuple[float, float]
    pace: Pace
    match_most_s: float


def measure_pace(game: str, *, now: datetime | None = None) -> Pace:
    """Measure the pace from the last matches of the game in any pool. Two queries."""
    sitting = estimates.sitting_time(game)
    return Pace(sitting.seconds, sitting.measured, max(1, workers.count_ready(now=now)))


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
    at: Pace | None = None,
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
    return Forecast(size.matches, size.boards, sittings, (sittings[0] * each, sittings[1] * each), speed, most)


def forecast_stages(plan: EventPlan, entries: int, *, at: Pace | None = None) -> list[Forecast]:
    """Forecast each stage of an event. Raise Refused if it cannot be played. Three queries without a pace."""
    at, forecasts, entrants = at or measure_pace(plan.game), [], entries
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
    """Return the most entries that an event takes: its owner may have all their boards queued. One query."""
    top, most = settings.MAX_ENTRIES, quotas.most(owner, quotas.BOARDS)

    def boards(entries: int) -> float:
        try:
            return sum(stage.boards[1] for stage in forecast_stages(plan, entries, at=ANY))
        except Refused:
            return math.inf

    return booking.room_of(top, fewest(plan), sys.maxsize if most is None else most, boards)


def fewest(plan: EventPlan) -> int:
    """Return the fewest entries with which all stages of an event can be played; MAX_ENTRIES if no number suffices."""
    for entries in range(2, settings.MAX_ENTRIES):
        with suppress(Refused):
            forecast_stages(plan, entries, at=ANY)
            return entries
    return settings.MAX_ENTRIES


def _sum(each: Sequence[Forecast], at: Pace) -> Forecast:
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
