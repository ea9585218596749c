"""A worked trick: play seeded deals through the engine and explain the most instructive trick, with the rule for each follower."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError
from engine.game import load
from engine.portable import draw_one
from engine.rulebook.words import PLACES

if TYPE_CHECKING:
    from engine.game import Game
    from engine.match.state import State

DEALS = 24  # Seeded deals to choose from.
WEIGHT = {
    "P1": 0,
    "Q0": 0,
    "Q2": 0,
    "F3": 0,
    "P5": 0,
    "F1": 2,
    "P4": 2,
    "P2": 3,
    "P3": 3,
    "F2": 4,
    "P6": 4,
    "QT": 5,
    "P7": 5,
    "PX": 5,
    "NL": 6,
}


@dataclass(frozen=True)
class Follower:
    """A seat before its card: the cards on the table, its hand, the legal cards, and the rule of the rules book behind them."""

    seat: int
    table: tuple[str, ...]
    hand: tuple[str, ...]
    legal: tuple[str, ...]
    rule: str
    card: str


@dataclass(frozen=True)
class WorkedTrick:
    """A played trick. `example` is the follower with the most instructive choice; `trump` and `stock` are those when the trick was led."""

    seed: str
    number: int
    trump: str | None
    trump_after: str | None
    stock: int
    plays: tuple[tuple[int, str], ...]
    followers: tuple[Follower, ...]
    winner: int
    points: int
    songs: tuple[tuple[int, int], ...]
    example: Follower

    def player(self, seat: int, lang: str) -> str:
        """Return the name of a player in this trick: by the order of play."""
        return PLACES[lang][[played_by for played_by, _ in self.plays].index(seat)]


@cache
def worked_trick(key: str) -> WorkedTrick:
    """Return the most instructive trick of the first seeded deals of a game at its usual table. The result is always the same."""
    game = load(key)
    best: tuple[int, WorkedTrick] | None = None
    for number in range(DEALS):
        for trick in _tricks(game, f"rules page {number}"):
            worth = _worth(trick)
            if best is None or worth > best[0]:
                best = worth, trick
    if best is None:
        raise EngineError(f"{key}: no trick was played in {DEALS} deals")
    return best[1]


def _worth(trick: WorkedTrick) -> int:
    follower = trick.example
    narrow = 3 if 1 < len(follower.legal) < len(follower.hand) else 0
    moved = 4 if trick.trump != trick.trump_after else 0
    return (
        WEIGHT[follower.rule] + narrow + moved + 4 * bool(trick.songs) + (len(follower.table) > 1) + (trick.points > 0)
    )


def _tricks(game: Game, seed: str) -> list[WorkedTrick]:
    state = game.new_match(seed=seed, deals=1)
    chooser = random.Random(seed)  # noqa: S311 - an example that must be the same at each call
    tricks: list[WorkedTrick] = []
    followers: list[Follower] = []
    plays: list[tuple[int, str]] = []
    start: dict[str, Any] = {}
    while not state.is_over:
        actions = state.legal_actions()
        seat = state.current_seat
        view = state.observation(seat)
        action = draw_one(actions, chooser)
        verb, _, card = game.action_text(action).partition(" ")
        legal = [name[5:] for name in map(game.action_text, actions) if name.startswith("play ")]
        if verb == "play" and card:
            if not view["trick"]:
                start, plays, followers = view, [], []
            else:
                followers.append(_follower(state, view, legal, card))
            plays.append((seat, card))
        event_count = len(state.events)
        state.apply(action)
        new = state.events[event_count:]
        ended = next((event for event in new if event["e"] == "trick"), None)
        if ended is None or not followers:
            continue
        songs = tuple((e["seat"], e["points"]) for e in new if e["e"] == "song" and e.get("table"))
        changed = [event["suit"] for event in new if event["e"] == "trump"]
        after = changed[-1] if changed else view["trump"]
        best = max(
            followers,
            key=lambda follower: (
                WEIGHT[follower.rule],
                1 < len(follower.legal) < len(follower.hand),
                len(follower.table),
            ),
        )
        number = sum(event["e"] == "trick" for event in state.events)
        before = seed, number, start["trump"], after, start["stock"], tuple(plays)
        tricks.append(WorkedTrick(*before, tuple(followers), ended["seat"], ended["points"], songs, best))
        if any(event["e"] == "score" for event in new):
            break
    return tricks


def _follower(state: State, view: dict[str, Any], legal: list[str], card: str) -> Follower:
    table = tuple(play["card"] for play in view["trick"])
    rule, cards = _rule(state, view, table)
    if set(cards) != set(legal):  # Only rule NL restricts the cards further.
        if not state.rules.no_load or not set(legal) < set(cards):
            raise AssertionError(f"{state.game.key}: rule {rule} gives {cards}, the engine {legal}")
        rule = "NL"
    return Follower(view["seat"], table, tuple(view["hand"]), tuple(legal), rule, card)


def _rule(state: State, view: dict[str, Any], table: tuple[str, ...]) -> tuple[str, list[str]]:
    """Apply section 4 of the rules book independently of the engine: return the id of the rule and its cards, before rule NL."""
    rules, hand, trump = state.rules, view["hand"], view["trump"]
    order = rules.rank_order
    lead = state.game.pack.suits[state.lead]
    follow = [card for card in hand if card[-1] == lead]
    trumps = [card for card in hand if card[-1] == trump]

    def above(cards: list[str], suit: str) -> list[str]:
        best = min(order.index(card[:-1]) for card in table if card[-1] == suit)
        return [card for card in cards if order.index(card[:-1]) < best]

    duty = rules.obligation_stock_open if view["stock"] else rules.obligation_stock_empty
    if duty == "free":
        return "Q0", hand
    if duty == "trump_follow":
        return ("QT", follow) if lead == trump and follow else ("Q2", hand)
    if duty in ("follow", "follow_or_trump"):
        if follow:
            return "F1", follow
        return ("F2", trumps) if trumps and duty == "follow_or_trump" else ("F3", hand)
    side = state.game.side
    if rules.partner_exempt == "all" and side[view["winning"]] == side[view["seat"]]:
        return "PX", follow or hand
    if lead == trump:
        return ("P2", above(follow, lead) or follow) if follow else ("P5", hand)
    ruffed = any(card[-1] == trump for card in table)
    if follow:
        return ("P4", follow) if ruffed else ("P3", above(follow, lead) or follow)
    return ("P7", above(trumps, trump) or hand) if ruffed else ("P6", trumps or hand)
