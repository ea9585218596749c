"""The change of cards of bato (`engine.match.opening.joining`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.search.kernel import codes
from engine.search.kernel.state import KernelState
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def offer(t: KernelState) -> None:
    """Set the subsets of the hand that the seat on turn may put away, ascending; the lowest bit stands for no card."""
    took: i64 = 1 if t.took_shown == t.turn else 0
    most: i64 = _most(t, took)
    subsets = t.program.deals.subsets
    legal: i64 = 0
    size: i64 = took
    while size <= most:
        legal |= subsets[size]
        size += 1
    t.legal = legal & t.program.deals.subsets_of[count(t.hands[t.turn])]
    may_take = t.program.deals.takes_shown and t.turn == t.dealer and t.shown >= 0 and most > 0 and not took
    t.extra = t.program.cards.bit[act.TAKE - act.SING] if may_take else 0


def subset_at(t: KernelState, number: i64) -> i64:
    """Return the subset at a place of `State.legal_actions`: few cards before many, then in the order of `itertools.combinations`."""
    took: i64 = 1 if t.took_shown == t.turn else 0
    return t.program.deals.by_size[32 * count(t.hands[t.turn]) + number + took]


def act_upon(t: KernelState, action: i64) -> i64:
    """Take the shown card, or change a subset of the hand; then ask the next seat in play."""
    seat: i64 = t.turn
    cards = t.program.cards
    if action == act.TAKE:
        t.took_shown = seat
        t.hands[seat] = t.hands[seat] | cards.bit[t.shown]
        t.shown = -1
        offer(t)
        return steps.WAIT
    due: i64 = -1 if t.took_shown == seat else 0
    subset: i64 = action - codes.DISCARDS
    rest: i64 = t.hands[seat]
    while subset:
        lowest: i64 = rest & -rest
        if subset & 1:
            t.hands[seat] = t.hands[seat] ^ lowest
            due += 1
        rest ^= lowest
        subset >>= 1
    while due > 0:
        if t.top == t.end:
            _shuffle_in(t)
        t.hands[seat] = t.hands[seat] | cards.bit[t.deck[t.top]]
        t.top += 1
        due -= 1
    t.changed += 1
    if t.changed == t.size:
        return steps.STAGE
    t.turn = t.active[t.changed]
    offer(t)
    return steps.WAIT


def _most(t: KernelState, took: i64) -> i64:
    """Return how many cards the seat on turn may put away."""
    return min(t.program.deals.discard_max, _undealt(t) + took)


def _undealt(t: KernelState) -> i64:
    """Return the number of cards still to be had, including the hands of seats that are out if those are shuffled in."""
    cards: i64 = t.end - t.top
    if t.program.deals.reshuffles:
        seat: i64 = 0
        while seat < t.seats:
            if t.thrown & t.program.cards.bit[seat]:
                cards += count(t.hands[seat])
            seat += 1
    return cards


def _shuffle_in(t: KernelState) -> None:
    """Shuffle the cards of the seats that are out; they become the undealt cards."""
    cards, deck, bit = t.program.cards, t.deck, t.program.cards.bit
    thrown: i64 = 0
    seat: i64 = 0
    while seat < t.seats:
        if t.thrown & bit[seat]:
            thrown |= t.hands[seat]
            t.hands[seat] = 0
        seat += 1
    t.thrown = 0
    n: i64 = 0
    place: i64 = 0
    while place < cards.size:  # In the order of the pack before the shuffle.
        if thrown & bit[cards.deck[place]]:
            deck[n] = cards.deck[place]
            n += 1
        place += 1
    i: i64 = n
    while i > 1:
        j: i64 = t.dice.below(i)
        i -= 1
        card: i64 = deck[i]
        deck[i] = deck[j]
        deck[j] = card
    # The engine takes the last card first.
    t.top = 0
    t.end = n
    i = 0
    j = n - 1
    while i < j:
        card = deck[i]
        deck[i] = deck[j]
        deck[j] = card
        i += 1
        j -= 1
