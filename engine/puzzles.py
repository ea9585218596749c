"""Puzzles: decisions of recorded matches in which one choice is clearly the best, by what their seat could know.

They are found by the fair judgement of `engine.analysis`, in two steps over different deals: a few deals say which choice seems to be the
best, and many more, dealt independently, by how much. So the margin is not flattered by having been picked for its size. What is not
shown: from the next card on all seats are taken to see all cards, so caution and bluff count for nothing.

A puzzle holds all that its seat had been told since the sitting began, as events of the protocol, so that a person, and any bot, can be
asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from engine.analysis import JUDGE, USUAL_NODES, Decision, Seat, decisions, from_the_end, mean_error, phase_of, worths
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
SCREEN = 12  # deals that say whether a decision may be one
DEALS = 64  # deals that prove it
MARGIN = {
    "points": 10.0,
    "games": 250.0,
}  # in units of the board score: so much worse is every other choice; of other units 1
CERTAIN = 2.58  # standard errors: 99 % of the margin's distribution lies above what is asked for
CLAIM = "claim"
_TEXT = ("id", "game", "phase", "unit", "judge")


class NotAPuzzleError(ValueError):
    """A line that is none of ours; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One decision.

    best: the choices that are right, equally good in every deal. lost: what each choice gives away against them, on average over `deals` deals,
    in units of the board score (`unit`); 0 for those of `best`. margin: the least of the others, and `error` its standard error. events: all
    that the seat was told, from the start of the sitting; hand: its cards now; legal: what it could choose. source: match, board, sitting and step.
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
        """As it stands in a file, without the end of the line."""
        return json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, separators=(",", ":"))


def read(line: str) -> Puzzle:
    """The puzzle of a line. Raises NotAPuzzleError."""
    try:
        plain = json.loads(line)
        if plain.pop("format") != FORMAT:
            raise NotAPuzzleError(f"its format is not {FORMAT}")
        puzzle = Puzzle(**plain)
        _check(puzzle)
    except NotAPuzzleError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotAPuzzleError(f"it is no puzzle: {error}") from None
    return puzzle


def _check(puzzle: Puzzle) -> None:
    """Raises NotAPuzzleError, or what Python raises of values that are quite another kind of thing."""
    game = load(puzzle.game, players=puzzle.players, **puzzle.options)
    texts = [getattr(puzzle, name) for name in _TEXT] + [*puzzle.hand, *puzzle.legal, *puzzle.best, *puzzle.lost]
    numbers = (puzzle.seat, puzzle.margin, puzzle.error, puzzle.deals, *puzzle.lost.values())
    if any(type(one) is not str for one in texts) or any(type(one) not in (int, float) for one in numbers):
        raise NotAPuzzleError("a field has a wrong type")
    if not all(isfinite(one) for one in numbers):
        raise NotAPuzzleError("a number is not finite")
    if set(puzzle.lost) != set(puzzle.legal) or not puzzle.best or not set(puzzle.best) <= set(puzzle.legal):
        raise NotAPuzzleError("its choices do not agree with one another")
    if puzzle.id != _identity(puzzle.game, puzzle.options, puzzle.players, puzzle.seat, puzzle.events):
        raise NotAPuzzleError("its id is not that of its position, so a part of it was changed")
    if puzzle.revision != game.revision:
        raise NotAPuzzleError(
            f"it was made by revision {puzzle.revision} of the rules of {game.key}; these are of {game.revision}"
        )


