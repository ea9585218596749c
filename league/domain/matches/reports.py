"""Reports: the transaction that stores the result of a match exactly once."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from itertools import combinations
from typing import Any

from django.db import transaction
from django.db.models import TextChoices

from engine import choices
from engine.choices import PartyCounts
from engine.runner import MatchResult
from engine.runner.trial import TrialCheck as Checked
from league.domain.core import clock, hints, journal, queue, transitions
from league.domain.matches import health, leases, logs, matches, validation
from league.domain.ratings import pools
from league.enums import CheckName, MatchStatus
from league.models import Board, Match, Party, Sitting
from league.pure import style
from league.pure.style import Style

log = logging.getLogger("league.reports")


class Receipt(TextChoices):
    """The league's answer to a report."""

    STORED = "stored"
    REPEATED = "repeated"  # The same lease has reported before; nothing was changed
    # The lease was lost in the meantime; nothing was changed, and a line of the journal keeps the evidence
    REFUSED = "refused"


def report(
    lease: Match, result: MatchResult, trials: Sequence[validation.TriedGame] = (), *, now: datetime | None = None
) -> Receipt:
    """Store the boards, sittings, parties and log of a match and finish it, in one transaction.

    1. The row is locked, so two reports are handled one after the other. Only the holder of the lease can lock it: the role of the workers cannot
       change finished matches.
    2. A report with an old token is refused; a line of the journal keeps its evidence.
    3. The rows are written, then `move` sets the status, for which the token must still be current. In addition, the keys of boards and sittings
       are unique.

    lease: the match as its worker has it. trials: the games of a validation: first the match itself, then the others with their plans.
    Raise ValueError if the result is incomplete or belongs to another match, which would be a bug of the league.
    """
    now = clock.now_or(now)
    # Packed before any row is locked. The first trial has the result of the match itself
    games = [result, *(tried.result for tried in trials if tried.plan is not None and tried.result is not None)]
    packed = {game.match_id: logs.pack(game.boards) for game in games}
    styles = [] if trials else _styles(result)
    opening = _choices(result) if lease.rated else None
    with transaction.atomic():
        match = queue.leased(lease).filter(status=MatchStatus.RUNNING).select_for_update().first()
        if match is None:  # and there never will be one: no token is used twice
            match = Match.work.get(pk=lease.pk)
            if match.token == lease.token and match.status == MatchStatus.FINISHED:
                return Receipt.REPEATED
            evidence = _evidence(match, lease.token, result)
            journal.append("match.report_refused", transitions.subject(match), now=now, actor=lease.worker, **evidence)
            return Receipt.REFUSED
        parties = list(match.parties.select_related("version__bot").order_by("number"))
        validates = validation.is_validation(match)
        for party, counts in zip(parties, styles, strict=False):
            party.style = counts
        _finish(match, parties, result, packed, now=now, opening=opening)
        health.judge_report(match, parties, now=now)
        if validates:
            validation.settle(match, _played(match, result, trials, packed, now=now), now=now)
            return Receipt.STORED
        if match.tournament_id is not None:
            hints.tournament_grew(match.tournament_id)
        if match.rated:
            hints.pool_grew(match.pool_id)
    return Receipt.STORED


def _styles(result: MatchResult) -> list[list[int]]:
    """Count how each party plays (`league.pure.style.COUNTS`). Return [] if the count fails, because that must not cost the result."""
    styles = [Style() for _ in result.parties]
    try:
        for board in result.boards:
            for sitting in board.sittings:
                counts = style.count(sitting.replay["events"], sitting.seating, len(styles))
                styles = [total + more for total, more in zip(styles, counts, strict=True)]
    except (LookupError, TypeError, ValueError) as error:
        log.error("match %s: cannot count the style of its parties", result.match_id, exc_info=error)
        return []
    return [list(astuple(total)) for total in styles]


def _choices(result: MatchResult) -> list[PartyCounts] | None:
    """Count the opening choices of each party. Return None if the count fails, because that must not cost the result."""
    sittings = ((sitting.replay, sitting.seating) for board in result.boards for sitting in board.sittings)
    try:
        return choices.count(sittings, len(result.parties))
    except (LookupError, TypeError, ValueError) as error:
        log.error("match %s: cannot count its choices", result.match_id, exc_info=error)
        return None


def _finish(
    match: Match,
    parties: list[Party],
    result: MatchResult,
    packed: Mapping[str, bytes],
    *,
    now: datetime,
    opening: list[PartyCounts] | None = None,
) -> None:
    _check(match, parties, result)
    _store_boards(match, result)
    logs.store(match, packed[result.match_id], finished=now, opening=opening)
    _store_parties(parties, result)
    transitions.move(
        match,
        MatchStatus.FINISHED,
        now=now,
        actor=match.worker,
        guard={"token": match.token},
        finished=now,
        lease_until=None,
        progress=100,
        decided=None,
        reason="",
        host=result.host | leases.label(match),
    )


