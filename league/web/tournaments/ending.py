"""The end of a tournament in words: the winner, the podium, what the boards prove, and how many more would decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from league.domain.core.errors import Refused
from league.domain.ratings import pools
from league.domain.tournaments import forecast
from league.domain.tournaments.standings import Standing, Standings
from league.enums import TournamentStatus
from league.models import Tournament
from league.web.tournaments import forecasts

Z = 1.645  # Standard deviations at which a likelihood of superiority is 95%.
FEWEST = 8  # With fewer additional boards than this, it is not worth playing more.
MOST_DOUBTS = 3  # The most pairs of neighbours that are named as undecided.
MOST_LINKED = 32  # The most bots that a link to a new tournament names.


@dataclass(frozen=True)
class Step:
    """A step of the podium."""

    place: int
    names: str
    owners: str
    points: float


@dataclass(frozen=True)
class TournamentEnd:
    """The end of a tournament, as the page describes it.

    `again`: the address of a form for a new tournament of the same bots; `surer`: the same with as many `boards` as would probably decide, which
    take `time`.
    """

    winner: str
    proof: str
    doubts: list[str]
    podium: list[Step]
    again: str
    surer: str
    boards: int
    time: str


def describe_end(tournament: Tournament, table: Standings, name: str = "") -> TournamentEnd | None:
    """Return the end of a finished tournament; None before it, or if nothing was played. `name`: of the event, if this was its last stage."""
    rows = [row for row in table.rows if row.result.boards and row.entry.disqualified is None]
    if tournament.status != TournamentStatus.FINISHED or not rows:
        return None
    first = [row for row in rows if row.result.place == 1] or rows[:1]
    unsure = [(a, b) for a, b in pairwise(rows) if a.result.tied_with_next]
    boards = _boards_needed(tournament, table, unsure[0]) if unsure else 0
    again: dict[str, Any] = {
        "game": tournament.pool.game,
        "players": tournament.pool.players,
        "format": tournament.format,
        "with": [row.entry.version.bot.slug for row in rows[:MOST_LINKED]],
        "private": "1" if tournament.event and tournament.event.private else "",
    }
    address = reverse("tournament-new")
    return TournamentEnd(
        _winner([_name(row) for row in first], name or tournament.name),
        _proof(rows, unsure),
        [
            _("Between %(a)s and %(b)s these boards do not decide.") % {"a": _name(a), "b": _name(b)}
            for a, b in unsure[:MOST_DOUBTS]
        ],
        _podium(rows),
        f"{address}?{urlencode({**again, 'boards': tournament.boards}, doseq=True)}",
        f"{address}?{urlencode({**again, 'boards': boards}, doseq=True)}" if boards else "",
        boards,
        _time(tournament, len(rows), boards) if boards else "",
    )


def _name(row: Standing) -> str:
    return row.entry.version.bot.slug


def _winner(names: list[str], title: str) -> str:
    if len(names) == 1:
        return _("%(bot)s wins %(tournament)s") % {"bot": names[0], "tournament": title}
    return _("%(bots)s share the first place of %(tournament)s") % {"bots": ", ".join(names), "tournament": title}


def _proof(rows: list[Standing], unsure: list[tuple[Standing, Standing]]) -> str:
    if len(rows) < 2:
        return ""
    if unsure and unsure[0][0] is rows[0]:
        return _("It is not sure that the first is the strongest: more boards could change the order.")
    words = {"bot": _name(rows[0]), "second": _name(rows[1])}
    return _("It is 95 %% sure that %(bot)s is stronger than %(second)s, who came second.") % words


def _podium(rows: list[Standing]) -> list[Step]:
    places = sorted({row.result.place for row in rows})[:3]
    steps = []
    for place in places:
        if place > 3:
            break
        level = [row for row in rows if row.result.place == place]
        bots = [row.entry.version.bot for row in level]
        owners = dict.fromkeys(_("house bot") if bot.is_house else bot.owner.name for bot in bots)
        steps.append(
            Step(
                place,
                ", ".join(map(_name, level)),
                ", ".join(owners),
                level[0].breaks.get("arena", level[0].result.points),
            )
        )
    return steps


def _boards_needed(tournament: Tournament, table: Standings, pair: tuple[Standing, Standing]) -> int:
    """Return the number of boards per match that would probably decide between two neighbours, from their results against each other."""
    a, b = (row.entry.number for row in pair)
    cell = table.cells.get((a, b))
    most = settings.MAX_BOARDS
    least = min(most, max(2 * tournament.boards, FEWEST))
    if cell is None or not cell.boards:
        return least
    share = (cell.wins + cell.draws / 2) / cell.boards
    spread = (cell.wins + cell.draws / 4) / cell.boards - share**2
    lead = abs(share - 0.5)
    if not lead:
        return min(most, 4 * tournament.boards)
    return max(least, min(most, math.ceil(Z**2 * max(spread, 0.05) / lead**2)))


def _time(tournament: Tournament, entries: int, boards: int) -> str:
    """Return the duration of such a tournament in words; empty if it cannot be estimated."""
    pool = tournament.pool
    try:
        estimate = forecast.forecast(
            pool.game,
            entries=entries,
            boards=boards,
            format=tournament.format,
            parameters=tournament.parameters,
            players=pool.players,
            options=pool.options,
            mixed=pool.team == pools.MIXED,
        )
    except Refused:
        return ""
    return forecasts.length(estimate.seconds[1])
