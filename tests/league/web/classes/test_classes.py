"""Pages of classes: every address for every role, files with marks, and the way of a class."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.test import Client

from league.domain.bots import teams
from league.domain.classes import assignments, classes, measuring
from league.domain.classes.assignments import AssignmentTerms
from league.domain.classes.classes import ClassTerms
from league.domain.core import clock
from league.domain.people import bans, players, tokens
from league.domain.tournaments import events, progress
from league.enums import HandInVerdict, TeamRole
from league.models import Bot, ClassMember, Event, HandIn, Match, Player, SchoolClass, TeamMember
from tests.league.web.page import Page, faults
from tests.support import league as made
from tests.support import rows

ROLES = ("nobody", "stranger", "student", "teacher", "co-teacher", "staff")
OPEN, LOGIN, GONE, FORBIDDEN = 200, 302, 404, 403


class Course:
    """A class with two teachers, two students and an assignment; one student has passed."""

    def __init__(self) -> None:
        house = players.create(players.HOUSE, reserved=True, now=made.NOW)
        made.accepted(house, "greedy")
        people = {name: players.create(name, now=made.NOW) for name in ("vega", "ruiz", "ana", "hugo", "other")}
        people["chief"] = players.create("chief", staff=True, now=made.NOW)
        self.people = people
        self.row = classes.create(people["vega"], ClassTerms("Programación 2"))
        self.teacher = self.row.members.get()
        for name, real_name in (("ruiz", "Ruiz"), ("ana", "=Alonso, Marta"), ("hugo", "Benítez, Hugo")):
            classes.join(self.row.slug, self.row.link, people[name], real_name)
        classes.make_teacher(self.teacher, self.member("ruiz"))
        self.bot = made.accepted(people["ana"], "uno")
        terms = AssignmentTerms(title="Beat greedy", due=clock.present() + timedelta(days=7))
        self.task = assignments.create(self.teacher, terms)
        assignments.hand_in(self.member("ana"), self.task, self.bot)
        HandIn.objects.update(verdict=HandInVerdict.PASSED, won=30, points=300.0, squares=4000.0, counted=2, matches=2)

    def member(self, name: str) -> ClassMember:
        return self.row.members.get(player__name=name)

    def client(self, role: str) -> Client:
        names = {"stranger": "other", "student": "ana", "teacher": "vega", "co-teacher": "ruiz", "staff": "chief"}
        client = Client(headers={"accept-language": "es"})
        if role != "nobody":
            client.force_login(self.people[names.get(role, role)].user)
        return client

    def at(self, path: str) -> str:
        words = {
            "slug": self.row.slug,
            "link": self.row.link,
            "student": self.member("ana").pk,
            "hand_in": HandIn.objects.get().pk,
        }
        return path.format(**words)


@pytest.fixture
def course(db: None) -> Course:
    return rows.once(Course)


# The statuses for nobody, a stranger, a student, a teacher, a co-teacher and the staff.
ALL, MEMBERS = (LOGIN, OPEN, OPEN, OPEN, OPEN, OPEN), (LOGIN, GONE, OPEN, OPEN, OPEN, OPEN)
LOOKING, TEACHING = (LOGIN, GONE, FORBIDDEN, OPEN, OPEN, OPEN), (LOGIN, GONE, FORBIDDEN, OPEN, OPEN, FORBIDDEN)
PAGES = {
    "/class/": ALL,
    "/class/new/": ALL,
    "/class/{slug}/": MEMBERS,
    "/class/{slug}/?show=none&page=2": MEMBERS,
    "/class/{slug}/1/": MEMBERS,
    "/class/{slug}/join/{link}/": (OPEN, OPEN, 302, 302, 302, OPEN),
    "/class/{slug}/join/wrong/": (GONE,) * 6,
    "/class/{slug}/2/": (LOGIN, *(GONE,) * 5),
    "/class/{slug}/marks.csv": LOOKING,
    "/class/{slug}/students/{student}/": LOOKING,
    "/class/{slug}/students/0/": (LOGIN, GONE, FORBIDDEN, GONE, GONE, GONE),
    "/class/{slug}/edit/": TEACHING,
    "/class/{slug}/new/": TEACHING,
    "/class/{slug}/1/edit/": TEACHING,
    "/class/{slug}/1/alike/": TEACHING,
    "/class/{slug}/1/boards/{hand_in}/": MEMBERS,
    "/class/{slug}/1/boards/0/": (LOGIN, *(GONE,) * 5),
    "/class/{slug}/2/boards/{hand_in}/": (LOGIN, *(GONE,) * 5),
    "/class/{slug}/do/": (LOGIN, *(405,) * 5),
    "/class/{slug}/1/hand-in/": (LOGIN, *(405,) * 5),
}


@pytest.mark.parametrize("path", PAGES)
def test_every_address_for_every_role(course: Course, path: str) -> None:
    answers = {role: course.client(role).get(course.at(path)) for role in ROLES}
    assert [answer.status_code for answer in answers.values()] == list(PAGES[path])
    for role, answer in answers.items():
        assert "no-store" in answer["Cache-Control"] or answer.status_code in (404, 403), role
        if answer.status_code == OPEN and not path.endswith(".csv"):
            assert faults(Page(answer.content.decode())) == [], role


def test_a_banned_student_sees_as_much_as_nobody(course: Course) -> None:
    banned = course.client("hugo")
    bans.ban(course.people["hugo"], why="x", actor="chief", now=made.NOW)
    for path, statuses in PAGES.items():
        assert banned.get(course.at(path)).status_code == statuses[0], path


POSTS = {
    ("/class/{slug}/do/", "archive"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "link"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "delete"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "remove"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "rename"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "teacher"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "password"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "tournament"): (LOGIN, GONE, FORBIDDEN, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "leave"): (LOGIN, GONE, 302, 302, 302, FORBIDDEN),
    ("/class/{slug}/do/", "help"): (LOGIN, GONE, 302, 302, 302, FORBIDDEN),
    ("/class/{slug}/1/hand-in/", ""): (LOGIN, GONE, 302, FORBIDDEN, FORBIDDEN, FORBIDDEN),
    ("/class/{slug}/edit/", ""): (LOGIN, GONE, FORBIDDEN, 422, 422, FORBIDDEN),
    ("/class/{slug}/new/", ""): (LOGIN, GONE, FORBIDDEN, 422, 422, FORBIDDEN),
    ("/class/{slug}/1/edit/", "remove"): (LOGIN, GONE, FORBIDDEN, 422, 422, FORBIDDEN),
}


@pytest.mark.parametrize(("path", "action"), POSTS)
def test_every_action_for_every_role(course: Course, path: str, action: str) -> None:
    sent = {"action": action, "student": course.member("ana").pk, "name": "X", "assignment": "1"}
    answers = [course.client(role).post(course.at(path), sent).status_code for role in ROLES]
    if action in ("archive", "password"):  # The second teacher finds the class archived, the student without consent.
        assert answers[:4] == list(POSTS[path, action])[:4]
    else:
        assert answers == list(POSTS[path, action])
    assert SchoolClass.objects.exists(), "nothing is deleted without a tick"
    assert ClassMember.objects.count() == 4 or action == "leave"


IN_CLASS = (
    *("/bots/uno/", "/bots/uno/v1/", "/bots/uno/vs/greedy/", "/bots/greedy/vs/uno/"),
    *("/api/v1/bots/uno", "/api/v1/bots/uno/versions", "/api/v1/bots/uno/leagues", "/api/v1/bots/uno/versus/greedy"),
    *("/api/v1/versions/{version}", "/api/v1/versions/{version}/ratings"),
)
LISTS = ("/bots/", "/search/?q=uno", "/players/ana/", "/sitemap-bots-0.xml", "/api/v1/bots", "/api/v1/versions")


@pytest.mark.parametrize("path", [*IN_CLASS, *LISTS])
def test_who_sees_a_bot_in_class(course: Course, path: str) -> None:
    Bot.objects.filter(slug="uno").update(in_class=True)
    mate = players.create("mate", now=made.NOW)
    team = teams.create(course.people["ana"], "los-uno", now=made.NOW)
    TeamMember.objects.create(team=team, player=mate, role=TeamRole.READER, invited=made.NOW, since=made.NOW)
    teams.put_in(team, course.bot.bot, player=course.people["ana"], now=made.NOW)
    course.people |= {"mate": mate}
    for role in ("nobody", "stranger", "student", "hugo", "teacher", "co-teacher", "mate", "staff"):
        answer = course.client(role).get(path.format(version=course.bot.pk))
        knows = role not in ("nobody", "stranger")
        if path in IN_CLASS:
            assert answer.status_code == (200 if knows else 404), role
        elif knows and "sitemap" not in path:
            assert (
                "uno v1" in answer.content.decode()
                or '"uno"' in answer.content.decode()
                or "/bots/uno/" in answer.content.decode()
            ), role
        else:
            assert "/bots/uno/" not in answer.content.decode(), role
            assert '"uno"' not in answer.content.decode().replace('value="uno"', ""), role


def test_a_student_shows_a_bot_to_everybody(course: Course) -> None:
    Bot.objects.filter(slug="uno").update(in_class=True)
    for role, status in (("nobody", 302), ("stranger", 404), ("hugo", 403), ("teacher", 403)):
        assert course.client(role).post("/bots/uno/edit/", {"in_class": "0"}).status_code == status, role
    Bot.objects.filter(slug="uno").update(in_class=False)
    assert "Dejarlo en la clase" in course.client("student").get("/bots/uno/?tab=settings").content.decode()
    assert course.client("hugo").post("/bots/uno/edit/", {"in_class": "1"}).status_code == 403
    assert course.client("student").post("/bots/uno/edit/", {"in_class": "1"}).status_code == 302
    assert Bot.objects.get(slug="uno").in_class
    assert "Mostrarlo a todos" in course.client("student").get("/bots/uno/?tab=settings").content.decode()
    assert course.client("student").post("/bots/uno/edit/", {"in_class": "0"}).status_code == 302
    assert course.client("nobody").get("/bots/uno/").status_code == 200


def test_the_lost_boards_open_from_the_assignment(course: Course) -> None:
    HandIn.objects.update(verdict="", won=0, points=0.0, squares=0.0, counted=0, matches=0)
    measuring.advance(now=clock.present())
    made.play(Match.work.get(kind="assignment"), winner=1, now=clock.present())
    measuring.advance(now=clock.present())
    page = course.client("student").get(course.at("/class/{slug}/1/")).content.decode()
    boards = re.search(r'href="(/class/\w+/1/boards/\d+/)"', page).group(1)
    for role in ("student", "teacher", "co-teacher", "staff"):
        text = course.client(role).get(boards).content.decode()
        assert faults(Page(text)) == []
        replay = re.search(r'href="(/m/\w+/\?b=\d+)', text).group(1)
        assert course.client(role).get(replay).status_code == 200, role
    for role, status in (("hugo", 404), ("stranger", 404), ("nobody", 302)):
        assert course.client(role).get(boards).status_code == status, role
    for role in ("hugo", "stranger", "nobody"):
        assert course.client(role).get(replay).status_code == 404, role


@pytest.mark.parametrize("role", ["stranger", "student"])
def test_no_page_of_a_student_or_stranger_has_a_name_of_another_student(course: Course, role: str) -> None:
    for path in ("/class/{slug}/", "/class/{slug}/1/", "/players/hugo/", "/bots/uno/", "/m/"):
        assert "Benítez" not in course.client(role).get(course.at(path)).content.decode()
    assert "Benítez" in course.client("teacher").get(course.at("/class/{slug}/")).content.decode()


def test_a_form_of_another_site_does_nothing(course: Course) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(course.people["vega"].user)
    assert client.post(course.at("/class/{slug}/do/"), {"action": "archive"}).status_code == 403


def test_marks_as_files(course: Course) -> None:
    def lines(kind: str) -> list[list[str]]:
        answer = course.client("teacher").get(course.at("/class/{slug}/marks.csv"), {"as": kind})
        return list(csv.reader(io.StringIO(answer.content.decode())))

    plain, moodle, canvas = lines(""), lines("moodle"), lines("canvas")
    assert [row[0] for row in plain[1:]] == ["'=Alonso, Marta", "Benítez, Hugo"], "no cell is a formula"
    assert plain[1][3:] == ["10.0", "passed", "uno v1", "1", "", "10.0"]
    assert plain[2][3:] == ["", "none", "", "0", "", "0.0"]
    assert moodle[0] == ["ID number", "Full name", "Account", "1 Beat greedy", "Total"]
    assert {row[3] for row in canvas[1:]} == {""}, "no account passes for a login of Canvas"
    assert [row[-1] for row in canvas] == ["1 Beat greedy", "10", "10.0", ""]


def test_a_class_from_nothing(course: Course) -> None:
    """A teacher makes a class and an assignment, a student joins and hands in."""
    teacher, student = course.client("stranger"), course.client("student")
    assert "/class/new/" in teacher.get("/teach/").content.decode()
    roster = "Marta Alonso\nHugo Benítez"
    place = teacher.post("/class/new/", {"name": "P1", "places": "30", "roster": roster, "closes": "", "zone": ""})
    page = teacher.get(place.url).content.decode()
    link = re.search(r"/class/\w+/join/[\w-]+/", page).group()
    joined = student.post(link, {"name": "nobody"})
    assert joined.status_code == 422
    assert student.post(link, {"name": "alonso, MARTA"}).url == place.url
    noon = clock.present().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=3)
    due = noon.strftime("%Y-%m-%dT%H:%M")  # At night the hour may be one that Madrid leaves out or has twice.
    task = {"title": "Beat it", "game": "partnership", "rival": "greedy", "rule": "better", "due": due, "attempts": "2"}
    marks = {"marks": "10", "clean_marks": "0", "place_marks": "0", "late_percent": "0", "zone": "Europe/Madrid"}
    added = teacher.post(f"{place.url}new/", {**task, **marks, "opens": ""})
    assert added.status_code == 302, added.content.decode()
    made_task = SchoolClass.objects.get(slug=place.url.split("/")[2]).assignments.get()
    assert abs(made_task.due - noon) >= timedelta(hours=1), "Madrid is not UTC"
    assert student.get(place.url).status_code == 200
    student.post(f"{added.url}hand-in/", {"version": str(course.bot.pk)})
    assert HandIn.objects.get(assignment=made_task).version == course.bot
    assert "1" in teacher.get(added.url).content.decode()
    teacher.post(f"{place.url}do/", {"action": "tournament", "assignment": "1"})
    assert Event.objects.get().private
    assert student.get(Event.objects.get().slug and f"/e/{Event.objects.get().slug}/").status_code == 200
    gone = teacher.post(f"{place.url}do/", {"action": "delete", "sure": "1"}, follow=True)
    assert gone.status_code == 200
    assert student.get(place.url).status_code == 404


def test_every_teacher_starts_the_class_tournament_and_its_show(course: Course) -> None:
    """A second teacher does what the first one may, students and staff nothing; nobody else knows of the tournament."""
    course.client("teacher").post(course.at("/class/{slug}/do/"), {"action": "tournament", "assignment": "1"})
    event = Event.objects.get()
    for name in ("ana", "hugo"):
        bot = course.bot if name == "ana" else made.accepted(course.people["hugo"], "dos")
        events.enter(event, bot.bot, course.people[name])
    where = f"/e/{event.slug}/"
    tokens_by_role = {
        role: tokens.create(course.people[name], "x")[1] for role, name in (("co-teacher", "ruiz"), ("student", "ana"))
    }

    def by_api(role: str, path: str) -> int:
        headers = {"authorization": f"Bearer {tokens_by_role[role]}"}
        sent = json.dumps({"audience": "hidden", "pace_s": 60})
        return (
            Client()
            .post(f"/api/v1/events/{event.slug}/{path}", sent, content_type="application/json", headers=headers)
            .status_code
        )

    for role, status in (("nobody", 302), ("stranger", 404), ("student", 403), ("staff", 403)):
        assert course.client(role).post(f"{where}do/", {"action": "start"}).status_code == status, role
    assert (by_api("student", "start"), by_api("co-teacher", "show")) == (403, 200)
    event.guests.filter(player__name="ruiz").delete()  # Somebody who became a teacher after its start is no guest.
    co_teacher = course.client("co-teacher")
    assert 'value="start"' in co_teacher.get(where).content.decode()
    assert co_teacher.post(f"{where}do/", {"action": "start"}).status_code == 302
    assert Event.objects.get().status == "running"
    for match in Match.work.filter(tournament__event=event).order_by("pk"):
        made.play(match)
    progress.advance(event.tournaments.get(), now=clock.present())
    events.advance(event)
    page = co_teacher.get(where).content.decode()
    assert faults(Page(page)) == []
    assert 'value="begin_show"' in page
    assert 'value="embargo"' not in page
    assert "hidden" in {Event.objects.get().audience}
    assert course.client("student").get(f"{where}marks.csv").status_code == 404
    assert co_teacher.get(f"{where}marks.csv").status_code == 200
    co_teacher.post(f"{where}do/", {"action": "embargo", "until": "2099-01-01T00:00", "zone": "UTC"})
    assert Event.objects.get().embargo is None
    sent = {"action": "begin_show", "audience": "hidden", "pace_s": "60", "zone": "UTC"}
    assert course.client("student").post(f"{where}do/", sent).status_code == 403
    assert co_teacher.post(f"{where}do/", sent).status_code == 302
    assert Event.objects.get().shown_from is not None
    classes.delete(course.teacher)
    assert co_teacher.get(where).status_code == 404, "without the class no teacher of it"


def test_a_new_password_is_shown_once(course: Course) -> None:
    course.client("student").post(course.at("/class/{slug}/do/"), {"action": "help"})
    sent = {"action": "password", "student": course.member("ana").pk}
    page = course.client("teacher").post(course.at("/class/{slug}/do/"), sent).content.decode()
    word = re.search(r"<code>(\w{12})</code>", page).group(1)
    fresh = Client()
    assert fresh.login(username="ana", password=word)
    assert "vega" in fresh.get("/accounts/me/").content.decode()


def test_a_student_without_a_bot_or_with_a_fault_sees_the_next_step(course: Course) -> None:
    page = course.client("hugo").get(course.at("/class/{slug}/")).content.decode()
    assert "/editor/?game=partnership" in page
    HandIn.objects.update(verdict=HandInVerdict.FAULT, why="illegal action: played Ro")
    assert "played Ro" in course.client("student").get(course.at("/class/{slug}/1/")).content.decode()
    HandIn.objects.update(verdict="", why="")
    assert course.client("student").get(course.at("/class/{slug}/1/")).status_code == 200


def test_what_is_wrong_in_a_form_stands_at_its_place(course: Course) -> None:
    answer = course.client("teacher").post(course.at("/class/{slug}/new/"), {"title": "X", "due": "0001-01-01T00:00"})
    assert answer.status_code == 422
    page = Page(answer.content.decode())
    assert faults(page) == []
    refreshed = course.client("teacher").post(
        course.at("/class/{slug}/new/"), {"title": "Keep me", "game": "brisca", "action": "refresh"}
    )
    assert "Keep me" in refreshed.content.decode()


@pytest.mark.parametrize("wrong", ["²", "-1", "9" * 30, "x" * 5000, "9999-12-31T23:59:59"])
def test_whatever_is_sent_is_answered(course: Course, wrong: str) -> None:
    teacher, student, other = (course.client(role) for role in ("teacher", "student", "stranger"))
    fields = (
        "places",
        "roster",
        "closes",
        "zone",
        "game",
        "rival",
        "due",
        "opens",
        "marks",
        "rule",
        "players",
        "option_pack",
    )
    for path in ("/class/new/", "/class/{slug}/edit/", "/class/{slug}/new/", "/class/{slug}/1/edit/"):
        sent = {"name": "X", "title": "X", **dict.fromkeys(fields, wrong)}
        assert teacher.post(course.at(path), sent).status_code == 422, path
    for action in ("remove", "rename", "teacher", "password", "tournament", wrong):
        sent = {"action": action, "student": wrong, "name": wrong, "assignment": wrong}
        assert teacher.post(course.at("/class/{slug}/do/"), sent).status_code in (302, 404)
    assert other.post(course.at("/class/{slug}/join/{link}/"), {"name": wrong}).status_code in (302, 422)
    assert student.post(course.at("/class/{slug}/1/hand-in/"), {"version": wrong}).status_code == 302
    assert teacher.get(course.at("/class/{slug}/"), {"page": wrong, "show": wrong}).status_code == 200


def test_a_page_costs_no_more_for_more_students(course: Course, django_assert_max_num_queries) -> None:
    for number in range(30):
        player = Player.objects.create(
            user=type(course.people["ana"].user).objects.create(username=f"s{number}"),
            name=f"s{number}",
            created=made.NOW,
        )
        classes.join(course.row.slug, course.row.link, player, f"Student {number}")
    teacher, student = course.client("teacher"), course.client("student")
    with django_assert_max_num_queries(11):
        page = teacher.get(course.at("/class/{slug}/"))
    assert faults(Page(page.content.decode())) == [], "nor is it too heavy"
    with django_assert_max_num_queries(13):
        student.get(course.at("/class/{slug}/"))
