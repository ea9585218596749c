"""Puzzles: decisions of recorded matches where one choice is clearly best, given what the seat knew.

They come from the fair analysis of `engine.analysis`, in two steps over different deals: a few deals suggest the best choice, and many
more, dealt independently, measure its margin. So the margin is not inflated by selection. Limitation: from the next card on every seat is
assumed to see all cards, so caution and bluff count for nothing.

A puzzle contains everything its seat knew since the sitting began, as events of the protocol, so a person or any bot can solve it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from engine.analysis import (
    JUDGE,
    USUAL_NODES,
    Decision,
    SeatKnowledge,
    decisions,
    from_the_end,
    mean_error,
    phase_of,
    worths,
)
from engine.game import load
from engine.intervals import t95, wilson
from engine.match.redaction import redact
from engine.runner import Limits, protocol
from engine.runner.rebuild import Exchange
from engine.runner.rerun import rerun

if TYPE_CHECKING:
    from engine.match.state import State
    from engine.runner import BotSpec, FaultReport
    from engine.sandbox import Sandbox

FORMAT = "tute-puzzle/1"
SCREEN = 12  # Deals that suggest a candidate.
DEALS = 64  # Deals that prove the best choice.
# Least margin over every other choice, by unit of the board score; 1 for other units.
MARGIN = {"points": 10.0, "games": 250.0}
MISTAKE = 0.5  # The share of that margin that makes a choice a mistake.
CERTAIN = 2.58  # The margin must exceed its minimum by this many standard errors (99%).
CLAIM = "claim"
_TEXT = ("id", "game", "phase", "unit", "judge")


class NotAPuzzleError(ValueError):
    """A line that is not a valid puzzle. The message says why."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One decision.

    best: the right choices, equally good in every deal. lost: the mean loss of each choice over `deals` deals, in units of the board score (`unit`);
    0 for `best`. margin: the smallest loss among the other choices; error: its standard error. events: all events that the seat saw since the start
    of the sitting. hand: its cards now. legal: its choices. source: match, board, sitting, step, and the choice that was played.
    """

    id: str
    game: str
    revision: int
    players: int
    options: dict[str, Any]
    seat: int
    phase: str
    unit: str
    events: list[dict[str, Any]]
    hand: list[str]
    legal: list[str]
    best: list[str]
    lost: dict[str, float]
    margin: float
    error: float
    deals: int
    judge: str
    source: dict[str, Any]

    def line(self) -> str:
        """Serialise as one line of a puzzle file, without the line break."""
        return json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, separators=(",", ":"))


def read(line: str) -> Puzzle:
    """Read a puzzle from a line. Raise NotAPuzzleError."""
    try:
        plain = json.loads(line)
        if plain.pop("format") != FORMAT:
            raise NotAPuzzleError(f"its format is not {FORMAT}")
        puzzle = Puzzle(**plain)
        _check(puzzle)
    except NotAPuzzleError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotAPuzzleError(f"it is not a puzzle: {error}") from None
    return puzzle


def _check(puzzle: Puzzle) -> None:
    """Check the fields. Raise NotAPuzzleError, or Python's own errors for values of a completely different kind."""
    game = load(puzzle.game, players=puzzle.players, **puzzle.options)
    texts = [getattr(puzzle, name) for name in _TEXT] + [*puzzle.hand, *puzzle.legal, *puzzle.best, *puzzle.lost]
    numbers = (puzzle.seat, puzzle.margin, puzzle.error, puzzle.deals, *puzzle.lost.values())
    if any(type(value) is not str for value in texts) or any(type(value) not in (int, float) for value in numbers):
        raise NotAPuzzleError("a field has a wrong type")
    if not all(isfinite(value) for value in numbers):
        raise NotAPuzzleError("a number is not finite")
    if set(puzzle.lost) != set(puzzle.legal) or not puzzle.best or not set(puzzle.best) <= set(puzzle.legal):
        raise NotAPuzzleError("its choices contradict one another")
    if puzzle.id != _identity(puzzle.game, puzzle.options, puzzle.players, puzzle.seat, puzzle.events):
        raise NotAPuzzleError("its id does not match its position: part of it was changed")
    if puzzle.revision != game.revision:
        raise NotAPuzzleError(
            f"it uses revision {puzzle.revision} of the rules of {game.key}; this engine has revision {game.revision}"
        )


