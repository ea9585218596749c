"""Random playouts without a driver: `playout` for search, `play_many` for statistics.

Every action but a claim has the same chance (a random claim would end a game at once, mostly wrongly). Compiled (`make fast`) these are
the fastest way to play; as Python source they do the same, to the same scores, a little faster than a driving loop.
A trick in which nobody may announce anything is played on bit masks by `_trick`; everything else goes the ordinary way, through
`legal_actions` and `apply`. Both draw the same dice for the same choices, so the way never changes the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.actions import CLAIM
from engine.chance import Dice
from engine.parts import legality, tricks

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.game import Game
    from engine.state import State

CLAIM_ONLY: Final = (CLAIM,)
BITS: Final = 13  # of a suit, at most
COUNT: Final = bytes([mask.bit_count() for mask in range(1 << BITS)])
LOWEST: Final = bytes([(mask & -mask).bit_length() - 1 if mask else 0 for mask in range(1 << BITS)])
FULL: Final = 0x1FFF  # shifted by 13 at most: mypyc 2.4.1 makes it a C int


def playout(state: State, seed: int, *, quick: bool = True) -> list[int]:
    """Board scores by seat after random play from this state to the end of the match; the state stays as it is.

    Deals to come are shuffled by the playout's own dice: a search must not look at the real ones. `quick=False` plays every action by
    `apply`, to the same result.
    """
    trial = state.clone()
    _run(trial, Dice(seed), quick)
    return trial.scores()


def play_many(game: Game, matches: int, seed: int, *, deals: int | None = None) -> list[int]:
    """Board scores by seat, summed over so many random matches (of so many deals; None: by the rules)."""
    dice = Dice(seed)
    totals = [0] * game.players
    for _ in range(matches):
        state = game.new_match(seed=seed, deals=deals, record=False, dice=dice)
        _run(state, dice, True)
        totals = [total + score for total, score in zip(totals, state.scores(), strict=True)]
    return totals


def _run(state: State, dice: Dice, quick: bool) -> None:
    state.dice = dice
    while not state.is_over:
        if quick and not state.in_trick and state.phase is None and _nothing_to_say(state):
            _trick(state, dice)
            continue
        legal = state.legal_actions()
        if CLAIM in legal:
            legal = tuple([action for action in legal if action != CLAIM])
        state.apply(legal[dice.below(len(legal))])


def _nothing_to_say(state: State) -> bool:
    """Whether in the trick to come every choice is a card, claims apart."""
    extra = state.extra
    if (extra and extra != CLAIM_ONLY) or state.no_load or state.rules.on_play is not None:
        return False
    if state.own_turn:
        if state.own_extra and state.own_extra != CLAIM_ONLY:
            return False
        swap = state.swap
        if swap:
            trump = state.trump
            hands = state.hands
            for seat in state.active:
                if hands[seat][trump] & swap:
                    return False
    return True


def _trick(state: State, dice: Dice) -> None:
    """Plays one trick by the rules of `legality`, then goes on as `State.apply` does after its last card."""
    game, rules = state.game, state.rules
    in_force = state.in_force
    assert in_force is not None
    code: i64 = in_force.code
    pack_size: i64 = game.pack.size
    trump: i64 = state.trump
    size: i64 = state.size
    seat: i64 = state.turn
    hands, ring, side, points_of = state.hands, state.next, state.side, state.points_of
    exempt: i64 = 0 if size < 3 or code else game.exempt
    lead: i64 = 4
    best: i64 = 0  # strength of the card that is winning, in suit best_suit
    best_suit: i64 = 4
    best_lead: i64 = 0  # strength of the highest card of the suit led
    winner: i64 = seat
    points: i64 = 0
    table: list[int] = []
    place: i64 = 0
    while place < size:
        hand = hands[seat]
        suit: i64 = -1  # a suit whose cards `mask` are legal; -1: every card is
        mask: i64 = 0
        if place and code != 1:
            held: i64 = hand[lead]
            trumps: i64 = hand[trump]
            if code == 0:
                with_mate = exempt != 0 and winner != seat and side[winner] == side[seat]
                if held:
                    suit = lead
                    mask = held
                    if with_mate and exempt == 2:
                        pass
                    elif best_suit == lead:
                        mask = held & (FULL << (best + 1))
                    elif rules.beat_after_trumped:
                        mask = held & (FULL << (best_lead + 1))
                    if not mask:
                        mask = held
                elif trumps and lead != trump and not with_mate:
                    mask = trumps
                    if best_suit == trump:
                        mask = trumps & (FULL << (best + 1))
                        if not mask and rules.undertrump:
                            mask = trumps
                    if mask:
                        suit = trump
            elif code == 2:  # TRUMP_FOLLOW
                if lead == trump and held:
                    suit, mask = lead, held
            elif held:
                suit, mask = lead, held
            elif code == 4 and trumps:  # FOLLOW_OR_TRUMP
                suit, mask = trump, trumps
        n: i64 = 0
        if suit < 0:
            a: i64 = COUNT[hand[0]]
            b: i64 = a + COUNT[hand[1]]
            c: i64 = b + COUNT[hand[2]]
            n = dice.below(c + COUNT[hand[3]])
            if n < a:
                suit = 0
            elif n < b:
                suit = 1
                n -= a
            elif n < c:
                suit = 2
                n -= b
            else:
                suit = 3
                n -= c
            mask = hand[suit]
        else:
            n = dice.below(COUNT[mask])
        while n:
            mask &= mask - 1
            n -= 1
        strength: i64 = LOWEST[mask]
        hand[suit] = hand[suit] ^ (mask & -mask)
        card: i64 = suit * pack_size + strength
        points += points_of[card]
        table.append(card)
        if not place:
            lead = best_suit = suit
            best = best_lead = strength
        elif suit == best_suit:
            if strength > best:
                best = strength
                winner = seat
        elif suit == trump:
            best_suit = suit
            best = strength
            winner = seat
        if suit == lead and strength > best_lead:
            best_lead = strength
        place += 1
        if place < size:
            seat = ring[seat]
    state.turn = seat
    state.table = table
    state.lead = lead
    state.best = best_suit * pack_size + best
    state.winner = winner
    state.table_points = points
    state.extra = ()
    state.legal = None
    tricks.complete(state)


assert (legality.STRICT, legality.FREE, legality.TRUMP_FOLLOW, legality.FOLLOW_OR_TRUMP) == (0, 1, 2, 4)
