"""Tute corriente, two players: six cards and a stock, games to 101 over several deals, claims. Source: rules book, corriente (004)."""

from engine.match.scoring.results import to_target
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS, TUTES


def implied(options: dict[str, object], players: int) -> dict[str, object]:
    """Return the stock that follows from the hands; the immediate exchange brings its own limit (rules of Habanero)."""
    stock = {8: 24}.get(options.get("hand_size", 6), 28)  # type: ignore[call-overload]
    return {"stock": stock} | ({"exchange_min_stock": 2} if options.get("exchange") == "immediate" else {})


GAME = Rules(
    key="corriente",
    code="COR",
    title="Tute corriente",
    line={
        "en": "Two players and a stock: draw, exchange the shown card, sing, and claim the win in time.",
        "es": "Dos jugadores y un mazo: robar, cambiar la muestra, cantar y reclamar a tiempo.",
    },
    source="Pagat (004)",
    score_unit="games",
    players=(2,),
    hand_size=6,
    stock=28,
    trump_source="turned_stock",
    shown_card_drawn=True,
    draw="winner_first",
    next_dealer="last_trick_winner",
    exchange="deferred",
    exchange_seven="13RCS",
    exchange_two="7654",
    result=to_target,
    target=101,
    both_reach="higher_total",
    claim_mode="claim",
    match_games=1,
    implied=implied,
    options={
        "stock": (28, 24),
        "hand_size": (6, 8),
        "target": Range(1),
        "tute": ("wins", "none"),
        "tute_ranks": TUTES,
        "song_order": ("any", "forty_first_in_window", "forty_first"),
        "song_timing": ("after_draw", "before_draw"),
        "song_min_stock": Range(0, 28),
        "exchange": ("deferred", "immediate", "none"),
        "exchange_min_stock": Range(1, 28),
        "claim_mode": ("claim", "auto", "none"),
        "claim_from_deal": Range(1),
        "both_reach": ("higher_total", "last_trick", "first_reached"),
        "match_games": Range(1, 100),
        "match_end": ("race", "series"),
        "win_by": (1, 2),
        "illegal_move": ("reject", "lose_game"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
