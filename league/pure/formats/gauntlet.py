"""Gauntlet: the challengers, which are the entries with the highest numbers (the newest uploads), meet all others.

The others do not meet each other.
"""

from __future__ import annotations

from league.pure.formats.base import Format, Outcome, Parameter, Size
from league.pure.formats.ranks import rank_by_points
from league.pure.formats.sheet import Field, Sheet
from league.pure.pairing import movements
from league.pure.refusal import Refusal, translatable


def play(field: Field, sheet: Sheet) -> Outcome:
    """Seat every challenger once per cycle against every other entry; at tables of more than two, against balanced groups."""
    groups = _companies(field)
    for cycle in range(field.number("cycles")):
        for number, group in enumerate(groups, 1 + cycle * len(groups)):
            for challenger in _challengers(field):
                line = (challenger, *group)
                sheet.seat(number, reversed(line) if cycle % 2 else line, field.boards)
    return Outcome(not sheet.waiting, lambda: rank_by_points(field, sheet))


def _challengers(field: Field) -> range:
    count = field.number("challengers")
    if field.entries - count < max(1, field.seats - 1):
        raise Refusal(
            "a gauntlet of {entries} entries and {count} challengers leaves too few to fill a table of {seats}; "
            "enter more bots or name fewer challengers",
            entries=field.entries,
            count=count,
            seats=field.seats,
        )
    return range(field.entries - count, field.entries)


def _companies(field: Field) -> list[tuple[int, ...]]:
    others = field.entries - len(_challengers(field))
    if field.seats == 2:
        return [(entry,) for entry in range(others)]
    if others == field.seats - 1:
        return [tuple(range(others))]
    return [table for tables in movements.round_robin(others, field.seats - 1) for table in tables]


def size(field: Field) -> Size:
    """Return cycles x challengers x others, at tables of two."""
    matches = field.number("cycles") * len(_challengers(field)) * len(_companies(field))
    return Size((matches, matches), (matches * field.boards, matches * field.boards))


FORMAT = Format(
    key="gauntlet",
    place=5,
    title=translatable("gauntlet"),
    sentence=translatable(
        "The newest entries meet all others, and the others do not meet each other: it shows how good a new version is."
    ),
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="challengers",
            default=1,
            low=1,
            high=32,
            help=translatable("How many of the newest entries are challengers."),
        ),
        Parameter(
            name="cycles",
            can_grow=True,
            default=1,
            low=1,
            high=200,
            help=translatable("How often each challenger meets each of the others."),
        ),
    ),
    follows=lambda field: False,
    unmixed=translatable(
        "mixed pairs cannot play a gauntlet: a challenger would partner the bots with which it is compared; "
        "choose one of {others}"
    ),
)
