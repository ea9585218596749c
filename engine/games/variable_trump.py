"""Variable Trump Tute, designed by Mark Steere (April 2008): every trump that is played makes the next suit trump.

Name and rules are the designer's and unchanged; only his two optional rules and the length of the match, which he leaves open, may vary.
Source: rules book, variable_trump (000).
"""

from engine.match.scoring.results import most_points_wins
from engine.match.trick.moving import CYCLE, vtt_cycle
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules

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
    on_trump=vtt_cycle,
    hand_songs="winning_side",
    song_values={"trump": 20, "other": 20},
    tute_first_trick_only=True,
    result=most_points_wins,
    options={"coins_start": BOOL, "double_at_101": BOOL, "match_games": Range(1, 100)},
)
