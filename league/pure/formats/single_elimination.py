"""Single elimination: an entry that loses a match is out. With `bronze` the losers of the semifinals play for third place.

At tables of more than two it is a knockout by tables (`knockout_tables`).
"""

from __future__ import annotations

from math import ceil

from league.pure.formats import knockout_tables
from league.pure.formats.base import Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.knockout import PARAMETERS, PARTED, Bracket, levels, seeded
from league.pure.formats.sheet import Field, Sheet
from league.pure.refusal import translatable


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play the bracket; each pairing begins as soon as both entries are known."""
    if field.individual:
        return knockout_tables.play(field, sheet)
    bracket = Bracket(field, sheet)
    line: list[tuple[bool, int | None]] = [
        (True, entry) for entry in seeded(field.order)
    ]  # (True if the entry is known, the entry; None: nobody)
    out: list[list[int]] = []
    number = 0
    while len(line) > 1:
        number += 1
        part = "final" if len(line) == 2 else "winners"
        if part == "final" and field.flag("bronze") and out:
            out[-1:] = _bronze(bracket, number, out[-1])
        following: list[tuple[bool, int | None]] = []
        lost: list[int] = []
        for place in range(len(line) // 2):
            (known_a, a), (known_b, b) = line[2 * place : 2 * place + 2]
            if not (known_a and known_b):
                following.append((False, None))
                continue
            met = bracket.meet(part, 1 if part == "final" else number, place, a, b, number)
            following.append((met.winner is not None, met.winner))
            if met.loser is not None:
                lost.append(met.loser)
        out.append(lost)
        line = following
    gone = {entry for group in out for entry in group}
    alive = [entry for entry in range(field.entries) if entry not in gone]
    return Outcome(
        not sheet.waiting and line[0][0],
        lambda: Ranking(levels(field.order, out, alive)),
        bracket=tuple(bracket.pairings),
    )


def _bronze(bracket: Bracket, number: int, lost: list[int]) -> list[list[int]]:
    """Return the places of the losers of the semifinals; the fourth counts as eliminated before the third."""
    if len(lost) < 2:
        return [lost]
    met = bracket.meet("bronze", 1, 0, lost[0], lost[1], number)
    if met.winner is None or met.loser is None:
        return [lost]
    return [[met.loser], [met.winner]]


def size(field: Field) -> Size:
    """Return n - 1 matches, and one for bronze, each with up to `cap` extra boards in steps of `extra`."""
    if field.individual:
        return knockout_tables.size(field)
    pairings = field.entries - 1 + (field.flag("bronze") and field.entries > 3)
    return pairings_size(field, pairings, pairings)


def pairings_size(field: Field, least: int, most: int) -> Size:
    """Return the size: from `least` pairings without extra boards to `most` pairings with all of them."""
    cap = field.number("cap")
    pieces = ceil(cap / field.number("extra"))
    return Size((least, most * (1 + pieces)), (least * field.boards, most * (field.boards + cap)))


FORMAT = Format(
    key="single_elimination",
    place=3,
    title=translatable("single elimination"),
    sentence=translatable(
        "A bot that loses a match is out: quick and exciting, but luck plays a large part. At tables of more "
        "than two, the best of each table advance."
    ),
    bracket=True,
    eliminates=True,
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="bronze", default=True, help=translatable("The losers of the semifinals play for the third place.")
        ),
        *PARAMETERS,
        Parameter(
            name="advance",
            default=0,
            low=0,
            high=5,
            help=translatable("How many advance from a table of more than two. 0: half of them."),
        ),
    ),
    eager=True,
    unmixed=PARTED,
)
