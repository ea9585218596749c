"""The formats of tournaments, one file each, all of one shape (`base`)."""

from __future__ import annotations

from league.pure.formats.base import (
    REVISION,
    BracketPairing,
    Field,
    Format,
    Outcome,
    Pairing,
    Parameter,
    Ranking,
    Results,
    Sheet,
    Size,
    Slot,
    Value,
)
from league.pure.formats.double_elimination import DOUBLE_ELIMINATION
from league.pure.formats.duel import DUEL
from league.pure.formats.gauntlet import GAUNTLET
from league.pure.formats.halving import SUCCESSIVE_HALVING
from league.pure.formats.ladder import LADDER
from league.pure.formats.round_robin import ROUND_ROBIN
from league.pure.formats.single_elimination import SINGLE_ELIMINATION
from league.pure.formats.swiss import SWISS

FORMATS = {
    one.key: one
    for one in (
        ROUND_ROBIN,
        SWISS,
        SINGLE_ELIMINATION,
        DOUBLE_ELIMINATION,
        GAUNTLET,
        SUCCESSIVE_HALVING,
        LADDER,
        DUEL,
    )
}


def check_field(form: Format, field: Field) -> None:
    """Refusal where a field cannot be played in a format: such tables, too few entries or too many. It names the formats that can."""
    form.check_tables(field, FORMATS.values())
    form.check(field)


__all__ = [
    "FORMATS",
    "REVISION",
    "BracketPairing",
    "Field",
    "Format",
    "Outcome",
    "Pairing",
    "Parameter",
    "Ranking",
    "Results",
    "Sheet",
    "Size",
    "Slot",
    "Value",
    "check_field",
]
