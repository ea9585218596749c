"""A trick in machine words: which cards are legal (`engine.match.trick.legality`), who wins, and what its end brings (`match.trick.tricks`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.rules.obligations import FOLLOW_OR_TRUMP, FREE, STRICT, TRUMP_FOLLOW
from engine.search.playouts import announcing, windows
from engine.search.playouts.lane import Lane
from engine.search.playouts.program import Cards, Duties
from engine.search.playouts.words import FOLD, count, pick

if TYPE_CHECKING:
    from mypy_extensions import i64


def play(t: Lane) -> None:  # noqa: C901 - written out like its twin in engine.match
    """Plays one trick, or the rest of one, and goes on to the next lead. May end the deal."""
    p = t.program
    duties, cards, dice, hands, ring, side = p.duties, p.cards, t.dice, t.hands, t.ring, t.side
    code: i64 = duties.open if t.n > 0 else duties.empty
    no_load = duties.open_no_load if t.n > 0 else duties.empty_no_load
    exempt: i64 = duties.exempt if t.size > 2 else 0
    own_turn = p.swaps.own_turn or duties.accuses
    size: i64 = t.size
    place: i64 = t.in_trick
    seat: i64 = t.turn
    lead: i64 = cards.suit[t.lead]
    trump: i64 = cards.suit[t.trump]
    best: i64 = t.best
    winner: i64 = t.winner
    table: i64 = t.table if place else 0
    points: i64 = t.table_points if place else 0
    while place < size:
        hand: i64 = hands[seat]
        legal: i64 = hand
        extra: i64 = 0
        if place:
            if code != FREE:
                mate: i64 = exempt if exempt and winner != seat and side[winner] == side[seat] else 0
                legal = followers(duties, code, hand, lead, trump, best, table, mate)
                if no_load:
                    legal = without_loading(cards, legal, best, trump)
        elif p.merged and t.last_trick >= 0:
            extra = windows.before_lead(t, seat, hand)
        if own_turn:
            extra |= windows.own_turn(t, seat)
        n: i64 = count(legal)
        chosen: i64 = dice.below(n + count(extra)) if extra else dice.below(n)
        if chosen >= n:
            announcing.carry_out(t, seat, pick(extra, chosen - n))
            if t.ended:
                return
            continue
        card: i64 = pick(legal, chosen)
        number: i64 = cards.place[card % FOLD]
        hands[seat] = hand ^ card
        points += cards.points[number]
        table |= card
        if not place:
            lead = cards.suit[cards.suit_of[number]]
            best = card
            winner = seat
        elif card & trump:
            if not best & trump or card > best:
                best = card
                winner = seat
        elif card & lead and not best & trump and card > best:
            best = card
            winner = seat
        if duties.cycles:
            t.played[place] = card
            t.played_by[place] = seat
            if card & trump:
                lead = trump
                t.trump = duties.cycle[t.trump]
                trump = cards.suit[t.trump]
                winner = _best_after_cycle(t, place, trump, lead)
                best = t.best
        place += 1
        seat = ring[seat]
    t.in_trick = 0
    t.winner = winner
    t.table = table
    t.table_points = points
    windows.trick_over(t)


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


def _best_after_cycle(t: Lane, place: i64, trump: i64, lead: i64) -> i64:
    """Who is winning after trump has moved on; `t.best` is set to the card."""
    best: i64 = 0
    winner: i64 = 0
    while place >= 0:
        card: i64 = t.played[place]
        if card & trump:
            if not best & trump or card > best:
                best = card
                winner = t.played_by[place]
        elif card & lead and not best & trump and card > best:
            best = card
            winner = t.played_by[place]
        place -= 1
    t.best = best
    return winner
