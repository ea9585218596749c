"""Lines of the pages of classes, and the files with marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse

from league.domain.classes import marks
from league.domain.classes.marks import LadderLine, StudentRow, TaskState
from league.domain.core import clock
from league.models import Assignment, SchoolClass
from league.web.common.csv_files import csv_file

MOST_LADDER = 10  # Lines of a ladder on a page.


@dataclass(frozen=True)
class TaskTile:
    """An assignment as the page of a class shows it. phase: "soon", "open" or "over"."""

    task: Assignment
    phase: str
    passed: int
    handed_in: int
    count: int

    @property
    def share(self) -> int:
        """Return the percentage of students who pass."""
        return 100 * self.passed // max(1, self.count)


def task_tile(task: Assignment, states: Sequence[TaskState]) -> TaskTile:
    """Return the tile of an assignment from the states of all students."""
    now = clock.present()
    phase = "soon" if now < task.opens else "open" if now <= task.due else "over"
    passed = sum(state.state == "passed" for state in states)
    return TaskTile(task, phase, passed, sum(state.hand_in is not None for state in states), len(states))


def next_task(row: StudentRow) -> TaskState | None:
    """Return the assignment that a student should do next: an open one that is not passed, the first due; else the next to open, else the last."""
    now = clock.present()
    open_now = [state for state in row.states if state.task.opens <= now <= state.task.due and state.state != "passed"]
    if open_now:
        return min(open_now, key=lambda state: state.task.due)
    late = [
        state
        for state in row.states
        if state.task.due < now and state.task.late_percent and state.state in ("none", "running")
    ]
    soon = [state for state in row.states if state.task.opens > now]
    first_soon = min(soon, key=lambda state: state.task.opens, default=None)
    return (late[-1] if late else first_soon) or (row.states[-1] if row.states else None)


def around(ladder: list[LadderLine], name: str) -> list[LadderLine]:
    """Return the top of a ladder, and the line of a person below it."""
    own = [line for line in ladder[MOST_LADDER:] if line.player == name]
    return ladder[:MOST_LADDER] + own


def marks_file(row: SchoolClass, kind: str) -> HttpResponse:
    """Return the marks of a class as a CSV: plain with the state of each assignment, "moodle" or "canvas" in the form that they import."""
    table = marks.table(row)
    tasks = table.tasks
    titles = [f"{task.number} {task.title}" for task in tasks]
    name = f"class-{row.slug}-marks"
    if kind == "moodle":
        head = ["ID number", "Full name", "Account", *titles, "Total"]
        lines: list[list[object]] = [
            [line.member.number, line.member.name, line.member.player.name, *_cells(line), line.total]
            for line in table.rows
        ]
        return csv_file(name, head, lines)
    if kind == "canvas":
        # Canvas looks for a student by these columns, then by name. An account name is no login there, but might be another student's.
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
        lines = [["    Points Possible", "", "", "", "", *(task.marks for task in tasks)]]
        lines += [[line.member.name, "", line.member.number, "", row.name, *_cells(line)] for line in table.rows]
        return csv_file(name, head, lines)
    head = ["name", "number", "account"]
    for title in titles:
        head += [title, f"{title}: state", f"{title}: version", f"{title}: attempts", f"{title}: late"]
    lines = [
        [line.member.name, line.member.number, line.member.player.name, *_long_cells(line), line.total]
        for line in table.rows
    ]
    return csv_file(name, [*head, "total"], lines)


def _cells(line: StudentRow) -> list[object]:
    return ["" if state.mark is None else state.mark for state in line.states]


def _long_cells(line: StudentRow) -> list[object]:
    cells: list[object] = []
    for mark, state in zip(_cells(line), line.states, strict=True):
        row = state.hand_in
        cells += [
            mark,
            state.state,
            str(row.version) if row else "",
            state.attempts,
            "late" if row and row.is_late else "",
        ]
    return cells
