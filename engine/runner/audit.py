"""Audit whether a bot plays by itself: send it one seat's conversation twice more, among stand-ins, and compare with the log.

Partners that pass signals, or bots that are helped from outside, answer differently among stand-ins (`retake`). A bot that declares itself
deterministic must give the same answers. For any other bot the question is whether the log looks like a third run: if two of three answers to a
request agree, the odd one is the log's in a third of the cases by chance, however often the bot changes its mind.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.runner.rebuild import exchanges
from engine.runner.rerun import RepeatedDecision, Rerun
from engine.runner.retake import retake
from engine.runner.spec import BotSpec
from engine.sandbox import Sandbox

SAME, ALIKE, DIFFERS, FAILED = "same", "alike", "differs", "failed"
VERDICTS = {
    SAME: "all three gave the same answers",
    ALIKE: "the match differs from the runs no more than they differ from each other",
    DIFFERS: "the match differs from the runs: a person should look at it",
    FAILED: "the bot failed in a run, and not in the match: a person should look at it",
}
UNLIKELY = 1e-6  # Probability below which the log of a bot that is not deterministic counts as different.
RUNS = 2


@dataclass(frozen=True)
class Difference:
    """The first decision with different answers, or the one at which a run failed.

    request: its number in the conversation, from 1, 0 for hello; step: as in `Exchange`.
    """

    board: int
    step: int
    request: int
    legal: list[str]
    logged: str
    runs: list[str]


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit. A decision is odd if two of its three answers agree and the third does not."""

    verdict: str
    decisions: int
    log_odd: int = 0
    run_odd: int = 0
    all_differ: int = 0
    chance: float = 1.0  # Probability by chance that the log gave at least this many of the odd answers.
    first: Difference | None = None
    fault: str = ""  # Fault of the run that failed.
    detail: str = ""  # Text for the bot's owner.

    def plain(self) -> dict[str, Any]:
        """Serialise as JSON data."""
        return asdict(self)


def audit(
    bot: BotSpec,
    box: Sandbox,
    group: Sequence[Mapping[str, Any]],
    seat: int,
    *,
    deterministic: bool = False,
    seed: str = "",
    stop: Callable[[], bool] = lambda: False,
) -> AuditResult | None:
    """Audit one seat of a pass; `group` is one item of `rebuild.passes`. Return None if `stop` returned True.

    Raise ReplayError and ValueError for an invalid log, SandboxError, Infrastructure and OSError for failures that are not the bot's.
    """
    replays = [dict(replay) for replay in group]
    # If the bot failed in the match, there is no answer to compare.
    own = [exchange for exchange in exchanges(replays) if exchange.seat == seat and not exchange.fault]
    if not own or own[0].step >= 0:  # The bot never reached the table.
        return AuditResult(SAME, 0)
    runs = []
    for number in range(RUNS):
        run = retake(bot, box, replays, seat, seed=f"{seed} {number}", stop=stop)
        if run is None:
            return None
        runs.append(run)
    return compare(runs, deterministic=deterministic)


def compare(runs: Sequence[Rerun], *, deterministic: bool) -> AuditResult:
    """Compare two runs of one conversation with its log."""
    pairs = list(zip(*(run.replies for run in runs), strict=False))
    odd = {"log": 0, "run": 0, "all": 0}
    first = None
    for first_reply, second_reply in pairs:
        kind = _odd_one(first_reply, second_reply)
        if kind:
            odd[kind] += 1
            first = first or _difference(first_reply, second_reply)
    chance = odds(odd["log"], odd["log"] + odd["run"])
    failed = next((run for run in runs if run.fault), None)
    if first is not None and (deterministic or chance < UNLIKELY):
        verdict = DIFFERS
    elif failed is not None:
        verdict, first = FAILED, _failure(runs)
    else:
        verdict = SAME if first is None else ALIKE
    fault, detail = (failed.fault.kind, failed.fault.detail) if failed and failed.fault else ("", "")
    return AuditResult(verdict, len(pairs), odd["log"], odd["run"], odd["all"], chance, first, fault, detail)


def _odd_one(first_reply: RepeatedDecision, second_reply: RepeatedDecision) -> str:
    if first_reply.now == second_reply.now:
        return "log" if first_reply.differs else ""
    return "run" if not (first_reply.differs and second_reply.differs) else "all"


def _difference(first_reply: RepeatedDecision, second_reply: RepeatedDecision) -> Difference:
    at = first_reply.exchange
    return Difference(
        at.board, at.step, first_reply.request, first_reply.legal, at.answer or "", [first_reply.now, second_reply.now]
    )


def _failure(runs: Sequence[Rerun]) -> Difference | None:
    """Return the line at which a run failed first, with what each run answered to it; "" if it did not get there."""
    failed = [run for run in runs if run.failed_at is not None]
    at = min(failed, key=lambda run: len(run.replies)).failed_at if failed else None
    if at is None:
        return None
    line = json.loads(at.request)
    number: int = line.get("id", 0)
    return Difference(
        at.board, at.step, number, line.get("legal", []), at.answer or "", [_answer(run, number) for run in runs]
    )


def _answer(run: Rerun, number: int) -> str:
    """Return the answer of a run to a request, or the fault that it committed there."""
    if run.fault is not None and len(run.replies) <= number <= len(run.replies) + 1:
        return f"({run.fault.kind})"
    return run.replies[number - 1].now if 0 < number <= len(run.replies) else ""


def odds(log_odd: int, odd: int) -> float:
    """Return the probability of at least `log_odd` of `odd` if each of three answers is equally likely the odd one (one-sided binomial test)."""
    # With integers the quotient is exact, however large they are.
    ways = sum(math.comb(odd, k) * int(2 ** (odd - k)) for k in range(log_odd, odd + 1))
    return ways / int(3**odd)
