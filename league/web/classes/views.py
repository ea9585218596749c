"""Pages of classes: the list, one class for teachers and for students, joining, assignments, marks.

Everything here is private: strangers get 404, students 403 for what only teachers may do. Operators may look, and change nothing.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from league.domain.classes import alike, assignments, classes, contests, helping, marks, measuring
from league.domain.core import clock
from league.domain.core.errors import Forbidden, Refused, shown
from league.enums import ClassRole, VersionStatus
from league.models import Assignment, BotVersion, ClassMember, HandIn, SchoolClass
from league.web.classes import sheets
from league.web.classes.forms import AssignmentForm, ClassForm, JoinForm
from league.web.common.inputs import whole_number
from league.web.common.once import once
from league.web.common.options import OptionsForm, game_chosen
from league.web.common.viewers import player_of, user_of

MOST_ROWS = 40  # Students on one page.
MOST_BOARDS = 40  # Boards of a measurement on its page.
MOST_COLUMNS = 6  # The latest assignments are columns of the table.


def _seat(request: HttpRequest, slug: str) -> tuple[SchoolClass, ClassMember | None]:
    """Return the class and the viewer's seat in it; 404 for everybody who may not know of it."""
    seat = classes.find(slug, user_of(request))
    if seat is None:
        raise Http404
    return seat


def _looks(request: HttpRequest, slug: str) -> tuple[SchoolClass, ClassMember | None]:
    """Return the same for a teacher or operator; 403 for a student."""
    row, member = _seat(request, slug)
    if member is not None and member.role != ClassRole.TEACHER:
        raise PermissionDenied
    return row, member


def _teacher(request: HttpRequest, slug: str) -> tuple[SchoolClass, ClassMember]:
    """Return the same for a teacher; 403 for students and operators."""
    row, member = _looks(request, slug)
    if member is None:
        raise PermissionDenied
    return row, member


def _task(row: SchoolClass, number: int) -> Assignment:
    return get_object_or_404(row.assignments.select_related("pool", "rival__bot"), number=number)


@never_cache
@login_required
def class_list(request: HttpRequest) -> HttpResponse:
    """List the classes of the viewer. Two queries."""
    return render(request, "classes/classes.html", {"members": classes.of_player(player_of(request))})


