"""Which cards may be played, in machine words: `engine.match.trick.legality`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.rules.obligations import FOLLOW_OR_TRUMP, FREE, STRICT, TRUMP_FOLLOW
from engine.search.lanes.lane import Lane
from engine.search.lanes.program import Cards, Duties
from engine.search.words import FOLD

if TYPE_CHECKING:
    from mypy_extensions import i64


def cards(t: Lane, seat: i64) -> i64:
    """The cards that a seat may follow with."""
    duties, pack = t.program.duties, t.program.cards
    hand: i64 = t.hands[seat]
    code: i64 = duties.open
    no_load = duties.open_no_load
    if t.n <= 0:
        code = duties.empty
        no_load = duties.empty_no_load
    if code == FREE:
        return hand
    mate: i64 = 0
    if duties.exempt and t.size > 2 and t.winner != seat and t.side[t.winner] == t.side[seat]:
        mate = duties.exempt
    trump: i64 = pack.suit[t.trump]
    legal: i64 = followers(duties, code, hand, pack.suit[t.lead], trump, t.best, t.table, mate)
    return without_loading(pack, legal, t.best, trump) if no_load else legal


def followers(duties: Duties, code: i64, hand: i64, lead: i64, trump: i64, best: i64, table: i64, mate: i64) -> i64:  # noqa: C901 - written out like its twin in engine.match
    """The cards a follower may play. `lead` and `trump` are masks of suits; `mate`: the partner is winning, and what that exempts from."""
    held: i64 = hand & lead
    if code != STRICT:
        if code == TRUMP_FOLLOW and lead != trump:
            return hand
        if held:
            return held
        ruff: i64 = hand & trump if code == FOLLOW_OR_TRUMP else 0
        return ruff if ruff else hand
    if mate == 2:
        return held if held else hand
    if held:
        if lead == trump or not best & trump:
            higher: i64 = held & -(best + best)
        elif duties.beat_after:
            higher = held & _above(table & lead)
        else:
            return held
        return higher if higher else held
    if lead == trump or mate:
        return hand
    ruff = hand & trump
    if best & trump:
        higher = ruff & -(best + best)
        if higher:
            return higher
        if not duties.undertrump:
            return hand
    return ruff if ruff else hand


def _above(mask: i64) -> i64:
    """Every bit above the highest one of a mask (of one suit)."""
    a: i64 = mask | mask >> 1
    b: i64 = a | a >> 2
    c: i64 = b | b >> 4
    return ~(c | c >> 8)


def without_loading(cards: Cards, legal: i64, best: i64, trump: i64) -> i64:
    """Of cards that cannot win only those of least point value."""
    lowest: i64 = legal & -legal
    if lowest & trump and not best & trump:
        return legal
    if lowest > best and cards.suit_of[cards.place[lowest % FOLD]] == cards.suit_of[cards.place[best % FOLD]]:
        return legal
    level: i64 = 0
    while not legal & cards.worth[level]:
        level += 1
    return legal & cards.worth[level]
