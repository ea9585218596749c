"""Whether a bot plays what it plays by itself: a seat's conversation put to it twice, alone, at two other paces, and compared with the log.

Partners that pass signals, or bots that hear from anybody, answer otherwise when nobody is there. A bot that declares itself deterministic
must answer as it did. With any other the question is whether the log is one more of the same kind: of three answers to one request, the
odd one out is by chance that of the log in a third of the cases, however often the bot changes its mind.
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
from engine.runner.rerun import Reply, Rerun, rerun
from engine.runner.spec import BotSpec
from engine.sandbox import Sandbox

SAME, ALIKE, DIFFERS, FAILED = "same", "alike", "differs", "failed"
VERDICTS = {
    SAME: "all three gave the same answers",
    ALIKE: "the match differs from the runs no more than these from each other",
    DIFFERS: "the match differs from the runs: a case for people",
    FAILED: "the bot failed when it was run again, so nothing is said",
}
UNLIKELY = 1e-6  # chance below which the log of a bot that is not deterministic counts as different
PACE_S = 0.005  # mean pause before each decision of the second run
MOST_S = 60.0  # wall seconds of a run: what was answered by then is compared


@dataclass(frozen=True)
class Difference:
    """The first decision with more than one answer. request: its number in the conversation, from 1; step as in `Exchange`."""

    board: int
    step: int
    request: int
    legal: list[str]
    logged: str
    runs: list[str]


@dataclass(frozen=True)
class Audit:
    """What came of it. The odd ones are decisions in which two of three answers were the same and the third was not."""

    verdict: str
    decisions: int
    log_odd: int = 0
    run_odd: int = 0
    all_differ: int = 0
    chance: float = 1.0  # that so many of the odd ones, or more, are the log's
    first: Difference | None = None
    fault: str = ""  # of the run that failed
    detail: str = ""  # for the bot's owner

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
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
) -> Audit | None:
    """Audit one seat of a pass, `group` as `rebuild.passes` gives it. None where `stop` said so.

    Raises ReplayError and ValueError for a log that does not hold, SandboxError and OSError for what is no bot's fault.
    """
    told = [dict(replay) for replay in group]
    # Where the bot failed in the match there is no answer to compare
    mine = [one for one in exchanges(told) if one.seat == seat and not one.fault]
    if not mine or mine[0].step >= 0:  # it never came to the table
        return Audit(SAME, 0)
    given = Limits(**told[0]["pass"]["limits"])
    limits = given.lenient()
    party, sitting = told[0]["meta"]["seating"][seat], told[0]["meta"]["sitting"]
    runs = []
    for pause in (lambda: None, paced(seed)):
        run = rerun(bot, box, mine, limits, party=party, sitting=sitting, pause=pause, stop=stop, most_s=MOST_S)
        if run is None:
            return None
        runs.append(run)
    return compare(runs, deterministic=deterministic)


def paced(seed: str) -> Callable[[], None]:
    """Pauses of another length before each decision, PACE_S in the mean."""
    dice = random.Random(seed)  # noqa: S311 - a pace is no secret
    return lambda: time.sleep(dice.uniform(0, 2 * PACE_S))


def compare(runs: Sequence[Rerun], *, deterministic: bool) -> Audit:
    """The verdict on two runs of one conversation."""
    pairs = list(zip(*(run.replies for run in runs), strict=False))
    failed = next((run.fault for run in runs if run.fault), None)
    if failed is not None:
        return Audit(FAILED, len(pairs), fault=failed.kind, detail=failed.detail)
    odd = {"log": 0, "run": 0, "all": 0}
    first = None
    for one, other in pairs:
        kind = _odd_one(one, other)
        if kind:
            odd[kind] += 1
            first = first or _difference(one, other)
    chance = odds(odd["log"], odd["log"] + odd["run"])
    if first is None:
        verdict = SAME
    else:
        verdict = DIFFERS if deterministic or chance < UNLIKELY else ALIKE
    return Audit(verdict, len(pairs), odd["log"], odd["run"], odd["all"], chance, first)


def _odd_one(one: Reply, other: Reply) -> str:
    if one.now == other.now:
        return "log" if one.differs else ""
    return "run" if not (one.differs and other.differs) else "all"


def _difference(one: Reply, other: Reply) -> Difference:
    at = one.exchange
    return Difference(at.board, at.step, one.request, one.legal, at.answer or "", [one.now, other.now])


def odds(log_odd: int, odd: int) -> float:
    """Chance of at least `log_odd` of `odd` where each is one of three with equal chances (one-sided binomial test)."""
    # Of whole numbers: the quotient is exact, however large they are
    ways = sum(math.comb(odd, k) * int(2 ** (odd - k)) for k in range(log_odd, odd + 1))
    return ways / int(3**odd)
