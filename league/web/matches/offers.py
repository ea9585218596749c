"""What a person may do at a moment, as a page offers it (`matches/parts/offer.html`), and what they chose there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from league.web.common import words

MANY = 8  # numbers to choose from: more are a list


@dataclass(frozen=True)
class Choice:
    """Something that the person may do: the protocol's text, and what the button says."""

    do: str
    text: str


@dataclass(frozen=True)
class Held:
    """A card of the person's hand; `do` is empty where it may not be played now."""

    card: str
    name: str
    do: str


@dataclass
class Offer:
    """All that the person may do now, as the page shows it."""

    hand: list[Held]
    words: list[Choice]  # buttons
    numbers: list[Choice]  # many of one kind: a list
    discards: bool  # cards of the hand are marked, and put away together
    least: int = 0
    most: int = 0


SUITS, RANKS = "oceb", "13RCS76542"


def offer(legal: Sequence[str], held: Sequence[str]) -> Offer:
    """The choices of the protocol as buttons: cards of the hand, words, lists of numbers."""
    plays = {text.partition(" ")[2]: text for text in legal if text.startswith("play ")}
    puts = [text.split()[1:] for text in legal if text == "discard" or text.startswith("discard ")]
    hand = sorted(held, key=lambda card: (SUITS.find(card[-1]), RANKS.find(card[0])))
    others = [text for text in legal if not text.startswith(("play ", "discard"))]
    many = [text for text in others if " " in text]
    listed = many if len(many) > MANY else []
    return Offer(
        hand=[Held(card, words.card_name(card), plays.get(card, "")) for card in hand],
        words=[Choice(text, words.action_name(text)) for text in others if text not in listed],
        numbers=[Choice(text, words.action_name(text)) for text in listed],
        discards=bool(puts),
        least=min(map(len, puts), default=0),
        most=max(map(len, puts), default=0),
    )


def chosen(request: HttpRequest, legal: Sequence[str]) -> str:
    """What was chosen. Cards that are put away come one by one, in any order; the engine has its own."""
    do = request.POST.get("do", "")
    if do != "discard":
        return do or request.POST.get("number", "")
    wanted = set(request.POST.getlist("put"))
    there = [text for text in legal if text.startswith("discard") and set(text.split()[1:]) == wanted]
    return there[0] if there else " ".join([do, *sorted(wanted)])
