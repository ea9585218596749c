"""The state of each student at each assignment, marks, and the ladder that only the class sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from league.domain.classes import measuring
from league.domain.core import clock
from league.enums import ClassRole, HandInVerdict, PassRule
from league.models import Assignment, ClassMember, HandIn, SchoolClass


@dataclass
class TaskState:
    """A student at an assignment. hand_in: the one that counts: the best that passed, else the latest."""

    task: Assignment
    hand_in: HandIn | None = None
    attempts: int = 0
    place: int | None = None  # Among those who passed, from 1.
    mark: float | None = None  # None while nothing decides it.
    is_soon: bool = False  # True before the assignment opens.

    @property
    def state(self) -> str:
        """Return "none", "running", or the verdict of the hand-in that counts."""
        if self.hand_in is None:
            return "none"
        return self.hand_in.verdict or "running"

    @property
    def sure(self) -> float | None:
        """Return how sure it is that the bot is better; None if the pass mark does not ask for it, or nothing is played."""
        if self.hand_in is None or self.task.rule != PassRule.BETTER or not self.hand_in.boards:
            return None
        return measuring.sureness(self.hand_in)

    @property
    def percent(self) -> int:
        """Return `sure` in whole percent, rounded down, so that 95 means that the pass mark is reached."""
        return int(100 * (self.sure or 0.0))

    @property
    def lead(self) -> tuple[float, float] | None:
        """Return the lead over the house bot in points a board, with half of its interval."""
        return None if self.hand_in is None else measuring.lead(self.hand_in)


@dataclass
class StudentRow:
    """A student with the states of all assignments."""

    member: ClassMember
    states: list[TaskState]

    @property
    def total(self) -> float:
        """Return the sum of the marks."""
        return round(sum(state.mark or 0.0 for state in self.states), 2)


@dataclass
class ClassTable:
    """All students of a class, by the names that the teachers see."""

    tasks: list[Assignment]
    rows: list[StudentRow]
    columns: list[list[TaskState]]  # The same states by assignment.

    @property
    def most(self) -> int:
        """Return the total that a student can reach without extra marks."""
        return sum(task.marks for task in self.tasks if not task.is_extra)


def table(row: SchoolClass, *, now: datetime | None = None) -> ClassTable:
    """Return the states and marks of a class. Three queries."""
    now = clock.now_or(now)
    tasks = list(row.assignments.select_related("pool", "rival__bot").defer("secret").order_by("number"))
    students = list(row.members.filter(role=ClassRole.STUDENT).select_related("player").order_by("name", "pk"))
    by_place: dict[tuple[int, int], list[HandIn]] = defaultdict(list)
    for hand_in in hand_ins(tasks):
        by_place[hand_in.assignment_id, hand_in.member_id].append(hand_in)
    columns, members = [], [member.pk for member in students]
    for task in tasks:
        pk = task.pk
        states = [_state(task, by_place.get((pk, member))) for member in members]
        _give_marks(task, states, now)
        columns.append(states)
    rows = [StudentRow(member, [states[place] for states in columns]) for place, member in enumerate(students)]
    return ClassTable(tasks, rows, columns)


def hand_ins(tasks: Sequence[Assignment]) -> Iterable[HandIn]:
    """Return everything handed in for these assignments, with the assignments as they were read. One query."""
    task_by_id = {task.pk: task for task in tasks}
    for row in HandIn.objects.filter(assignment__in=task_by_id).select_related("version__bot").order_by("attempt"):
        row.assignment = task_by_id[row.assignment_id]
        yield row


def _state(task: Assignment, attempts: Sequence[HandIn] | None) -> TaskState:
    if not attempts:
        return TaskState(task)
    passed = [row for row in attempts if row.verdict == HandInVerdict.PASSED]
    counting = max(passed, key=lambda row: (_share(task, row), _mean(row), -row.attempt), default=None)
    return TaskState(task, counting or attempts[-1], len(attempts))


def _share(task: Assignment, row: HandIn) -> float:
    return task.late_percent / 100 if row.is_late else 1.0


def _mean(row: HandIn) -> float:
    """Return the lead in points a board, rounded, so that it depends on no machine."""
    return round(row.points / row.boards, 6) if row.boards else 0.0


def _give_marks(task: Assignment, states: Sequence[TaskState], now: datetime) -> None:
    """Set places and marks. Extra marks by place fall evenly from the first place to the last; they are final when the assignment is over."""
    counting = [state.hand_in for state in states if state.hand_in is not None]
    means = sorted((_mean(row) for row in counting if row.verdict == HandInVerdict.PASSED), reverse=True)
    is_soon = now < task.opens
    nothing = 0.0 if now > task.due and not task.late_percent else None
    for state in states:
        state.is_soon = is_soon
        row = state.hand_in
        if row is None:
            state.mark = nothing
        elif row.verdict == HandInVerdict.PASSED:
            state.place = 1 + means.index(_mean(row))
            extra = task.place_marks * (len(means) - state.place + 1) / len(means)
            state.mark = round((task.marks + extra) * _share(task, row), 2)
        elif row.verdict in (HandInVerdict.NOT_BETTER, HandInVerdict.UNSURE):
            state.mark = round(task.clean_marks * _share(task, row), 2)
        elif row.verdict == HandInVerdict.FAULT:
            state.mark = 0.0


@dataclass(frozen=True)
class LadderLine:
    """A place on the ladder of a class, by the name of the account."""

    place: int
    player: str
    lead: float
    margin: float
    boards: int


def ladder(task: Assignment) -> list[LadderLine]:
    """Return the ladder of an assignment: each student's best hand-in, by points a board against the same house bot. One query."""
    best: dict[int, HandIn] = {}
    rows = HandIn.objects.filter(assignment=task, counted__gt=0).exclude(verdict=HandInVerdict.FAULT)
    for row in rows.select_related("member__player").order_by("-attempt"):
        if row.boards > 1 and (row.member_id not in best or _mean(row) > _mean(best[row.member_id])):
            best[row.member_id] = row
    means = sorted(map(_mean, best.values()), reverse=True)
    lines = []
    for row in best.values():
        lead, margin = measuring.lead(row) or (0.0, 0.0)
        place = 1 + means.index(_mean(row))
        lines.append(LadderLine(place, row.member.player.name, lead, margin, row.boards))
    return sorted(lines, key=lambda line: (line.place, line.player))
