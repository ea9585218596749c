"""The measurement of versions that students hand in: matches of the league's queue against the house bot of the assignment.

A bot passes "better" if a sequential test (engine.sprt) accepts that it is stronger, without a fault. The test has an error of 5 % for all attempts
of an assignment together: with n attempts each has 5 % / n. It also ends a measurement without hope early. After `CAP` boards it is undecided.

Few of these matches wait or run at a time, of all classes together, and classes take turns; so rated play goes on beside any number of them. They
wait behind tournaments, are never rated, and no page of the league shows them.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from math import exp, sqrt

from django.db import transaction

from engine import sprt
from league.domain.classes.classes import match_prefix
from league.domain.core import clock, hints
from league.domain.matches import matches, workers
from league.domain.ratings import pools
from league.enums import FaultKind, HandInVerdict, MatchKind, MatchStatus, PassRule, VersionStatus
from league.models import BotVersion, HandIn, Match, Party
from league.pure.portable import comparable

ELO0, ELO1 = 0.0, 60.0  # The two hypotheses: not better, or better by so much on a board.
ALPHA = BETA = 0.05
SURE = 1 - ALPHA
BOARDS = 20  # Of each match.
CAP = 300  # The most boards of a measurement.
CLEAN_BOARDS = 40  # Boards without a fault that are asked for by the pass mark "no fault".
MOST_MATCHES = 40  # Including the matches that the league could not play.
PRIORITY = -1  # Below tournaments.
MOST_STDERR = 800  # Characters of stderr that are shown with a fault.
LOOK = 200  # Measurements that are read at a time.
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)


def advance(*, now: datetime | None = None) -> int:
    """Count finished matches, decide, and queue the next matches; return the number of changed measurements. Repeatable."""
    now = clock.now_or(now)
    changed = 0
    with transaction.atomic():
        rows = HandIn.objects.select_for_update(skip_locked=True, of=("self",)).filter(verdict="")
        waiting = []
        for row in rows.select_related("assignment__pool", "version__bot").order_by("matches", "pk")[:LOOK]:
            before = row.counted
            if _is_ready(row, now) and _count(row, now):
                waiting.append(row)
            changed += row.counted != before or bool(row.verdict)
        changed += _queue(waiting, now)
    return changed


def _is_ready(row: HandIn, now: datetime) -> bool:
    """Return True if the league has accepted the version; end the measurement if it has not, and never will."""
    version, game = row.version, row.assignment.pool.game
    if version.status == VersionStatus.VALIDATING:
        return False
    if version.status == VersionStatus.ACCEPTED and version.plays(game):
        return True
    _decide(
        row,
        HandInVerdict.FAULT,
        now,
        why=version.fault_detail or str(FaultKind(version.fault or FaultKind.CRASH).label),
    )
    return False


def _key(row: HandIn) -> str:
    return f"{match_prefix(row.pk)}{row.matches}"


def _count(row: HandIn, now: datetime) -> bool:
    """Count the last match if it has just finished; return True if another one is needed."""
    if row.matches == row.counted:
        return True
    match = Match.work.filter(key=_key(row)).first()
    if match is not None and match.status in LIVE:
        return False
    row.counted = row.matches
    if match is not None and match.status == MatchStatus.FINISHED:
        _add_boards(row, match)
        party = match.parties.get(number=0)
        if party.fault and party.fault != FaultKind.INFRASTRUCTURE:
            at = party.fault_at or {}
            _decide(row, HandInVerdict.FAULT, now, why=_fault_text(party, at.get("board")))
            return False
    verdict = _verdict(row)
    if verdict:
        _decide(row, verdict, now)
        return False
    row.save(update_fields=["counted", "won", "drawn", "lost", "points", "squares", "llr"])
    return True


def _fault_text(party: Party, board: int | None) -> str:
    """Return a fault with its board, and the end of what the bot has written to stderr."""
    text = ": ".join(filter(None, (str(FaultKind(party.fault).label), party.fault_detail)))
    return "\n".join(filter(None, (f"{text} (board {board})" if board else text, party.stderr[-MOST_STDERR:].strip())))


def _add_boards(row: HandIn, match: Match) -> None:
    for scores in match.boards.values_list("scores", flat=True):
        lead = scores[0] - sum(scores[1:]) / (len(scores) - 1)
        row.won, row.drawn, row.lost = row.won + (lead > 0), row.drawn + (lead == 0), row.lost + (lead < 0)
        row.points, row.squares = row.points + lead, row.squares + lead * lead
    row.llr = comparable(sprt.llr((row.lost, row.drawn, row.won), ELO0, ELO1))


def _verdict(row: HandIn) -> str:
    """Return the verdict after the boards so far; "" if more are needed."""
    task = row.assignment
    if task.rule == PassRule.CLEAN:
        return HandInVerdict.PASSED if row.boards >= CLEAN_BOARDS else _given_up(row)
    bounds = sprt.bounds(ALPHA / task.attempts, BETA)
    if row.llr >= bounds.upper:
        return HandInVerdict.PASSED
    if row.llr <= bounds.lower:
        return HandInVerdict.NOT_BETTER
    return HandInVerdict.UNSURE if row.boards >= CAP else _given_up(row)


def _given_up(row: HandIn) -> str:
    return HandInVerdict.UNSURE if row.matches >= MOST_MATCHES else ""


def _decide(row: HandIn, verdict: str, now: datetime, *, why: str = "") -> None:
    row.verdict, row.why, row.decided = verdict, why.replace("\0", ""), now
    row.save()


def _queue(rows: list[HandIn], now: datetime) -> int:
    """Queue the next match of as many measurements as there is room for: first of the class with the fewest, then the one with the fewest boards."""
    live = Match.work.filter(kind=MatchKind.ASSIGNMENT, status__in=LIVE).values_list("key", flat=True)
    pending = [int(key.split(":")[1]) for key in live]
    room = max(1, workers.count_able(now=now) // 2) - len(pending)
    if room < 1 or not rows:
        return 0
    busy: Counter[int] = Counter(
        HandIn.objects.filter(pk__in=pending).values_list("assignment__school_class", flat=True)
    )
    plans: list[matches.MatchPlan] = []
    while rows and len(plans) < room:
        row = min(rows, key=lambda row: (busy[row.assignment.school_class_id], row.matches, row.pk))
        rows.remove(row)
        busy[row.assignment.school_class_id] += 1
        plans.append(_plan(row))
    matches.insert(plans, now=now)
    hints.matches_wait()
    return len(plans)


def _plan(row: HandIn) -> matches.MatchPlan:
    """Plan the next match. Its deals follow from the secret of the assignment, the student, the attempt and the number of the match."""
    task = row.assignment
    row.matches += 1
    HandIn.objects.filter(pk=row.pk).update(matches=row.matches)
    rival = BotVersion.objects.select_related("bot").get(pk=task.rival_id)
    return matches.MatchPlan(
        key=_key(row),
        kind=MatchKind.ASSIGNMENT,
        pool=task.pool,
        table=f"h:{task.pk}:{row.member_id}:{row.attempt}:{row.matches}",
        secret=bytes(task.secret),
        boards=BOARDS,
        versions=(row.version, *[rival] * (pools.parties(task.pool) - 1)),
        rated=False,
        priority=PRIORITY,
    )


# ---- what the numbers say


def sureness(row: HandIn) -> float:
    """Return how sure it is that the bot is better, from 0 to 1; 0.95 is the pass mark.

    A bot that is not better reaches this evidence in one of the attempts with a probability of at most 1 - sureness.
    """
    return min(0.999, max(0.0, 1 - row.assignment.attempts * (1 - BETA) * exp(-row.llr)))


def lead(row: HandIn) -> tuple[float, float] | None:
    """Return the mean lead in points a board over the house bot, and half of its 95 % interval; None before the first boards."""
    n = row.boards
    if n < 2:
        return None
    mean = row.points / n
    variance = max(0.0, (row.squares - n * mean * mean) / (n - 1))
    return mean, 1.96 * sqrt(variance / n)
