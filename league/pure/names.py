"""Names by Unicode's rules (UTS 39): which characters a name may have, and which names look alike.

The tables of look-alikes and scripts are Unicode's, as shipped by `confusable_homoglyphs`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from confusable_homoglyphs import categories, utils

from engine.packages import manifest
from league.pure.refusal import Refusal, translatable

MOST_ACCENTS = 4  # On one letter; UTS 39 (5.4) and ICU refuse more.
LONGEST_SKELETON = 400
# Allowed besides the letters, accents and digits of scripts in everyday use. Plain ASCII text is always allowed.
PUNCTUATION = frozenset("¡¿·ªº°’‘“”«»–—…€№♠♥♦♣×")
# UAX 31, table 5: scripts in everyday use. Characters of no single script are COMMON or INHERITED.
EVERYDAY = """
    ARABIC ARMENIAN BENGALI BOPOMOFO CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HAN HANGUL
    HEBREW HIRAGANA KANNADA KATAKANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAANA THAI
    TIBETAN
"""
SCRIPTS = frozenset(EVERYDAY.split())
SHARED = frozenset(("COMMON", "INHERITED"))
# UTS 39 (5.2), highly restrictive: one script, or one of these writing systems that combine several.
MIXTURES = (
    frozenset(("LATIN", "HAN", "HIRAGANA", "KATAKANA")),
    frozenset(("LATIN", "HAN", "BOPOMOFO")),
    frozenset(("LATIN", "HAN", "HANGUL")),
)
DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
SOFT_DOTTED = frozenset("ijlıȷ")  # A dot above them looks like their own dot.
DOT_ABOVE = "\u0307"
# The endings of the names of stages, groups, seasons and divisions (league.domain.tournaments.events, circuits).
PART = re.compile(r"(?:\s*,\s*(?:stage|group)\s*\d+|\s+\d+\.\d+)+\s*$", re.IGNORECASE)


class BadName(Refusal):
    """A name that looks like another, or has invisible characters. The message names the character and the reason."""


def check(name: str) -> str:
    """Return the name in its stored form: composed (NFC), with single spaces. Raise BadName for the first character that is not allowed."""
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
            translatable("character {place} of the name, {char}, changes the direction of the text; leave it out"),
            place,
            char,
        )
    if kind == "Zs" or not manifest.printable(char):
        raise _bad(translatable("character {place} of the name, {char}, is invisible; leave it out"), place, char)
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
                "character {place} of the name, {char}, is not a letter, digit, accent or common punctuation; leave it out"
            ),
            place,
            char,
        )
    if categories.alias(char) not in SCRIPTS | SHARED:
        raise _bad(
            translatable(
                "character {place} of the name, {char}, belongs to a script that is not in everyday use; leave it out"
            ),
            place,
            char,
        )


def _bad(message: str, place: int, char: str, **values: object) -> BadName:
    return BadName(message, place=place, char=_described(char), **values)


def _described(char: str) -> str:
    """Describe a character by number and name, because it may be invisible."""
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()


def _check_scripts(name: str) -> None:
    """Require one script, or the combination of a writing system that uses several."""
    scripts: dict[str, tuple[int, str]] = {}
    for place, char in enumerate(name, 1):
        script = categories.alias(char)
        if script not in SHARED:
            scripts.setdefault(script, (place, char))
        if len(scripts) > 1 and not any(scripts.keys() <= mixture for mixture in MIXTURES):
            first = next(iter(scripts))
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
                    "character {place} of the name, {char}, is a digit of another kind than those before; use one kind of digits"
                ),
                place,
                char,
            )


def _check_accents(name: str) -> None:
    """Raise BadName for too many accents on one letter.

    `name` is decomposed; messages give no position, because a letter and its accents may be one character of the original.
    """
    letter, accents = "", ""
    for char in name:
        if unicodedata.category(char) != "Mn":
            letter, accents = char, ""
            continue
        accents += char
        if unicodedata.category(letter or " ")[0] not in "LM":
            raise BadName(
                translatable("the accent {char} of the name has no letter; leave it out"), char=_described(char)
            )
        if len(accents) > MOST_ACCENTS or accents.count(char) > 1:
            raise BadName(
                translatable(
                    "the letter {letter!r} of the name has too many accents (at {char}); use each accent once, and at most {most} per letter"
                ),
                letter=letter,
                char=_described(char),
                most=MOST_ACCENTS,
            )
        if char == DOT_ABOVE and letter in SOFT_DOTTED:
            raise BadName(
                translatable("the accent {char} of the name is invisible on {letter!r}; leave it out"),
                char=_described(char),
                letter=letter,
            )


def without_part(name: str) -> str:
    """Return the name without the part that names a stage, group, season or division: "Liga, stage 2" and "Liga 3.1" give "Liga"."""
    return PART.sub("", name) or name


def skeletons(name: str) -> frozenset[str]:
    """Return the skeletons of a name: two names that share one of them can pass for each other.

    One skeleton is that of UTS 39, made lower case afterwards; the other is that of the lower-case name: `Ideal` looks like `ldeal`, and reads like
    `ideal`. Repeated spaces and hyphens count once.
    """
    return frozenset((_caseless(_prototypes(name)), _caseless(name)))


def _caseless(text: str) -> str:
    # Repeat, because the prototype of some small letters is a capital, and that of some capitals two small letters.
    for _ in range(3):
        text = _prototypes(text.casefold())
    text = text.casefold()
    return re.sub(r"([-_ ])\1+", r"\1", text).strip()[:LONGEST_SKELETON]


def _prototypes(text: str) -> str:
    """Apply UTS 39, section 4: decompose the text and replace each character by its prototype."""
    visible = (char for char in unicodedata.normalize("NFD", text) if manifest.printable(char))
    table = prototypes()
    return unicodedata.normalize("NFD", "".join(table.get(char, char) for char in visible))


@functools.cache
def prototypes() -> dict[str, str]:
    """Map each character that looks like another to the prototype of its group.

    The library has Unicode's table in both directions: from each character to its prototype, and from the prototype to all of the group. So the
    prototype of a group is the character that all others point to. If two point to each other, the prototype is the one that has several
    characters, or is part of another prototype, or is plain ASCII.
    """
    # The library puts direction marks around right-to-left characters.
    listed: dict[str, list[dict[str, str]]] = utils.load("confusables.json")
    alike = {_bare(key): [_bare(row["c"]) for row in rows] for key, rows in listed.items()}
    parts = {char for key in alike if len(key) > 1 for char in key}
    table = dict(_pairs(alike, parts))
    # Replace parts of a prototype that have prototypes of their own: the choice above between two characters makes that possible.
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
