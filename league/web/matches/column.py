"""A sitting as plain text, like a newspaper's bridge column: hands by suit, one line per trick. For mail, grep and readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from league.web.common.words import SUITS, suit_name
from league.web.matches.narrate import narrate

Event = dict[str, Any]
RANK_ORDER = "13RCS765420"
UNTOLD = frozenset({"play", "trick", "deal", "match"})  # told by the diagram and the lines of tricks


def column(board: int, sitting: int, names: Sequence[str], bots: Sequence[str], events: Sequence[Event]) -> str:
    """The text of one sitting. Card texts are those of the protocol (1o, Rc); the rest is in the reader's language."""
    head = _("Board %(board)s, sitting %(sitting)s") % {"board": board, "sitting": sitting + 1}
    return "\n".join([head, "=" * len(head), *_body(names, bots, events), ""])


def _body(names: Sequence[str], bots: Sequence[str], events: Sequence[Event]) -> Iterator[str]:
    told = iter(narrate(events, names, bots))
    trick: list[str] = []
    number = 0
    for event in events:
        line = None if event["e"] == "match" else next(told)
        if event["e"] == "deal":
            number, trick = 0, []
            yield ""
            yield str(strip_tags(line.html)) if line else ""
            yield from _hands(names, event)
        elif event["e"] == "play":
            trick.append(f"{names[event['seat']]} {event['card']}")
        elif event["e"] == "trick":
            number += 1
            yield f"{number:3}. {'  '.join(trick)}  -> {names[event['seat']]} +{event['points']}"
            trick = []
        if line and event["e"] not in UNTOLD:
            yield f"     * {strip_tags(line.html)}"
    if trick:
        yield f"     {'  '.join(trick)}"


def _hands(names: Sequence[str], event: Event) -> Iterator[str]:
    width = max(map(len, names))
    for name, hand in zip(names, event.get("hands") or (), strict=False):
        if not hand:
            continue
        by_suit = [
            (suit, sorted((card[:-1] for card in hand if card[-1] == suit), key=RANK_ORDER.find)) for suit in SUITS
        ]
        yield f"     {name:<{width}}  " + "   ".join(
            f"{suit_name(suit)} {' '.join(ranks) or '-'}" for suit, ranks in by_suit
        )