def _played(
    match: Match,
    result: MatchResult,
    trials: Sequence[validation.TriedGame],
    packed: Mapping[str, bytes],
    *,
    now: datetime,
) -> list[validation.PlayedGame]:
    """Return the games of a validation. Each game after the first gets its own match, already finished."""
    if not trials:  # The validation played whole boards and made no other checks.
        whole = Checked(CheckName.BOARDS, next(iter(result.parties[0].faults), None))
        return [validation.PlayedGame(match, match.pool.game, [whole])]
    games = []
    for tried in trials:
        its_match = match
        if tried.plan is not None and tried.result is not None:
            its_match = matches.insert_running(tried.plan, match, now=now)
            parties = list(its_match.parties.select_related("version__bot").order_by("number"))
            _finish(its_match, parties, tried.result, packed, now=now)
        games.append(validation.PlayedGame(its_match, tried.game, tried.checks))
    return games


def _check(match: Match, parties: list[Party], result: MatchResult) -> None:
    if result.match_id != match.public_id:
        raise ValueError(f"result of match {result.match_id!r} reported for match {match.public_id!r}")
    first, last = match.first_board, match.first_board + match.boards_planned - 1
    if [board.number for board in result.boards] != list(range(first, last + 1)):
        raise ValueError(
            f"match {match.public_id} has boards {first} to {last}, not {[b.number for b in result.boards]}"
        )
    if not all(board.complete for board in result.boards):
        raise ValueError(f"match {match.public_id}: a board is not complete")
    revisions = {sitting.replay.get("revision") for board in result.boards for sitting in board.sittings}
    if not revisions <= {match.pool.revision}:
        raise ValueError(
            f"match {match.public_id} is played by revision {match.pool.revision} of its rules, not {revisions}"
        )
    if len(result.parties) != len(parties) or any(len(board.scores) != len(parties) for board in result.boards):
        raise ValueError(f"match {match.public_id} has {len(parties)} parties, not those of the result")


def _store_boards(match: Match, result: MatchResult) -> None:
    boards = Board.objects.bulk_create(
        Board(match=match, number=board.number, scores=board.scores) for board in result.boards
    )
    Sitting.objects.bulk_create(
        (
            Sitting(
                board=row,
                number=sitting.number,
                seating=list(sitting.seating),
                scores=list(sitting.scores),
                fault=sitting.fault.kind if sitting.fault else "",
                fault_party=sitting.fault.party if sitting.fault else None,
            )
            for row, board in zip(boards, result.boards, strict=True)
            for sitting in board.sittings
        ),
        batch_size=100,
    )


def _store_parties(parties: list[Party], result: MatchResult) -> None:
    sides = pools.sides(parties[0].match.pool)
    tallies = tally([board.scores for board in result.boards], len(parties), sides)
    columns = ["points", "wins", "draws", "losses", "fault", "fault_detail", "fault_at", "faults", "stderr"]
    columns += ["cpu_s", "wall_s", "max_cpu_s", "decisions", "sealed", "style"]
    for row, party, (wins, draws, losses) in zip(parties, result.parties, tallies, strict=True):
        row.points = sum(board.scores[row.number] for board in result.boards)
        row.wins, row.draws, row.losses = wins, draws, losses
        row.fault = party.fault or ""
        row.fault_detail = party.fault_detail
        row.fault_at = dict(zip(("board", "sitting", "step"), party.fault_at, strict=True)) if party.fault_at else None
        row.faults = [asdict(fault) for fault in party.faults]
        row.stderr = party.stderr.replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
        row.cpu_s, row.wall_s, row.max_cpu_s = party.cpu_s, party.wall_s, party.max_cpu_s
        row.decisions = party.decisions
        row.sealed = party.sealed
        # A single statement, with a case for each column and row, would take five times as long to write and to plan
        row.save(update_fields=columns)


def tally(
    boards: list[list[int]], parties: int, sides: Sequence[Sequence[int]] | None = None
) -> list[tuple[int, int, int]]:
    """Return for each party the boards won, drawn and lost, from the parties' board scores: pair by pair, but not between partners."""
    partners = {frozenset(side) for side in sides or ()}
    counts = [[0, 0, 0] for _ in range(parties)]
    for scores in boards:
        for a, b in combinations(range(parties), 2):
            if {a, b} in partners:
                continue
            if scores[a] == scores[b]:
                counts[a][1] += 1
                counts[b][1] += 1
            else:
                won, lost = (a, b) if scores[a] > scores[b] else (b, a)
                counts[won][0] += 1
                counts[lost][2] += 1
    return [(w, d, lost) for w, d, lost in counts]


def _evidence(match: Match, token: int, result: MatchResult) -> dict[str, Any]:
    """Return enough of a refused report to compare it later with the stored result."""
    scores = [board.scores for board in result.boards]
    actions = [sitting.replay.get("actions") for board in result.boards for sitting in board.sittings]
    digest = hashlib.sha256(json.dumps(actions, separators=(",", ":")).encode()).hexdigest()
    return {"token": token, "expected": match.token, "status": match.status, "scores": scores, "actions_sha256": digest}
