"""Tute gana-pierde for three: no trump until the first pair meets in a trick; the middle score loses. Source: rules book, gana_pierde_3 (004)."""

from typing import TYPE_CHECKING

from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import SHORT_ORDERS
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.match.data import Data


def middle_of_three_loses(state: "Data") -> Verdict:
    """Let the middle score lose. If only the two lowest are level, the highest loses; if the two highest or all are level, those lose."""
    points = state.seat_points()
    low, middle, high = sorted(points[seat] for seat in state.active)
    losing = high if low == middle < high else middle
    return Verdict(None, tuple(seat for seat in state.active if points[seat] == losing))


def cabron_loses(state: "Data") -> Verdict:
    """Let the seats without a trick lose; else those above 100; else the one strictly in the middle; else the level ones."""
    points = state.seat_points()
    without = tuple(seat for seat in state.active if not state.tricks[seat])
    above = tuple(seat for seat in state.active if points[seat] > 100)
    if without or above:
        return Verdict(None, without or above)
    low, middle, high = sorted(points[seat] for seat in state.active)
    if low < middle < high:
        return Verdict(None, tuple(seat for seat in state.active if points[seat] == middle))
    level = [points[seat] for seat in state.active]
    return Verdict(None, tuple(seat for seat in state.active if level.count(points[seat]) > 1))


GAME = Rules(
    key="gana_pierde_3",
    code="GP3",
    title="Tute gana-pierde (3)",
    line={
        "en": "Three players: whoever ends in the middle loses.",
        "es": "Tres jugadores: pierde el de en medio.",
    },
    source="Pagat (004), Ludoteka (W-lud), Donnaipe (W-don)",
    board_deals=1,
    score_unit="marks",
    players=(3,),
    deck="es36",
    rank_order="13RCS7654",
    hand_size=12,
    trump_source="first_table_pair",
    trump_dynamics="set_once_next_trick",
    hand_songs="none",
    table_songs="forced_first_40",
    tute="none",
    result=middle_of_three_loses,
    settlement="loss_marks",
    match_end="losses",
    max_losses=6,
    options={
        "max_losses": Range(1, 50),
        "result": (middle_of_three_loses, cabron_loses),
        "undertrump": BOOL,
        "no_load": BOOL,
        "rank_order": SHORT_ORDERS,
    },
)
