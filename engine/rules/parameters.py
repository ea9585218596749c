"""The `Rules` record: every parameter of the rules book, with ordinary Tute as the default, and the options of a game.

Field names are those of the rules book (section 5 of its README), which explains them. A field may hold a mapping from the number of players
at the table to a value; `at_table` resolves it. A rule that needs code is a function with the name of its word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.rules.options import Choice
from engine.rules.verdict import Verdict

CARD_POINTS = {"1": 11, "3": 10, "R": 4, "C": 3, "S": 2}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One game. A file in `engine/games` states only what differs from the defaults below."""

    # identity
    key: str = ""
    title: str = ""
    # one sentence about the game by language ("en", "es")
    line: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    source: str = ""
    revision: int = 1
    # One later revision each: True for the options whose rules it changed. Other options keep their revision.
    revised: tuple[Callable[[Rules], bool], ...] = ()
    options: Mapping[str, Choice | Mapping[int, Choice]] = field(default_factory=dict)
    implied: Callable[[dict[str, Any], int], dict[str, Any]] | None = None  # options that set further fields
    board_deals: int | None = None  # deals of one rated board; None: a whole match
    suits_named: bool = False  # the rules name a suit, so suits may not be exchanged for one another
    score_unit: str = "points"  # points, games, rank, chips, marks: what a board compares
    # the worst score by rules and seats, if the unit does not determine it
    forfeit: Callable[[Rules, int], int] | None = None

    # table and deal
    players: Any = (4,)
    dealer_plays: Any = True
    sides: Any = "single"
    preset: str | None = None
    form: Any = None
    deck: Any = "es40"
    rank_order: str = "13RCS76542"
    rank_points: Mapping[str, int] = field(default_factory=lambda: dict(CARD_POINTS))
    hand_size: Any = 10
    deal_packet: Any = 1
    trump_source: Any = "last_dealt"
    full_deal_trump: str = "none"
    coins_start: bool = False
    trump_dynamics: str = "static"
    trump_cycle: Mapping[str, str] | None = None
    first_deal: str = "none"
    stock: Any = 0
    shown_card_drawn: Any = None
    draw: str = "none"
    supply: str = "draw"
    next_dealer: str = "right"
    # exchange of the shown card
    exchange: Any = "none"
    exchange_seven: Any = ""
    exchange_two: Any = ""
    exchange_chain: bool = True
    exchange_trigger: str = "just_won"
    exchange_window: str = "both"
    exchange_min_stock: int = 1
    exchange_duty: str = "may"
    # auction and what else comes before the first lead
    auction: str = "none"
    min_bid: int | None = None
    bid_step: int = 1
    max_bid: int | None = None
    auction_rounds: str = "single"
    all_pass: str | None = None
    censor: bool = False
    soloist_partner: str = "none"
    call_own_card: str = "forbidden"
    passed_may_join: bool | None = None
    hook: bool | None = None
    discard_draw_max: int = 0
    stock_exhausted: str | None = None
    dealer_takes_shown: bool = False
    # play
    first_leader: str = "mano"
    obligation_stock_open: str = "free"
    obligation_stock_empty: str = "strict"
    partner_exempt: str = "none"
    undertrump: bool = False
    beat_after_trumped: bool = False
    no_load: bool = False
    on_trump: Callable[[Any], None] | None = None  # after each trump that is played: trumps that change during a trick
    # declarations
    hand_songs: str = "trick_winner"
    pair_ranks: str = "RC"
    song_values: Mapping[str, int] = field(default_factory=lambda: {"trump": 40, "other": 20})
    songs_per_trick: int | str = 1
    song_order: str = "any"
    song_timing: str = "after_draw"
    song_trigger: str = "just_won"
    song_min_stock: int = 0
    sing_first_trick_only: bool = False
    singing_mandatory: bool = False
    hide_arrastre_twenty: bool = False
    table_songs: str = "none"
    two_table_songs: str = "all"
    hand_song_after_table_song: bool = True
    tute: str = "wins"
    tute_ranks: str = "RC"
    tute_first_trick_only: bool = False
    capote: str = "none"
    capote_spoiled_by_song: bool = False
    capote_spoiled_by_table_song: bool = False
    # result: decided by the state of a match whose deal has been played
    result: Callable[[Any], Verdict]
    last_trick_bonus: int = 10
    last_trick_optional: bool = False
    middle_rule: str | None = None
    tricks_soloist: int | None = None
    tricks_joiner: int | None = None
    prediction_score: str | None = None
    target: int | None = None
    both_reach: str | None = None
    tie: str = "last_trick"
    min_card_points: int = 0
    claim_mode: str = "none"
    claim_from_deal: int = 1
    claim_window: str = "own_turn"
    # match and payments
    settlement: str = "games"
    double_at_101: bool = False
    double_threshold_with_song: int = 101
    match_end: str = "race"
    match_games: int = 6
    win_by: int = 1
    match_minutes: int | None = None
    games_per_coto: int | None = None
    cotos_to_win: int | None = None
    match_deals: int | None = None
    max_losses: int | None = None
    final_duel: bool = False
    duel_game: str = ""  # key of the game of the final duel
    sequence: str | None = None
    payments: Any = "none"
    unit: int | None = None
    double_from: int | None = None
    stake: int | None = None
    ante: int = 0
    win_payment: int | None = None
    win_101_payment: int | None = None
    double_threshold_counts_songs: bool = True
    tute_payment: int | None = None
    contract_payment: int | None = None
    illegal_move: str = "reject"