@never_cache
@login_required
@once
def new_class(request: HttpRequest) -> HttpResponse:
    """Show the form of a new class, or make it."""
    form = ClassForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            row = classes.create(player_of(request), form.terms())
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            return redirect("class", slug=row.slug)
    return render(request, "classes/class_edit.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@login_required
def edit_class(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the settings of a class, or change them."""
    row, member = _teacher(request, slug)
    form = ClassForm.of(row, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            classes.change(member, form.terms())
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            return redirect("class", slug=slug)
    context = {"form": form, "row": row}
    return render(request, "classes/class_edit.html", context, status=422 if form.errors else 200)


@never_cache
def join_class(request: HttpRequest, slug: str, link: str) -> HttpResponse:
    """Show the class of a join link with the form for the name, or join. 404 if nobody can join by it."""
    row = classes.invited(slug, link)
    if row is None:
        raise Http404
    if not request.user.is_authenticated:
        return render(request, "classes/join.html", {"row": row, "teachers": _teachers(row)})
    player = player_of(request)
    if row.members.filter(player=player).exists():
        return redirect("class", slug=slug)
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            if classes.join(slug, link, player, chosen["name"], helped=chosen["helped"]) is None:
                raise Http404
        except Refused as refusal:
            form.add_error("name", shown(refusal))
        else:
            return redirect("class", slug=slug)
    context = {"row": row, "form": form, "teachers": _teachers(row), "mail": player.user.email}
    return render(request, "classes/join.html", context, status=422 if form.errors else 200)


def _teachers(row: SchoolClass) -> list[str]:
    teachers = row.members.filter(role=ClassRole.TEACHER).order_by("joined", "pk")
    return list(teachers.values_list("player__name", flat=True))


@never_cache
@login_required
def school_class(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a class: to a student the next step, to teachers and operators all students. Eight queries."""
    row, member = _seat(request, slug)
    if member is not None and member.role == ClassRole.STUDENT:
        return render(request, "classes/student.html", _of_student(row, member))
    table = marks.table(row)
    only = request.GET.get("show", "")
    rows = [line for line in table.rows if only not in ("open", "none") or _is_behind(line, only)]
    page = max(1, whole_number(request.GET.get("page")) or 1)
    link = reverse("class-join", args=[slug, row.link]) if row.link else ""
    context = {
        "row": row,
        "member": member,
        "acts": member is not None and row.archived is None,
        "teachers": _teachers(row),
        "tasks": list(map(sheets.task_tile, table.tasks, table.columns)),
        "columns": table.tasks[-MOST_COLUMNS:],
        "rows": [(line, line.states[-MOST_COLUMNS:]) for line in rows[(page - 1) * MOST_ROWS : page * MOST_ROWS]],
        "count": len(table.rows),
        "most": table.most,
        "page": page,
        "more": len(rows) > page * MOST_ROWS,
        "only": only,
        "url": request.build_absolute_uri(link) if link else "",
        "joins": bool(classes.invited(slug, row.link)) if link else False,
        "event": row.event,
    }
    return render(request, "classes/class.html", context)


def _is_behind(line: marks.StudentRow, only: str) -> bool:
    """Return True if a student has handed in nothing ("none"), or not passed ("open"), at an assignment that is open."""
    now = clock.present()
    states = [state for state in line.states if state.task.opens <= now]
    return any(state.state == "none" if only == "none" else state.state != "passed" for state in states)


def _of_student(row: SchoolClass, member: ClassMember) -> dict[str, Any]:
    table = marks.table(row)
    own = next(line for line in table.rows if line.member.pk == member.pk)
    task = sheets.next_task(own)
    return {
        "row": row,
        "member": member,
        "teachers": _teachers(row),
        "states": own.states,
        "total": own.total,
        "most": table.most,
        **(_step(row, member, task) if task else {}),
        "may_help": not member.player.user.email,
        "event": row.event,
    }


def _step(row: SchoolClass, member: ClassMember, state: marks.TaskState) -> dict[str, Any]:
    """Return what a student sees of one assignment: how far it is, and what can be handed in."""
    task, now = state.task, clock.present()
    takes = row.archived is None and task.opens <= now and (now <= task.due or task.late_percent > 0)
    attempts_left = max(0, task.attempts - assignments.count_used(member, task))
    ladder = marks.ladder(task)
    return {
        "state": state,
        "task": task,
        "takes": takes,
        "left": attempts_left,
        "choices": assignments.choices(member, task.pool.game)
        if takes and attempts_left and state.state != "running"
        else [],
        "late": now > task.due,
        "now": now,
        "ladder": sheets.around(ladder, member.player.name),
        "me": member.player.name,
    }


@never_cache
@login_required
@require_POST
def act_on_class(request: HttpRequest, slug: str) -> HttpResponse:
    """Carry out an action on a class or one of its members, and show the class again."""
    row, member = _seat(request, slug)
    if member is None:
        raise PermissionDenied
    action = request.POST.get("action", "")
    try:
        if action in ("leave", "help", "no-help"):
            return _act_alone(request, member, action)
        _teacher(request, slug)
        if action == "tournament":
            task = _task(row, whole_number(request.POST.get("assignment")) or 0)
            return redirect("event", slug=contests.create(member, task).slug)
        if action == "delete":
            if request.POST.get("sure"):
                classes.delete(member)
                messages.success(request, _("Class deleted."))
                return redirect("classes")
            messages.error(request, _("Tick the box to delete the class."))
        elif action in ("archive", "reopen"):
            classes.set_archived(member, archived=action == "archive")
        elif action in ("link", "close"):
            classes.renew_link(member, close=action == "close")
        else:
            return _act_on_student(request, row, member, action)
    except Forbidden as refusal:
        raise PermissionDenied from refusal
    except Refused as refusal:
        messages.error(request, capfirst(shown(refusal)))
    return redirect("class", slug=slug)


def _act_alone(request: HttpRequest, member: ClassMember, action: str) -> HttpResponse:
    """Carry out what every member may do about themselves."""
    if action != "leave":
        helping.agree(member, helped=action == "help")
        return redirect("class", slug=member.school_class.slug)
    if not request.POST.get("sure"):
        messages.error(request, _("Tick the box to leave the class."))
        return redirect("class", slug=member.school_class.slug)
    classes.leave(member)
    messages.success(request, _("You have left the class."))
    return redirect("classes")


def _act_on_student(request: HttpRequest, row: SchoolClass, teacher: ClassMember, action: str) -> HttpResponse:
    student = _student(row, whole_number(request.POST.get("student")) or 0)
    if action == "remove":
        if not request.POST.get("sure"):
            messages.error(request, _("Tick the box to remove the student."))
            return redirect("class-student", slug=row.slug, number=student.pk)
        classes.remove(teacher, student)
        return redirect("class", slug=row.slug)
    if action == "rename":
        classes.rename(teacher, student, request.POST.get("name", ""))
    elif action == "teacher":
        classes.make_teacher(teacher, student)
        return redirect("class", slug=row.slug)
    elif action == "password":
        word = helping.new_password(teacher, student)
        return render(request, "classes/password.html", {"row": row, "student": student, "word": word})
    return redirect("class-student", slug=row.slug, number=student.pk)


def _student(row: SchoolClass, number: int) -> ClassMember:
    students = row.members.filter(role=ClassRole.STUDENT).select_related("player__user")
    return get_object_or_404(students, pk=number)


@never_cache
@login_required
@require_safe
def student(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show a teacher everything that a student has handed in, with faults. Six queries."""
    row, member = _looks(request, slug)
    shown_student = _student(row, number)
    tasks = list(row.assignments.select_related("pool", "rival__bot").order_by("number"))
    by_task: dict[int, list[HandIn]] = {task.pk: [] for task in tasks}
    for hand_in in marks.hand_ins(tasks):
        if hand_in.member_id == shown_student.pk:
            by_task[hand_in.assignment_id].append(hand_in)
    context = {
        "row": row,
        "student": shown_student,
        "acts": member is not None and row.archived is None,
        "tasks": [(task, by_task[task.pk]) for task in tasks],
        "why_not": _(why) if (why := helping.why_not(shown_student)) else "",
    }
    return render(request, "classes/member.html", context)


@never_cache
@login_required
@once
def new_assignment(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new assignment, or add it."""
    row, member = _teacher(request, slug)
    return _edit(request, row, member, None)


@never_cache
@login_required
def edit_assignment(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the form of an assignment, or change or remove it."""
    row, member = _teacher(request, slug)
    return _edit(request, row, member, _task(row, number))


def _edit(request: HttpRequest, row: SchoolClass, member: ClassMember, task: Assignment | None) -> HttpResponse:
    sent = request.POST if request.method == "POST" and request.POST.get("action") != "refresh" else None
    before = {"game": task.pool.game, "players": str(task.pool.players)} if task else {}
    game = game_chosen(before | request.GET.dict() | request.POST.dict())
    options = {f"option_{name}": value for name, value in task.pool.options.items()} if task else {}
    part = OptionsForm(game, sent, initial=options)
    form = AssignmentForm.of(task, sent) if task else AssignmentForm(sent, initial={"game": game.key})
    if request.POST.get("action") == "refresh":
        form.initial = {**form.initial, **{name: request.POST[name] for name in form.fields if name in request.POST}}
    if sent is not None and all([part.is_valid(), form.is_valid()]):
        terms = form.terms(game.players, part.cleaned_data["options"])
        try:
            if task is not None and request.POST.get("action") == "remove":
                assignments.remove(member, task)
                return redirect("class", slug=row.slug)
            saved = assignments.change(member, task, terms) if task else assignments.create(member, terms)
        except Refused as refusal:
            form.add_error(None, capfirst(shown(refusal)))
        else:
            return redirect("class-assignment", slug=row.slug, number=saved.number)
    bad = bool(form.errors or part.errors)
    context = {"row": row, "task": task, "form": form, "part": part}
    return render(request, "classes/assignment_edit.html", context, status=422 if bad else 200)


@never_cache
@login_required
def assignment(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show an assignment: to a student the state and the form to hand in, to teachers the states of all. Eight queries."""
    row, member = _seat(request, slug)
    task = _task(row, number)
    table = marks.table(row)
    place = next(index for index, other in enumerate(table.tasks) if other.pk == task.pk)
    context: dict[str, Any] = {"row": row, "member": member, "task": task}
    if member is not None and member.role == ClassRole.STUDENT:
        own = next(line for line in table.rows if line.member.pk == member.pk)
        attempts = task.hand_ins.filter(member=member).select_related("version__bot").order_by("attempt")
        context |= {**_step(row, member, own.states[place]), "attempts": attempts}
        return render(request, "classes/assignment_student.html", context)
    context |= {
        "acts": member is not None and row.archived is None,
        "rows": [(line.member, line.states[place]) for line in table.rows],
        "tile": sheets.task_tile(task, table.columns[place]),
        "ladder": marks.ladder(task)[: sheets.MOST_LADDER],
    }
    return render(request, "classes/assignment.html", context)


@never_cache
@login_required
@require_POST
def hand_in(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Hand in a version of one of the student's bots."""
    row, member = _seat(request, slug)
    if member is None or member.role != ClassRole.STUDENT:
        raise PermissionDenied
    task = _task(row, number)
    pk = whole_number(request.POST.get("version")) or 0
    version = BotVersion.objects.filter(pk=pk, bot__owner=member.player_id).first()
    try:
        if version is None:
            raise Refused("Choose one of your bots.")
        assignments.hand_in(member, task, version)
        measuring.advance()
    except Refused as refusal:
        messages.error(request, capfirst(shown(refusal)))
    else:
        if version.status == VersionStatus.VALIDATING:
            messages.success(request, _("Handed in. It is measured as soon as the league has checked it."))
        else:
            messages.success(request, _("Handed in. Its boards are being played."))
    return redirect("class-assignment", slug=slug, number=number)


@never_cache
@login_required
@require_safe
def boards(request: HttpRequest, slug: str, number: int, attempt: int) -> HttpResponse:
    """Show the boards of a measurement, the dearest losses first: to the student, and to teachers and operators. Four queries."""
    row, member = _seat(request, slug)
    rows = HandIn.objects.filter(assignment__school_class=row, assignment__number=number)
    if member is not None and member.role == ClassRole.STUDENT:
        rows = rows.filter(member=member)
    hand_in = get_object_or_404(rows.select_related("assignment__rival__bot", "member", "version__bot"), pk=attempt)
    played = measuring.boards(hand_in)
    context = {
        "row": row,
        "task": hand_in.assignment,
        "hand_in": hand_in,
        "is_own": member is not None and hand_in.member_id == member.pk,
        "boards": played[:MOST_BOARDS],
        "more": max(0, len(played) - MOST_BOARDS),
    }
    return render(request, "classes/boards.html", context)


@never_cache
@login_required
@require_safe
def marks_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the marks of all students: plain, for Moodle or for Canvas (`?as=`). Five queries."""
    row, _member = _looks(request, slug)
    return sheets.marks_file(row, request.GET.get("as", ""))


@never_cache
@login_required
@require_safe
def similar(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show teachers the pairs of students whose code is most alike, for people to judge. Four queries."""
    row, _member = _teacher(request, slug)
    task = _task(row, number)
    return render(request, "classes/alike.html", {"row": row, "task": task, "pairs": alike.pairs(task)})
