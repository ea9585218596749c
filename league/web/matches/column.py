"""A sitting as plain text, like a newspaper's bridge column: hands by suit, one line for each trick. For mail, grep and readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from league.web.common.words import SUITS, suit_name
from league.web.matches.narrate import QUIET, narrate

Moment = dict[str, Any]
RANK_ORDER = "13RCS765420"
# Events without a line: the diagram and the lines of tricks show them.
SHOWN_OTHERWISE = frozenset({"play", "trick", "deal", "match"})


def column(board: int, sitting: int, names: Sequence[str], bots: Sequence[str], moments: Sequence[Moment]) -> str:
    """Return one sitting as text. Cards are written as in the protocol (1o, Rc), everything else in the reader's language."""
    head = _("Board %(board)s, seating %(sitting)s") % {"board": board, "sitting": sitting + 1}
    return "\n".join([head, "=" * len(head), *_body(names, bots, moments), ""])


def _body(names: Sequence[str], bots: Sequence[str], moments: Sequence[Moment]) -> Iterator[str]:
    sentences = iter(narrate(moments, names, bots))
    trick: list[str] = []
    number = 0
    for moment in moments:
        sentence = None if moment["e"] in QUIET else next(sentences)
        if moment["e"] == "deal":
            number, trick = 0, []
            yield ""
            yield str(strip_tags(sentence.html)) if sentence else ""
            yield from _hands(names, moment)
        elif moment["e"] == "play":
            trick.append(f"{names[moment['seat']]} {moment['card']}")
        elif moment["e"] == "trick":
            number += 1
            yield f"{number:3}. {'  '.join(trick)}  -> {names[moment['seat']]} +{moment['points']}"
            trick = []
        if sentence and moment["e"] not in SHOWN_OTHERWISE:
            yield f"     * {strip_tags(sentence.html)}"
    if trick:
        yield f"     {'  '.join(trick)}"


def _hands(names: Sequence[str], moment: Moment) -> Iterator[str]:
    width = max(map(len, names))
    for name, hand in zip(names, moment.get("hands") or (), strict=False):
        if not hand:
            continue
        by_suit = [
            (suit, sorted((card[:-1] for card in hand if card[-1] == suit), key=RANK_ORDER.find)) for suit in SUITS
        ]
        yield f"     {name:<{width}}  " + "   ".join(
            f"{suit_name(suit)} {' '.join(ranks) or '-'}" for suit, ranks in by_suit
        )
