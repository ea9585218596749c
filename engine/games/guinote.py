"""Guiñote, four, two or three players: the jack beats the horse, songs of king and jack, 101 with a second deal "de vueltas".

Source: rules book, guinote (W-40, W-aca, W-poz, W-pro, W-gd; 004).
"""

from typing import Any

from engine.errors import OptionError
from engine.match.scoring.results import most_points_wins, to_target
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules

STOCK6 = {
    "hand_size": 6,
    "deal_packet": 3,
    "trump_source": "turned_stock",
    "shown_card_drawn": True,
    "exchange": "immediate",
    "exchange_seven": "13RSC6542",
    "exchange_two": "",
}
FORMS: dict[tuple[str, int], dict[str, Any]] = {
    ("stock6", 4): STOCK6 | {"stock": 16},
    ("stock6", 2): STOCK6 | {"stock": 28},
    ("stock6", 3): STOCK6 | {"stock": 21, "shown_card_drawn": False},
    ("full", 3): {
        "hand_size": 13,
        "trump_source": "centre_card",
        "shown_card_drawn": False,
        "draw": "none",
        "exchange": "before_first_lead",
        "exchange_seven": "13RSC",
        "exchange_two": "7654",
    },
    ("full", 4): {"hand_size": 10, "trump_source": "last_dealt", "draw": "none", "exchange": "none"},
}


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the hand size, stock and exchange that the option `form` implies."""
    form = options.get("form", "full" if players == 3 else "stock6")
    own: str = FORMS[form, players]["exchange"]
    exchange = options.get("exchange", own)
    if form == "full" and exchange not in (own, "none"):
        allowed = " or ".join(repr(word) for word in sorted({own, "none"}))
        raise OptionError(
            f"guinote: without a stock (form 'full', {players} players) exchange is {allowed}, not {exchange!r}"
        )
    return {"form": form} | FORMS[form, players]


def is_of_revision_2(rules: Rules) -> bool:
    """Return True for the options of revision 2: the 7 no longer takes back a 2 that has taken it."""
    return rules.exchange != "none" and "2" in rules.exchange_seven and "7" in rules.exchange_two


GAME = Rules(
    key="guinote",
    revised=(is_of_revision_2,),
    code="GUI",
    title="Guiñote",
    line={
        "en": "The Aragonese cousin of Tute, usually two against two, over one or two deals.",
        "es": "El primo aragonés del tute, casi siempre dos contra dos, a uno o dos repartos.",
    },
    source="Wikipedia (W-40), Acanomas (W-aca), Pozuelo (W-poz), Pagat (004)",
    score_unit="games",
    board_deals=1,
    players=(4, 2, 3),
    sides={2: "single", 3: "single", 4: "pairs"},
    rank_order="13RSC76542",
    rank_points={"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
    draw="winner_first",
    next_dealer="last_trick_winner",
    exchange_trigger="side_just_won",
    partner_exempt="all",
    hand_songs="winning_side",
    pair_ranks="RS",
    tute_ranks="RS",
    result=to_target,
    target=101,
    both_reach="last_trick",
    claim_mode="auto",
    claim_from_deal=2,
    claim_window="post_trick",
    match_end="cotos",
    games_per_coto=3,
    cotos_to_win=2,
    implied=implied,
    options={
        "form": {4: ("stock6", "full"), 3: ("full", "stock6"), 2: ("stock6",)},
        "partner_exempt": ("all", "trump_only", "none"),
        "hand_songs": ("winning_side", "trick_winner"),
        "songs_per_trick": Range(1, 4),
        "song_order": ("any", "forty_first"),
        "song_min_stock": Range(0, 28),
        "song_timing": ("after_draw", "before_draw"),
        "tute": ("wins", "none"),
        "tute_ranks": ("RS", "R", "S"),
        "exchange": ("immediate", "none", "before_first_lead"),
        "exchange_seven": ("13RSC6542", "13RSC"),
        "exchange_two": ("", "7654"),
        "exchange_window": ("both", "before_draw"),
        "exchange_min_stock": Range(1, 28),
        "target": Range(1),
        "both_reach": ("last_trick", "higher_total"),
        "result": (to_target, most_points_wins),
        "claim_mode": ("auto", "claim"),
        "min_card_points": (0, 30),
        "hide_arrastre_twenty": BOOL,
        "undertrump": BOOL,
        "games_per_coto": Range(1, 20),
        "cotos_to_win": Range(1, 20),
        "next_dealer": ("last_trick_winner", "right"),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
    },
)
