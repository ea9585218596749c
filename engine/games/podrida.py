"""Podrida or tutecillo: hands of one card, two, three ... and a prediction of tricks in each. Source: rules book, podrida (001, W-aca)."""

from typing import Any

from engine.errors import OptionError
from engine.match.scoring.results import exact_prediction
from engine.rules.options import BOOL
from engine.rules.parameters import Rules
from engine.rules.sizes import deal_sizes


def implied(options: dict[str, Any], players: int) -> dict[str, Any]:
    """Return French cards for the preset podrida52."""
    if options.get("preset") == "podrida52" and "rank_order" in options:
        raise OptionError(
            "the preset podrida52 is played with French cards, whose order of ranks is fixed: leave rank_order out"
        )
    french = {"deck": "fr52", "rank_order": "AKQJT98765432"}
    return french if options.get("preset") == "podrida52" else {}


def all_mispredicted(rules: Rules, seats: int) -> int:
    """Return the worst score: every trick of every deal mispredicted; with `hit_or_miss`, one point less per deal."""
    sizes = deal_sizes(rules, seats)
    return -len(sizes) if rules.prediction_score == "hit_or_miss" else -3 * sum(sizes)


GAME = Rules(
    key="podrida",
    code="POD",
    title="Podrida (tutecillo)",
    line={
        "en": "Say how many tricks you will take, and take exactly those.",
        "es": "Di cuántas bazas harás, y haz exactamente esas.",
    },
    source="reglamento de tute.com.ar (001), Acanomas (W-aca), La Podrida (W-pod)",
    score_unit="points",
    forfeit=all_mispredicted,
    players=(4, 3, 5, 6, 7),
    preset="tutecillo",
    hand_size="deal_no",
    rank_points={},
    trump_source="centre_card",
    shown_card_drawn=False,
    auction="trick_prediction",
    hook=True,
    obligation_stock_empty="follow",
    hand_songs="none",
    tute="none",
    last_trick_bonus=0,
    result=exact_prediction,
    prediction_score="ten_plus_three",
    settlement="points",
    match_end="sequence",
    sequence="up",
    implied=implied,
    options={
        "preset": ("tutecillo", "podrida52"),
        "sequence": ("up", "up_down", "down_up"),
        "hook": BOOL,
        "prediction_score": ("ten_plus_three", "hit_or_miss"),
        "rank_order": ("13RCS76542", "1RCS765432"),
        "full_deal_trump": ("none", "last_card_of_dealer"),
    },
)
