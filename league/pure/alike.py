"""Similar code: fingerprints of programs by winnowing over their tokens (Schleimer, Wilkerson, Aiken, SIGMOD 2003).

Names of variables, comments and layout do not count, nor do numbers and texts, so a renamed copy has the fingerprints of its model; and a copy in
another order has most of them. The result points at passages for people to look at. It is no verdict: short tasks have similar solutions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from zlib import crc32

K = 14  # Tokens of a fingerprint: shorter coincidences are not seen.
WINDOW = 6  # One fingerprint of this many neighbours is kept, so that copies of K + WINDOW - 1 tokens are always seen.
USUAL = 0.5  # Fingerprints in more than this share of all texts are common to the task.
FEW_TEXTS = 6  # With fewer texts, no fingerprint counts as common.
NEAR = 4  # Lines that belong to one passage.
# Words that carry the structure of a program in the languages that authors use; other words are names.
WORDS = frozenset(
    re.findall(
        r"\w+",
        "and as async await break case catch class const continue def default del do elif else enum except extends finally fn for from "
        "function global if impl import in is lambda let loop match mod mut new nonlocal not or pass pub raise return self static struct "
        "super switch this throw trait try typeof use var void where while with yield None True False null true false",
    )
)
TOKEN = re.compile(
    r"""(?P<skip>\#[^\n]*|//[^\n]*|/\*.*?\*/|\s+)|(?P<text>'''.*?'''|\"\"\".*?\"\"\"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)


def tokens(text: str) -> list[tuple[str, int]]:
    """Return the tokens of a program with their lines, from 1. All names become the same token; so do all numbers, and all texts."""
    row, line = [], 1
    for token in TOKEN.finditer(text):
        kind, word = token.lastgroup, token.group()
        if kind == "word":
            row.append((word if word in WORDS else "n", line))
        elif kind == "sign":
            row.append((word, line))
        elif kind in ("number", "text"):
            row.append(("0", line))
        line += word.count("\n")
    return row


def fingerprints(text: str) -> dict[int, list[int]]:
    """Return the fingerprints of a program, each with the lines at which it begins."""
    row = tokens(text)
    hashes = [crc32(" ".join(word for word, _line in row[i : i + K]).encode()) for i in range(len(row) - K + 1)]
    winnowed: dict[int, list[int]] = defaultdict(list)
    last = -1
    for start in range(max(0, len(hashes) - WINDOW + 1)):
        window = hashes[start : start + WINDOW]
        least = min(window)
        place = start + max(index for index, value in enumerate(window) if value == least)
        if place != last:
            winnowed[least].append(row[place][1])
            last = place
    return dict(winnowed)


@dataclass(frozen=True)
class LikePair:
    """Two texts that are alike. share: the part of the shorter one's own fingerprints that the other has; passages: (first, last) lines in each."""

    first: str
    other: str
    share: float
    common: int
    passages: list[tuple[tuple[int, int], tuple[int, int]]]


def compare(
    texts: Mapping[str, str],
    templates: Iterable[str] = (),
    origins: Mapping[str, str] | None = None,
    *,
    least_share: float = 0.3,
    least_common: int = 8,
) -> list[LikePair]:
    """Return the pairs of texts that are alike, the most alike first. What stands in a template, or in most texts, does not count.

    origins: the text that a text says it comes from. What stands there does not count between two texts with the same origin.
    """
    origins = origins or {}
    origin_prints = {text: frozenset(fingerprints(text)) for text in set(origins.values())}
    prints = {name: fingerprints(text) for name, text in texts.items()}
    left_out = {value for template in templates for value in fingerprints(template)}
    if len(texts) >= FEW_TEXTS:
        spread = Counter(value for values in prints.values() for value in values)
        left_out |= {value for value, count in spread.items() if count > USUAL * len(texts)}
    own = {name: values.keys() - left_out for name, values in prints.items()}
    by_value: dict[int, list[str]] = defaultdict(list)
    for name in sorted(own):
        for value in own[name]:
            by_value[value].append(name)
    common: Counter[tuple[str, str]] = Counter()
    for names in by_value.values():
        common.update((first, other) for index, first in enumerate(names) for other in names[index + 1 :])
    pairs = []
    for (first, other), count in common.items():
        if count < least_common:
            continue
        origin = origins.get(first) if origins.get(first) == origins.get(other) else None
        no_copy = origin_prints[origin] if origin is not None else frozenset()
        both = (own[first] & own[other]) - no_copy
        share = len(both) / max(1, min(len(own[first] - no_copy), len(own[other] - no_copy)))
        if len(both) >= least_common and share >= least_share:
            pairs.append(LikePair(first, other, share, len(both), _passages(prints[first], prints[other], both)))
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.common, pair.first, pair.other))


def _passages(
    first: Mapping[int, list[int]], other: Mapping[int, list[int]], both: Iterable[int]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the passages that two texts share, the longest first: neighbours in both texts belong together."""
    places = sorted((first[value][0], other[value][0]) for value in both)
    runs: list[list[tuple[int, int]]] = []
    for a, b in places:
        if runs and a - runs[-1][-1][0] <= NEAR and abs(b - runs[-1][-1][1]) <= NEAR:
            runs[-1].append((a, b))
        else:
            runs.append([(a, b)])
    spans = [((run[0][0], run[-1][0]), (min(b for _a, b in run), max(b for _a, b in run))) for run in runs]
    return sorted(spans, key=lambda span: span[0][0] - span[0][1])
