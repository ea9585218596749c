"""The state of a match in the kernel. Field names are those of `engine.match.data`, where they are explained.

Arrays go by seat unless said otherwise; sets of seats, sides and suits are bit masks; a set of cards has one bit a card.
What the seat on turn may do is `legal` and `extra`, and in an auction `bids`: see `asking`.

In these modules a value that is now a word, now a literal number is set in two statements: of `word if ... else 0`, as of two names that are
set in one line, mypyc makes Python objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.search.masks import words

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.cards.chance import Dice
    from engine.search.kernel.program import Program

SEATS: Final = 7  # at most

# why a deal ended
COUNTED: Final = 0
TUTE: Final = 1
TARGET: Final = 2
TIE: Final = 3
CAPOTE: Final = 4
PASSED: Final = 5
ALONE: Final = 6
SPLIT: Final = 7
OTHER: Final = 8


@final
class KernelState:
    """A match that is being played. `loading.load` fills it from a State, `running.begin` starts a match."""

    def __init__(self, program: Program, dice: Dice) -> None:
        none = [0] * SEATS
        self.program: Program = program
        self.dice: Dice = dice

        # the match
        self.seats: i64 = program.players
        self.sides: i64 = len(program.game.sides)
        self.pairs: bool = len(program.game.sides) < program.game.players
        self.side: vec[i64] = words([*program.game.side, *none[program.game.players :]])
        self.deals: i64 = 0  # stop after so many deals; 0: the match ends by its rules
        self.deal_no: i64 = 0
        self.game_deal: i64 = 0
        self.games_played: i64 = 0
        self.dealer: i64 = -1
        self.gone: i64 = 0  # seats that have left
        self.left_at: vec[i64] = words(none)
        self.totals: vec[i64] = words(none)  # by side, as the next three
        self.games: vec[i64] = words(none)
        self.coto_games: vec[i64] = words(none)
        self.cotos: vec[i64] = words(none)
        self.marks: vec[i64] = words(none)
        self.chips: vec[i64] = words(none)
        self.score: vec[i64] = words(none)
        self.pot: i64 = 0
        self.over: bool = False

        # the seats of the deal
        self.mano: i64 = 0
        self.size: i64 = 0  # how many play, cards in a trick
        self.active: vec[i64] = words(none)  # by place: the seats that play, from mano in order of play
        self.ring: vec[i64] = words(none)  # the seat after each seat
        self.playing: i64 = 0  # the same seats as a set

        # the deal
        self.deck: vec[i64] = words([0] * 52)  # undealt cards are deck[top], ..., deck[end - 1]
        self.top: i64 = 0
        self.end: i64 = 0
        self.hands: vec[i64] = words(none)
        self.trump: i64 = NO_SUIT
        self.n: i64 = 0
        self.shown: i64 = -1
        self.holder: i64 = -1
        self.pending: i64 = -1
        self.pending_card: i64 = 0
        self.swapped: bool = False
        self.drew: bool = False  # whether `drawn` holds the cards drawn after the last trick
        self.drawn: vec[i64] = words(none)  # as masks
        self.cards: vec[i64] = words(none)
        self.songs: vec[i64] = words(none)
        self.tricks: vec[i64] = words(none)
        self.singers: i64 = 0  # seats that have sung from the hand
        self.table_singers: i64 = 0  # seats that have won a song on the table
        self.sung: i64 = 0  # suits
        self.twenties: i64 = 0
        self.reached: vec[i64] = words(none)  # by place: sides in the order in which they reached the target
        self.n_reached: i64 = 0
        self.last_trick: i64 = -1
        self.tute_by: i64 = -1
        self.capote_by: i64 = -1
        self.left: i64 = 0

        # what comes before the first lead
        self.stage: i64 = 0  # stages begun
        self.leader: i64 = -1
        self.soloist: i64 = -1
        self.partner: i64 = -1
        self.bid: i64 = 0
        self.passed: i64 = 0  # seats
        self.spoken: i64 = 0
        self.joined: i64 = 0
        self.declined: i64 = 0  # exchanges: bit 0 of the seven, bit 1 of the two
        self.changed: i64 = 0  # bato: places of `active` that have changed cards
        self.thrown: i64 = 0
        self.took_shown: i64 = -1
        self.said: vec[i64] = words(none)  # tricks predicted, -1: nothing yet
        self.same_dealer: bool = False

        # what the seat on turn is asked
        self.turn: i64 = 0
        self.phase: i64 = 0  # one of `codes`: a stage, or what comes after the stages
        self.legal: i64 = 0  # cards, or what else `asking.BASES` says
        self.extra: i64 = 0  # bit by bit the actions from SING on
        self.bids: i64 = 0  # how many, from `low_bid` on
        self.low_bid: i64 = 0
        self.own_extra: i64 = 0  # what every seat may announce at its own turn, whatever it holds
        self.lead_extra: i64 = 0  # what the side of the last trick's winner may announce after it
        self.asking: i64 = 0  # seat that is asked in a window, or whether it promises a capote
        self.to_ask: i64 = 0  # how many seats still are, this one with them
        self.after_draw: bool = False  # which window

        # the trick
        self.in_trick: i64 = 0
        self.lead: i64 = NO_SUIT
        self.best: i64 = 0  # the card that is winning, as a mask
        self.winner: i64 = 0
        self.table: i64 = 0  # cards of the trick, or between tricks of the last one
        self.played: vec[i64] = words(none)  # by place in the trick: the card as a mask
        self.played_by: vec[i64] = words(none)
        self.table_points: i64 = 0
        self.revoker: i64 = -1
        self.table_song: bool = False
        self.table_pairs: i64 = 0
        self.window: vec[i64] = words(none)  # songs of each seat in this window
        self.window_others: i64 = 0  # seats that have sung another suit than trump in it
        self.in_window: bool = False  # whether any of the two is not empty

        # what is seen of the deal (`engine.search.observations`); `load` leaves it out
        self.lying: i64 = 0  # by seat, a byte each: its card in the trick + 1
        self.away: i64 = 0  # cards of the tricks that are over
        self.singer: vec[i64] = words(none)  # by suit: who has sung its pair
        self.hidden: i64 = 0  # suits of which the song was not shown

        # how the deal ended
        self.decided: bool = False  # whether the fields below are set already, before the count
        self.why: i64 = COUNTED
        self.victor: i64 = -1  # side, or -1
        self.losers: i64 = 0  # seats
        self.lost_marks: i64 = 1
        self.goes_on: bool = False  # the game takes another deal
        self.bonus_declined: bool = False


def cut_short(t: KernelState, why: i64, victor: i64, losers: i64, marks: i64 = 1) -> i64:
    """The deal ends here, by this verdict."""
    t.decided = True
    t.why = why
    t.victor = victor
    t.losers = losers
    t.lost_marks = marks
    t.goes_on = False
    return steps.DECIDED


def clear(t: KernelState) -> None:
    """Sets everything that belongs to one deal to its start."""
    hands, cards, songs, tricks, window, said = t.hands, t.cards, t.songs, t.tricks, t.window, t.said
    seat: i64 = 0
    while seat < t.seats:
        hands[seat] = cards[seat] = songs[seat] = tricks[seat] = window[seat] = 0
        said[seat] = -1
        seat += 1
    t.singers = t.table_singers = t.sung = t.twenties = 0
    t.last_trick = t.tute_by = t.capote_by = t.pending = t.revoker = -1
    t.shown = t.holder = -1
    t.swapped = t.drew = False
    t.stage = 0
    t.leader = t.soloist = t.partner = t.took_shown = -1
    t.bids = t.bid = t.passed = t.spoken = t.joined = t.declined = t.changed = t.thrown = 0
    t.same_dealer = False
    t.in_trick = 0
    t.lead = NO_SUIT
    t.table = t.table_points = t.lying = t.away = t.hidden = 0
    t.table_song = False
    t.table_pairs = 0
    t.window_others = 0
    t.in_window = False
    t.decided = t.goes_on = t.bonus_declined = False
    t.why = COUNTED
    t.victor = -1
    t.losers = 0
    t.lost_marks = 1
