"""The cards that a follower may play, looked up in the tables of the obligation in force (`engine.rules.obligations`)."""

from __future__ import annotations

from engine.cards.pack import NO_SUIT
from engine.match.data import Data
from engine.rules.following import winners
from engine.rules.obligations import InForce, least_of


def enforce(state: Data, rule: InForce) -> None:
    """Put an obligation in force, for the present trump."""
    state.in_force = rule
    state.no_load = rule.no_load
    state.modified = rule.modified
    state.watched = rule.modified or state.own_turn
    state.follow, state.ruffed, state.void, state.over = rule.tables[state.trump]


def set_trump(state: Data, suit: int) -> None:
    """Set trump (NO_SUIT: none), and with it what followers may play."""
    state.trump = suit
    if state.in_force is not None:
        enforce(state, state.in_force)


def cards(state: Data) -> tuple[int, ...]:
    """Return the legal cards of the seat on turn. In most turns `State.apply` or `tricks.next_lead` has looked them up already."""
    hand = state.hand
    legal: tuple[int, ...] = ()
    if state.best_suit != NO_SUIT:
        mask = hand[state.lead]
        if state.modified:
            legal = _modified(state)
            if state.no_load:
                return _unloaded(state, legal or state.game.pack.in_hand(hand))
        else:
            legal = state.ftab[mask] if mask else state.htab[hand[state.trump]]
            if state.no_load and not legal:
                legal = lightest(state)
    return legal or state.game.pack.in_hand(hand)


def _modified(state: Data) -> tuple[int, ...]:
    """Return the legal cards under a modified duty: the partner is winning, or a ruffed suit must still be beaten. Empty: all cards."""
    lead, hand, seat, rule = state.lead, state.hand, state.turn, state.in_force
    mask = hand[lead]
    if rule is not None and state.winner != seat and state.side[state.winner] == state.side[seat]:
        follow, ruffed, void, over = rule.with_partner[state.trump]
        if state.best_suit == lead:
            return follow[state.best][mask] if mask else void[hand[state.trump]]
        return ruffed[highest_led(state)][mask] if mask else over[state.best][hand[state.trump]]
    if mask and state.best_suit != lead and state.rules.beat_after_trumped:
        return state.ruffed[highest_led(state)][mask]
    return state.ftab[mask] if mask else state.htab[hand[state.trump]]


def highest_led(state: Data) -> int:
    """Return the highest card of the suit led on the table."""
    lead, suit_of = state.lead, state.suit_of
    return max([card for card in state.table if suit_of[card] == lead])


def _unloaded(state: Data, legal: tuple[int, ...]) -> tuple[int, ...]:
    """Apply NL: return the cards of least value if none of them would win."""
    pack = state.game.pack
    mask = sum([pack.flag[card] for card in legal])
    if winners(mask, pack.flag[state.best], pack.suit_flags[state.lead], pack.suit_flags[state.trump]):
        return legal
    return least_of(legal, state.points_of)


def lightest(state: Data) -> tuple[int, ...]:
    """Return the cards of least value of a hand that cannot win."""
    coins, cups, swords, batons = state.held
    a, b, c, d, _ = state.hand
    for worth in state.game.worth_masks:
        legal = coins[a & worth] + cups[b & worth] + swords[c & worth] + batons[d & worth]
        if legal:
            return legal
    return ()
