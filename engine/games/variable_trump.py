"""Variable Trump Tute, designed by Mark Steere (April 2008): every trump that is played makes the next suit trump.

Name and rules are the designer's and unchanged; only his two optional rules and the length of the match, which he leaves open, may vary.
Source: rules book, variable_trump (000).
"""

from typing import TYPE_CHECKING

from engine.match.scoring.results import most_points_wins
from engine.match.trick.legality import set_best, set_trump
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.data import Data
    from engine.match.redaction import EventRecord

CYCLE = {"o": "c", "c": "b", "b": "e", "e": "o"}
NEXT = tuple("oceb".index(CYCLE[suit]) for suit in "oceb")


def vtt_cycle(state: "Data") -> None:
    """Apply V1 to V4: a trump, led or not, becomes the suit led and hands trump to the next suit; then the winning card is determined again."""
    suit_of, table = state.suit_of, state.table
    suit = suit_of[table[-1]]
    if suit != state.trump:
        return  # V1, V4: the winning card is that of ordinary Tute
    state.lead = suit
    set_trump(state, NEXT[suit])
    if state.log is not None:
        state.log.append((trump_event, suit))
    best = max(
        [card for card in table if suit_of[card] == state.trump] or [card for card in table if suit_of[card] == suit]
    )
    turns_ago = len(table) - 1 - table.index(best)
    set_best(state, best, state.active[(state.active.index(state.turn) - turns_ago) % len(state.active)])


def trump_event(pack: "Pack", lead: int) -> "EventRecord":
    """Return the event of a trump that became the suit led."""
    return {"e": "trump", "suit": pack.suits[NEXT[lead]], "lead": pack.suits[lead]}


GAME = Rules(
    key="variable_trump",
    code="VTT",
    title="Variable Trump Tute",
    line={
        "en": "Two against two, while trump and lead suit change during the play.",
        "es": "Dos contra dos, mientras el triunfo y el palo de salida cambian durante el juego.",
    },
    source="Mark Steere, Variable Trump Tute (000)",
    board_deals=1,
    suits_named=True,
    sides="pairs",
    trump_dynamics="vtt_cycle",
    trump_cycle=CYCLE,
    on_play=vtt_cycle,
    hand_songs="winning_side",
    song_values={"trump": 20, "other": 20},
    tute_first_trick_only=True,
    result=most_points_wins,
    options={"coins_start": BOOL, "double_at_101": BOOL, "match_games": Range(1, 100)},
)
