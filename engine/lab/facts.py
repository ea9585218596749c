"""The facts of one sitting that the lab counts, read from its replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from engine import replay as replays
from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.match.state import State

FORTY = 40  # Points of a song of trumps.
# What a deal is counted again without: its songs, its songs of forty, the bonus of its last trick.
WITHOUT = ("songs", "forty", "last")
EVENTS = ("song", "tute", "capote", "exchange")


def facts(replay: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a finished sitting as plain data. Raise ReplayError.

    lead: the seat that led first. deals, tricks, decisions (with a choice), choices (their legal actions). half: deals with one side ahead in
    points after half of the tricks; runaway: those of them that it won. For each event of EVENTS the number of deals that had it; forty: deals with
    a song of forty. For each name of WITHOUT, `NAME_decides`: deals whose winners or losers would differ without these points, or that would not
    have ended yet. tute_decides and capote_decides: deals that ended by them. exchanged: the sides that exchanged a card.
    """
    state = replays.begin(dict(replay))
    sitting = _SittingFacts(state)
    for step, text in enumerate(replay["actions"], 1):
        try:
            sitting.take(state.game.parse_action(text))
        except EngineError as error:
            raise replays.ReplayError(step, f"action {text!r} cannot be taken: {error}") from None
    return sitting.counts


class _SittingFacts:
    """Counts while a match is played again."""

    def __init__(self, state: State) -> None:
        self.state = state
        deal = next(event for event in state.events if event["e"] == "deal")
        self.counts: dict[str, Any] = {"lead": deal["mano"], "exchanged": []}
        names = (
            "deals",
            "tricks",
            "decisions",
            "choices",
            "half",
            "runaway",
            "forty",
            "tute_decides",
            "capote_decides",
        )
        for name in (*names, *EVENTS, *(f"{name}_decides" for name in WITHOUT)):
            self.counts[name] = 0
        self.read = len(state.events)
        self.kinds: set[str] = set()
        self.standings: list[list[int]] = []  # Points by side after each trick of the deal.
        # Points by side that earlier deals of the same game would lack.
        self.earlier = {name: [0] * len(state.totals) for name in WITHOUT}

    def take(self, action: int) -> None:
        """Take an action and count it."""
        state, counts = self.state, self.counts
        legal = state.legal_actions()
        if len(legal) > 1:
            counts["decisions"] += 1
            counts["choices"] += len(legal)
        before = state.clone()
        state.apply(action)
        new = state.events[self.read :]
        self.read = len(state.events)
        ended = state.is_over or state.deal_no != before.deal_no
        for event in new:
            kind = event["e"]
            self.kinds.add(kind)
            if kind == "trick":
                counts["tricks"] += 1
                self.standings.append([] if ended else _points(state))
            elif kind == "song" and event["points"] == FORTY:
                self.kinds.add("forty")
            elif kind == "exchange" and state.side[event["seat"]] not in counts["exchanged"]:
                counts["exchanged"].append(state.side[event["seat"]])
            elif kind == "score":
                self._end(before, action, event)

    def _end(self, before: State, action: int, score: dict[str, Any]) -> None:
        """Count a finished deal. before: the state before the action that ended it."""
        counts = self.counts
        counts["deals"] += 1
        for kind in (*EVENTS, "forty"):
            counts[kind] += kind in self.kinds
        for why in ("tute", "capote"):
            counts[f"{why}_decides"] += score["why"] == why
        self._count_half(score)
        lacking = {
            "songs": _by_side(before, score["songs"]),
            "forty": _by_side(before, _forties(before)),
            "last": _by_side(before, score["bonus"]) if before.rules.last_trick_bonus else [0] * len(before.totals),
        }
        for name in WITHOUT:
            if any(lacking[name]) or any(self.earlier[name]):
                counts[f"{name}_decides"] += self._differs(before, action, name, score)
            going_on = score["winner"] is None and any(score["totals"])
            self.earlier[name] = [
                a + b if going_on else 0 for a, b in zip(self.earlier[name], lacking[name], strict=True)
            ]
        self.kinds, self.standings = set(), []

    def _count_half(self, score: dict[str, Any]) -> None:
        """Count the side that was ahead in points after half of the tricks, and whether it won the deal."""
        half = len(self.standings) // 2
        points = self.standings[half - 1] if half else []
        if len(points) < 2 or sorted(points)[-1] == sorted(points)[-2]:
            return
        ahead = points.index(max(points))
        losers = {self.state.side[seat] for seat in score["losers"]}
        if score["winner"] is None and not losers:
            return
        self.counts["half"] += 1
        self.counts["runaway"] += ahead == score["winner"] or (score["winner"] is None and ahead not in losers)

    def _differs(self, before: State, action: int, name: str, score: dict[str, Any]) -> bool:
        """Return True if the deal's result would differ without the points of this name."""
        trial = before.clone()
        trial.totals = tuple(a - b for a, b in zip(trial.totals, self.earlier[name], strict=True))
        _EDITS[name](trial)
        trial.apply(action)
        if not trial.is_over and trial.deal_no == before.deal_no:
            return True
        verdict = trial.verdict
        if verdict is None or verdict.winner != score["winner"]:
            return True
        # With a winner only recorded matches list the losers.
        return verdict.winner is None and sorted(verdict.losers) != sorted(score["losers"])


def _points(state: State) -> list[int]:
    """Return the points of the game so far by side, without the bonus of the last trick."""
    points = list(state.totals)
    for seat in range(state.seats):
        points[state.side[seat]] += state.cards[seat] + state.songs[seat]
    return points


def _by_side(state: State, points: list[int]) -> list[int]:
    sums = [0] * len(state.totals)
    for seat, value in enumerate(points):
        sums[state.side[seat]] += value
    return sums


def _forties(state: State) -> list[int]:
    points = [0] * state.seats
    for seat, _, worth, _ in state.songs_made:
        points[seat] += worth if worth == FORTY else 0
    return points


def _no_songs(state: State) -> None:
    state.songs = [0] * state.seats


def _no_forties(state: State) -> None:
    state.songs = [points - forties for points, forties in zip(state.songs, _forties(state), strict=True)]


def _no_bonus(state: State) -> None:
    state.notes = state.notes | {"bonus_declined": True}


_EDITS: dict[str, Callable[[State], None]] = {"songs": _no_songs, "forty": _no_forties, "last": _no_bonus}
