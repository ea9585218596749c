"""Which cards a follower may play (README of the rules book, section 4).

Playing a card looks into the tables of the obligation in force (`engine.rules.obligations`) and never asks what the obligation is.
"""

from __future__ import annotations

from engine.cards.pack import NO_SUIT
from engine.match.data import Data
from engine.rules.obligations import InForce, least_of


def enforce(state: Data, rule: InForce) -> None:
    """Puts an obligation in force, for the trump of the moment."""
    state.in_force = rule
    state.no_load = rule.no_load
    state.modified = rule.modified
    state.watched = rule.modified or state.own_turn
    state.follow, state.ruffed, state.void, state.over = rule.tables[state.trump]


def set_trump(state: Data, suit: int) -> None:
    """Fixes trump (NO_SUIT: none) and with it what followers may play."""
    state.trump = suit
    if state.in_force is not None:
        enforce(state, state.in_force)


def set_best(state: Data, card: int, seat: int) -> None:
    """Says who is winning the trick, and with which card, where trump or the suit led have moved during the trick."""
    state.best, state.winner = card, seat
    state.best_suit = suit = state.suit_of[card]
    if suit == state.lead:
        state.ftab, state.htab = state.follow[card], state.void
    else:
        state.ftab, state.htab = state.ruffed[state.lead], state.over[card]


def cards(state: Data) -> tuple[int, ...]:
    """Legal cards of the seat on turn. In most turns `State.apply` or `tricks.next_lead` has worked them out already."""
    hand = state.hand
    legal: tuple[int, ...] = ()
    if state.best_suit != NO_SUIT:
        mask = hand[state.lead]
        if state.modified:
            legal = _modified(state)
        else:
            legal = state.ftab[mask] if mask else state.htab[hand[state.trump]]
        if state.no_load and not legal:
            legal = lightest(state)
    return legal or state.game.pack.in_hand(hand)


def _modified(state: Data) -> tuple[int, ...]:
    """Legal cards of a follower whom its partner's winning card may exempt, or who must still beat a trumped suit; empty: all cards."""
    lead, hand = state.lead, state.hand
    mask = hand[lead]
    game, follower = state.game, state.turn
    with_mate = state.winner != follower and state.side[state.winner] == state.side[follower]
    exempt = game.exempt if with_mate else 0
    if not mask:
        return () if exempt else state.htab[hand[state.trump]]  # PX
    if exempt == 2:
        legal = state.held[lead][mask]  # PX all
    elif game.rules.beat_after_trumped and state.best_suit != lead:
        best_lead = max(card for card in state.table if state.suit_of[card] == lead)
        legal = game.pack.follow[best_lead][mask]
    else:
        legal = state.ftab[mask]
    return least_of(legal, state.points_of) if state.no_load and not would_win(state, legal[0]) else legal


def would_win(state: Data, card: int) -> bool:
    """Whether a card, played now, would be winning the trick."""
    suit = state.suit_of[card]
    return card > state.best if suit == state.best_suit else suit == state.trump


def lightest(state: Data) -> tuple[int, ...]:
    """The legal cards under NL when no card of the hand can win: those of least value."""
    coins, cups, swords, batons = state.held
    a, b, c, d, _ = state.hand
    for worth in state.game.worth_masks:
        legal = coins[a & worth] + cups[b & worth] + swords[c & worth] + batons[d & worth]
        if legal:
            return legal
    return ()
