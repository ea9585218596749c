"""Audit whether a bot plays by itself: send it one seat's conversation twice, alone, at two different paces, and compare with the log.

Partners that pass signals, or bots that are helped from outside, answer differently when run alone. A bot that declares itself deterministic
must give the same answers. For any other bot the question is whether the log looks like a third run: if two of three answers to a request
agree, the odd one is the log's in a third of the cases by chance, however often the bot changes its mind.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.runner.limits import Limits
from engine.runner.rebuild import exchanges
from engine.runner.rerun import RepeatedDecision, Rerun, rerun
from engine.runner.spec import BotSpec
from engine.sandbox import Sandbox

SAME, ALIKE, DIFFERS, FAILED = "same", "alike", "differs", "failed"
VERDICTS = {
    SAME: "all three gave the same answers",
    ALIKE: "the match differs from the runs no more than they differ from each other",
    DIFFERS: "the match differs from the runs: a person should look at it",
    FAILED: "the bot failed in a run, so there is no verdict",
}
UNLIKELY = 1e-6  # Probability below which the log of a bot that is not deterministic counts as different.
PACE_S = 0.005  # Mean pause before each decision of the second run.
MOST_S = 60.0  # Wall seconds of a run. Only answers that arrived by then are compared.


@dataclass(frozen=True)
class Difference:
    """The first decision with different answers. request: its number in the conversation, from 1; step: as in `Exchange`."""

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

    Raise ReplayError and ValueError for an invalid log, SandboxError and OSError for failures that are not the bot's.
    """
    replays = [dict(replay) for replay in group]
    # If the bot failed in the match, there is no answer to compare.
    own = [exchange for exchange in exchanges(replays) if exchange.seat == seat and not exchange.fault]
    if not own or own[0].step >= 0:  # The bot never reached the table.
        return AuditResult(SAME, 0)
    limits = Limits(**replays[0]["pass"]["limits"]).lenient()
    party, sitting = replays[0]["meta"]["seating"][seat], replays[0]["meta"]["sitting"]
    runs = []
    for pause in (lambda: None, paced(seed)):
        run = rerun(bot, box, own, limits, party=party, sitting=sitting, pause=pause, stop=stop, most_s=MOST_S)
        if run is None:
            return None
        runs.append(run)
    return compare(runs, deterministic=deterministic)


def paced(seed: str) -> Callable[[], None]:
    """Return a function that pauses before a decision for a random time, PACE_S on average."""
    dice = random.Random(seed)  # noqa: S311 - a pace is no secret
    return lambda: time.sleep(dice.uniform(0, 2 * PACE_S))


def compare(runs: Sequence[Rerun], *, deterministic: bool) -> AuditResult:
    """Compare two runs of one conversation with its log."""
    pairs = list(zip(*(run.replies for run in runs), strict=False))
    failed = next((run.fault for run in runs if run.fault), None)
    if failed is not None:
        return AuditResult(FAILED, len(pairs), fault=failed.kind, detail=failed.detail)
    odd = {"log": 0, "run": 0, "all": 0}
    first = None
    for first_reply, second_reply in pairs:
        kind = _odd_one(first_reply, second_reply)
        if kind:
            odd[kind] += 1
            first = first or _difference(first_reply, second_reply)
    chance = odds(odd["log"], odd["log"] + odd["run"])
    if first is None:
        verdict = SAME
    else:
        verdict = DIFFERS if deterministic or chance < UNLIKELY else ALIKE
    return AuditResult(verdict, len(pairs), odd["log"], odd["run"], odd["all"], chance, first)


def _odd_one(first_reply: RepeatedDecision, second_reply: RepeatedDecision) -> str:
    if first_reply.now == second_reply.now:
        return "log" if first_reply.differs else ""
    return "run" if not (first_reply.differs and second_reply.differs) else "all"


def _difference(first_reply: RepeatedDecision, second_reply: RepeatedDecision) -> Difference:
    at = first_reply.exchange
    return Difference(
        at.board, at.step, first_reply.request, first_reply.legal, at.answer or "", [first_reply.now, second_reply.now]
    )


def odds(log_odd: int, odd: int) -> float:
    """Return the probability of at least `log_odd` of `odd` if each of three answers is equally likely the odd one (one-sided binomial test)."""
    # With integers the quotient is exact, however large they are.
    ways = sum(math.comb(odd, k) * int(2 ** (odd - k)) for k in range(log_odd, odd + 1))
    return ways / int(3**odd)
