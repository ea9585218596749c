"""Actions as small ints, the same numbers in every game, and their texts.

A card number is the play of that card, so the commonest action needs no arithmetic. The rest follow in fixed blocks.
"""

from __future__ import annotations

from itertools import combinations

from engine.cards.pack import Pack
from engine.errors import EngineError

PLAY_END = 52  # 0..51: play that card
SING = 52  # + suit
TUTE = 56  # + index in TUTE_RANKS
TUTE_RANKS = "RCS"
EXCHANGE_SEVEN = 60  # + suit
EXCHANGE_TWO = 64  # + suit
PASS = 68
CLAIM = 69
CAPOTE = 70
TAKE = 71  # the bonus of the last trick
DECLINE = 72
JOIN = 73
OUT = 74
PLAY = 75  # the call "play" of codillo and bato
ACCUSE = 76
TRUMP = 80  # + suit
CALL = 84  # + card
PREDICT = 136  # + tricks, 0..17
BID = 200  # + points, 0..230
DISCARD = 1000  # + 53-ary digits: 1 + card for each card put away, ascending; 1000 itself keeps all

_WORDS = {
    PASS: "pass",
    CLAIM: "claim",
    CAPOTE: "capote",
    TAKE: "take",
    DECLINE: "decline",
    JOIN: "join",
    OUT: "out",
    PLAY: "play",
    ACCUSE: "accuse",
}
_NUMBERS = {word: number for number, word in _WORDS.items()}


def discard(cards: tuple[int, ...]) -> int:
    """The action that puts these cards away (at most four)."""
    code = 0
    for card in sorted(cards, reverse=True):
        code = code * 53 + 1 + card
    return DISCARD + code


def discards(hand: tuple[int, ...], least: int, most: int) -> list[int]:
    """The actions that put away `least` to `most` (at most four) cards of a hand that is given ascending, by their number."""
    if least == 0 and len(hand) == 4:
        return _discards_of_four(hand)[: _UP_TO[most]]
    found = [DISCARD] if least == 0 else []
    if least <= 1 <= most:
        found += [DISCARD + 1 + a for a in hand]
    if least <= 2 <= most:
        found += [DISCARD + 54 + a + 53 * b for a, b in combinations(hand, 2)]
    if least <= 3 <= most:
        found += [DISCARD + 2863 + a + 53 * b + 2809 * c for a, b, c in combinations(hand, 3)]
    if least <= 4 <= most:
        found += [DISCARD + 151740 + a + 53 * b + 2809 * c + 148877 * d for a, b, c, d in combinations(hand, 4)]
    return found


_UP_TO = (1, 5, 11, 15, 16)  # so many ways to put away at most 0, 1, 2, 3, 4 of four cards


def _discards_of_four(hand: tuple[int, ...]) -> list[int]:
    """As `discards` of four cards, none to four of them: bato's hand, asked so often that it is written out."""
    a, b, c, d = hand
    a += DISCARD + 1  # each card in the first place
    b += DISCARD + 1
    c += DISCARD + 1
    d += DISCARD + 1
    c2, d2 = 53 * (c - DISCARD), 53 * (d - DISCARD)  # in the second place
    d3 = 53 * d2
    ab, ac, bc = a + 53 * (b - DISCARD), a + c2, b + c2
    abc = ab + 53 * c2
    return [DISCARD, a, b, c, d, ab, ac, a + d2, bc, b + d2, c + d2, abc, ab + d3, ac + d3, bc + d3, abc + 53 * d3]


def discarded(action: int) -> tuple[int, ...]:
    """The cards that a discard action puts away, ascending."""
    code = action - DISCARD
    cards = []
    while code:
        code, digit = divmod(code, 53)
        cards.append(digit - 1)
    return tuple(cards)


def text(pack: Pack, action: int) -> str:
    """'play 1o', 'sing c', 'bid 70', ...: what stands in logs and on the wire."""
    if action in _WORDS:
        return _WORDS[action]
    if action < 0:
        raise EngineError(f"unknown action {action!r}")
    if action < PLAY_END:
        return "play " + pack.text(action)
    if action < TUTE:
        return "sing " + pack.suits[action - SING]
    if action < TUTE + len(TUTE_RANKS):
        return "tute " + TUTE_RANKS[action - TUTE]
    if EXCHANGE_SEVEN <= action < PASS:
        return "exchange " + "72"[action >= EXCHANGE_TWO] + pack.suits[action & 3]
    if TRUMP <= action < CALL:
        return "trump " + pack.suits[action - TRUMP]
    if CALL <= action < PREDICT:
        return "call " + pack.text(action - CALL)
    if PREDICT <= action < PREDICT + 18:
        return f"predict {action - PREDICT}"
    if BID <= action <= BID + 230:
        return f"bid {action - BID}"
    if action >= DISCARD:
        return " ".join(["discard", *(pack.text(card) for card in discarded(action))])
    raise EngineError(f"unknown action {action!r}")


def parse(pack: Pack, words: str) -> int:
    """The action of a text; EngineError with the text and an example if it is none."""
    if words in _NUMBERS:
        return _NUMBERS[words]
    verb, *rest = words.split(" ")
    if verb == "discard" and len(rest) <= 4:
        return discard(tuple(pack.parse(card) for card in rest))
    if len(rest) == 1:
        object_ = rest[0]
        if verb == "play":
            return pack.parse(object_)
        if verb == "sing":
            return SING + pack.parse_suit(object_)
        if verb == "tute" and object_ in tuple(TUTE_RANKS):
            return TUTE + TUTE_RANKS.index(object_)
        if verb == "exchange" and object_[:1] in ("7", "2"):
            return (EXCHANGE_SEVEN if object_[0] == "7" else EXCHANGE_TWO) + pack.parse_suit(object_[1:])
        if verb == "trump":
            return TRUMP + pack.parse_suit(object_)
        if verb == "call":
            return CALL + pack.parse(object_)
        if verb in ("predict", "bid") and object_.isascii() and object_.isdigit() and len(object_) <= 3:
            number = int(object_)
            if number <= (17 if verb == "predict" else 230) and str(number) == object_:
                return (PREDICT if verb == "predict" else BID) + number
    raise EngineError(f"unknown action {words!r}: write e.g. 'play 1o', 'sing c', 'pass', 'bid 70'")
