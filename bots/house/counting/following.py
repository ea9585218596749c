"""The rule of a trick: the cards that a follower may play, and those that would win (README of the rules book, section 4).

The engine, the search, the language kits and the house bot `counting` call these functions or build tables from them. `counting` carries a copy of
this file, so this file imports nothing.

A set of cards is a mask with one bit a card. Each suit has bits of its own, at most 15, the strongest card highest; any layout of suits will do.
`led` and `trump` are the masks of whole suits, `trump` is 0 in a deal without trumps, and `best` is the bit of the card that is winning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.rules.parameters import Rules

# A duty is one of these codes, with a bit for each modifier.
STRICT: Final = 0
FREE: Final = 1
TRUMP_FOLLOW: Final = 2
FOLLOW: Final = 3
FOLLOW_OR_TRUMP: Final = 4
CODE: Final = 7  # the bits of the code
UNDERTRUMP: Final = 8
BEAT_AFTER_TRUMPED: Final = 16
EXEMPT: Final = 32  # a seat whose partner is winning need not trump
EXEMPT_ALL: Final = 64  # a seat whose partner is winning need not beat it either; set together with EXEMPT
NO_LOAD: Final = 128
MODIFIED: Final = BEAT_AFTER_TRUMPED | EXEMPT  # the duty depends on the partner or on the cards that were led
CODES = {
    "strict": STRICT,
    "free": FREE,
    "trump_follow": TRUMP_FOLLOW,
    "follow": FOLLOW,
    "follow_or_trump": FOLLOW_OR_TRUMP,
}
EXEMPTIONS = {"none": 0, "trump_only": EXEMPT, "all": EXEMPT | EXEMPT_ALL}

# What a duty demands of the cards of one suit in a hand, given the card to beat.
ANY: Final = 0  # nothing: any card of the hand will do
ALL: Final = 1  # one of them
HIGHER_OR_ALL: Final = 2  # a higher one if there is one, else one of them
HIGHER_OR_ANY: Final = 3  # a higher one if there is one, else any card of the hand


def duty_number(rules: Rules, word: str) -> int:
    """Return the duty that an obligation word means under these rules."""
    return duty_of(word, rules.undertrump, rules.beat_after_trumped, rules.partner_exempt, rules.no_load)


def duty_of(word: str, undertrump: bool, beat_after_trumped: bool, partner_exempt: str, no_load: bool) -> int:
    """Return the duty of an obligation word and its modifiers, which belong to STRICT only."""
    code = CODES[word]
    if code != STRICT:
        return code
    return (
        EXEMPTIONS[partner_exempt]
        | (UNDERTRUMP if undertrump else 0)
        | (BEAT_AFTER_TRUMPED if beat_after_trumped else 0)
        | (NO_LOAD if no_load else 0)
    )


def followers(duty: i64, hand: i64, led: i64, trump: i64, best: i64, table: i64, with_partner: bool) -> i64:  # noqa: C901 - the hot path: a call costs more than a branch
    """Return the cards of a hand with which its seat may follow, before `lightest`.

    `table` holds the cards of the trick so far; `with_partner` says that the seat's partner is winning it.
    """
    code: i64 = duty & CODE
    in_suit: i64 = hand & led
    if code:
        if code == FREE or (code == TRUMP_FOLLOW and led != trump):
            return hand
        if in_suit:
            return in_suit
        ruffs: i64 = hand & trump if code == FOLLOW_OR_TRUMP else 0
        return ruffs if ruffs else hand
    if in_suit:
        higher: i64 = 0
        if with_partner and duty & EXEMPT_ALL:
            return in_suit
        if led == trump or not best & trump:
            higher = in_suit & -(best + best)
        elif duty & BEAT_AFTER_TRUMPED:
            higher = in_suit & _above(table & led)
        return higher if higher else in_suit
    if led == trump or (with_partner and duty & EXEMPT):
        return hand
    ruffs = hand & trump
    if best & trump:
        over: i64 = ruffs & -(best + best)
        if over or not duty & UNDERTRUMP:
            ruffs = over
    return ruffs if ruffs else hand


def winners(cards: i64, best: i64, led: i64, trump: i64) -> i64:
    """Return the cards, among `cards`, that would be winning the trick once played."""
    if best & trump:
        return cards & trump & -(best + best)
    return cards & (trump | (led & -(best + best)))


def lightest(cards: i64, by_worth: list[int]) -> i64:
    """Return the cards of least point value. `by_worth` holds a mask for each value, the least first."""
    for mask in by_worth:
        least: i64 = cards & mask
        if least:
            return least
    return cards


def demands(duty: int) -> list[tuple[int, int]]:
    """Return what a duty demands of a hand's cards of the suit led and, if it has none, of its trumps.

    The list is indexed by the situation: 4 if trumps were led, plus 2 if a trump is winning another suit, plus 1 if the partner is winning. The card
    to beat is the highest of the same suit on the table.
    """
    # A model: three cards of the suit led, three trumps and another card. The middle cards lie on the table.
    led, trump, other = 0b111, 0b111 << 4, 1 << 8
    low, middle, high = 0b001, 0b010, 0b100

    def demand(place: int, trumps: int, best: int, with_partner: bool) -> int:
        def legal(cards: int) -> int:
            return followers(duty, cards << place | other, led, trumps, best, middle | best, with_partner)

        if legal(low | high) & other:
            return ANY
        if legal(low | high) == (low | high) << place:
            return ALL
        return HIGHER_OR_ANY if legal(low) & other else HIGHER_OR_ALL

    by_situation = []
    for situation in range(8):
        trumps = led if situation & 4 else trump
        best = middle << 4 if situation & 2 else middle
        with_partner = situation & 1 == 1
        of_led = demand(0, trumps, best, with_partner)
        by_situation.append((of_led, ANY if situation & 4 else demand(4, trumps, best, with_partner)))
    return by_situation


def _above(cards: i64) -> i64:
    """Return every bit above the highest one of a set of cards of one suit."""
    a: i64 = cards | cards >> 1
    b: i64 = a | a >> 2
    c: i64 = b | b >> 4
    return ~(c | c >> 8)
