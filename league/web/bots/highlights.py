"""What stands out in the latest matches of a bot in one pool, for its page: boards won and lost by most, and its faults. No replay is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from league.domain.ratings import pools
from league.models import Board, Party, Pool, RatingPoint

LATEST = 50  # matches that are looked at
MOST = 3  # boards of a kind
MOST_FAULTS = 10


@dataclass(frozen=True)
class Highlight:
    """A board of a match: `lead` is what the bot had more than the best of the others, in the unit of the game; negative where it had less."""

    match: str
    number: int
    version: int
    others: tuple[str, ...]
    lead: float


@dataclass(frozen=True)
class FaultLine:
    """A match in which the bot failed, and how it failed first."""

    match: str
    version: int
    fault: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Highlights:
    """Of the latest matches; `matches` is their number, `digits` what a lead is worth."""

    matches: int = 0
    digits: int = 1
    best: list[Highlight] = field(default_factory=list)
    worst: list[Highlight] = field(default_factory=list)
    faults: list[FaultLine] = field(default_factory=list)

    @property
    def both(self) -> tuple[list[Highlight], list[Highlight]]:
        """The best ones, then the worst ones."""
        return self.best, self.worst


def highlights(pool: Pool, points: Iterable[RatingPoint]) -> Highlights:
    """What stands out in the LATEST matches of these points of one bot's history, the newest first. Two queries; none without a point."""
    mine: dict[int, RatingPoint] = {}
    for point in points:
        if point.match_id not in mine:
            if len(mine) == LATEST:
                break
            mine[point.match_id] = point
    if not mine:
        return Highlights()
    size = pools.game_of(pool).score_size
    parties: dict[int, list[Party]] = {pk: [] for pk in mine}
    rows = Party.objects.filter(match__in=list(mine)).select_related("version__bot").order_by("number")
    for party in rows.only("match_id", "number", "fault", "version__number", "version__bot__slug"):
        parties[party.match_id].append(party)
    seats = {pk: _seat(pool, played, mine[pk].version_id) for pk, played in parties.items()}
    leads = []
    for match, number, scores in Board.objects.filter(match__in=list(mine)).values_list("match", "number", "scores"):
        own, others = seats[match]
        leads.append((_lead(scores, own.number, [party.number for party in others]), match, number))

    def shown(lead: int, match: int, number: int) -> Highlight:
        own, others = seats[match]
        return Highlight(mine[match].match.public_id, number, own.version.number, _names(others), lead / size)

    leads.sort(key=lambda one: (-one[0], -one[1], one[2]))
    faults = [
        FaultLine(mine[match].match.public_id, own.version.number, own.fault, _names(others))
        for match, (own, others) in seats.items()
        if own.fault
    ]
    return Highlights(
        len(mine),
        1 if size == 1 else 2,
        [shown(*one) for one in leads[:MOST] if one[0] > 0],
        [shown(*one) for one in leads[: -MOST - 1 : -1] if one[0] < 0],
        faults[:MOST_FAULTS],
    )


def _seat(pool: Pool, played: Sequence[Party], version: int) -> tuple[Party, list[Party]]:
    """The party of this version, and those that it plays against."""
    own = next(party for party in played if party.version_id == version)
    side = next((side for side in pools.sides(pool) or () if own.number in side), (own.number,))
    return own, [party for party in played if party.number not in side]


def _names(parties: Iterable[Party]) -> tuple[str, ...]:
    return tuple(party.version.bot.slug for party in parties)


def _lead(scores: Sequence[int], own: int, others: Iterable[int]) -> int:
    return scores[own] - max(scores[other] for other in others)
