"""What a bot did against every other bot, for its own page."""

from __future__ import annotations

from dataclasses import dataclass

from league.domain.bots import totals
from league.models import Bot, MeetingSum, Pool

MOST = 100  # opponents of all pools, those with most boards


@dataclass(frozen=True)
class EncounterLine:
    """What a bot got against another in one pool: matches and boards; boards won, drawn, lost; difference of points per board."""

    pool: Pool
    opponent: str
    matches: int
    boards: int
    wins: int
    draws: int
    losses: int
    difference: float  # in the unit of the game
    digits: int  # that it is worth: whole games need more than points


def encounter_lines(bot: Bot) -> list[EncounterLine]:
    """Results of all versions of `bot` against every other bot, per pool, most boards first; MOST of them. One query."""
    rows = MeetingSum.objects.filter(bot=bot, boards__gt=0).select_related("pool", "opponent")
    lines = []
    for row in rows.order_by("-boards", "opponent__slug", "pool")[:MOST]:
        size = totals.size_of(row.pool)
        difference = row.difference / row.boards / size
        digits = 1 if size == 1 else 2
        lines.append(
            EncounterLine(
                row.pool,
                row.opponent.slug,
                row.matches,
                row.boards,
                row.wins,
                row.draws,
                row.losses,
                difference,
                digits,
            )
        )
    return lines