def find(
    replay: Mapping[str, Any], *, deals: int = DEALS, margin: float | None = None, nodes: int = USUAL_NODES
) -> Iterator[Puzzle]:
    """The puzzles of a replay, in order. margin: None for that of its unit; nodes: as `fairly` has them. Raises ReplayError, ValueError.

    Where there are not two sides nothing is found: there is no judgement.
    """
    first = next(decisions(replay), None)
    if first is None:
        return
    game = first.state.game.origin
    least = MARGIN.get(str(game.score_unit), 1.0) if margin is None else margin
    seats = [Seat(replay, seat) for seat in range(game.players)]
    samples: dict[int, list[State]] = {}
    told: dict[int, list[dict[str, Any]]] = {}

    def noted() -> Iterator[Decision]:
        for one in decisions(replay):
            samples[one.step] = list(seats[one.state.turn].samples(one, SCREEN + deals))
            told[one.step] = _told(one.state)
            yield one._replace(state=one.state.clone())  # which records nothing

    for _, deal in groupby(noted(), key=lambda one: one.state.deal_no):
        moments = list(deal)
        verdicts = from_the_end(moments, lambda one: _verdict(samples.pop(one.step), least, nodes))
        for one, verdict in zip(moments, verdicts, strict=True):
            if verdict:
                events = told[one.step]
                meta = replay.get("meta", {})
                yield Puzzle(
                    id=_identity(game.key, game.options, game.players, one.state.turn, events),
                    game=game.key,
                    revision=game.revision,
                    players=game.players,
                    options=dict(game.options),
                    seat=one.state.turn,
                    phase=phase_of(one.state),
                    unit=str(game.score_unit),
                    events=events,
                    hand=[game.pack.texts[card] for card in one.state.hand_of(one.state.turn)],
                    legal=[one.state.game.action_text(action) for action in one.state.legal_actions()],
                    best=verdict.best,
                    lost=verdict.lost,
                    margin=verdict.margin,
                    error=verdict.error,
                    deals=deals,
                    judge=JUDGE,
                    source={name: meta.get(name) for name in ("match", "board", "sitting")} | {"step": one.step},
                )


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Of a decision that was looked at; false where it is no puzzle."""

    best: list[str]
    lost: dict[str, float]
    margin: float = 0.0
    error: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.best)


_NONE = _Verdict([], {})


def _verdict(supposed: Sequence[State], least: float, nodes: int) -> _Verdict | None:
    """None where it cannot be judged within the limit."""
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


def _best(rows: Sequence[Mapping[str, int]]) -> list[str] | None:
    """The choice of the best mean, with those that are worth the same in every deal; None where all are that somebody would think of."""
    means = {text: sum(row[text] for row in rows) for text in rows[0]}
    first = max(means, key=lambda text: means[text])
    best = [text for text in means if all(row[text] == row[first] for row in rows)]
    return best if _others(rows, best) else None


def _others(rows: Sequence[Mapping[str, int]], best: Sequence[str]) -> list[str]:
    """The choices that are not among the best. A claim is none of them: that a false one loses the game is no riddle."""
    return [text for text in rows[0] if text not in best and text != CLAIM]


def _rest(rows: Sequence[Mapping[str, int]], best: Sequence[str]) -> tuple[float, float]:
    """What the next best choice gives away on average, and the standard error of that."""
    gaps = [mean_error([row[best[0]] - row[text] for row in rows]) for text in _others(rows, best)]
    return min(gaps, key=lambda gap: gap[0] - CERTAIN * gap[1])


def _told(state: State) -> list[dict[str, Any]]:
    """All that the seat on turn has been told since the sitting began, as the protocol tells it."""
    told = redact(state.events, state.turn)
    return [{"e": "deal", "board": 1} | event if event["e"] == "deal" else event for event in told]


def _identity(
    game: str, options: Mapping[str, Any], players: int, seat: int, events: Sequence[Mapping[str, Any]]
) -> str:
    plain = json.dumps([game, dict(options), players, seat, list(events)], sort_keys=True, separators=(",", ":"))
    return sha256(plain.encode()).hexdigest()[:12]


def exchanges(puzzle: Puzzle, limits: Limits) -> list[Exchange]:
    """The two lines to a bot: `hello`, and one request with everything that has happened. Its seed follows from the puzzle."""
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
    """What a bot chooses, in a fresh process; None where it fails, and how. Raises SandboxError and OSError for what is no bot's fault."""
    found = rerun(bot, box, exchanges(puzzle, limits), limits, party=0, sitting=0)
    if found is None or found.fault is not None or not found.replies:
        return None, found.fault if found else None
    return found.replies[0].now, None


@dataclass(slots=True)
class Score:
    """What a bot, or a person, made of puzzles. lost: of each, by its answer; solved: whether each was answered rightly."""

    lost: list[float]
    solved: list[bool]

    def add(self, puzzle: Puzzle, answer: str | None) -> None:
        """Count one. None: it failed, which costs as much as the worst choice."""
        self.solved.append(answer in puzzle.best)
        self.lost.append(max(puzzle.lost.values()) if answer is None else puzzle.lost[answer])

    @property
    def share(self) -> tuple[float, float, float]:
        """The share that was solved, and its 95 % interval (Wilson's)."""
        return sum(self.solved) / len(self.solved), *wilson(sum(self.solved) / len(self.solved), len(self.solved))

    @property
    def mean(self) -> tuple[float, float]:
        """Lost a puzzle on average, and half of its 95 % interval; infinite of a single one."""
        mean, error = mean_error(self.lost)
        return mean, t95(len(self.lost) - 1) * error if len(self.lost) > 1 else inf
