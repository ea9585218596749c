"""Tute in pairs, four players: ordinary Tute, the default of every parameter. Source: rules book, partnership (004, 002, 003)."""

from engine.match.scoring.results import most_points_wins
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS, TUTES

GAME = Rules(
    key="partnership",
    code="PAR",
    title="Tute por parejas",
    line={
        "en": "Two against two, all forty cards dealt; partners sit opposite and count together.",
        "es": "Dos contra dos y las cuarenta cartas repartidas; los compañeros se sientan enfrente y cuentan juntos.",
    },
    source="Pagat (004), CatsAtCards (002), Wikipedia (003)",
    board_deals=1,
    sides="pairs",
    song_order="forty_first",
    result=most_points_wins,
    options={
        "match_end": ("race", "series"),
        "match_games": Range(1, 100),
        "win_by": (1, 2),
        "hand_songs": ("trick_winner", "winning_side"),
        "songs_per_trick": (1, "many"),
        "tute": ("wins", "none"),
        "tute_ranks": TUTES,
        "tute_first_trick_only": BOOL,
        "double_at_101": BOOL,
        "song_order": ("forty_first", "forty_first_side", "any"),
        "sing_first_trick_only": BOOL,
        "singing_mandatory": BOOL,
        "undertrump": BOOL,
        "beat_after_trumped": BOOL,
        "illegal_move": ("reject", "lose_game"),
        "last_trick_bonus": Range(0, 100),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
