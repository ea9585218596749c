"""Assignments, and handing in versions.

The attempts of an assignment are fixed before anybody hands in, because the pass mark depends on them: 95 % sure is meant for all attempts together,
so each attempt needs more evidence the more there are (measuring.py), and nobody gains by trying until a lucky one. The deals of each student's
attempts follow from a secret that is drawn with the assignment.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max

from league.domain.bots import bots, tries
from league.domain.classes import classes
from league.domain.core import clock, journal
from league.domain.core.errors import Forbidden, Refused
from league.domain.ratings import pools
from league.enums import BotState, ClassRole, PassRule, VersionStatus
from league.models import Assignment, BotVersion, ClassMember, HandIn, LeagueEvent, SchoolClass

MOST_ASSIGNMENTS = 40  # In a class.
MOST_ATTEMPTS = 10
MOST_MARKS = 1000
MOST_AHEAD = timedelta(days=400)
LATE = (0, 50, 100)  # Percent of the marks of a bot that is handed in late; 0: not accepted.


@dataclass(frozen=True, kw_only=True)
class AssignmentTerms:
    """The terms of an assignment, chosen by a teacher; see the columns of `Assignment`."""

    title: str
    due: datetime
    opens: datetime | None = None  # None: at once.
    game: str = "partnership"
    players: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rival: str = "greedy"
    rule: str = PassRule.BETTER
    attempts: int = 3
    marks: int = 10
    clean_marks: int = 0
    place_marks: int = 0
    late_percent: int = 0
    is_extra: bool = False


def create(teacher: ClassMember, terms: AssignmentTerms, *, now: datetime | None = None) -> Assignment:
    """Add an assignment to a class."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = classes.lock(teacher)
        if row.assignments.count() >= MOST_ASSIGNMENTS:
            raise Refused("A class has at most {most} assignments.", most=MOST_ASSIGNMENTS)
        number = 1 + (row.assignments.aggregate(last=Max("number"))["last"] or 0)
        fresh = {**_columns(terms, now, None), **_table(terms)}
        row_added = Assignment.objects.create(
            school_class=row, number=number, secret=secrets.token_bytes(32), created=now, **fresh
        )
        _note(row, "assignment", teacher, now, number=number)
    return row_added


