"""The sufficient statistics of a pool as they are kept, and as they follow from the boards themselves."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import Board, Match, Party, Pool, PoolSums
from league.pure.rating.tallies import NOTHING, Tallies, load, tally

CHUNK = 5000  # matches read at a time


@dataclass
class PlayedMatch:
    """One match as ratings see it: versions at the table, those of them that made a fault, the scores of each board."""

    versions: list[int] = field(default_factory=list)
    faulty: list[int] = field(default_factory=list)
    boards: list[Sequence[int]] = field(default_factory=list)


def rated_matches(pool: Pool) -> QuerySet[Match]:
    """The matches that count in `pool`."""
    return Match.objects.filter(pool=pool, rated=True, status=MatchStatus.FINISHED)


def counted_matches(pool: Pool) -> QuerySet[Match]:
    """The matches that have been counted."""
    return rated_matches(pool).exclude(counted=None)


def read_matches(ids: Sequence[int]) -> dict[int, PlayedMatch]:
    """What was played in these finished matches, by id. Two queries for each CHUNK.

    Who decides which matches these are, reads their ids in one statement. What a finished match holds never changes, so parties and boards
    that are read later belong to just these; were they chosen by their status again, another match could finish in between.
    """
    found = {pk: PlayedMatch() for pk in ids}
    for chunk in (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)):
        seats = Party.objects.filter(match__in=chunk).order_by("match_id", "number")
        for match_id, version_id, fault in seats.values_list("match_id", "version_id", "fault"):
            found[match_id].versions.append(version_id)
            if fault:
                found[match_id].faulty.append(version_id)
        boards = Board.objects.filter(match__in=chunk).order_by("match_id", "number")
        for match_id, scores in boards.values_list("match_id", "scores"):
            found[match_id].boards.append(scores)
    return found


def tally_matches(pool: Pool, matches: Iterable[PlayedMatch]) -> Tallies:
    """The statistics of some matches of `pool`."""
    boards: list[tuple[Sequence[int], Sequence[int]]] = []
    faults: defaultdict[int, int] = defaultdict(int)
    for match in matches:
        boards += [(match.versions, scores) for scores in match.boards]
        for version in match.faulty:
            faults[version] += 1
    return tally(boards, pools.sides(pool), faults)


def recount(pool: Pool) -> Tallies:
    """The statistics of the counted matches, computed anew from their boards without what is kept."""
    return tally_matches(pool, read_matches(list(counted_matches(pool).values_list("pk", flat=True))).values())


def read_kept(pool: Pool) -> Tallies:
    """The statistics that are kept; empty ones where nothing is kept."""
    row = PoolSums.objects.filter(pool=pool).first()
    return load(zlib.decompress(bytes(row.data))) if row else NOTHING


def write_kept(pool: Pool, tallies: Tallies, *, matches: int, now: datetime) -> None:
    """Replace the kept statistics."""
    fields = {"data": zlib.compress(tallies.dump(), 1), "matches": matches, "updated": now}
    PoolSums.objects.update_or_create(pool=pool, defaults=fields)
