"""Classes by the API: every address for every role, what a student sees, and handing in."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.classes import classes
from league.domain.people import bans, players, tokens
from league.enums import HandInVerdict
from league.models import HandIn
from tests.league.api.client import Api
from tests.league.api.test_rooms import undone
from tests.league.web.classes.test_classes import ROLES, Course
from tests.support import league as made
from tests.support import rows

NAMES = {"stranger": "other", "student": "ana", "teacher": "vega", "co-teacher": "ruiz", "staff": "chief"}


@pytest.fixture
def course(db: None) -> Course:
    """A class; its student has handed in a bot that has passed."""
    return rows.once(Course)


def caller_of(course: Course, role: str) -> Api:
    return Api() if role == "nobody" else Api(tokens.create(course.people[NAMES.get(role, role)], "x")[1])


IN = "classes/{slug}/assignments/1/hand-ins"
SEES, GONE = [401, 404, 200, 200, 200, 200], [401, 404, 404, 404, 404, 404]
# Status by role, in the order of ROLES.
CASES: list[tuple[str, str, Any, list[int]]] = [
    ("GET", "me/classes", None, [401, 200, 200, 200, 200, 200]),
    ("GET", "classes/{slug}", None, SEES),
    ("GET", "classes/none", None, GONE),
    ("GET", "classes/{slug}/assignments", None, SEES),
    ("GET", "classes/{slug}/marks", None, [401, 404, 403, 200, 200, 200]),
    ("GET", IN, None, SEES),
    ("GET", "classes/{slug}/assignments/9/hand-ins", None, GONE),
    ("POST", IN, {"version": "{version}"}, [401, 404, 201, 403, 403, 403]),
    ("POST", IN, {"version": 999_999}, [401, 404, 404, 403, 403, 403]),
    ("POST", IN, {"version": 10**30}, [401, 404, 400, 403, 403, 403]),
    ("POST", IN, {"version": "a\0b"}, [401, 404, 400, 403, 403, 403]),
]


@pytest.mark.parametrize(("method", "path", "body", "expected"), CASES)
def test_each_role_may_do_what_the_pages_allow(course: Course, method: str, path: str, body: Any, expected) -> None:
    version = made.accepted(course.people["ana"], "otro")
    sent = {"version": version.pk} if body == {"version": "{version}"} else body
    here = path.format(slug=course.row.slug)
    results = [undone(partial(caller_of(course, role).call, method, here, sent)) for role in ROLES]
    assert results == expected


def test_a_student_sees_own_marks_and_a_teacher_those_of_all(course: Course) -> None:
    where, hugo = f"classes/{course.row.slug}", course.people["hugo"]
    as_ana, as_hugo, as_vega = (caller_of(course, role) for role in ("student", "hugo", "teacher"))
    assert [(row["slug"], row["role"]) for row in as_ana.results("me/classes")] == [(course.row.slug, "student")]
    own = as_ana.get(where).json()["own"]
    assert [(mark["state"], mark["mark"], mark["version"]) for mark in own["marks"]] == [
        ("passed", own["total"], course.bot.pk)
    ]
    (task,) = as_hugo.results(f"{where}/assignments")
    assert (task["number"], task["against"], task["rule"]) == (1, "greedy", "better")

    bot = made.accepted(hugo, "dos")
    first, again = (
        as_hugo.post(f"{where}/assignments/1/hand-ins", {"version": bot.pk}, headers={"Idempotency-Key": "one"})
        for _ in range(2)
    )
    assert (first.status_code, again.json(), first.json()["verdict"]) == (201, first.json(), "")
    assert as_hugo.post(f"{where}/assignments/1/hand-ins", {"version": bot.pk}).status_code == 409
    assert as_hugo.post(f"{where}/assignments/1/hand-ins", {"version": course.bot.pk}).status_code == 404
    HandIn.objects.filter(member__player=hugo).update(verdict=HandInVerdict.FAULT, why="crash: hugo's trace")

    attempts = as_vega.results(f"{where}/assignments/1/hand-ins")
    assert {(row["player"], row["verdict"], row["why"]) for row in attempts} == {
        ("ana", "passed", ""),
        ("hugo", "fault", "crash: hugo's trace"),
    }
    marks = {row["player"]: (row["name"], row["marks"][0]["state"]) for row in as_vega.results(f"{where}/marks")}
    assert marks == {"ana": ("=Alonso, Marta", "passed"), "hugo": ("Benítez, Hugo", "fault")}
    answers = [where, f"{where}/assignments", f"{where}/assignments/1/hand-ins", "me/classes"]
    sent = json.dumps([as_ana.get(path).json() for path in answers])
    assert not any(word in sent for word in ("hugo", "Hugo", "trace", course.row.link)), "nothing of another student"

    bans.ban(hugo, why="x", actor="chief")
    assert as_hugo.get(where).status_code == 401


def test_the_queries_do_not_grow_with_the_class(course: Course) -> None:
    as_vega, paths = caller_of(course, "teacher"), ("", "/assignments", "/assignments/1/hand-ins", "/marks")

    def count_queries() -> list[int]:
        counts = []
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                assert as_vega.get(f"classes/{course.row.slug}{path}").status_code == 200
            counts.append(len(queries))
        return counts

    count_queries()  # The first use of a token is noted.
    before = count_queries()
    for number in range(5):
        player = players.create(f"p-{number}", now=made.NOW)
        classes.join(course.row.slug, course.row.link, player, f"Name {number}")
        member, version = course.member(player.name), made.accepted(player, f"b-{number}")
        HandIn.objects.create(
            assignment=course.task, member=member, attempt=1, version=version, created=made.NOW, is_late=False
        )
    assert count_queries() == before
