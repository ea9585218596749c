"""Names for the seats of a sitting, and which seats a party holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from league.models import Party, Sitting


def seat_names(sitting: Sitting, parties: Sequence[Party]) -> list[str]:
    """One name per seat; a bot that holds several seats is told apart by a number."""
    return numbered(seat_bots(sitting, parties))


def numbered(bots: Sequence[str]) -> list[str]:
    """One name per seat, of who holds each."""
    held = Counter(bots)
    seen: Counter[str] = Counter()
    names = []
    for bot in bots:
        seen[bot] += 1
        names.append(f"{bot} {seen[bot]}" if held[bot] > 1 else bot)
    return names


def seat_bots(sitting: Sitting, parties: Sequence[Party]) -> list[str]:
    """Who holds each seat: the slug, with its version where two versions of one bot meet."""
    versions: dict[str, set[int]] = {}
    for party in parties:
        versions.setdefault(party.version.bot.slug, set()).add(party.version_id)
    held = [parties[number].version for number in sitting.seating]
    return [v.bot.slug if len(versions[v.bot.slug]) == 1 else f"{v.bot.slug} v{v.number}" for v in held]


def seats_of(sitting: Sitting, party: int) -> list[int]:
    """The seats that the party of this number holds."""
    return [seat for seat, held in enumerate(sitting.seating) if held == party]


def score_of(sitting: Sitting, party: int) -> int | None:
    """The score of the party of this number; None where it did not sit."""
    return next((sitting.scores[seat] for seat in seats_of(sitting, party)), None)


def seat_sides(record: dict[str, Any], seating: Sequence[int]) -> list[int]:
    """The side of every seat, as the header of the record states it; else the party that holds it."""
    sides = next((moment["sides"] for moment in record.get("events", ()) if moment["e"] == "match"), None)
    if sides is None:
        return list(seating)
    return [next(number for number, seats in enumerate(sides) if seat in seats) for seat in range(len(seating))]
