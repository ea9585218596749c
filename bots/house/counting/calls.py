"""Auctions, trumps and predictions: before each call it plays the hand out over many deals.

Bato's calls are in `staying`. `tute_sense` chooses the card to call and the cards to change.
"""

from __future__ import annotations

from copy import copy
from math import erf, sqrt
from random import Random
from statistics import fmean, pstdev

from deals import Dealer, Numbering
from playout import Model, Outcome
from staying import stay
from tute_bot import View, parse
from tute_sense import promise
from worth import worth_of

TRIES = 24  # number of deals for each trump that it considers
TRUMPS = 2  # number of trumps that it considers, the most promising ones
CARE = 6.0  # points by which the others play better than playouts do


class Calls:
    """Answers at one table, for one decision."""

    def __init__(self, view: View, cards: Numbering, random: Random) -> None:
        self.view = view
        self.cards = cards
        self.random = random

    def answer(self, legal: list[str]) -> str | None:
        """Return the answer, or None if this file has no opinion."""
        if not self.view.hand:
            return None  # subastado's censor, who sits out
        verbs = {parse(action)[0] for action in legal if not action.startswith("play ")}
        auction = self.view.rule("auction")
        if auction in ("points", "pot_contract") and "bid" in verbs:
            return self.bid(legal)
        if auction == "play_or_pass" and "play" in verbs:
            return self.play_or_pass(legal)
        if auction == "play_then_join" and verbs & {"play", "join"}:
            return stay(self.view, self.cards, self.random, legal)
        if "trump" in verbs:
            return f"trump {self.best_trump()}"
        if "predict" in verbs:
            return self.predict(legal)
        return None

    # -- a soloist ------------------------------------------------------------------------------------------------------

    def bid(self, legal: list[str]) -> str:
        """Return the bid with the best prospect, if each seat speaks once; else the lowest bid, as long as its prospect is good."""
        bids = sorted(int(parse(action)[1]) for action in legal if action.startswith("bid"))
        once = self.view.rule("auction_rounds") == "single"
        best, best_value = "pass", 0.0
        for trump in self.likely_trumps():
            points = [outcome.points[self.view.seat] for outcome in self.play_as_soloist(trump, bids[0])]
            mean, spread = fmean(points) - CARE, max(12.0, pstdev(points))
            for bid in bids if once else bids[:1]:
                chance = 0.5 + 0.5 * erf((mean - bid) / spread / sqrt(2))
                value = (2 * chance - 1) * bid
                if value > best_value:
                    best, best_value = f"bid {bid}", value
        return best

    def play_or_pass(self, legal: list[str]) -> str:
        """Answer in codillo: play, if the pair wins more often than not."""
        wins = max(fmean(self.worths(trump)) for trump in self.likely_trumps())
        return "play" if wins > 0 or "pass" not in legal else "pass"

    def best_trump(self) -> str:
        """Return the trump under which the contract does best."""
        return max(self.likely_trumps(), key=lambda trump: fmean(self.worths(trump)))

    def likely_trumps(self) -> list[str]:
        """Return the suits that are worth trying as trump: those in which the hand is best, best first."""
        hand = self.view.hand
        return sorted("oceb", key=lambda trump: -promise(hand, trump, self.view))[:TRUMPS]

    def worths(self, trump: str) -> list[float]:
        """Return the worth of a contract with this trump in each deal tried."""
        imagined = self.as_soloist(trump, None)
        worth = worth_of(imagined)
        return [worth(outcome) for outcome in self.play_as_soloist(trump, None)]

    def play_as_soloist(self, trump: str, bid: int | None) -> list[Outcome]:
        """Return playouts of the hand as soloist."""
        view = self.as_soloist(trump, bid)
        leader = view.seat if view.rule("first_leader") == "soloist" else view.mano
        return self.play_out(view, leader)

    def as_soloist(self, trump: str, bid: int | None) -> View:
        """Return the table as it would be if we were the soloist."""
        view = copy(self.view)
        view.soloist, view.partner, view.trump = view.seat, None, trump
        if bid is not None:
            view.contract = f"bid {bid}"
        if view.rule("soloist_partner") == "called_card" and view.called is None:
            view.called = self.to_call(view)
        return view

    def to_call(self, view: View) -> str:
        """Return the strongest card that we lack: a trump, or else the ace of another suit."""
        lacking = [card for card in view.pack if card not in view.hand]
        return max(lacking, key=lambda card: 20 * (card[1] == view.trump) + view.strength(card))

    def play_out(self, view: View, leader: int) -> list[Outcome]:
        """Deal the hidden cards at random, in agreement with everything known, and play the deal out. Return the outcomes of `TRIES` deals."""
        model = Model(view, self.cards.suit, [1] * view.seats)
        dealer = Dealer(view, self.cards, self.random, [set() for _ in range(view.seats)])
        outcomes = []
        for _ in range(TRIES):
            hands, stock = dealer.deal()
            if model.soloist is not None and view.called:
                model.pair_up(hands, self.cards.number[view.called])
            outcomes.append(model.play(hands, stock, leader, []))
        return outcomes

    # -- predictions ----------------------------------------------------------------------------------------------------

    def predict(self, legal: list[str]) -> str:
        """Return the number of tricks with the best expected score, by how often each number occurred."""
        view = self.view
        taken = [outcome.tricks[view.seat] for outcome in self.play_out(view, view.mano)]

        def score(number: int) -> float:
            return fmean(10.0 + 3 * number if number == tricks else -3.0 * abs(number - tricks) for tricks in taken)

        return max(legal, key=lambda action: score(int(parse(action)[1])))
