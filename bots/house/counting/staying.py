"""Bato: try out both choices before deciding to play or to stay out. In these playouts every seat may change cards first."""

from __future__ import annotations

from copy import copy
from random import Random
from statistics import fmean

from deals import Numbering
from playout import Model
from tute_bot import View
from tute_sense import tricks_in_sight
from worth import worth_of

TRIES = 30
POT = 100.0  # worth of the pot, in the units of `worth`
JOINS = 0.8  # tricks in sight that make other seats join
LEAST = 0.0  # least worth that makes this seat play or join
TRIALS = 5


def stay(view: View, cards: Numbering, random: Random, legal: list[str]) -> str:
    """Return the call of a seat that may play or pass, or join or stay out."""
    call, refusal = ("play", "pass") if "play" in legal else ("join", "out")
    if refusal not in legal:
        return call
    if view.rule("settlement") != "chips":
        return refusal  # a trick earns nothing, and failing costs a mark
    sight = {card: tricks_in_sight(view, [card]) for card in view.pack}
    return call if fmean(_imagined_worth(view, cards, random, sight) for _ in range(TRIES)) > LEAST else refusal


def _imagined_worth(view: View, cards: Numbering, random: Random, sight: dict[str, float]) -> float:
    """Return the worth of playing or joining in one imagined deal."""
    calls = dict(view.calls)
    own_seat = view.seat
    deck = sorted(view.unseen)
    random.shuffle(deck)
    hands_in = {own_seat: view.hand}
    for seat in range(view.seats):
        word = calls.get(seat)
        if seat == own_seat or word == "out":
            continue
        hand = _hand(deck, 1.6 if word == "play" else JOINS, sight, TRIALS if word in ("play", "join") else 1)
        if word in ("play", "join") or sum(sight[card] for card in hand) >= JOINS + 0.25 * (len(hands_in) - 1):
            hands_in[seat] = hand
    if len(hands_in) == 1:
        return POT
    imagined = copy(view)
    imagined.soloist = own_seat if view.soloist is None else view.soloist
    imagined.out = [seat for seat in range(view.seats) if seat not in hands_in]
    hands = [[0, 0, 0, 0] for _ in range(view.seats)]
    for seat, hand in hands_in.items():
        cards_kept = [card for card in hand if card[1] == view.trump or view.strength(card) >= 8]
        changed = [deck.pop() for _ in range(min(len(hand) - len(cards_kept), len(deck)))]
        hands[seat] = cards.masks([*cards_kept, *changed])
    model = Model(imagined, cards.suit, [1] * view.seats)
    leader = next(s % view.seats for s in range(view.mano, view.mano + view.seats) if s % view.seats in model.active)
    return worth_of(imagined)(model.play(hands, [], leader, []))


def _hand(deck: list[str], least: float, sight: dict[str, float], trials: int) -> list[str]:
    """Return four cards from the deck, drawn again up to `trials` times until they promise at least `least` tricks."""
    for _ in range(trials):
        hand = deck[-4:]
        if trials == 1 or sum(sight[card] for card in hand) >= least:
            break
        deck[:0] = hand
        del deck[-4:]
    else:
        hand = deck[-4:]
    del deck[-4:]
    return hand