def find(
    replay: Mapping[str, Any],
    *,
    deals: int = DEALS,
    margin: float | None = None,
    nodes: int = USUAL_NODES,
    mistakes: Collection[int] | None = None,
) -> Iterator[Puzzle]:
    """Find the puzzles of a replay, in order. Find none if there are not two sides, because then there is no analysis.

    margin: None for the default of the score unit. nodes: as in `fairly`. Raise ReplayError, ValueError.

    mistakes: return only the mistakes at these steps: choices that lost at least the margin (by default MISTAKE of the usual one). Then the `margin`
    of a puzzle is the loss of the choice that was played, and every choice that loses less than half of the least margin is right.
    """
    first = next(decisions(replay), None)
    if first is None:
        return
    game = first.state.game.origin
    usual = MARGIN.get(str(game.score_unit), 1.0) * (1.0 if mistakes is None else MISTAKE)
    least = usual if margin is None else margin
    seats = [SeatKnowledge(replay, seat) for seat in range(game.players)]
    samples: dict[int, list[State]] = {}
    events_by_step: dict[int, list[dict[str, Any]]] = {}

    def sampled() -> Iterator[Decision]:
        for decision in decisions(replay):
            is_wanted = mistakes is None or decision.step in mistakes
            dealt = list(seats[decision.state.turn].samples(decision, SCREEN + deals if is_wanted else 0))
            if not is_wanted:
                continue
            samples[decision.step] = dealt
            events_by_step[decision.step] = _seen_events(decision.state)
            yield decision._replace(state=decision.state.clone())

    def verdict_of(decision: Decision) -> _Verdict | None:
        supposed = samples.pop(decision.step)
        if mistakes is None:
            return _verdict(supposed, least, nodes)
        return _mistake(supposed, decision.state.game.action_text(decision.chosen), least, nodes)

    for _, deal in groupby(sampled(), key=lambda decision: decision.state.deal_no):
        moments = list(deal)
        verdicts = from_the_end(moments, verdict_of)
        for decision, verdict in zip(moments, verdicts, strict=True):
            if verdict:
                events = events_by_step[decision.step]
                meta = replay.get("meta", {})
                yield Puzzle(
                    id=_identity(game.key, game.options, game.players, decision.state.turn, events),
                    game=game.key,
                    revision=game.revision,
                    players=game.players,
                    options=dict(game.options),
                    seat=decision.state.turn,
                    phase=phase_of(decision.state),
                    unit=str(game.score_unit),
                    events=events,
                    hand=[game.pack.texts[card] for card in decision.state.hand_of(decision.state.turn)],
                    legal=[decision.state.game.action_text(action) for action in decision.state.legal_actions()],
                    best=verdict.best,
                    lost=verdict.lost,
                    margin=verdict.margin,
                    error=verdict.error,
                    deals=deals,
                    judge=JUDGE,
                    source={
                        **{name: meta.get(name) for name in ("match", "board", "sitting")},
                        "step": decision.step,
                        "played": decision.state.game.action_text(decision.chosen),
                    },
                )


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The verdict on a decision; falsy if it is not a puzzle."""

    best: list[str]
    lost: dict[str, float]
    margin: float = 0.0
    error: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.best)


_NONE = _Verdict([], {})


def _verdict(supposed: Sequence[State], least: float, nodes: int) -> _Verdict | None:
    """Return the verdict on a decision; None if it cannot be judged within the limit."""
    rows = worths(supposed[:SCREEN], nodes)
    if rows is None:
        return None
    best = _best(rows)
    if best is None or _rest(rows, best)[0] < least / 2:
        return _NONE
    rows = worths(supposed[SCREEN:], nodes)
    if rows is None:
        return None
    same = [text for text in best if all(row[text] == row[best[0]] for row in rows)]
    margin, error = _rest(rows, same)
    if margin - CERTAIN * error < least:
        return _NONE
    lost = {
        text: 0.0 if text in same else round(mean_error([row[same[0]] - row[text] for row in rows])[0], 2)
        for text in rows[0]
    }
    return _Verdict(same, lost, round(margin, 2), round(error, 3))


def _mistake(supposed: Sequence[State], chosen: str, least: float, nodes: int) -> _Verdict | None:
    """Return the verdict on a decision as a mistake; None if it cannot be judged within the limit."""
    rows = worths(supposed[:SCREEN], nodes)
    if rows is None:
        return None
    means = {text: sum(row[text] for row in rows) / len(rows) for text in rows[0]}
    best = max(means, key=lambda text: means[text])
    if chosen == CLAIM or means[best] - means[chosen] < least / 2:
        return _NONE
    rows = worths(supposed[SCREEN:], nodes)
    if rows is None:
        return None
    margin, error = mean_error([row[best] - row[chosen] for row in rows])
    if margin - CERTAIN * error < least:
        return _NONE
    lost = {text: max(0.0, round(mean_error([row[best] - row[text] for row in rows])[0], 2)) for text in rows[0]}
    right = [text for text, value in lost.items() if value < least / 2]
    return _Verdict(right, lost, round(margin, 2), round(error, 3))


def _best(rows: Sequence[Mapping[str, int]]) -> list[str] | None:
    """Return the choice with the best mean and those that equal it in every deal; None if no serious alternative remains."""
    means = {text: sum(row[text] for row in rows) for text in rows[0]}
    first = max(means, key=lambda text: means[text])
    best = [text for text in means if all(row[text] == row[first] for row in rows)]
    return best if _others(rows, best) else None


def _others(rows: Sequence[Mapping[str, int]], best: Sequence[str]) -> list[str]:
    """Return the choices that are not among the best, without claims: a false claim loses the game, which makes no puzzle."""
    return [text for text in rows[0] if text not in best and text != CLAIM]


def _rest(rows: Sequence[Mapping[str, int]], best: Sequence[str]) -> tuple[float, float]:
    """Return the mean loss of the next best choice, and its standard error."""
    gaps = [mean_error([row[best[0]] - row[text] for row in rows]) for text in _others(rows, best)]
    return min(gaps, key=lambda gap: gap[0] - CERTAIN * gap[1])


def _seen_events(state: State) -> list[dict[str, Any]]:
    """Return all events that the seat to move has seen since the sitting began, as the protocol sends them."""
    events = redact(state.events, state.turn)
    return [{"e": "deal", "board": 1} | event if event["e"] == "deal" else event for event in events]


def _identity(
    game: str, options: Mapping[str, Any], players: int, seat: int, events: Sequence[Mapping[str, Any]]
) -> str:
    plain = json.dumps([game, dict(options), players, seat, list(events)], sort_keys=True, separators=(",", ":"))
    return sha256(plain.encode()).hexdigest()[:12]


def exchanges(puzzle: Puzzle, limits: Limits) -> list[Exchange]:
    """Build the two lines for a bot: `hello`, and one request with all events. The bot's seed follows from the puzzle."""
    game = load(puzzle.game, players=puzzle.players, **puzzle.options)
    hello = protocol.hello(
        game=game.key,
        revision=game.revision,
        options=game.options,
        seats=game.players,
        seat=puzzle.seat,
        sides=game.sides,
        boards=1,
        limits=limits,
        seed=int(puzzle.id, 16) % (1 << 32),
    )
    events = [protocol.encode(event) for event in puzzle.events]
    legal = ",".join(protocol.encode(text) for text in puzzle.legal)
    request = protocol.act(1, events, legal, f"{limits.bank_s:.3f}")
    return [Exchange(puzzle.seat, 1, -1, hello, "ready"), Exchange(puzzle.seat, 1, 0, request, puzzle.best[0])]


