"""The puzzle of the day, small enough to be answered on the front page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.utils.text import capfirst
from django.utils.translation import gettext as _

import engine
from engine.puzzles import Puzzle
from league.domain.puzzles import shelf
from league.web.common import families, words
from league.web.matches.offers import Held, offer

# The place of a seat's card, by the number of players and the seat's distance to the right of the reader, who sits at "s".
PLACES = {2: "sn", 3: "sew", 4: "senw"}


@dataclass(frozen=True)
class TableCard:
    """A card on the table: at "s", "e", "n" or "w"."""

    card: str
    name: str
    place: str


@dataclass(frozen=True)
class PuzzleOfDay:
    """A position with a sentence, the cards on the table, and the cards that may be played."""

    id: str
    game: str
    text: str
    table: list[TableCard]
    choices: list[Held]


def puzzle_of_day(day: date) -> PuzzleOfDay | None:
    """Return the puzzle of a day, from the best-known game that has one; None without puzzles. One query."""
    item = shelf.shelf().of_day(day, families.game_order())
    return _shown(item) if item else None


def _shown(item: Puzzle) -> PuzzleOfDay:
    game = engine.load(item.game, players=item.players, **item.options)
    names = [words.seat_of_puzzle(seat, item.seat, game.sides) for seat in range(item.players)]
    laid: list[tuple[int, str]] = []
    trump = ""
    finished = False
    for event in item.events:
        trump = event.get("trump") or trump
        if event["e"] == "trick" or event["e"] == "deal":
            finished = True
        elif event["e"] == "play":
            laid = [] if finished else laid
            finished = False
            laid.append((event["seat"], event["card"]))
    laid = [] if finished else laid
    sentences = [_("Trump is %(suit)s.") % {"suit": words.suit_name(trump)}] if trump else []
    if laid:
        leader, card = laid[0]
        led = {"who": names[leader], "card": words.card_name(card, article=True)}
        sentences.append(capfirst(_("%(who)s led %(card)s.") % led))
    else:
        sentences.append(_("It is your lead."))
    places = PLACES[item.players]
    return PuzzleOfDay(
        item.id,
        item.game,
        " ".join(sentences),
        [TableCard(card, words.card_name(card), places[(seat - item.seat) % item.players]) for seat, card in laid],
        [card for card in offer(item.legal, item.hand).hand if card.do],
    )
