"""Tute de a dos: two players, six cards and a stock; any card may be played until it is gone. Source: rules book, a_dos (001)."""

from engine.match.scoring.results import fewest_points_loses
from engine.rules.options import BOOL, Range
from engine.rules.parameters import Rules
from engine.rules.ranks import ORDERS


def implied(options: dict[str, object], players: int) -> dict[str, object]:
    """Return the size of the stock, which follows from the size of the hands."""
    return {"stock": {8: 24, 10: 20}.get(options.get("hand_size", 6), 28)}  # type: ignore[call-overload]


GAME = Rules(
    key="a_dos",
    code="ADO",
    title="Tute de a dos",
    line={
        "en": "Two players, six cards each and a stock: the duel that ends a cabrero.",
        "es": "Dos jugadores, seis cartas cada uno y mazo: el duelo con que acaba un cabrero.",
    },
    source="reglamento de tute.com.ar (001)",
    board_deals=1,
    players=(2,),
    hand_size=6,
    stock=28,
    trump_source="turned_stock",
    shown_card_drawn=True,
    draw="winner_first",
    exchange_seven="13RCS",
    exchange_two="7654",
    result=fewest_points_loses,
    settlement="loss_marks",
    match_end="losses",
    max_losses=4,
    implied=implied,
    options={
        "stock": (28, 24, 20),
        "tie": ("last_trick", "both_lose", "replay"),
        "song_min_stock": (0, 3),
        "song_timing": ("after_draw", "before_draw"),
        "exchange": ("none", "deferred"),
        "hand_size": (6, 8, 10),
        "max_losses": Range(1, 50),
        "tute": ("wins", "none"),
        "illegal_move": ("reject", "two_marks", "one_mark", "accuse"),
        "no_load": BOOL,
        "rank_order": ORDERS,
    },
)
