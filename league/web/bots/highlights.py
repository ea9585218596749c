"""The highlights of a bot's latest matches in one pool: its best and worst boards and its faults. Reads no replays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from league.domain.ratings import pools
from league.models import Board, Party, Pool, RatingPoint

LATEST = 50  # Number of latest matches that are examined.
MOST = 3  # The most best boards, and the most worst boards.
MOST_FAULTS = 10


@dataclass(frozen=True)
class Highlight:
    """A board of a match: `lead` is the bot's score less the best of the others, in the unit of the game."""

    match: str
    number: int
    version: int
    others: tuple[str, ...]
    lead: float


@dataclass(frozen=True)
class FaultLine:
    """A match with a fault of the bot, and its first fault."""

    match: str
    version: int
    fault: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Highlights:
    """The highlights of the latest `matches`; `digits` is the number of decimals of a lead."""

    matches: int = 0
    digits: int = 1
    best: list[Highlight] = field(default_factory=list)
    worst: list[Highlight] = field(default_factory=list)
    faults: list[FaultLine] = field(default_factory=list)

    @property
    def both(self) -> tuple[list[Highlight], list[Highlight]]:
        """Return the best boards, then the worst ones."""
        return self.best, self.worst


def highlights(pool: Pool, points: Iterable[RatingPoint]) -> Highlights:
    """Find the highlights of the LATEST matches of one bot's history, newest first. Two queries; none without a point."""
    points_by_match: dict[int, RatingPoint] = {}
    for point in points:
        if point.match_id not in points_by_match:
            if len(points_by_match) == LATEST:
                break
            points_by_match[point.match_id] = point
    if not points_by_match:
        return Highlights()
    size = pools.game_of(pool).score_size
    parties: dict[int, list[Party]] = {pk: [] for pk in points_by_match}
    rows = Party.objects.filter(match__in=list(points_by_match)).select_related("version__bot").order_by("number")
    for party in rows.only("match_id", "number", "fault", "version__number", "version__bot__slug"):
        parties[party.match_id].append(party)
    seats = {pk: _seat(pool, played, points_by_match[pk].version_id) for pk, played in parties.items()}
    leads = []
    for match, number, scores in Board.objects.filter(match__in=list(points_by_match)).values_list(
        "match", "number", "scores"
    ):
        own, others = seats[match]
        leads.append((_lead(scores, own.number, [party.number for party in others]), match, number))

    def shown(lead: int, match: int, number: int) -> Highlight:
        own, others = seats[match]
        return Highlight(
            points_by_match[match].match.public_id, number, own.version.number, _names(others), lead / size
        )

    leads.sort(key=lambda lead: (-lead[0], -lead[1], lead[2]))
    faults = [
        FaultLine(points_by_match[match].match.public_id, own.version.number, own.fault, _names(others))
        for match, (own, others) in seats.items()
        if own.fault
    ]
    return Highlights(
        len(points_by_match),
        1 if size == 1 else 2,
        [shown(*lead) for lead in leads[:MOST] if lead[0] > 0],
        [shown(*lead) for lead in leads[: -MOST - 1 : -1] if lead[0] < 0],
        faults[:MOST_FAULTS],
    )


def _seat(pool: Pool, played: Sequence[Party], version: int) -> tuple[Party, list[Party]]:
    """Return the party of this version, and its opponents."""
    own = next(party for party in played if party.version_id == version)
    side = next((side for side in pools.sides(pool) or () if own.number in side), (own.number,))
    return own, [party for party in played if party.number not in side]


def _names(parties: Iterable[Party]) -> tuple[str, ...]:
    return tuple(party.version.bot.slug for party in parties)


def _lead(scores: Sequence[int], own: int, others: Iterable[int]) -> int:
    return scores[own] - max(scores[other] for other in others)
