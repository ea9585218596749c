"""Words of the rules book as numbers, so that the kernel compares numbers. One group a parameter, named in the order of its words."""

from __future__ import annotations

from typing import Any, Final

from engine.cards.actions import BID

DISCARDS: Final = BID + 231  # The first dense number of the subsets of a hand, which has five cards at most.


class NotCoveredError(LookupError):
    """Rules with a word that the kernel does not know."""


def number(word: Any, numbers: dict[str, int]) -> int:
    """Return the number of a word; a function counts by its name, None as the empty word. Raises NotCoveredError."""
    name = word.__name__ if callable(word) else (word or "")
    if name not in numbers:
        raise NotCoveredError(name)
    return numbers[name]


# `hand_songs`: the seats that may sing from the hand
NO_SONGS: Final = 0
BY_WINNER: Final = 1
BY_SIDE: Final = 2
BY_SOLOIST: Final = 3
BY_SOLOIST_SIDE: Final = 4
HAND_SONGS: Final[dict[str, int]] = {
    "none": NO_SONGS,
    "trick_winner": BY_WINNER,
    "winning_side": BY_SIDE,
    "soloist": BY_SOLOIST,
    "soloist_side": BY_SOLOIST_SIDE,
}

# `song_order`
ANY_ORDER: Final = 0
FORTY_FIRST: Final = 1
FORTY_FIRST_SIDE: Final = 2
FORTY_FIRST_IN_WINDOW: Final = 3
SONG_ORDER: Final[dict[str, int]] = {
    "any": ANY_ORDER,
    "forty_first": FORTY_FIRST,
    "forty_first_side": FORTY_FIRST_SIDE,
    "forty_first_in_window": FORTY_FIRST_IN_WINDOW,
}

# `table_songs`
NO_TABLE_SONGS: Final = 0
FORCED: Final = 1
FIRST_40: Final = 2
TABLE_SONGS: Final[dict[str, int]] = {
    "none": NO_TABLE_SONGS,
    "forced": FORCED,
    "forced_first_40": FIRST_40,
}

# `exchange_trigger`
JUST_WON: Final = 0
SIDE_JUST_WON: Final = 1
OWN_TURN: Final = 2
TRIGGERS: Final[dict[str, int]] = {
    "just_won": JUST_WON,
    "side_just_won": SIDE_JUST_WON,
    "own_turn": OWN_TURN,
}

# `trump_source`
NAMED: Final = 0
ROTATING: Final = 1
FIRST_TABLE_PAIR: Final = 2
LAST_DEALT: Final = 3
MANO_LAST: Final = 4
TURNED_STOCK: Final = 5
CENTRE_CARD: Final = 6
TRUMP_SOURCES: Final[dict[str, int]] = {
    "named": NAMED,
    "rotating": ROTATING,
    "first_table_pair": FIRST_TABLE_PAIR,
    "last_dealt": LAST_DEALT,
    "mano_last": MANO_LAST,
    "turned_stock": TURNED_STOCK,
    "centre_card": CENTRE_CARD,
}

# `next_dealer`
TO_THE_RIGHT: Final = 0
LAST_TRICK_WINNER: Final = 1
PREVIOUS_MANO: Final = 2
NEXT_DEALER: Final[dict[str, int]] = {
    "right": TO_THE_RIGHT,
    "last_trick_winner": LAST_TRICK_WINNER,
    "previous_mano": PREVIOUS_MANO,
}

# stages before the first lead (`Game.stages`), by the names of their functions
EXCHANGE: Final = 0
POINTS_AUCTION: Final = 1
PLAY_OR_PASS: Final = 2
PLAY_THEN_JOIN: Final = 3
CHANGE_CARDS: Final = 4
PREDICTIONS: Final = 5
CENSOR: Final = 6
NAME_TRUMP: Final = 7
CALL_CARD: Final = 8
STAGES: Final[dict[str, int]] = {
    "stage": EXCHANGE,
    "points_auction": POINTS_AUCTION,
    "play_or_pass": PLAY_OR_PASS,
    "play_then_join": PLAY_THEN_JOIN,
    "change_cards": CHANGE_CARDS,
    "predictions": PREDICTIONS,
    "censor": CENSOR,
    "name_trump": NAME_TRUMP,
    "call_card": CALL_CARD,
}

# questions after the stages
CARD: Final = 9
WINDOW: Final = 10
PROMISE: Final = 11  # promise all remaining tricks (capote)?
LAST_TEN: Final = 12  # take the bonus of the last trick?
ACCUSING: Final = 13  # accuse another seat before the deal is counted?

