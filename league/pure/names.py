"""Names by Unicode's rules (UTS 39): which characters a name may hold, and whether two names look alike.

The tables of look-alikes and of scripts are those of Unicode, as `confusable_homoglyphs` ships them.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from confusable_homoglyphs import categories, utils

from engine.packages import manifest
from league.pure.refusal import Refusal, translatable

MOST_ACCENTS = 4  # on one letter; UTS 39 (5.4) and ICU refuse more
LONGEST_SKELETON = 400
# Besides letters, accents and digits of a script in everyday use. What is plain ASCII text may stand in a name anyway.
PUNCTUATION = frozenset("¡¿·ªº°’‘“”«»–—…€№♠♥♦♣×")
# UAX 31, table 5: scripts in everyday use. What belongs to no script of its own is COMMON or INHERITED.
EVERYDAY = """
    ARABIC ARMENIAN BENGALI BOPOMOFO CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HAN HANGUL
    HEBREW HIRAGANA KANNADA KATAKANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAANA THAI
    TIBETAN
"""
SCRIPTS = frozenset(EVERYDAY.split())
SHARED = frozenset(("COMMON", "INHERITED"))
# UTS 39 (5.2), highly restrictive: one script, or one of these ways to write that take several.
MIXTURES = (
    frozenset(("LATIN", "HAN", "HIRAGANA", "KATAKANA")),
    frozenset(("LATIN", "HAN", "BOPOMOFO")),
    frozenset(("LATIN", "HAN", "HANGUL")),
)
DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
SOFT_DOTTED = frozenset("ijlıȷ")  # a dot above them cannot be told from their own
DOT_ABOVE = "\u0307"
# How the names of stages, groups, seasons and divisions end (league.domain.tournaments.events, circuits)
PART = re.compile(r"(?:\s*,\s*(?:stage|group)\s*\d+|\s+\d+\.\d+)+\s*$", re.IGNORECASE)


class BadName(Refusal):
    """A name that cannot be told from another, or not be seen; the message says which character and why."""


def check(name: str) -> str:
    """The name as it is kept: composed (NFC), one space between words. Raises BadName for the first character that it may not hold."""
    name = unicodedata.normalize("NFC", re.sub(" +", " ", name.strip(" ")))
    for place, char in enumerate(name, 1):
        _check_character(place, char)
    _check_scripts(name)
    _check_digits(name)
    _check_accents(unicodedata.normalize("NFD", name))
    return name


def _check_character(place: int, char: str) -> None:
    if " " <= char <= "~" or char in PUNCTUATION:
        return
    kind = unicodedata.category(char)
    if char in DIRECTION:
        raise _bad(
            translatable("character {place} of the name, {char}, turns the text around; leave it out"), place, char
        )
    if kind == "Zs" or not manifest.printable(char):
        raise _bad(translatable("character {place} of the name, {char}, cannot be seen; leave it out"), place, char)
    plain = unicodedata.normalize("NFKC", char)
    if plain != char and kind[0] in "LN":
        raise _bad(
            translatable("character {place} of the name, {char}, is another form of {plain!r}; write that"),
            place,
            char,
            plain=plain,
        )
    if kind[0] != "L" and kind not in ("Mn", "Mc", "Nd"):
        raise _bad(
            translatable(
                "character {place} of the name, {char}, is no letter, digit, accent or ordinary punctuation; leave it out"
            ),
            place,
            char,
        )
    if categories.alias(char) not in SCRIPTS | SHARED:
        raise _bad(
            translatable(
                "character {place} of the name, {char}, is of a script that is not in everyday use; leave it out"
            ),
            place,
            char,
        )


def _bad(message: str, place: int, char: str, **values: object) -> BadName:
    return BadName(message, place=place, char=_told(char), **values)


def _told(char: str) -> str:
    """A character by number and name, since seeing it may be what cannot be done."""
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()


def _check_scripts(name: str) -> None:
    """One script, or the mixture of a language that takes several."""
    found: dict[str, tuple[int, str]] = {}
    for place, char in enumerate(name, 1):
        script = categories.alias(char)
        if script not in SHARED:
            found.setdefault(script, (place, char))
        if len(found) > 1 and not any(found.keys() <= mixture for mixture in MIXTURES):
            first = next(iter(found))
            raise _bad(
                translatable(
                    "character {place} of the name, {char}, is {script} among {first} letters, which can look the same; "
                    "keep to one script"
                ),
                place,
                char,
                script=script.title(),
                first=first.title(),
            )


def _check_digits(name: str) -> None:
    zeros: set[int] = set()
    for place, char in enumerate(name, 1):
        if unicodedata.category(char) == "Nd":
            zeros.add(ord(char) - unicodedata.decimal(char))
        if len(zeros) > 1:
            raise _bad(
                translatable(
                    "character {place} of the name, {char}, is a digit of another kind than those before; use one kind"
                ),
                place,
                char,
            )


def _check_accents(name: str) -> None:
    """`name` decomposed. Places are not told here: a letter and its accents may be one character of what was typed."""
    letter, accents = "", ""
    for char in name:
        if unicodedata.category(char) != "Mn":
            letter, accents = char, ""
            continue
        accents += char
        if unicodedata.category(letter or " ")[0] not in "LM":
            raise BadName(
                translatable("the accent {char} of the name stands on no letter; leave it out"), char=_told(char)
            )
        if len(accents) > MOST_ACCENTS or accents.count(char) > 1:
            raise BadName(
                translatable(
                    "the letter {letter!r} of the name has too many accents (at {char}); one letter takes each once, and {most} in all"
                ),
                letter=letter,
                char=_told(char),
                most=MOST_ACCENTS,
            )
        if char == DOT_ABOVE and letter in SOFT_DOTTED:
            raise BadName(
                translatable("the accent {char} of the name cannot be seen on {letter!r}; leave it out"),
                char=_told(char),
                letter=letter,
            )


def without_part(name: str) -> str:
    """The name of what a stage, group, season or division is a part of: of "Liga, stage 2" and "Liga 3.1" it is "Liga"."""
    return PART.sub("", name) or name


def skeletons(name: str) -> frozenset[str]:
    """What names that look like `name` have in common with it: two names that share one of these can pass for each other.

    One is the skeleton of UTS 39 with the case of letters forgotten afterwards, the other that of the name without case: `Ideal`
    looks like `ldeal`, and reads like `ideal`. Spaces and hyphens count once, however many stand together.
    """
    return frozenset((_caseless(_prototypes(name)), _caseless(name)))


def _caseless(text: str) -> str:
    # The prototype of some small letters is a capital, and of some capitals two small letters
    for _ in range(3):
        text = _prototypes(text.casefold())
    text = text.casefold()
    return re.sub(r"([-_ ])\1+", r"\1", text).strip()[:LONGEST_SKELETON]


def _prototypes(text: str) -> str:
    """UTS 39, section 4: the text decomposed, each character replaced by the one that stands for all that look like it."""
    seen = (char for char in unicodedata.normalize("NFD", text) if manifest.printable(char))
    table = prototypes()
    return unicodedata.normalize("NFD", "".join(table.get(char, char) for char in seen))


@functools.cache
def prototypes() -> dict[str, str]:
    """From each character that looks like another to what stands for all of its kind.

    The library gives the table of Unicode in both directions: from each character to its prototype, and from there back to all.
    So the prototype is the one that all others of its kind point to. Where two point to each other, it is the one that is not a
    single character, or part of another prototype, or plain ASCII.
    """
    # The library frames right-to-left characters by marks of direction
    given: dict[str, list[dict[str, str]]] = utils.load("confusables.json")
    alike = {_bare(key): [_bare(one["c"]) for one in ones] for key, ones in given.items()}
    parts = {char for key in alike if len(key) > 1 for char in key}
    table = dict(_pairs(alike, parts))
    # What a prototype is made of may have one itself, where the two of a pair were to be told apart by us
    return {char: "".join(table.get(part, part) for part in whole) for char, whole in table.items()}


def _pairs(alike: dict[str, list[str]], parts: set[str]) -> Iterator[tuple[str, str]]:
    for char, others in alike.items():
        if len(char) > 1 or len(others) > 1:
            continue
        (other,) = others
        if len(alike[other]) > 1 or _rank(other, parts) > _rank(char, parts):
            yield char, other


def _rank(text: str, parts: set[str]) -> tuple[bool, bool, bool, int]:
    return len(text) > 1, text in parts, text.isascii(), -ord(text[0])


def _bare(text: str) -> str:
    return text.strip("\u200e")
