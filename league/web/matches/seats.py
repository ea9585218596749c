"""The names of the seats of a sitting, and the seats of each party."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from league.models import Party, Sitting

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def seat_names(sitting: Sitting, parties: Sequence[Party]) -> list[str]:
    """Return a name for each seat; a bot on several seats gets a number for each."""
    return numbered(seat_bots(sitting, parties))


def numbered(bots: Sequence[str]) -> list[str]:
    """Number the bots that hold several seats."""
    totals = Counter(bots)
    counts: Counter[str] = Counter()
    names = []
    for bot in bots:
        counts[bot] += 1
        names.append(f"{bot} {counts[bot]}" if totals[bot] > 1 else bot)
    return names


def party_names(parties: Sequence[Party]) -> list[str]:
    """Return the bot of each party: its slug, with the version number if two versions of one bot meet."""
    versions: dict[str, set[int]] = {}
    for party in parties:
        versions.setdefault(party.version.bot.slug, set()).add(party.version_id)
    bots = [party.version for party in parties]
    return [v.bot.slug if len(versions[v.bot.slug]) == 1 else f"{v.bot.slug} v{v.number}" for v in bots]


def seat_bots(sitting: Sitting, parties: Sequence[Party]) -> list[str]:
    """Return the bot of each seat, with the name of its party."""
    names = party_names(parties)
    return [names[number] for number in sitting.seating]


def sitting_letter(number: int) -> str:
    """Return the letter of a sitting, "A" for 0: pages say "Seats A" and "Seats B"."""
    return LETTERS[number] if number < len(LETTERS) else str(number + 1)


def seats_of(sitting: Sitting, party: int) -> list[int]:
    """Return the seats of a party."""
    return [seat for seat, holder in enumerate(sitting.seating) if holder == party]


def score_of(sitting: Sitting, party: int) -> int | None:
    """Return the score of a party, or None if it did not play."""
    return next((sitting.scores[seat] for seat in seats_of(sitting, party)), None)


def seat_sides(record: dict[str, Any], seating: Sequence[int]) -> list[int]:
    """Return the side of every seat, from the header of the record if it is there, else its party."""
    sides = next((moment["sides"] for moment in record.get("events", ()) if moment["e"] == "match"), None)
    if sides is None:
        return list(seating)
    return [next(number for number, seats in enumerate(sides) if seat in seats) for seat in range(len(seating))]
