"""Which cards a follower may play (README of the rules book, section 4).

Every obligation comes down to two tables of ready tuples: `ftab`, asked with the holding of the lead suit, and `htab`, asked with the
holding of trumps when that is empty. Where both give nothing every card is legal; `free` says so from the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.cards import NO_SUIT

if TYPE_CHECKING:
    from engine.rules import Rules
    from engine.state import State

STRICT, FREE, TRUMP_FOLLOW, FOLLOW, FOLLOW_OR_TRUMP = range(5)
CODES = {
    "strict": STRICT,
    "free": FREE,
    "trump_follow": TRUMP_FOLLOW,
    "follow": FOLLOW,
    "follow_or_trump": FOLLOW_OR_TRUMP,
}


def set_trump(state: State, suit: int) -> None:
    """Fixes trump (NO_SUIT: none) and with it what a void follower may ruff with while no trump is on the table."""
    state.trump = suit
    state.trumps = state.game.pack.nothing if suit == NO_SUIT else state.held[suit]


class InForce(NamedTuple):
    """The obligations of a trick. `plain`: the fast path of `State.apply` keeps the tables by itself; `kept`: it does while trump stays."""

    code: int
    plain: bool
    kept: bool
    no_load: bool
    free: bool


def in_force(rules: Rules, word: str) -> InForce:
    """What an obligation word means under these rules. NL belongs to STRICT only."""
    code = CODES[word]
    modified = rules.undertrump or rules.beat_after_trumped or rules.partner_exempt != "none"
    kept = code == FREE or (code == STRICT and not modified)
    plain = rules.on_play is None and kept
    return InForce(code, plain, kept, rules.no_load and code == STRICT, code == FREE)


def oblige(state: State) -> None:
    """Sets the tables for the next follower from the cards on the table."""
    rules = state.rules
    held = state.held
    lead, trump = state.lead, state.trump
    assert state.in_force is not None
    code = state.in_force.code
    nothing = state.game.pack.nothing
    if code in (FOLLOW, TRUMP_FOLLOW):
        state.free = code == TRUMP_FOLLOW and lead != trump
        state.ftab, state.htab = held[lead], nothing  # F1 F3, QT
        return
    trumps = state.trumps
    if code == FOLLOW_OR_TRUMP:
        state.ftab, state.htab = held[lead], trumps  # F1-F3
        return
    if code == FREE:
        return
    suit_of = state.suit_of
    if rules.partner_exempt != "none" and state.size > 2:
        follower = state.next[state.turn]
        if state.winner != follower and state.side[state.winner] == state.side[follower]:
            if rules.partner_exempt == "all":
                state.ftab, state.htab = held[lead], nothing  # PX all
                return
            trumps = nothing  # PX trump_only: void is free, otherwise P2-P4
    best = state.best
    if lead == trump:
        state.ftab, state.htab = state.follow_table[best], nothing  # P2, P5
    elif suit_of[best] != trump:
        state.ftab, state.htab = state.follow_table[best], trumps  # P3, P6
    else:
        if rules.beat_after_trumped:
            best_lead = max(card for card in state.table if suit_of[card] == lead)
            state.ftab = state.follow_table[best_lead]
        else:
            state.ftab = held[lead]  # P4
        if trumps is not nothing:
            trumps = state.follow_table[best] if rules.undertrump else state.higher_table[best]
        state.htab = trumps  # P7


def would_win(state: State, card: int) -> bool:
    """Whether a card, played now, would be winning the trick."""
    suit = state.suit_of[card]
    best = state.best
    if suit == state.suit_of[best]:
        return card > best
    return suit == state.trump


def without_loading(state: State, legal: tuple[int, ...]) -> tuple[int, ...]:
    """NL: of cards that cannot win only those of least point value. Under STRICT either all of a set would win or none."""
    if would_win(state, legal[0]):
        return legal
    points = state.points_of
    least = min(points[card] for card in legal)
    return tuple(card for card in legal if points[card] == least)
