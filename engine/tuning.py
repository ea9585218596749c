"""The boards of a tuning (engine.spsa): a bot with some values of its parameters against the same bot with others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.runner import BotSpec, FaultReport, MatchResult, MatchSpec
from engine.runner.match import load, play_match
from engine.sandbox import Sandbox
from engine.spsa import Values

BOARDS = 8  # Boards of one pair: few, so that little is lost if a worker dies.


@dataclass(frozen=True)
class PairResult:
    """Boards on which the first values did better, equally well, or worse. fault: the first fault of the tuned bot, which ends its tuning."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    fault: FaultReport | None = None

    @property
    def boards(self) -> int:
        """Number of boards that were played to their end."""
        return self.won + self.drawn + self.lost


def with_values(bot: BotSpec, values: Values) -> BotSpec:
    """Return a bot that gets these values of its parameters."""
    return replace(bot, parameters=tuple(values.items()))


def play_pair(
    spec: MatchSpec,
    plus: Values,
    minus: Values,
    box: Sandbox,
    *,
    opponent: BotSpec | None = None,
    most_s: float = float("inf"),
    stop: Callable[[], bool] = lambda: False,
) -> PairResult | None:
    """Play the boards of `spec` between party 0 with the values `plus` and with `minus`. Return None if `stop` returned True.

    They meet at one table; further seats hold `opponent`, or the bot with its own values. At a table for two with an opponent, both meet it on the
    same boards. After `most_s` wall seconds the boards finished so far are the result. Raise what `play_match` raises.
    """
    until = time.monotonic() + most_s
    (bot,) = spec.parties
    sides = [with_values(bot, values) for values in (plus, minus)]
    seats = len(load(spec).sides)
    others = (opponent or bot,) * (seats - 2)

    def play(name: str, *parties: BotSpec) -> MatchResult:
        match = replace(spec, match_id=f"{spec.match_id}{name}", parties=parties)
        return play_match(match, box, stop=lambda: stop() or time.monotonic() > until)

    if opponent is None or seats > 2:
        match = play("", *sides, *others)
        leads = [board.scores[0] - board.scores[1] for board in match.boards if board.complete]
        faults = [fault for party in match.parties[:2] for fault in party.faults]
    else:
        matches = [play(name, side, opponent) for name, side in zip("+-", sides, strict=True)]
        won = [{board.number: _won(board.scores) for board in match.boards if board.complete} for match in matches]
        leads = [won[0][number] - won[1][number] for number in won[0].keys() & won[1].keys()]
        faults = [fault for match in matches for fault in match.parties[0].faults]
    if stop():
        return None
    signs = [(lead > 0) - (lead < 0) for lead in leads]
    return PairResult(signs.count(1), signs.count(0), signs.count(-1), faults[0] if faults else None)


def _won(scores: list[int]) -> int:
    """Return 1, 0 or -1 for a board that the first party won, drew or lost."""
    return (scores[0] > scores[1]) - (scores[0] < scores[1])
