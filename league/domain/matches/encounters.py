"""The results of two bots against each other, board by board, over all their versions, at tables with any number of others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from math import erf, sqrt
from statistics import fmean, stdev

from django.contrib.auth.models import User

import engine
from engine.intervals import Z95, wilson
from league.domain.matches import sight
from league.enums import MatchStatus
from league.models import Board, Bot, Party, Pool

# The most boards of a pair in a pool that are read, the newest: enough for any interval that a page can draw
MOST_BOARDS = 20_000


@dataclass(frozen=True, slots=True)
class Encounter:
    """All rated boards of two bots in one pool, from the view of the first bot."""

    pool: Pool
    matches: list[str]  # Public ids, newest first.
    # Own score less the other's on each board, oldest first; `size` is the game's unit of score
    differences: list[int]
    size: int

    @property
    def boards(self) -> int:
        """Return the number of boards."""
        return len(self.differences)

    @property
    def wins(self) -> int:
        """Return the number of boards on which the first scored more."""
        return sum(value > 0 for value in self.differences)

    @property
    def draws(self) -> int:
        """Return the number of boards with equal scores."""
        return sum(value == 0 for value in self.differences)

    @property
    def losses(self) -> int:
        """Return the number of boards on which the first scored less."""
        return self.boards - self.wins - self.draws

    @property
    def share(self) -> float:
        """Return the board points per board: 1 for a win, 1/2 for a draw."""
        return (self.wins + self.draws / 2) / self.boards

    @property
    def share_interval(self) -> tuple[float, float]:
        """Return the 95% interval of `share`."""
        return wilson(self.share, self.boards)

    @property
    def difference(self) -> float:
        """Return the mean difference of the scores of a board, in the game's unit."""
        return fmean(self.differences) / self.size

    @property
    def margin(self) -> float | None:
        """Return half of the 95% interval of `difference`; None with a single board."""
        return Z95 * stdev(self.differences) / sqrt(self.boards) / self.size if self.boards > 1 else None

    @property
    def superiority(self) -> float:
        """Return the likelihood that the first bot is stronger, from wins and losses: Phi((w - l) / sqrt(w + l)); 1/2 without either."""
        decided = self.wins + self.losses
        return 0.5 * (1 + erf((self.wins - self.losses) / sqrt(2 * decided))) if decided else 0.5

    @property
    def course(self) -> list[int]:
        """Return the sum of `differences` after each board."""
        return list(accumulate(self.differences))


def list_encounters(bot: Bot, other: Bot) -> list[Encounter]:
    """Return the rated, finished boards of two bots by pool, the pool with most boards first. Three queries.

    If two versions of a bot sit at one table, each of them counts against each version of the other bot.
    """
    seated: dict[int, tuple[str, int, list[int], list[int]]] = {}
    both = Party.objects.filter(
        match__status=MatchStatus.FINISHED, match__rated=True, version__bot__in=(bot, other)
    ).values_list("match_id", "match__public_id", "match__pool_id", "number", "version__bot_id")
    for match_id, public_id, pool_id, number, bot_id in both.order_by("match__finished", "match_id", "number"):
        _, _, own, others = seated.setdefault(match_id, (public_id, pool_id, [], []))
        (own if bot_id == bot.pk else others).append(number)
    met = {match_id: row for match_id, row in seated.items() if row[2] and row[3]}
    scores: dict[int, list[list[int]]] = defaultdict(list)
    rows = Board.objects.filter(match__in=list(met)).order_by("match_id", "number")
    for match_id, board in rows.values_list("match_id", "scores"):
        scores[match_id].append(board)
    pools = Pool.objects.in_bulk({pool_id for _, pool_id, _, _ in met.values()})
    differences: dict[int, list[int]] = defaultdict(list)
    matches: dict[int, list[str]] = defaultdict(list)
    for match_id, (public_id, pool_id, own, others) in met.items():
        matches[pool_id].append(public_id)
        differences[pool_id] += [board[a] - board[b] for board in scores[match_id] for a in own for b in others]
    meetings = [
        Encounter(
            pools[pool_id],
            matches[pool_id][::-1],
            values[-MOST_BOARDS:],
            engine.load(pools[pool_id].game, players=pools[pool_id].players).score_size,
        )
        for pool_id, values in differences.items()
        if values
    ]
    return sorted(meetings, key=lambda meeting: (-meeting.boards, meeting.pool.pk))


def find_pair(name: str, other: str, viewer: User | None) -> tuple[Bot, Bot] | None:
    """Return two different bots by their names, or None if `viewer` may not know of one. One query."""
    by_name = {bot.slug: bot for bot in sight.bots(Bot.objects.filter(slug__in=(name, other)), viewer)}
    return (by_name[name], by_name[other]) if len(by_name) == 2 else None
