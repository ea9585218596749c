"""Tute gana-pierde for four or five: most points loses, unless they are 101. Source: rules book, gana_pierde_4_5 (004)."""

from typing import TYPE_CHECKING

from engine.match.scoring.results import by_last_trick
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.match.data import Data


def most_points_loses_unless_101(state: "Data") -> Verdict:
    """Let the seat with most points lose alone; with 101 or more it wins and all others lose. `tie: last_trick` chooses one of level seats."""
    points = state.seat_points()
    top = max(points[seat] for seat in state.active)
    chosen = by_last_trick(state, [seat for seat in state.active if points[seat] == top])
    if top >= 101:
        return Verdict(chosen, tuple(seat for seat in state.active if seat != chosen))
    return Verdict(None, (chosen,))


GAME = Rules(
    key="gana_pierde_4_5",
    code="GP4",
    title="Tute gana-pierde (4 o 5)",
    line={
        "en": "Four or five players: win much, or win nothing; the winner of the last trick may decline its ten.",
        "es": "Cuatro o cinco: ganar mucho o no ganar nada; quien hace la última baza puede renunciar a sus diez.",
    },
    source="Pagat (004)",
    board_deals=1,
    score_unit="marks",
    players=(4, 5),
    hand_size={4: 10, 5: 8},
    song_order="forty_first",
    table_songs="forced",
    tute="none",
    last_trick_optional=True,
    result=most_points_loses_unless_101,
    settlement="loss_marks",
    match_end="losses",
    max_losses=6,
    options={
        "max_losses": Range(1, 50),
        "last_trick_optional": BOOL,
        "table_songs": ("forced", "none"),
        "song_order": ("forty_first", "any"),
        "tute": ("none", "wins"),
        "undertrump": BOOL,
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
