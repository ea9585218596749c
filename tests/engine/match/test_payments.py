"""Chips of whole matches, counted again from the record alone by the words of the rules book: subastado, remate, codillo, bato, arrastrado."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import engine
from engine.game import declared
from engine.match.redaction import EventRecord
from engine.rules.options import Range, word
from engine.rules.resolving import choices
from tests.support import playing

POINTS = {"1": 11, "3": 10, "R": 4}  # and 3 and 2 for the horse and the jack, the higher one first
MATCHES = 60  # Matches of each game, each with other options
LEFT_OUT = {"settlement", "match_end", "max_losses", "match_deals"}  # matches without chips, and long ones


@dataclass
class Deal:
    """The record of a deal, by seat."""

    hands: dict[int, set[str]]
    playing: list[int]
    cards: list[int]
    order: str  # The order of ranks.
    songs: list[tuple[int, int]] = field(default_factory=list)  # seat, worth
    tricks: list[int] = field(default_factory=list)  # The winners
    tute: int | None = None
    soloist: int | None = None
    displaced: int | None = None
    partner: int | None = None
    bid: int = 0
    joined: list[int] = field(default_factory=list)
    table: list[str] = field(default_factory=list)

    def read(self, event: EventRecord) -> None:
        """Take in one event."""
        seat = event.get("seat")
        match event["e"]:
            case "play":
                self.table.append(event["card"])
            case "trick":
                self.cards[seat] += sum(self._points(card[0]) for card in self.table)
                self.table = []
                self.tricks.append(seat)
            case "song":
                self.songs.append((seat, event["points"]))
            case "tute":
                self.tute = seat
            case "called":
                self.partner = next(holder for holder, hand in self.hands.items() if event["card"] in hand)
            case "takeover":
                self.displaced = event["of"]
            case "call":
                self._call(seat, *event["call"].split())

    def _points(self, rank: str) -> int:
        higher, lower = sorted("CS", key=self.order.index)
        return (POINTS | {higher: 3, lower: 2}).get(rank, 0)

    def _call(self, seat: int, what: str, number: str = "") -> None:
        if what in ("play", "bid"):
            self.soloist, self.bid = seat, int(number or 0)
        elif what == "join":
            self.joined.append(seat)

    def points(self, seat: int) -> int:
        """Return cards, songs and the ten for the last trick, which a tute leaves unplayed."""
        sung = sum(worth for singer, worth in self.songs if singer == seat)
        return self.cards[seat] + sung + (10 if self.tute is None and self.tricks[-1] == seat else 0)


class Chips:
    """The chips of each seat, and the pot."""

    def __init__(self, seats: int) -> None:
        self.balances = [0] * seats
        self.pot = 0

    def pay(self, payers: list[int], receiver: int, amount: int) -> None:
        """Let each payer give the receiver this amount; a negative amount goes the other way."""
        for seat in payers:
            self.balances[seat] -= amount
            self.balances[receiver] += amount


def bid_lost_or_made(chips: Chips, deal: Deal, options: dict[str, Any]) -> None:
    """Subastado and remate, Payments."""
    if deal.soloist is None:
        return
    fulfilled = deal.tute == deal.soloist or (deal.tute is None and deal.points(deal.soloist) >= deal.bid)
    stake = deal.bid // 5 * options["unit"]
    if options["double_from"] is not None and deal.bid >= options["double_from"]:
        stake *= 2
    others = [seat for seat in deal.playing if seat not in (deal.soloist, deal.displaced)]
    chips.pay(others, deal.soloist, stake if fulfilled else -stake)


def side_against_side(chips: Chips, deal: Deal, options: dict[str, Any]) -> None:
    """Codillo, End of deal and Payments; D1 and D3."""
    if deal.soloist is None:
        return
    pair = {deal.soloist, deal.partner}
    others = [seat for seat in deal.playing if seat not in pair]
    if deal.tute is not None:
        won = deal.tute in pair
    elif options["result"] == "soloist_side_more_points":
        won = sum(map(deal.points, pair)) > sum(map(deal.points, others))
    else:
        won = max(map(deal.points, pair)) > max(map(deal.points, others))
    stake = options["stake"] * (2 if len(pair) == 1 else 1)
    for member in pair:
        chips.pay(others, member, stake if won else -stake)


def quarter_a_trick(chips: Chips, deal: Deal, options: dict[str, Any]) -> None:
    """Bato, A3 and Payments."""
    if deal.soloist is None:
        return
    pot, chips.pot = chips.pot, 0
    if not deal.joined:
        chips.balances[deal.soloist] += pot
        return
    for seat in (deal.soloist, *deal.joined):
        won = deal.tricks.count(seat)
        chips.balances[seat] += won * pot // 4
        if won < (options["tricks_soloist"] if seat == deal.soloist else options["tricks_joiner"]):
            chips.balances[seat] -= pot
            chips.pot += pot


def winner_and_contracts(chips: Chips, deal: Deal, options: dict[str, Any]) -> None:
    """Arrastrado, C1 to C6, with its amounts of 100 and 200."""
    for singer, worth in deal.songs:
        chips.pay([seat for seat in deal.playing if seat != singer], singer, worth)
    points = {seat: deal.points(seat) for seat in deal.playing}
    if deal.soloist is not None:
        fulfilled = deal.tute == deal.soloist or (deal.tute is None and points[deal.soloist] >= deal.bid)
        chips.pay([seat for seat in deal.playing if seat != deal.soloist], deal.soloist, 200 if fulfilled else -200)
        chips.balances[deal.soloist] += chips.pot if fulfilled else -chips.pot
        chips.pot = 0 if fulfilled else 2 * chips.pot
        return
    winner, amount = deal.tute, options["tute_payment"]
    if winner is None:
        order = [(deal.tricks[-1] + step) % len(chips.balances) for step in range(len(chips.balances))]
        winner = max(
            (seat for seat in order if seat in points), key=lambda seat: points[seat]
        )  # The first among equals
        sung = 0 if options["double_threshold_counts_songs"] else sum(w for s, w in deal.songs if s == winner)
        amount = 200 if points[winner] - sung > 100 else 100
    chips.pay([seat for seat in deal.playing if seat != winner], winner, amount)


PAYMENTS: dict[str, tuple[Callable[[Chips, Deal, dict[str, Any]], None], dict[str, Any]]] = {
    "subastado": (bid_lost_or_made, {}),
    "remate": (bid_lost_or_made, {}),
    "codillo": (side_against_side, {}),
    "bato": (quarter_a_trick, {}),
    "arrastrado": (winner_and_contracts, {"tie": "last_trick"}),
}


def some_game(key: str, fixed: dict[str, Any], rng: random.Random) -> engine.Game:
    """Return a table of the game with random options."""
    players = rng.choice(declared(key).players)
    options = dict(fixed)
    for name, choice in choices(declared(key), players).items():
        if name not in LEFT_OUT and name not in fixed and not isinstance(choice, Range):
            options[name] = word(rng.choice(choice))
    for name, values in {"unit": (1, 10), "double_from": (None, 120), "stake": (1, 3), "ante": (4, 12)}.items():
        if name in choices(declared(key), players):
            options[name] = rng.choice(values)
    return engine.load(key, players=players, **options)


@pytest.mark.parametrize("key", PAYMENTS)
def test_chips_are_those_of_the_rules_book(key: str) -> None:
    settle, fixed = PAYMENTS[key]
    rng = random.Random(key)
    settled = 0
    for number in range(MATCHES):
        game = some_game(key, fixed, rng)
        chips, deal = Chips(game.players), Deal({}, [], [], "")
        for event in playing.finished(game, f"{key} {number}", deals=4).events:
            match event["e"]:
                case "deal":
                    hands = {seat: set(hand) for seat, hand in enumerate(event["hands"])}
                    seated = [seat for seat, hand in hands.items() if hand]
                    deal = Deal(hands, seated, [0] * game.players, game.rules.rank_order)
                case "ante":
                    chips.balances = [amount - event["chips"] for amount in chips.balances]
                    chips.pot += event["chips"] * game.players
                case "score":
                    settle(chips, deal, game.options_all)
                    settled += deal.soloist is not None or key == "arrastrado"
                    assert event["chips"] == chips.balances, (game, event)
                case "over":
                    share = chips.pot // game.players
                    assert event["scores"] == [amount + share for amount in chips.balances], game
                case _:
                    deal.read(event)
    assert settled > 100