# `result`
MOST_POINTS_WINS: Final = 0
FEWEST_POINTS_LOSES: Final = 1
TO_TARGET: Final = 2
MIDDLE_LOSES: Final = 3
SOLOIST_REACHES_BID: Final = 4
SOLOIST_SIDE_MORE: Final = 5
SOLOIST_SIDE_BEST: Final = 6
TRICK_COMMITMENTS: Final = 7
EXACT_PREDICTION: Final = 8
MIDDLE_OF_THREE: Final = 9
CABRON_LOSES: Final = 10
MOST_POINTS_LOSES: Final = 11
RESULTS: Final[dict[str, int]] = {
    "most_points_wins": MOST_POINTS_WINS,
    "fewest_points_loses": FEWEST_POINTS_LOSES,
    "to_target": TO_TARGET,
    "middle_loses": MIDDLE_LOSES,
    "soloist_reaches_bid": SOLOIST_REACHES_BID,
    "soloist_side_more_points": SOLOIST_SIDE_MORE,
    "soloist_side_best_single": SOLOIST_SIDE_BEST,
    "trick_commitments": TRICK_COMMITMENTS,
    "exact_prediction": EXACT_PREDICTION,
    "middle_of_three_loses": MIDDLE_OF_THREE,
    "cabron_loses": CABRON_LOSES,
    "most_points_loses_unless_101": MOST_POINTS_LOSES,
}

# `tie`
TIE_LAST_TRICK: Final = 0
TIE_LAST_TRICK_OR_NONE: Final = 1
TIE_DRAWN: Final = 2
TIE_SPLIT: Final = 3
TIE_BOTH_LOSE: Final = 4
TIE_REPLAY: Final = 5
TIE_LEVEL_LOSE: Final = 6
TIE_ALL_TAKERS_LOSE: Final = 7
TIE_SEAT_ORDER: Final = 8
TIES: Final[dict[str, int]] = {
    "last_trick": TIE_LAST_TRICK,
    "last_trick_or_none": TIE_LAST_TRICK_OR_NONE,
    "drawn": TIE_DRAWN,
    "split": TIE_SPLIT,
    "both_lose": TIE_BOTH_LOSE,
    "replay": TIE_REPLAY,
    "level_lose": TIE_LEVEL_LOSE,
    "all_takers_lose": TIE_ALL_TAKERS_LOSE,
    "seat_order": TIE_SEAT_ORDER,
}

# `both_reach`
NOBODY_REACHES: Final = 0
FIRST_REACHED: Final = 1
LAST_TRICK_REACHED: Final = 2
HIGHER_TOTAL: Final = 3
BOTH_REACH: Final[dict[str, int]] = {
    "": NOBODY_REACHES,
    "first_reached": FIRST_REACHED,
    "last_trick": LAST_TRICK_REACHED,
    "higher_total": HIGHER_TOTAL,
}

# `middle_rule`
NO_MIDDLE: Final = 0
ALL_BETWEEN: Final = 1
SECOND: Final = 2
MEDIAN: Final = 3
MIDDLE: Final[dict[str, int]] = {
    "": NO_MIDDLE,
    "all_between": ALL_BETWEEN,
    "second": SECOND,
    "median": MEDIAN,
}

# `settlement`
GAMES: Final = 0
LOSS_MARKS: Final = 1
CHIPS: Final = 2
PREDICTION_POINTS: Final = 3
SETTLEMENTS: Final[dict[str, int]] = {
    "games": GAMES,
    "loss_marks": LOSS_MARKS,
    "chips": CHIPS,
    "points": PREDICTION_POINTS,
}

# `payments`
NO_PAYMENTS: Final = 0
WINNER_AND_SONGS: Final = 1
PER_FIVE: Final = 2
EACH_LOSER: Final = 3
POT_PER_TRICK: Final = 4
PAYMENTS: Final[dict[str, int]] = {
    "none": NO_PAYMENTS,
    "winner_and_songs": WINNER_AND_SONGS,
    "per_five": PER_FIVE,
    "each_loser_to_each_winner": EACH_LOSER,
    "pot_per_trick": POT_PER_TRICK,
}

# `match_end`
RACE: Final = 0
SERIES: Final = 1
COTOS: Final = 2
DEALS: Final = 3
LOSSES: Final = 4
ELIMINATION: Final = 5
SEQUENCE: Final = 6
CLOCK: Final = 7
MATCH_ENDS: Final[dict[str, int]] = {
    "race": RACE,
    "series": SERIES,
    "cotos": COTOS,
    "deals": DEALS,
    "losses": LOSSES,
    "elimination": ELIMINATION,
    "sequence": SEQUENCE,
    "clock": CLOCK,
}

# `score_unit`
IN_POINTS: Final = 0
IN_GAMES: Final = 1
IN_RANKS: Final = 2
IN_CHIPS: Final = 3
IN_MARKS: Final = 4
SCORE_UNITS: Final[dict[str, int]] = {
    "points": IN_POINTS,
    "games": IN_GAMES,
    "rank": IN_RANKS,
    "chips": IN_CHIPS,
    "marks": IN_MARKS,
}
