"""The rules of the boss leagues: the test against a boss, the seasons, and the choice of the bosses.

A bot rises if a sequential test shows that it is stronger than the boss of its league. Each test spends a share of one error rate, and the shares of
all tests of an owner against one boss add up to it. So nobody rises by uploading until they are lucky, and a further attempt needs more evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, pi

from engine import sprt
from league.pure.portable import comparable

LEAGUES = 4  # Wood, bronze, silver and gold.
ALPHA = 0.05  # The chance that an owner with equally strong bots rises past a boss in a season, however many versions they upload.
BETA = 0.05  # The chance that the test rejects a bot that is stronger by ELO1.
ELO0, ELO1 = 0.0, 60.0  # The hypotheses, in Elo on a board: as strong as the boss, or clearly stronger.
FIRST = 24  # Boards before the first decision: the likelihood ratio of a few boards is too rough.
CAP = 400  # The most boards of a test; a bot that has not beaten the boss by then stays.
MARGIN = 60  # In Elo: a bot needs this lead over a boss that is the boss of the league below, too.
MONTHS = 3  # Length of a season.


@dataclass(frozen=True)
class SequentialRules:
    """A sequential test: two hypotheses, the bounds of the log-likelihood ratio, and the fewest and most boards."""

    elo0: float
    elo1: float
    bounds: sprt.Bounds
    first: int
    cap: int

    def decide(self, lost: int, drawn: int, won: int) -> tuple[float, str]:
        """Return the log-likelihood ratio of these results, and "stronger", "not_stronger", "cap", or "" if the test goes on."""
        ratio = comparable(sprt.llr((lost, drawn, won), self.elo0, self.elo1))
        boards = lost + drawn + won
        if boards >= self.first:
            if ratio >= self.bounds.upper:
                return ratio, "stronger"
            if ratio <= self.bounds.lower:
                return ratio, "not_stronger"
        return ratio, "cap" if boards >= self.cap else ""


def error_rate(attempt: int) -> float:
    """Return the error rate of an owner's test number `attempt` (1, 2, ...) against one boss. The sum over all attempts is ALPHA."""
    return ALPHA * 6 / (pi * attempt) ** 2


def boss_rules(attempt: int, margin: int = 0) -> SequentialRules:
    """Return the rules of an owner's test number `attempt` against one boss, over which the bot needs a lead of `margin` Elo."""
    return SequentialRules(ELO0 + margin, ELO1 + margin, sprt.bounds(error_rate(attempt), BETA), FIRST, CAP)


def season_of(at: datetime) -> int:
    """Return the number of the season at this time: a quarter of a year in UTC, such as 20264 for October to December 2026."""
    day = at.astimezone(UTC)
    return day.year * 10 + (day.month - 1) // MONTHS + 1


def season_end(season: int) -> datetime:
    """Return the first moment after a season."""
    year, quarter = divmod(season, 10)
    return datetime(year + quarter // 4, quarter % 4 * MONTHS + 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class BossCandidate:
    """A version that may be a boss: its owner, and its certain rating; None without one."""

    version: int
    owner: int
    elo: float | None


@dataclass
class BossChoice:
    """The boss of a league, and the house bot that its owner's other bots have to beat instead; None: nobody."""

    version: int | None = None
    stand_in: int | None = None
    house: int | None = field(default=None, repr=False)  # Takes over if the boss cannot play.
    margin: int = 0  # The lead in Elo that a bot needs over `house`.


def choose_bosses(house: Sequence[BossCandidate], offered: Sequence[BossCandidate]) -> list[BossChoice]:
    """Choose the bosses of all leagues, wood first. `house`: the house bots, weakest first; `offered`: bots that their owners offer.

    The three weakest house bots guard wood, bronze and silver, and the strongest one of the others gold. If there are fewer, the strongest one guards
    the leagues above, too, and has to be beaten by MARGIN more in each: so every game has all leagues from the first day. From gold down, the best
    offered bot takes a league if it is stronger than the house bot there and weaker than the next one: so no step gets smaller, or larger than the
    next. An owner has one boss at most. A bot of that owner cannot gain from a weak boss: it has to beat the house bot of the next league instead.
    """
    rungs = [*house[: LEAGUES - 1], *house[LEAGUES - 1 :][-1:]]
    bosses = [BossChoice(rung.version, house=rung.version) for rung in rungs]
    top = rungs[-1].version if rungs else None
    bosses += [BossChoice(top, house=top, margin=steps * MARGIN) for steps in range(1, LEAGUES - len(rungs) + 1)]
    free = sorted((bot for bot in offered if bot.elo is not None), key=lambda bot: (-(bot.elo or 0.0), bot.version))
    elos = [rungs[min(league, len(rungs) - 1)].elo if rungs else None for league in range(LEAGUES)]
    strengths = [None if elo is None else elo + boss.margin for elo, boss in zip(elos, bosses, strict=True)]
    for league in reversed(range(LEAGUES)):
        floor, ceiling = strengths[league], strengths[league + 1] if league + 1 < LEAGUES else inf
        if floor is None or ceiling is None:
            continue
        best = next((bot for bot in free if floor < (bot.elo or 0.0) < ceiling), None)
        if best is not None:
            bosses[league].version = best.version
            bosses[league].stand_in = rungs[league + 1].version if league + 1 < len(rungs) else None
            free = [bot for bot in free if bot.owner != best.owner]
    return bosses
