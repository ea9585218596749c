"""The legal actions of the seat on turn, in the numbers of `engine.search.encoding`.

Three fields of the state hold them, so that most questions need only a mask or two:

    legal  a mask; its lowest bit is the action `BASES[phase]`: a card, a card to call, a prediction, a subset of the hand to put away
    extra  a mask; its lowest bit is the action SING: songs, tutes, exchanges, "pass" and all other words, trumps to name; bit 32 is ACCUSE
    bids   the number of legal bids, from `low_bid` on
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.cards import actions as act
from engine.search.kernel import announcing, codes, discarding
from engine.search.kernel.state import KernelState
from engine.search.masks import FOLD, count, pick

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

# bits of `extra`: the action less SING
PASS: Final = 65536
CAPOTE: Final = 262144
TAKE: Final = 524288
DECLINE: Final = 1048576
JOIN: Final = 2097152
OUT: Final = 4194304
PLAY: Final = 8388608
TRUMPS: Final = 15 * 268435456
SEVENS: Final = 15 * 256


def base(phase: i64) -> i64:
    """Return the action that the lowest bit of `legal` stands for."""
    if phase == codes.CARD:
        return 0
    if phase == codes.CHANGE_CARDS:
        return codes.DISCARDS
    return act.PREDICT if phase == codes.PREDICTIONS else act.CALL


def by_chance(t: KernelState) -> i64:
    """Return a random legal action, claims and accusations excepted: the dice give its index in `State.legal_actions`."""
    place, phase = t.program.cards.place, t.phase
    extra: i64 = t.extra & announcing.BY_CHANCE
    cards: i64 = count(t.legal) if t.legal else 0
    words: i64 = count(extra) if extra else 0
    number: i64 = t.dice.below(cards + words + t.bids)
    if number < cards:
        if phase == codes.CHANGE_CARDS:
            return codes.DISCARDS + discarding.subset_at(t, number)
        return base(phase) + place[pick(t.legal, number) % FOLD]
    number -= cards
    if number >= words:
        return act.BID + t.low_bid + (number - words) * t.program.deals.bid_step
    if extra == PASS | PLAY or extra == PASS | CAPOTE:  # In these two questions "pass" comes last.
        number = 1 - number
    return act.SING + place[pick(extra, number) % FOLD]


def write(t: KernelState, out: vec[i64], start: i64) -> i64:
    """Write all legal actions, claims included, ascending, to `out` from `start` on. Return their number."""
    at: i64 = start
    phase: i64 = t.phase
    if phase == codes.CARD:
        at = _write_mask(t, t.legal, 0, out, at)
    if t.extra:
        at = _write_mask(t, t.extra & announcing.WORDS, act.SING, out, at)
        if t.program.accuses:
            at = _write_mask(t, t.extra & ~announcing.WORDS, act.ACCUSE - 32, out, at)
    if phase < codes.CARD:
        if t.legal:
            at = _write_mask(t, t.legal, base(phase), out, at)
        bid: i64 = act.BID + t.low_bid
        end: i64 = at + t.bids
        while at < end:
            out[at] = bid
            at += 1
            bid += t.program.deals.bid_step
    return at - start


def _write_mask(t: KernelState, mask: i64, first: i64, out: vec[i64], at: i64) -> i64:
    """Write the actions of a mask whose lowest bit is the action `first`. Return the index after the last one."""
    place = t.program.cards.place
    while mask:
        lowest: i64 = mask & -mask
        out[at] = first + place[lowest % FOLD]
        at += 1
        mask ^= lowest
    return at
