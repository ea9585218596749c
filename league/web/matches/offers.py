"""The legal actions of a person as a form (`matches/parts/offer.html`), and the chosen action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils.translation import gettext as _

from league.web.common import words
from league.web.matches.record import french_card

SUITS, RANKS = "oceb", "13RCS76542"
EXTRAS = ("sing", "tute", "exchange")  # Announcements that the person would miss by playing a card.
NUMBERS = ("bid", "predict")


@dataclass(frozen=True)
class Choice:
    """One legal action: the protocol's text, the button's text, and the name for people who only hear it. suit, card: drawn beside the text."""

    do: str
    text: str
    name: str = ""
    suit: str = ""
    card: str = ""


@dataclass(frozen=True)
class Held:
    """A card of the person's hand; `do` is empty if it cannot be played now. face: its text, if our deck lacks the card."""

    card: str
    name: str
    do: str
    face: str = ""


@dataclass
class ActionOffer:
    """All legal actions, as the page shows them.

    extras: songs and exchanges. not_now: the button that declines them, or None. Its `do` is empty if playing a card declines them.
    """

    hand: list[Held]
    extras: list[Choice] = field(default_factory=list)
    not_now: Choice | None = None
    numbers: list[Choice] = field(default_factory=list)  # Bids, or numbers of tricks.
    cards: list[Choice] = field(default_factory=list)  # Cards to call.
    words: list[Choice] = field(default_factory=list)  # All other buttons.
    discards: bool = False  # True if the person selects cards of the hand to discard them together.
    least: int = 0
    most: int = 0

    @property
    def may_play(self) -> bool:
        """Return True if a card of the hand can be played now."""
        return any(entry.do for entry in self.hand)

    @property
    def filled(self) -> bool:
        """Return True if the first of the other buttons is the only possible action."""
        return len(self.words) == 1 and not (self.may_play or self.discards or self.numbers or self.cards)


def tidy(cards: Sequence[str]) -> list[str]:
    """Sort a hand by suit and strength."""
    return sorted(cards, key=lambda card: (SUITS.find(card[-1]), RANKS.find(card[0])))


def offer(
    legal: Sequence[str],
    hand_cards: Sequence[str],
    song_points: Mapping[str, int] | None = None,
    *,
    french: bool = False,
) -> ActionOffer:
    """Turn legal actions into cards of the hand and buttons. song_points: points of a song in each suit, if known; french: French cards."""
    plays = {text.partition(" ")[2]: text for text in legal if text.startswith("play ")}
    puts = [text.split()[1:] for text in legal if text == "discard" or text.startswith("discard ")]
    answer = ActionOffer(
        hand=[_held(card, plays.get(card, ""), french) for card in tidy(hand_cards)],
        discards=bool(puts),
        least=min(map(len, puts), default=0),
        most=max(map(len, puts), default=0),
    )
    others = [text for text in legal if not text.startswith(("play ", "discard"))]
    has_extras = any(text.partition(" ")[0] in EXTRAS for text in others)
    for text in others:
        verb, _gap, what = text.partition(" ")
        if verb in EXTRAS:
            answer.extras.append(_extra(text, verb, what, song_points or {}))
        elif verb == "pass" and has_extras:
            answer.not_now = Choice(text, _("Not now"))
        elif verb in NUMBERS:
            answer.numbers.append(Choice(text, what, words.action_name(text)))
        elif verb == "call" and what:
            answer.cards.append(Choice(text, "", words.action_name(text), card=what))
        elif verb == "trump":
            answer.words.append(Choice(text, words.suit_name(what), words.action_name(text), suit=what))
        else:
            answer.words.append(Choice(text, words.action_name(text)))
    if answer.extras and answer.not_now is None and answer.may_play:
        answer.not_now = Choice("", _("Not now"))
    return answer


def _held(card: str, do: str, french: bool) -> Held:
    if french:
        return Held(card, french_card(card), do, french_card(card))
    return Held(card, words.card_name(card), do)


def _extra(text: str, verb: str, what: str, song_points: Mapping[str, int]) -> Choice:
    if verb == "sing" and what in song_points:
        name = _("Sing %(points)s in %(suit)s") % {"points": song_points[what], "suit": words.suit_name(what)}
        return Choice(text, _("Sing %(points)s") % {"points": song_points[what]}, name, suit=what)
    if verb == "exchange":
        return Choice(text, words.action_name(text), card=what)
    return Choice(text, words.action_name(text), suit=what if verb == "sing" else "")


def chosen(request: HttpRequest, legal: Sequence[str]) -> str:
    """Return the chosen action. The form sends discarded cards one by one; put them in the order of the engine."""
    do = request.POST.get("do", "")
    if do != "discard":
        return do
    cards = set(request.POST.getlist("put"))
    matching = [text for text in legal if text.startswith("discard") and set(text.split()[1:]) == cards]
    return matching[0] if matching else " ".join([do, *sorted(cards)])
