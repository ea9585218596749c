"""The results of a bot against every other bot, for its page."""

from __future__ import annotations

from dataclasses import dataclass

from league.domain.bots import totals
from league.models import Bot, MeetingSum, Pool

MOST = 25  # The most opponents in one pool, those with most boards first.


@dataclass(frozen=True)
class EncounterLine:
    """The results of a bot against another one in one pool; `difference` is the difference of the scores per board."""

    opponent: str
    matches: int
    boards: int
    wins: int
    draws: int
    losses: int
    difference: float  # Mean difference per board, in the unit of the game.
    digits: int  # Number of decimals: differences in whole games need more than points.


def encounter_lines(bot: Bot, pool: Pool) -> list[EncounterLine]:
    """Return the results of all versions of `bot` in a pool, by opponent, most boards first, at most MOST. One query."""
    rows = MeetingSum.objects.filter(bot=bot, pool=pool, boards__gt=0).select_related("opponent")
    size = totals.size_of(pool)
    lines = []
    for row in rows.order_by("-boards", "opponent__slug")[:MOST]:
        difference = row.difference / row.boards / size
        digits = 1 if size == 1 else 2
        lines.append(
            EncounterLine(
                row.opponent.slug, row.matches, row.boards, row.wins, row.draws, row.losses, difference, digits
            )
        )
    return lines
