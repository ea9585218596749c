"""Duel: two entries play until a sequential test decides, or until the cap.

The first entry by seed is A, the challenger. If the test accepts elo1, A is stronger than B by at least elo1 (Elo on a board); if it accepts elo0,
A is stronger by at most elo0. Use bounds of -20 and 20 to ask who is better, and 0 and 30 to ask whether a new version is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine import sprt
from league.pure.formats.base import Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.sheet import Field, Scores, Sheet, Value
from league.pure.portable import ELO_DIGITS, comparable
from league.pure.refusal import Refusal, translatable


def play(field: Field, sheet: Sheet) -> Outcome:
    """Play match after match between the two, with reversed seats each time, and test after each."""
    a, b = field.order
    elo0, elo1 = field.real("elo0"), field.real("elo1")
    limits = sprt.bounds(field.real("alpha"), field.real("beta"))
    counts = [0, 0, 0]  # Boards of A: lost, drawn, won.
    played, number = 0, 0
    while True:
        ratio = comparable(sprt.llr(counts, elo0, elo1))
        why = "stronger" if ratio >= limits.upper else "not_stronger" if ratio <= limits.lower else ""
        if not why and played >= field.number("cap"):
            why = "cap"
        if why:
            return _outcome(True, (a, b), counts, why, ratio)
        number += 1
        boards = min(field.boards, field.number("cap") - played)
        line = (a, b) if number % 2 else (b, a)
        result = sheet.seat(number, line, boards)
        if result is None:
            return _outcome(False, (a, b), counts, "", ratio)
        played += boards
        _count(counts, result, 0 if number % 2 else 1)


def _count(counts: list[int], boards: Sequence[Scores], seat: int) -> None:
    for scores in boards:
        own, other = scores[seat], scores[1 - seat]
        counts[1 + (own > other) - (own < other)] += 1


def _outcome(over: bool, pair: tuple[int, int], counts: Sequence[int], why: str, ratio: float) -> Outcome:
    lost, drawn, won = counts
    facts = {"llr": ratio, "won": won, "drawn": drawn, "lost": lost}
    if won + drawn + lost:
        estimate = sprt.estimate(counts)
        facts |= {"elo": comparable(estimate.elo, ELO_DIGITS), "margin": comparable(estimate.margin, ELO_DIGITS)}

    def rank() -> Ranking:
        a, b = pair
        if why == "stronger" or (not why and won > lost):
            return Ranking([[a], [b]])
        if (why == "not_stronger" and lost > won) or (not why and lost > won):
            return Ranking([[b], [a]])
        return Ranking([[a, b]])

    return Outcome(over, rank, why, facts)


def size(field: Field) -> Size:
    """Return the size: from one match up to the cap."""
    matches = -(-field.number("cap") // field.boards)
    return Size((1, matches), (min(field.boards, field.number("cap")), field.number("cap")))


def _check_order(values: Mapping[str, Value]) -> None:
    if float(values["elo0"]) >= float(values["elo1"]):
        raise Refusal(
            "elo0 must be below elo1, because the test decides between them; {elo0} is not below {elo1}",
            elo0=values["elo0"],
            elo1=values["elo1"],
        )


FORMAT = Format(
    key="duel",
    place=8,
    title=translatable("duel"),
    sentence=translatable("Two bots play until a sequential test can say which is stronger, or until the cap."),
    rounds=False,
    agree=_check_order,
    play=play,
    size=size,
    parameters=(
        Parameter(
            name="elo0",
            default=-20.0,
            low=-sprt.MOST_ELO,
            high=sprt.MOST_ELO,
            help=translatable(
                "First hypothesis of the test: the challenger is stronger by at most this much (Elo per board)."
            ),
        ),
        Parameter(
            name="elo1",
            default=20.0,
            low=-sprt.MOST_ELO,
            high=sprt.MOST_ELO,
            help=translatable(
                "Second hypothesis of the test: the challenger is stronger by at least this much (Elo per board)."
            ),
        ),
        Parameter(
            name="alpha",
            default=0.05,
            low=0.0001,
            high=0.4999,
            help=translatable("The share of tests that may wrongly accept the second hypothesis."),
        ),
        Parameter(
            name="beta",
            default=0.05,
            low=0.0001,
            high=0.4999,
            help=translatable("The share of tests that may wrongly accept the first hypothesis."),
        ),
        Parameter(
            name="cap",
            can_grow=True,
            default=2000,
            low=1,
            high=100_000,
            help=translatable("The most boards to play. After these the duel ends undecided."),
        ),
    ),
    unseated=translatable(
        "a duel is between two bots, and {seats} sit at a table of this game; choose one of {others}"
    ),
    unmixed=translatable("a duel is between two bots, and mixed pairs are four; choose one of {others}"),
    most=2,
)
