"""How a worker plays a validation: every game of the version, one after the other, under one lease."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.runner import FaultReport, Limits, MatchSpec
from engine.runner.bot_processes import BotProcesses
from engine.runner.spec import ALWAYS, PARTNERS
from engine.runner.trial import WHOLE, Check, try_bot
from engine.sandbox import Sandbox
from league.domain.bots import packages
from league.domain.matches import matches, validation
from league.models import BotVersion, Match, Party, Pool

MOST_S = (
    300.0  # of wall time; games that were not begun by then are refused, for the bot has made the others take so long
)


UNPLAYABLE = 2  # attempts that broke off at the same bot, on another worker if there is one: then it is to blame


def match_spec(match: Match, folder: Path) -> MatchSpec:
    """What the runner plays for `match`. Bots are unpacked under `folder`. No query for a match that was claimed by `upcoming.claim`."""
    parties = sorted(match.parties.all(), key=lambda party: party.number)
    boards = range(match.first_board, match.first_board + match.boards_planned)
    versions = [party.version for party in parties]
    limits = Limits(**match.limits)
    spec = _spec(match.public_id, match.pool, bytes(match.secret), match.table, boards, versions, limits, folder)
    seen = {party.number: _what_was_seen(party) for party in parties if len(party.broken_off) >= UNPLAYABLE}
    sealing = ALWAYS if match.tournament and match.tournament.sealed else PARTNERS
    return replace(spec, unplayable=seen, sealing=sealing)


def _what_was_seen(party: Party) -> str:
    """For the owner of a bot at which a match breaks off again and again."""
    return "the match broke off at this bot: " + "; ".join(
        f"attempt {seen['attempt']} on worker {seen['worker']}: {seen['why']}" for seen in party.broken_off
    )


def _plan_spec(plan: matches.MatchPlan, folder: Path) -> MatchSpec:
    boards = range(plan.first_board, plan.first_board + plan.boards)
    limits = Limits(**plan.limits)
    return _spec(matches.public_id(plan), plan.pool, plan.secret, plan.table, boards, plan.versions, limits, folder)


def _spec(
    name: str,
    pool: Pool,
    secret: bytes,
    table: str,
    boards: range,
    versions: Sequence[BotVersion],
    limits: Limits,
    folder: Path,
) -> MatchSpec:
    return MatchSpec(
        match_id=name,
        game=pool.game,
        players=pool.players,
        options=pool.options,
        secret=secret,
        table=table,
        boards=boards,
        parties=tuple(packages.spec(version, folder) for version in versions),
        limits=limits,
        sealing=PARTNERS,
    )


def play_trials(
    match: Match,
    spec: MatchSpec,
    box: Sandbox,
    folder: Path,
    *,
    first: BotProcesses | None,
    stop: Callable[[], bool],
    progress: Callable[[int, int], None],
    most_s: float = validation.MOST_S,
) -> list[validation.Tried]:
    """Every game of a validation, that of `match` first, with the plans of the others. Empty when stopped. Raises what `play_match` raises."""
    until = time.monotonic() + most_s
    rest = validation.plan_rest(match)
    mine = {party: why for party, why in spec.unplayable.items() if party == 0}  # the others may be others there
    found = []
    for number, plan in enumerate([None, *rest]):
        if plan is not None and time.monotonic() > until:
            found.append(_unreached(plan, most_s))
            continue
        trial = (
            try_bot(spec, box, stop=stop, first=first)
            if plan is None
            else try_bot(replace(_plan_spec(plan, folder), unplayable=mine), box, stop=stop)
        )
        if not trial.complete:
            return []
        trial.result.parties[0].stderr += trial.stderr  # its author finds both in one place
        found.append(validation.Tried(trial.game, trial.checks, plan, trial.result))
        progress(number + 1, 1 + len(rest))
    return found


def _unreached(plan: matches.MatchPlan, most_s: float) -> validation.Tried:
    detail = (
        f"the other games took all of the {most_s:.0f} s that a validation has; answer sooner, or declare fewer games"
    )
    return validation.Tried(plan.pool.game, [Check(WHOLE, FaultReport(0, 0, 1, 0, -1, "timeout", detail))])
