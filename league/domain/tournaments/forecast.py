"""How many matches and how long, before a tournament is created: from its format and the measured pace of the workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.runner import Limits, bounds
from league.domain.core.errors import Refused
from league.domain.matches import pace, workers
from league.domain.ratings import pools
from league.domain.tournaments import booking, formats, tournaments
from league.models import Player
from league.pure import formats as pure
from league.pure.calendar.event_plan import EventPlan
from league.pure.pairing.movements import snake


@dataclass(frozen=True)
class Pace:
    """Seconds of one sitting of a game, whether that was measured, and how many workers share the work."""

    sitting_s: float
    measured: bool
    workers: int


@dataclass(frozen=True)
class Forecast:
    """Fewest and most of each. `seconds` at the present pace with the present workers (at least one).

    match_most_s: seconds that the bots of one match may take together, whatever they do.
    """

    matches: tuple[int, int]
    boards: tuple[int, int]
    sittings: tuple[int, int]
    seconds: tuple[float, float]
    pace: Pace
    match_most_s: float


def measure_pace(game: str, *, now: datetime | None = None) -> Pace:
    """From the last matches of the game in any pool. Two queries."""
    found = pace.of_game(game)
    return Pace(found.seconds, found.measured, max(1, workers.count_ready(now=now)))


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
    """What such a tournament would take. Refused for what cannot be played; `limited`: and for more than `owner` (None: somebody) may have."""
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
    found = at or measure_pace(game)
    sittings = (size.boards[0] * seats, size.boards[1] * seats)
    each = found.sitting_s / found.workers
    most = bounds.match_s(Limits(), loaded, seats, boards)
    return Forecast(size.matches, size.boards, sittings, (sittings[0] * each, sittings[1] * each), found, most)


def forecast_stages(plan: EventPlan, entries: int) -> list[Forecast]:
    """What each stage of an event would take. Refused for what cannot be played. Three queries."""
    at, found, here = measure_pace(plan.game), [], entries
    for stage in plan.stages:
        boards = stage.boards or tournaments.default_boards(plan.game, plan.players, dict(plan.options))
        sizes = [len(members) for members in snake(list(range(here)), stage.groups)]
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
        found.append(_sum(each, at))
        here = sum(min(size, stage.advance or 0) for size in sizes)
    return found


def _sum(each: Sequence[Forecast], at: Pace) -> Forecast:
    def both(pairs: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
        low, high = zip(*pairs, strict=True)
        return sum(low), sum(high)

    return Forecast(
        both(one.matches for one in each),
        both(one.boards for one in each),
        both(one.sittings for one in each),
        both(one.seconds for one in each),
        at,
        max(one.match_most_s for one in each),
    )