def ask(bot: BotSpec, box: Sandbox, puzzle: Puzzle, limits: Limits) -> tuple[str | None, FaultReport | None]:
    """Ask a bot in a fresh process; return its choice, or None and its fault. Raise SandboxError and OSError if the fault is not the bot's."""
    answer = rerun(bot, box, exchanges(puzzle, limits), limits, party=0, sitting=0)
    if answer is None or answer.fault is not None or not answer.replies:
        return None, answer.fault if answer else None
    return answer.replies[0].now, None


@dataclass(slots=True)
class Score:
    """The result of a bot or person on puzzles. lost: the loss of each answer; solved: True for each right answer."""

    lost: list[float]
    solved: list[bool]

    def add(self, puzzle: Puzzle, answer: str | None) -> None:
        """Count one answer. None means that the bot failed; that costs as much as the worst choice."""
        self.solved.append(answer in puzzle.best)
        self.lost.append(max(puzzle.lost.values()) if answer is None else puzzle.lost[answer])

    @property
    def share(self) -> tuple[float, float, float]:
        """Share of solved puzzles, and its 95% interval (Wilson)."""
        return sum(self.solved) / len(self.solved), *wilson(sum(self.solved) / len(self.solved), len(self.solved))

    @property
    def mean(self) -> tuple[float, float]:
        """Mean loss per puzzle, and the half-width of its 95% interval; infinite for a single puzzle."""
        mean, error = mean_error(self.lost)
        return mean, t95(len(self.lost) - 1) * error if len(self.lost) > 1 else inf
