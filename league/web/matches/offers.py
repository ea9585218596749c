"""The legal actions of a person as a form (`matches/parts/offer.html`), and their choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from league.web.common import words

MANY = 8  # More numbers than this become a list instead of buttons.


@dataclass(frozen=True)
class Choice:
    """One legal action: the text of the protocol and the text of the button."""

    do: str
    text: str


@dataclass(frozen=True)
class Held:
    """A card of the person's hand; `do` is empty if it cannot be played now."""

    card: str
    name: str
    do: str


@dataclass
class Offer:
    """All legal actions, as the page shows them."""

    hand: list[Held]
    words: list[Choice]  # Shown as buttons.
    numbers: list[Choice]  # Shown as a list.
    discards: bool  # The person selects cards of the hand and discards them together.
    least: int = 0
    most: int = 0


SUITS, RANKS = "oceb", "13RCS76542"


def offer(legal: Sequence[str], hand_cards: Sequence[str]) -> Offer:
    """Turn legal actions into cards of the hand, buttons and a list of numbers."""
    plays = {text.partition(" ")[2]: text for text in legal if text.startswith("play ")}
    puts = [text.split()[1:] for text in legal if text == "discard" or text.startswith("discard ")]
    hand = sorted(hand_cards, key=lambda card: (SUITS.find(card[-1]), RANKS.find(card[0])))
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
    """Return the chosen action. The form sends discarded cards one by one; match them with the order of the engine."""
    do = request.POST.get("do", "")
    if do != "discard":
        return do or request.POST.get("number", "")
    cards = set(request.POST.getlist("put"))
    matching = [text for text in legal if text.startswith("discard") and set(text.split()[1:]) == cards]
    return matching[0] if matching else " ".join([do, *sorted(cards)])
