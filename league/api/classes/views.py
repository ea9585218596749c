"""Classes with the same functions as on the pages: strangers get 404, students 403 for what only teachers see."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from league.api.classes.serializers import (
    AssignmentOut,
    ClassOut,
    HandInNew,
    HandInOut,
    MyClassOut,
    StudentMarksOut,
)
from league.api.http.auth import player_of, user_of
from league.api.http.base import ApiView, ListView, existing, once
from league.api.http.problems import message
from league.api.http.schema import KEY, operation
from league.domain.classes import assignments, classes, marks
from league.enums import ClassRole, TokenScope
from league.models import Assignment, BotVersion, ClassMember, HandIn, SchoolClass


def _seat(request: Request, slug: str) -> tuple[SchoolClass, ClassMember | None]:
    """Return a class and the caller's seat in it, which an operator lacks; 404 for everybody who may not know of it."""
    return existing(classes.find(slug, user_of(request)))


def _is_student(member: ClassMember | None) -> bool:
    return member is not None and member.role == ClassRole.STUDENT


def _task(row: SchoolClass, number: int) -> Assignment:
    return existing(row.assignments.select_related("pool", "rival__bot").filter(number=number).first())


class MyClassesView(ListView):
    """/me/classes"""

    permission_classes = (IsAuthenticated,)
    queryset = ClassMember.objects.none()
    serializer_class = MyClassOut
    filter_backends = ()

    @operation("list_my_classes", "List your classes", tags=["account"])
    def get(self, request: Request) -> Response:
        """List the classes in which you are a teacher or student, archived ones last."""
        return self.page(classes.of_player(player_of(request)))


class OneClassView(ApiView):
    """/classes/{slug}"""

    permission_classes = (IsAuthenticated,)
    serializer_class = ClassOut

    @operation("get_class", "Read a class, with your marks")
    def get(self, request: Request, slug: str) -> Response:
        """Read a class as a member: students also get their own marks, and never those of others."""
        row, member = _seat(request, slug)
        table = marks.table(row)
        teachers = row.members.filter(role=ClassRole.TEACHER).order_by("joined", "pk")
        facts: dict[str, Any] = {"slug": row.slug, "name": row.name, "archived": row.archived, "most": table.most}
        own = next((line for line in table.rows if member is not None and line.member.pk == member.pk), None)
        facts |= {"role": member.role if member else None, "own": own}
        return Response(ClassOut({**facts, "teachers": list(teachers.values_list("player__name", flat=True))}).data)


class ClassMarksView(ListView):
    """/classes/{slug}/marks"""

    permission_classes = (IsAuthenticated,)
    queryset = ClassMember.objects.none()
    serializer_class = StudentMarksOut
    filter_backends = ()

    @operation("list_class_marks", "List the marks of all students")
    def get(self, request: Request, slug: str) -> Response:
        """List the students by name with their marks, as a teacher."""
        row, member = _seat(request, slug)
        if _is_student(member):
            raise PermissionDenied(message("Only teachers of the class can read this."))
        return self.page(marks.table(row).rows)


class AssignmentsView(ListView):
    """/classes/{slug}/assignments"""

    permission_classes = (IsAuthenticated,)
    queryset = Assignment.objects.none()
    serializer_class = AssignmentOut
    filter_backends = ()

    @operation("list_assignments", "List the assignments of a class")
    def get(self, request: Request, slug: str) -> Response:
        """List the assignments in their order, as a member."""
        row, _member = _seat(request, slug)
        return self.page(list(row.assignments.select_related("pool", "rival__bot").defer("secret").order_by("number")))


class HandInsView(ListView):
    """/classes/{slug}/assignments/{number}/hand-ins"""

    permission_classes = (IsAuthenticated,)
    scopes: ClassVar = {"POST": TokenScope.SUBMIT}
    queryset = HandIn.objects.none()
    serializer_class = HandInNew
    filter_backends = ()

    @operation("list_hand_ins", "List what is handed in", responses=HandInOut(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """List the versions handed in for an assignment, newest first: as a student your own, as a teacher all."""
        row, member = _seat(request, slug)
        rows = _task(row, number).hand_ins.select_related("member__player", "version__bot__owner", "version__bot__team")
        return self.page(rows.filter(member=member) if _is_student(member) else rows, HandInOut)

    @operation("hand_in", "Hand in a version", parameters=[KEY], responses={201: HandInOut}, filters=False)
    @once
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Hand in a version of one of your bots as a student. It counts as an attempt, and is measured soon."""
        row, member = _seat(request, slug)
        task = _task(row, number)
        if member is None or not _is_student(member):
            raise PermissionDenied(message("only students of this class hand in bots"))
        versions = BotVersion.objects.filter(bot__owner=member.player_id).select_related("bot__owner", "bot__team")
        version = existing(versions.filter(pk=self.body()["version"]).first())
        return Response(HandInOut(assignments.hand_in(member, task, version)).data, status.HTTP_201_CREATED)
