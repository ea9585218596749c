"""The words around the table at which a person sits: the points of each side, the trump, and the current decision.

They come from the events that the seat may know. `table.js` updates the numbers while it shows the events one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import engine
from engine.runner.table import NEXT
from league.web.common.words import RANKS, SUITS, card_name, suit_name
from league.web.matches.offers import ActionOffer, tidy

Moment = Mapping[str, Any]
FEW = 4  # The prompt names at most this many cards.


@dataclass(frozen=True)
class SideScore:
    """The points of a side in this deal, with the person's word for the side. number: of the side, for its colour."""

    name: str
    number: int
    points: int


@dataclass(frozen=True)
class Head:
    """The line above the table: the person's side, and the other side if there are two. With more sides, the points are at the seats."""

    sides: list[SideScore]
    trump: str
    trump_name: str


def head(game: engine.Game, events: Sequence[Moment], seat: int, names: Sequence[str], *, is_own: bool = True) -> Head:
    """Return the points and the trump after these events, the side of `seat` first; a spectator reads names instead of us and them."""
    points = _points(events, game.players)
    own = next(number for number, side in enumerate(game.sides) if seat in side)
    sides = []
    for number in [own, *(other for other in range(len(game.sides)) if other != own)]:
        seats = game.sides[number]
        name = side_name(game, number, seat, names) if is_own else " + ".join(names[place] for place in seats)
        sides.append(SideScore(name, number, sum(points[place] for place in seats)))
    trump = _trump(events)
    return Head(sides if len(sides) == 2 else sides[:1], trump, suit_name(trump) if trump in SUITS else trump)


def side_name(game: engine.Game, number: int, seat: int, names: Sequence[str]) -> str:
    """Return the word of the person at `seat` for a side: us or them, you, or the name of the player."""
    seats = game.sides[number]
    if len(seats) > 1 and len(game.sides) == 2:
        return _("Us") if seat in seats else _("Them")
    return _("You") if seat in seats else " + ".join(names[place] for place in seats)


def song_points(game: engine.Game, events: Sequence[Moment]) -> dict[str, int]:
    """Return the points of a song in each suit at this time."""
    trump, values = _trump(events), game.rules.song_values
    return {suit: values["trump" if suit == trump else "other"] for suit in SUITS}


def prompt(offer: ActionOffer, legal: Sequence[str], events: Sequence[Moment]) -> str:
    """Return a sentence about the person's current decision."""
    verbs = {text.partition(" ")[0] for text in legal}
    if list(legal) == [NEXT]:
        return _("The next hand is dealt when you are ready.")
    if offer.discards:
        if offer.least == offer.most:
            return ngettext("Choose %(n)s card to discard.", "Choose %(n)s cards to discard.", offer.most) % {
                "n": offer.most
            }
        return _("Choose %(least)s to %(most)s cards to discard.") % {"least": offer.least, "most": offer.most}
    if offer.extras:
        return _before_the_card(verbs, _trick(events) is None)
    if offer.accusations and not offer.may_play:
        return _("The cards are played. Accuse a player of a revoke, or nobody.")
    if "bid" in verbs:
        return _("Bid %(number)s or more, or pass.") % {"number": offer.numbers[0].text}
    for verb, text in (
        ("predict", _("How many tricks will you take?")),
        ("trump", _("Choose the trump suit.")),
        ("call", _("Call a card: its holder is your partner.")),
        ("capote", _("Go for all the tricks, or pass.")),
        ("decline", _("Take the ten points of the last trick, or decline them.")),
        ("join", _("Join, or stay out.")),
        ("pass", _("Play, or pass.")),
    ):
        if verb in verbs:
            return text
    return _cards(offer, events) if offer.may_play else _("Choose.")


def then(offer: ActionOffer, events: Sequence[Moment]) -> str:
    """Return the sentence shown after the person has declined to sing or to exchange."""
    return _cards(offer, events) if offer.may_play else ""


def _before_the_card(verbs: set[str], leads: bool) -> str:
    if "exchange" in verbs:
        return _("You may exchange.") if "play" not in verbs else _("You may exchange, then you play.")
    if "play" not in verbs:
        return _("You may sing.")
    return _("You may sing, then you lead.") if leads else _("You may sing, then you play.")


def _cards(offer: ActionOffer, events: Sequence[Moment]) -> str:
    legal = [entry for entry in offer.hand if entry.do]
    led, trump = _trick(events), _trump(events)
    suits = {entry.card[-1] for entry in legal}
    if led is None:
        return _("You lead.")
    if suits == {led} and led in SUITS:
        if len(legal) > FEW:
            return _("Follow %(suit)s.") % {"suit": suit_name(led)}
        return _("Follow %(suit)s: %(cards)s.") % {"suit": suit_name(led), "cards": _ranks(legal)}
    if len(legal) == len(offer.hand):
        return _("Play any card.")
    if suits == {trump} and trump in SUITS:
        if len(legal) > FEW:
            return _("Play a trump.")
        return _("Play a trump: %(cards)s.") % {"cards": _ranks(legal)}
    names = [card_name(entry.card) for entry in legal]
    return _("Play %(cards)s.") % {"cards": _either(names)} if len(names) <= FEW else _("Play a card with a frame.")


def _ranks(legal: Sequence[Any]) -> str:
    cards = tidy([entry.card for entry in legal])
    return _either([_(RANKS[card[:-1]][0]) for card in cards])


def _either(names: Sequence[str]) -> str:
    """Return 'king, horse or two'."""
    if len(names) == 1:
        return names[0]
    return _("%(first)s or %(last)s") % {"first": ", ".join(names[:-1]), "last": names[-1]}


def _points(events: Sequence[Moment], players: int) -> list[int]:
    points = [0] * players
    for event in events:
        if event["e"] == "deal":
            points = [0] * players
        elif event["e"] in ("trick", "song"):
            points[event["seat"]] += event["points"]
        elif event["e"] == "score":
            points = list(event.get("points") or points)
    return points


def _trump(events: Sequence[Moment]) -> str:
    """Return the suit of the trump; empty if there is none."""
    trump = ""
    for event in events:
        if event["e"] == "deal":
            trump = event.get("trump") or ""
        elif event["e"] == "trump":
            trump = event.get("suit") or trump
    return trump


def _trick(events: Sequence[Moment]) -> str | None:
    """Return the suit that was led to the current trick; None if the next card leads."""
    led = None
    for event in events:
        if event["e"] in ("deal", "trick"):
            led = None
        elif event["e"] == "play" and led is None:
            led = event["card"][-1]
    return led