def change(
    teacher: ClassMember, assignment: Assignment, terms: AssignmentTerms, *, now: datetime | None = None
) -> Assignment:
    """Change an assignment. Once somebody has handed in, what is measured stays: game, house bot, pass mark and attempts."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = classes.lock(teacher)
        before = row.assignments.select_related("pool", "rival__bot").get(pk=assignment.pk)
        columns = _columns(terms, now, before)
        if not before.hand_ins.exists():
            columns |= _table(terms)
        elif _measured(terms) != _measured_in(before):
            raise Refused(
                "Somebody has handed in already, so game, house bot, pass mark and attempts stay as they are. Add another assignment instead."
            )
        Assignment.objects.filter(pk=before.pk).update(**columns)
        _note(row, "assignment_changed", teacher, now, number=before.number)
    return Assignment.objects.select_related("pool", "rival__bot").get(pk=assignment.pk)


def remove(teacher: ClassMember, assignment: Assignment, *, now: datetime | None = None) -> None:
    """Remove an assignment that nobody has handed in for."""
    with transaction.atomic():
        row = classes.lock(teacher)
        if assignment.hand_ins.exists():
            raise Refused("Students have handed in for this assignment, so it stays.")
        row.assignments.filter(pk=assignment.pk).delete()
        _note(row, "assignment_removed", teacher, clock.now_or(now), number=assignment.number)


def _measured(terms: AssignmentTerms) -> tuple[object, ...]:
    pool = pools.pool(terms.game, terms.players, dict(terms.options))
    return (pool.pk, terms.rival, terms.rule, terms.attempts)


def _measured_in(row: Assignment) -> tuple[object, ...]:
    return (row.pool_id, row.rival.bot.slug, row.rule, row.attempts)


def _table(terms: AssignmentTerms) -> dict[str, Any]:
    """Return the columns that decide what is measured."""
    pool = pools.pool(terms.game, terms.players, dict(terms.options))
    rival = next((version for version in tries.rivals() if version.bot.slug == terms.rival), None)
    if rival is None or not rival.plays(terms.game):
        raise Refused("{bot!r} does not play {game}; choose another house bot", bot=terms.rival, game=terms.game)
    if terms.rule not in PassRule.values:
        raise Refused("Choose a pass mark from the list.")
    if not 1 <= terms.attempts <= MOST_ATTEMPTS:
        raise Refused("Choose 1 to {most} attempts.", most=MOST_ATTEMPTS)
    return {"pool": pool, "rival": rival, "rule": terms.rule, "attempts": terms.attempts}


def _columns(terms: AssignmentTerms, now: datetime, before: Assignment | None) -> dict[str, Any]:
    opens = terms.opens or (before.opens if before is not None and before.opens <= now else now)
    if not opens < terms.due <= now + MOST_AHEAD:
        raise Refused(
            "The due time must come after the opening time, within the next {days} days.", days=MOST_AHEAD.days
        )
    if (before is None or before.due != terms.due) and terms.due <= now:
        raise Refused("The due time lies in the past.")
    if not all(0 <= mark <= MOST_MARKS for mark in (terms.marks, terms.clean_marks, terms.place_marks)):
        raise Refused("Marks go from 0 to {most}.", most=MOST_MARKS)
    if terms.clean_marks > terms.marks:
        raise Refused("A bot that does not pass cannot get more marks than one that passes.")
    if terms.late_percent not in LATE:
        raise Refused("Choose what a late bot gets from the list.")
    return {
        "title": classes.checked_title(terms.title),
        "opens": opens,
        "due": terms.due,
        "marks": terms.marks,
        "clean_marks": terms.clean_marks,
        "place_marks": terms.place_marks,
        "late_percent": terms.late_percent,
        "is_extra": terms.is_extra,
    }


def choices(student: ClassMember, game: str) -> list[BotVersion]:
    """Return what a student could hand in: the newest version of each of their bots that plays the game, and is not rejected. One query."""
    rows = BotVersion.objects.filter(bot__owner=student.player_id).exclude(bot__state=BotState.RETIRED)
    newest: dict[int, BotVersion] = {}
    for version in rows.exclude(status=VersionStatus.REJECTED).select_related("bot").order_by("-created", "-pk"):
        if version.plays(game):
            newest.setdefault(version.bot_id, version)
    return list(newest.values())


def hand_in(
    student: ClassMember, assignment: Assignment, version: BotVersion, *, now: datetime | None = None
) -> HandIn:
    """Hand in one's own version, accepted or still being validated. Raise Refused if it is too late, or no attempt is left."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = SchoolClass.objects.select_for_update().get(pk=assignment.school_class_id)
        member = row.members.filter(pk=student.pk, role=ClassRole.STUDENT).first()
        if member is None:
            raise Forbidden("only students of this class hand in bots")
        task = row.assignments.select_related("pool").get(pk=assignment.pk)
        _check_time(row, task, now)
        _check_version(member, task, BotVersion.objects.select_related("bot").get(pk=version.pk))
        before = list(task.hand_ins.filter(member=member).select_related("version"))
        used = count_used(student, task)
        if any(not attempt.verdict for attempt in before):
            raise Refused("Your last version is still being measured. Wait for its result.")
        if used >= task.attempts:
            raise Refused("You have used all {most} attempts of this assignment.", most=task.attempts)
        if any(attempt.version.package_id == version.package_id for attempt in before):
            raise Refused("You have handed in this version already. Change something in it first.")
        row_added = HandIn.objects.create(
            assignment=task,
            member=member,
            attempt=1 + used,
            version=version,
            created=now,
            is_late=now > task.due,
        )
        _note(row, "handed_in", student, now, number=task.number, version=str(version))
    return row_added


def count_used(student: ClassMember, task: Assignment) -> int:
    """Count a student's attempts by the journal, so that whoever leaves the class and joins again has no more of them. One query."""
    lines = LeagueEvent.objects.filter(subject=f"class:{student.school_class.slug}", kind="class.handed_in")
    return lines.filter(actor=student.player.name, data__number=task.number).count()


def _check_time(row: SchoolClass, task: Assignment, now: datetime) -> None:
    if row.archived is not None:
        raise Refused("This class is archived, so it takes no more bots.")
    if now < task.opens:
        raise Refused("This assignment is not open yet.")
    if now > task.due and not task.late_percent:
        raise Refused(
            "The assignment was due {at} UTC, and late bots are not accepted.", at=f"{task.due:%Y-%m-%d %H:%M}"
        )


def _check_version(member: ClassMember, task: Assignment, version: BotVersion) -> None:
    if version.bot.owner_id != member.player_id:
        raise Refused("the bot {bot!r} is not yours; hand in one of yours", bot=version.bot.slug)
    if version.status != VersionStatus.VALIDATING:
        bots.check_playable(version, task.pool.game)
    elif not version.plays(task.pool.game):
        raise Refused("{version} does not play {game}", version=version, game=task.pool.game)


def _note(row: SchoolClass, what: str, member: ClassMember, now: datetime, **data: Any) -> None:
    journal.append(f"class.{what}", f"class:{row.slug}", now=now, actor=member.player.name, **data)
