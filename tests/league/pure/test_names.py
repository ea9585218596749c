"""Names by Unicode's rules: what a name may hold, and which names look alike."""

from __future__ import annotations

import re
import unicodedata

import pytest

from league.pure import names


@pytest.mark.parametrize(
    "name",
    [
        "rufo-2",
        "Liga de otoño (2026), n.º 3 — «Ñandú»",
        "¡Olé! ¿Quién va?",
        "Café d’été · 1ª",
        "Việt Nam",
        "Лига",
        "Ελλάδα 7",
        "東京リーグ A",
        "대한 리그",
        "ליגה",
        "लीग",
    ],
)
def test_names_of_many_languages_are_kept_as_they_are(name: str) -> None:
    assert names.check(name) == unicodedata.normalize("NFC", name)


def test_a_name_is_kept_composed_with_one_space_between_words() -> None:
    assert names.check("  Liga   de oton\u0303o ") == "Liga de otoño"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Cup\u3164", "character 4 of the name, U+3164 HANGUL FILLER, is invisible"),
        ("\u2800", "character 1 of the name, U+2800 BRAILLE PATTERN BLANK, is invisible"),
        ("a\u200bb", "U+200B ZERO WIDTH SPACE, is invisible"),
        ("a\u00a0b", "U+00A0 NO-BREAK SPACE, is invisible"),
        ("a\ufe0f", "U+FE0F VARIATION SELECTOR-16, is invisible"),
        ("a\tb", "U+0009, is invisible"),
        ("a\u202eb", "U+202E RIGHT-TO-LEFT OVERRIDE, changes the direction of the text"),
        ("\u2067ab", "U+2067 RIGHT-TO-LEFT ISOLATE, changes the direction of the text"),
        ("a\u200fb", "U+200F RIGHT-TO-LEFT MARK, changes the direction of the text"),
        ("gr\u0435edy", "character 3 of the name, U+0435 CYRILLIC SMALL LETTER IE, is Cyrillic among Latin letters"),
        ("Αna", "character 2 of the name, U+006E LATIN SMALL LETTER N, is Latin among Greek letters"),
        ("東京ж", "U+0436 CYRILLIC SMALL LETTER ZHE, is Cyrillic among Han letters"),
        ("ｇreedy", "U+FF47 FULLWIDTH LATIN SMALL LETTER G, is another form of 'g'"),
        ("𝐠reedy", "U+1D420 MATHEMATICAL BOLD SMALL G, is another form of 'g'"),
        ("x²", "U+00B2 SUPERSCRIPT TWO, is another form of '2'"),
        ("\u2603", "U+2603 SNOWMAN, is not a letter, digit, accent or common punctuation"),
        ("a\u20ddb", "U+20DD COMBINING ENCLOSING CIRCLE, is not a letter, digit, accent or common punctuation"),
        ("ᚱᚢᚠ", "U+16B1 RUNIC LETTER RAIDO RAD REID R, belongs to a script that is not in everyday use"),
        ("1٢", "character 2 of the name, U+0662 ARABIC-INDIC DIGIT TWO, is a digit of another kind"),
        ("Z" + "\u0301" * 59, "the letter 'Z' of the name has too many accents (at U+0301 COMBINING ACUTE ACCENT)"),
        (
            "Z\u0300\u0301\u0302\u0303\u0304",
            "the letter 'Z' of the name has too many accents (at U+0304 COMBINING MACRON)",
        ),
        ("-\u0301", "the accent U+0301 COMBINING ACUTE ACCENT of the name has no letter"),
        ("i\u0307", "the accent U+0307 COMBINING DOT ABOVE of the name is invisible on 'i'"),
    ],
)
def test_what_cannot_be_seen_or_told_apart_is_refused_with_the_character(name: str, why: str) -> None:
    with pytest.raises(names.BadName, match=re.escape(why)):
        names.check(name)


def test_four_different_accents_on_a_letter_are_the_most() -> None:
    assert names.check("Z\u0300\u0301\u0302\u0303") == "Z\u0300\u0301\u0302\u0303"


def alike(name: str, other: str) -> bool:
    return not names.skeletons(name).isdisjoint(names.skeletons(other))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("greedy", "GREEDY"),
        ("greedy", "gr\u0435\u0435dy"),
        ("paypal", "рaураl"),  # UTS 39, section 4
        ("coco", "сосо"),
        ("scope", "ѕсоре"),
        ("max", "rnax"),
        ("ideal", "Ideal"),
        ("ldeal", "Ideal"),
        ("bot-1", "bot-l"),
        ("bot0", "boto"),
        ("ΝΑΝ", "nan"),
        ("Liga de otoño", "liga  de oton\u0303o"),
        ("a-b", "a--b"),
        ("ana", "a\u3164n\u200ba"),
        ("ꓢꓲꓠꓖ", "SING"),
    ],
)
def test_names_that_look_the_same_share_a_skeleton(name: str, other: str) -> None:
    assert alike(name, other)


@pytest.mark.parametrize(
    ("name", "other"),
    [("ana", "anna"), ("ñandú", "nandu"), ("liga 1", "liga 2"), ("ideal", "ldeal"), ("rufo", "rufa"), ("ab", "a-b")],
)
def test_names_that_can_be_told_apart_share_none(name: str, other: str) -> None:
    assert not alike(name, other)


def test_every_character_that_looks_like_another_shares_the_skeleton_of_its_prototype() -> None:
    """The table of the library, read in both directions, is one of stars: each kind has one in the middle."""
    table = names.prototypes()

    assert len(table) > 6000
    assert [char for char, whole in table.items() if any(part in table for part in whole)] == []
    assert {char: table[char] for char in "1I|0mа"} == {"1": "l", "I": "l", "|": "l", "0": "O", "m": "rn", "а": "a"}


def test_a_skeleton_is_its_own_skeleton() -> None:
    looks = {look for code in range(0x20, 0x600) for look in names.skeletons(chr(code))}

    assert {look for look in looks if names.skeletons(look) != {look}} == set()


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("Liga, stage 2", "Liga"),
        ("Liga, Stage 2, group 11", "Liga"),
        ("Liga 3.1", "Liga"),
        ("Liga 3", "Liga 3"),
        ("stage 2", "stage 2"),
        (", stage 2", ", stage 2"),
    ],
)
def test_a_part_bears_the_name_of_the_whole(name: str, whole: str) -> None:
    assert names.without_part(name) == whole
