"""The tie-breaks of each format: the columns of the standings with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from league.domain.tournaments.standings import Standing

# Short name and description of each tie-break.
NAMES = {
    "match_points": (
        gettext_noop("MP"),
        gettext_noop("Match points: 1 for a match won on board points, ½ for a tie; a bye counts as a win"),
    ),
    "arena": (
        gettext_noop("Arena"),
        gettext_noop("Arena points: 2 for a match won, 1 for a tie; 4 for each win from the third in a row on"),
    ),
    "best_run": (gettext_noop("Run"), gettext_noop("The most wins in a row")),
    "buchholz_cut1": (
        gettext_noop("BH-1"),
        gettext_noop("Buchholz Cut-1: the match points of the opponents without the lowest one"),
    ),
    "buchholz": (gettext_noop("BH"), gettext_noop("Buchholz: the match points of all opponents")),
    "sonneborn_berger": (
        gettext_noop("S-B"),
        gettext_noop("Sonneborn-Berger: results weighted by the points of the opponents"),
    ),
    "board_points": (gettext_noop("BP"), gettext_noop("Board points: 1 for a board won, ½ for a draw")),
    "progressive": (gettext_noop("Prog"), gettext_noop("Progressive score: the sum of the scores after each round")),
    "round": (gettext_noop("Rd"), gettext_noop("Last round reached")),
    "final": (gettext_noop("Fin"), gettext_noop("Board points in the final")),
    "elo": (gettext_noop("Elo"), gettext_noop("Strength based on the boards of this tournament alone")),
}


@dataclass(frozen=True)
class TieBreakColumn:
    """One tie-break of a standings table."""

    key: str
    name: str
    meaning: str

    @property
    def orders(self) -> bool:
        """Return True if the order depends on it; the progressive score and the longest run are only shown."""
        return self.key not in ("progressive", "best_run")


def columns(rows: Sequence[Standing]) -> list[TieBreakColumn]:
    """Return the tie-breaks of these rows in order; an unknown one has its key as its name."""
    keys = next((list(row.breaks) for row in rows if row.breaks), [])
    return [TieBreakColumn(key, *map(_, NAMES.get(key, (key, key)))) for key in keys]
