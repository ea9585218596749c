"""The change of cards of bato in machine words (`engine.match.opening.auctions`, play then join)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.playouts.lane import Lane
from engine.search.playouts.words import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def change_cards(t: Lane) -> None:
    """From mano each seat in play puts cards away and receives as many from the undealt ones."""
    while t.changed < t.size:
        _change(t, t.active[t.changed])
        t.changed += 1


def _change(t: Lane, seat: i64) -> None:
    p, cards = t.program.deals, t.program.cards
    while True:
        took: i64 = 1 if t.took_shown == seat else 0
        held: i64 = count(t.hands[seat])
        most: i64 = min(p.discard_max, _undealt(t) + took)
        may_take: i64 = 1 if p.takes_shown and seat == t.dealer and t.shown >= 0 and most > 0 and not took else 0
        chosen: i64 = t.dice.below(_ways(held, took, most) + may_take)
        size: i64 = took
        while size <= most and chosen >= choose(held, size):
            chosen -= choose(held, size)
            size += 1
        if size <= most:
            break
        t.took_shown = seat
        t.hands[seat] = t.hands[seat] | cards.bit[t.shown]
        t.shown = -1
    t.hands[seat] = t.hands[seat] & ~subset(t.hands[seat], size, chosen)
    while size > took:
        if t.top == t.end:
            _shuffle_in(t)
        t.hands[seat] = t.hands[seat] | cards.bit[t.deck[t.top]]
        t.top += 1
        size -= 1


def _undealt(t: Lane) -> i64:
    """Cards that may still be had, those of the seats that are out included where they are shuffled in."""
    found: i64 = t.end - t.top
    if t.program.deals.reshuffles:
        seat: i64 = 0
        while seat < t.seats:
            if t.thrown & t.program.cards.bit[seat]:
                found += count(t.hands[seat])
            seat += 1
    return found


def _ways(held: i64, least: i64, most: i64) -> i64:
    total: i64 = 0
    size: i64 = least
    while size <= most:
        total += choose(held, size)
        size += 1
    return total


def choose(n: i64, k: i64) -> i64:
    """How many sets of k there are among n."""
    if k > n:
        return 0
    found: i64 = 1
    i: i64 = 0
    while i < k:
        found = found * (n - i) // (i + 1)
        i += 1
    return found


def subset(hand: i64, size: i64, number: i64) -> i64:
    """The set of so many cards that stands at a place in the order of `itertools.combinations`."""
    found: i64 = 0
    rest: i64 = hand
    while size > 0:
        lowest: i64 = rest & -rest
        rest ^= lowest
        with_it: i64 = choose(count(rest), size - 1)
        if number < with_it:
            found |= lowest
            size -= 1
        else:
            number -= with_it
    return found


def _shuffle_in(t: Lane) -> None:
    """The cards of the seats that are out become the undealt ones."""
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
    while place < cards.size:  # in the order of the pack as it is shuffled
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
    # the engine takes the last card first
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
