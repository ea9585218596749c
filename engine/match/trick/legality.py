"""Which cards a follower may play (README of the rules book, section 4).

Every obligation comes down to two tables of ready tuples: `ftab`, asked with the holding of the suit led, and `htab`, asked with the
holding of trumps when that is empty. Where they give nothing every card is legal. Which tables these are depends on the card that is
winning, and stands ready for each obligation and trump in `Tables`: playing a card looks them up and never asks what the obligation is.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.cards.pack import NO_SUIT, Pack, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.match.state import State
    from engine.rules.parameters import Rules

STRICT: Final = 0
FREE: Final = 1
TRUMP_FOLLOW: Final = 2
FOLLOW: Final = 3
FOLLOW_OR_TRUMP: Final = 4
CODES = {
    "strict": STRICT,
    "free": FREE,
    "trump_follow": TRUMP_FOLLOW,
    "follow": FOLLOW,
    "follow_or_trump": FOLLOW_OR_TRUMP,
}
EXEMPTIONS = ("none", "trump_only", "all")  # partner_exempt


class Tables(NamedTuple):
    """What followers may play under one obligation and one trump."""

    follow: list[Table]  # `ftab` by the winning card, while it is of the suit led
    ruffed: list[Table]  # `ftab` by the suit led, while a trump is winning another suit
    void: Table  # `htab` while no trump has been played on another suit
    over: list[Table]  # `htab` by the trump that is winning


class InForce(NamedTuple):
    """The obligation of a trick. `modified`: followers' cards depend on more than its tables: who is winning, the cards led."""

    code: int
    no_load: bool
    modified: bool
    tables: tuple[Tables, ...]  # by trump, NO_SUIT included


def in_force(rules: Rules, word: str, pack: Pack, points: list[int]) -> InForce:
    """What an obligation word means under these rules. Modifiers and NL belong to STRICT only."""
    code = CODES[word]
    strict = code == STRICT
    no_load = rules.no_load and strict
    modified = strict and (rules.beat_after_trumped or rules.partner_exempt != "none")
    loads = tuple(points) if no_load else ()
    tables = tuple(_tables(pack, code, trump, rules.undertrump, loads) for trump in range(NO_SUIT + 1))
    return InForce(code, no_load, modified, tables)


def _tables(pack: Pack, code: int, trump: int, undertrump: bool, loads: tuple[int, ...]) -> Tables:
    held, nothing = pack.all, pack.nothing
    cards, suits = range(len(pack.texts)), range(NO_SUIT)
    trumps = nothing if trump == NO_SUIT else held[trump]
    free = [nothing for _ in cards]
    if code == FREE:
        return Tables(free, [nothing for _ in suits], nothing, free)
    if code == TRUMP_FOLLOW:  # QT
        follow = [held[trump] if pack.suit[card] == trump else nothing for card in cards]
        return Tables(follow, [nothing for _ in suits], nothing, free)
    if code == FOLLOW:  # F1, F3
        return Tables([held[pack.suit[card]] for card in cards], held, nothing, free)
    if code == FOLLOW_OR_TRUMP:  # F1 to F3
        return Tables([held[pack.suit[card]] for card in cards], held, trumps, [trumps for _ in cards])
    if loads:
        follow, ruffed = _unloaded(pack, loads)
    else:
        follow, ruffed = pack.follow, held
    return Tables(follow, ruffed, trumps, follow if undertrump else pack.higher)  # P2 to P7


@cache
def _unloaded(pack: Pack, points: tuple[int, ...]) -> tuple[list[Table], list[Table]]:
    """`follow` and `ruffed` under NL: of a holding that cannot win only the cards of least value."""
    least = [[_least(cards, points) for cards in row] for row in pack.all]
    follow = []
    for row, suit in zip(pack.higher, pack.suit, strict=True):
        follow.append([winning or least[suit][mask] for mask, winning in enumerate(row)])
    return follow, least


def enforce(state: State, rule: InForce) -> None:
    """Puts an obligation in force, for the trump of the moment."""
    state.in_force = rule
    state.no_load = rule.no_load
    state.modified = rule.modified
    state.watched = rule.modified or state.own_turn
    state.heard = state.log is not None or state.rules.on_play is not None
    state.follow, state.ruffed, state.void, state.over = rule.tables[state.trump]


def set_trump(state: State, suit: int) -> None:
    """Fixes trump (NO_SUIT: none) and with it what followers may play."""
    state.trump = suit
    if state.in_force is not None:
        enforce(state, state.in_force)


def set_best(state: State, card: int, seat: int) -> None:
    """Says who is winning the trick, and with which card, where trump or the suit led have moved during the trick."""
    state.best, state.winner = card, seat
    state.best_suit = suit = state.suit_of[card]
    if suit == state.lead:
        state.ftab, state.htab = state.follow[card], state.void
    else:
        state.ftab, state.htab = state.ruffed[state.lead], state.over[card]


def cards(state: State) -> tuple[int, ...]:
    """Legal cards of the seat on turn. `State.apply` and `tricks.next_lead` have most of them ready without asking here."""
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


def _modified(state: State) -> tuple[int, ...]:
    """Legal cards of a follower where its partner's winning card exempts it, or a trumped suit must still be beaten; empty: all."""
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
    return _least(legal, state.points_of) if state.no_load and not would_win(state, legal[0]) else legal


def would_win(state: State, card: int) -> bool:
    """Whether a card, played now, would be winning the trick."""
    suit = state.suit_of[card]
    return card > state.best if suit == state.best_suit else suit == state.trump


def lightest(state: State) -> tuple[int, ...]:
    """NL where no card of the hand can win: those of least value."""
    coins, cups, swords, batons = state.held
    a, b, c, d, _ = state.hand
    for worth in state.game.worth_masks:
        legal = coins[a & worth] + cups[b & worth] + swords[c & worth] + batons[d & worth]
        if legal:
            return legal
    return ()


def _least(cards: tuple[int, ...], points: Sequence[int]) -> tuple[int, ...]:
    least = min([points[card] for card in cards], default=0)
    return tuple([card for card in cards if points[card] == least])
