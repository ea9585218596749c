"""Actions as small ints, the same numbers in every game, and their texts.

A card number is the play of that card, so the commonest action needs no arithmetic. The rest follow in fixed blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Final

from engine.cards.pack import Pack
from engine.errors import EngineError

PLAY_END: Final = 52  # 0..51: play that card
SING: Final = 52  # + suit
TUTE: Final = 56  # + index in TUTE_RANKS
TUTE_RANKS: Final = "RCS"
EXCHANGE_SEVEN: Final = 60  # + suit
EXCHANGE_TWO: Final = 64  # + suit
PASS: Final = 68
CLAIM: Final = 69
CAPOTE: Final = 70
TAKE: Final = 71  # the bonus of the last trick
DECLINE: Final = 72
JOIN: Final = 73
OUT: Final = 74
PLAY: Final = 75  # the call "play" of codillo and bato
TRUMP: Final = 80  # + suit
CALL: Final = 84  # + card
PREDICT: Final = 136  # + tricks, 0..17
ACCUSE: Final = 160  # + seat, 0..5
BID: Final = 200  # + points, 0..230
DISCARD: Final = 1000  # + base-53 digits, 1 + card for each card put away, ascending; 1000 itself keeps all

_WORDS = {
    PASS: "pass",
    CLAIM: "claim",
    CAPOTE: "capote",
    TAKE: "take",
    DECLINE: "decline",
    JOIN: "join",
    OUT: "out",
    PLAY: "play",
}
# verb of an action with a number: the action of nought, and the highest number
_NUMBERED = {"predict": (PREDICT, 17), "bid": (BID, 230), "accuse": (ACCUSE, 5)}
_NUMBERS = {word: number for number, word in _WORDS.items()}


def discard(cards: tuple[int, ...]) -> int:
    """Return the action that puts these cards away (at most four)."""
    code = 0
    for card in sorted(cards, reverse=True):
        code = code * 53 + 1 + card
    return DISCARD + code


def discards(hand: tuple[int, ...], least: int, most: int) -> list[int]:
    """Return the actions, in ascending order, that put away `least` to `most` (at most four) cards of an ascending hand."""
    if least == 0 and len(hand) == 4:
        return _discards_of_four(hand)[: _UP_TO[most]]
    actions = [DISCARD] if least == 0 else []
    if least <= 1 <= most:
        actions += [DISCARD + 1 + a for a in hand]
    if least <= 2 <= most:
        actions += [DISCARD + 54 + a + 53 * b for a, b in combinations(hand, 2)]
    if least <= 3 <= most:
        actions += [DISCARD + 2863 + a + 53 * b + 2809 * c for a, b, c in combinations(hand, 3)]
    if least <= 4 <= most:
        actions += [DISCARD + 151740 + a + 53 * b + 2809 * c + 148877 * d for a, b, c, d in combinations(hand, 4)]
    return actions


_UP_TO = (1, 5, 11, 15, 16)  # ways to put away at most 0, 1, 2, 3, 4 of four cards


def _discards_of_four(hand: tuple[int, ...]) -> list[int]:
    """Return `discards` of any number of cards of a hand of four. The sums are written out because bato needs them very often."""
    a, b, c, d = hand
    a += DISCARD + 1  # each card as the first digit
    b += DISCARD + 1
    c += DISCARD + 1
    d += DISCARD + 1
    c2, d2 = 53 * (c - DISCARD), 53 * (d - DISCARD)  # the last two cards as the second digit
    d3 = 53 * d2
    ab, ac, bc = a + 53 * (b - DISCARD), a + c2, b + c2
    abc = ab + 53 * c2
    return [DISCARD, a, b, c, d, ab, ac, a + d2, bc, b + d2, c + d2, abc, ab + d3, ac + d3, bc + d3, abc + 53 * d3]


def discarded(action: int) -> tuple[int, ...]:
    """Return the cards that a discard action puts away, ascending."""
    code = action - DISCARD
    cards = []
    while code:
        code, digit = divmod(code, 53)
        cards.append(digit - 1)
    return tuple(cards)


def text(pack: Pack, action: int) -> str:
    """Return the text of an action, such as 'play 1o', for logs and the protocol. Raises EngineError for a number that is no action."""
    if action in _WORDS:
        return _WORDS[action]
    if action >= DISCARD:
        return " ".join(["discard", *(pack.text(card) for card in discarded(action))])
    for first, end, verb, object_text in _BLOCKS:
        if first <= action < end:
            return f"{verb} {object_text(pack, action - first)}"
    raise EngineError(f"unknown action {action!r}")


def _suit(pack: Pack, number: int) -> str:
    return pack.suits[number]


# first number, number after the last, verb, and the text of the object by its place in the block
_BLOCKS: tuple[tuple[int, int, str, Callable[[Pack, int], str]], ...] = (
    (0, PLAY_END, "play", Pack.text),
    (SING, TUTE, "sing", _suit),
    (TUTE, TUTE + len(TUTE_RANKS), "tute", lambda pack, place: TUTE_RANKS[place]),
    (EXCHANGE_SEVEN, EXCHANGE_TWO, "exchange", lambda pack, place: "7" + pack.suits[place]),
    (EXCHANGE_TWO, PASS, "exchange", lambda pack, place: "2" + pack.suits[place]),
    (TRUMP, CALL, "trump", _suit),
    (CALL, PREDICT, "call", Pack.text),
    (PREDICT, PREDICT + 18, "predict", lambda pack, place: str(place)),
    (ACCUSE, ACCUSE + 6, "accuse", lambda pack, place: str(place)),
    (BID, BID + 231, "bid", lambda pack, place: str(place)),
)


def parse(pack: Pack, text: str) -> int:
    """Return the action that a text names. Raises EngineError, with the text and an example, if it names none."""
    if text in _NUMBERS:
        return _NUMBERS[text]
    verb, *rest = text.split(" ")
    if verb == "discard" and len(rest) <= 4:
        return discard(tuple(pack.parse(card) for card in rest))
    action = _parsed(pack, verb, rest[0]) if len(rest) == 1 else None
    if action is None:
        raise EngineError(f"unknown action {text!r}: write e.g. 'play 1o', 'sing c', 'pass', 'bid 70'")
    return action


def _parsed(pack: Pack, verb: str, name: str) -> int | None:
    """Return the action of a verb and its object, or None if there is no such verb or object. Raises EngineError for an unknown card or suit."""
    if verb in ("play", "call"):
        return (CALL if verb == "call" else 0) + pack.parse(name)
    if verb in ("sing", "trump"):
        return (SING if verb == "sing" else TRUMP) + pack.parse_suit(name)
    if verb == "tute" and name in tuple(TUTE_RANKS):
        return TUTE + TUTE_RANKS.index(name)
    if verb == "exchange" and name[:1] in ("7", "2"):
        return (EXCHANGE_SEVEN if name[0] == "7" else EXCHANGE_TWO) + pack.parse_suit(name[1:])
    if verb in _NUMBERED and name.isascii() and name.isdigit() and len(name) <= 3:
        number = int(name)
        first, most = _NUMBERED[verb]
        if number <= most and str(number) == name:
            return first + number
    return None
