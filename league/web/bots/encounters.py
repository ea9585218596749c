"""What a bot did against every other bot, for its own page."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg, Count, F, Q, Sum

import engine
from league.enums import MatchStatus
from league.models import Bot, Party, Pool


@dataclass(frozen=True)
class EncounterLine:
    """What a bot got against another in one pool: matches and boards; difference of points per board."""

    pool: Pool
    opponent: str
    matches: int
    boards: int
    # boards won, drawn, lost; None at tables of more than two parties, where a row of Party counts all others together
    wins: int | None
    draws: int | None
    losses: int | None
    difference: float  # in the unit of the game
    digits: int  # that it is worth: whole games need more than points


def encounter_lines(bot: Bot) -> list[EncounterLine]:
    """Results of all versions of `bot` against every other bot, per pool, most boards first. Two queries."""
    played = Party.objects.filter(version__bot=bot, match__status=MatchStatus.FINISHED, match__rated=True)
    rows = (
        played.annotate(opponent=F("match__parties__version__bot__slug"), theirs=F("match__parties__points"))
        .filter(~Q(opponent=bot.slug))
        .values("match__pool", "opponent")
        .annotate(
            matches=Count("match", distinct=True),
            boards=Sum("match__boards_planned"),
            won=Sum("wins"),
            drawn=Sum("draws"),
            lost=Sum("losses"),
            mine=Avg(F("points") - F("theirs")),
        )
        .order_by("-boards", "opponent")
    )
    found = list(rows)
    pools = Pool.objects.in_bulk({row["match__pool"] for row in found})
    lines = []
    for row in found:
        pool = pools[row["match__pool"]]
        game = engine.load(pool.game, players=pool.players)
        pairwise = len(game.sides) == 2
        boards_a_match = row["boards"] / row["matches"]
        lines.append(
            EncounterLine(
                pool=pool,
                opponent=row["opponent"],
                matches=row["matches"],
                boards=row["boards"],
                wins=row["won"] if pairwise else None,
                draws=row["drawn"] if pairwise else None,
                losses=row["lost"] if pairwise else None,
                difference=(row["mine"] or 0.0) / boards_a_match / game.score_size,
                digits=1 if game.score_size == 1 else 2,
            )
        )
    return lines
