"""The state of a match in the kernel. Field names are those of `engine.match.data`, which explains them.

Arrays go by seat unless said otherwise; sets of seats, sides and suits are bit masks; a set of cards has one bit a card.
The legal actions of the seat on turn are `legal`, `extra` and, in an auction, `bids`: see `asking`.

In these modules a value that may be a machine word or a literal number is set in two statements: mypyc makes Python objects of
`word if ... else 0`, and of two names that are set in one line.
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

SEATS: Final = 7  # Most seats at a table.

# reasons for the end of a deal
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
    """A match in progress. `loading.load` fills it from a State, `running.begin` starts a match."""

    def __init__(self, program: Program, dice: Dice) -> None:
        none = [0] * SEATS
        self.program: Program = program
        self.dice: Dice = dice

        # the match
        self.seats: i64 = program.players
        self.sides: i64 = program.sides
        self.pairs: bool = False
        self.side: vec[i64] = words(none)
        self.deals: i64 = 0  # the match ends after this many deals; 0: by its rules
        self.deal_no: i64 = 0
        self.game_deal: i64 = 0
        self.games_played: i64 = 0
        self.clock: i64 = 0
        self.dealer: i64 = -1
        self.gone: i64 = 0  # eliminated seats
        self.left_at: vec[i64] = words(none)
        self.totals: vec[i64] = words(none)  # this and the next three go by side
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
        self.size: i64 = 0  # seats in the deal, cards in a trick
        self.active: vec[i64] = words(none)  # the seats that play, from mano in order of play
        self.ring: vec[i64] = words(none)  # The seat that plays after each seat.
        self.playing: i64 = 0  # The seats that play, as a set.

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
        self.drew: bool = False  # True if `drawn` holds the cards drawn after the last trick
        self.drawn: vec[i64] = words(none)  # Each a mask of one card.
        self.cards: vec[i64] = words(none)
        self.songs: vec[i64] = words(none)
        self.tricks: vec[i64] = words(none)
        self.singers: i64 = 0  # seats that have sung from the hand
        self.table_singers: i64 = 0  # seats that have won a song on the table
        self.sung: i64 = 0  # Suits whose pair has been sung.
        self.twenties: i64 = 0
        self.reached: vec[i64] = words(none)  # sides in the order in which they reached the target
        self.n_reached: i64 = 0
        self.last_trick: i64 = -1
        self.tute_by: i64 = -1
        self.capote_by: i64 = -1
        self.left: i64 = 0

        # the stages before the first lead
        self.stage: i64 = 0  # stages started
        self.leader: i64 = -1
        self.soloist: i64 = -1
        self.partner: i64 = -1
        self.bid: i64 = 0
        self.passed: i64 = 0  # Seats that have passed.
        self.spoken: i64 = 0
        self.joined: i64 = 0
        self.declined: i64 = 0  # Declined exchanges: bit 0 is the seven, bit 1 the two.
        self.changed: i64 = 0  # bato: places of `active` that have changed cards
        self.thrown: i64 = 0
        self.took_shown: i64 = -1
        self.predicted: vec[i64] = words(none)  # tricks predicted, -1: nothing yet
        self.same_dealer: bool = False

        # the question to the seat on turn
        self.turn: i64 = 0
        self.phase: i64 = 0  # one of `codes`: a stage, or a question after the stages
        self.legal: i64 = 0  # cards, or other actions by `asking.BASES`
        self.extra: i64 = 0  # see `asking`
        self.bids: i64 = 0  # number of bids, from `low_bid` on
        self.low_bid: i64 = 0
        self.own_extra: i64 = 0  # Announcements of every seat at its own turn that do not depend on its hand.
        self.lead_extra: i64 = 0  # announcements of the winner's side after a trick
        self.asking: i64 = 0  # seat that is asked in a window or for a promise
        self.to_ask: i64 = 0  # Number of seats still to be asked, this one included.
        self.after_draw: bool = False  # True in window B

        # the trick
        self.in_trick: i64 = 0
        self.lead: i64 = NO_SUIT
        self.best: i64 = 0  # the card that is winning, as a mask
        self.winner: i64 = 0
        self.table: i64 = 0  # cards of the present or the last trick
        self.played: vec[i64] = words(none)  # the cards of the trick in order, a mask each
        self.played_by: vec[i64] = words(none)
        self.table_points: i64 = 0
        self.revokers: i64 = 0  # seats with an illegal card in this deal
        self.table_song: bool = False
        self.table_pairs: i64 = 0
        self.window: vec[i64] = words(none)  # songs of each seat in this window
        self.window_others: i64 = 0  # Seats that have sung a suit other than trump in this window.
        self.in_window: bool = False  # True if `window` or `window_others` is not empty.

        # visible history of the deal (`engine.search.observations`); `load` leaves it out
        self.lying: i64 = 0  # The card of each seat in the trick, its number + 1, one byte each.
        self.away: i64 = 0  # cards of completed tricks
        self.singer: vec[i64] = words(none)  # the seat that sang the pair of each suit
        self.hidden: i64 = 0  # suits whose song stayed hidden

        # the end of the deal
        self.decided: bool = False  # True if the fields below are set before the count
        self.why: i64 = COUNTED
        self.victor: i64 = -1  # The side that wins the deal, or -1.
        self.losers: i64 = 0  # The seats that lose the deal.
        self.lost_marks: i64 = 1
        self.goes_on: bool = False  # True if the game takes another deal.
        self.bonus_declined: bool = False


def cut_short(t: KernelState, why: i64, victor: i64, losers: i64, marks: i64 = 1) -> i64:
    """End the deal with this verdict."""
    t.decided = True
    t.why = why
    t.victor = victor
    t.losers = losers
    t.lost_marks = marks
    t.goes_on = False
    return steps.DECIDED


def clear(t: KernelState) -> None:
    """Reset everything that belongs to one deal."""
    hands, cards, songs, tricks, window, predicted = t.hands, t.cards, t.songs, t.tricks, t.window, t.predicted
    seat: i64 = 0
    while seat < t.seats:
        hands[seat] = cards[seat] = songs[seat] = tricks[seat] = window[seat] = 0
        predicted[seat] = -1
        seat += 1
    t.singers = t.table_singers = t.sung = t.twenties = t.revokers = 0
    t.last_trick = t.tute_by = t.capote_by = t.pending = -1
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
