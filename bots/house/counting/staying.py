"""Bato: in or out, by trying out. The changes of cards that come before play are imagined too, for everybody."""

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
POT = 100.0  # as `worth` counts it
JOINS = 0.8  # tricks in sight with which others come in
LEAST = 0.0  # what coming in must promise
TRIALS = 5


def stay(view: View, cards: Numbering, random: Random, legal: list[str]) -> str:
    """The call, of a seat that may play or pass, or join or stay out."""
    call, refusal = ("play", "pass") if "play" in legal else ("join", "out")
    if refusal not in legal:
        return call
    if view.rule("settlement") != "chips":
        return refusal  # a trick earns nothing there, and failing costs a mark
    sight = {card: tricks_in_sight(view, [card]) for card in view.pack}
    return call if fmean(_tried(view, cards, random, sight) for _ in range(TRIES)) > LEAST else refusal


def _tried(view: View, cards: Numbering, random: Random, sight: dict[str, float]) -> float:
    """What coming in comes to in one imagined deal."""
    said = dict(view.calls)
    mine = view.seat
    deck = sorted(view.unseen)
    random.shuffle(deck)
    held = {mine: view.hand}
    for seat in range(view.seats):
        word = said.get(seat)
        if seat == mine or word == "out":
            continue
        hand = _hand(deck, 1.6 if word == "play" else JOINS, sight, TRIALS if word in ("play", "join") else 1)
        if word in ("play", "join") or sum(sight[card] for card in hand) >= JOINS + 0.25 * (len(held) - 1):
            held[seat] = hand
    if len(held) == 1:
        return POT
    imagined = copy(view)
    imagined.soloist = mine if view.soloist is None else view.soloist
    imagined.out = [seat for seat in range(view.seats) if seat not in held]
    hands = [[0, 0, 0, 0] for _ in range(view.seats)]
    for seat, hand in held.items():
        kept = [card for card in hand if card[1] == view.trump or view.strength(card) >= 8]
        changed = [deck.pop() for _ in range(min(len(hand) - len(kept), len(deck)))]
        hands[seat] = cards.masks([*kept, *changed])
    model = Model(imagined, cards.suit, [1] * view.seats)
    leader = next(s % view.seats for s in range(view.mano, view.mano + view.seats) if s % view.seats in model.active)
    return worth_of(imagined)(model.play(hands, [], leader, []))


def _hand(deck: list[str], least: float, sight: dict[str, float], trials: int) -> list[str]:
    """Four cards from the deck: such as one comes in with, if some are found in so many trials."""
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
