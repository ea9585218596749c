"""Classes: joining, assignments, measurement, marks, and who may do what."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client

from engine import sprt
from engine.runner import FaultReport
from league.domain.arenas import arenas
from league.domain.bots import bots, challenges, closing
from league.domain.bots.willing import willing
from league.domain.classes import alike, assignments, classes, contests, helping, marks, measuring
from league.domain.classes.assignments import AssignmentTerms
from league.domain.classes.classes import ClassTerms
from league.domain.core.errors import Forbidden, Refused
from league.domain.matches import reports, sight
from league.domain.notices import spreading
from league.domain.people import exporting, passwords, players
from league.domain.tournaments import enrolment, tournaments
from league.domain.upkeep import reconcile
from league.enums import Audience, ClassRole, EntryPolicy, HandInVerdict, PassRule, VersionStatus
from league.models import (
    Assignment,
    Bot,
    BotVersion,
    ClassMember,
    HandIn,
    LeagueEvent,
    Match,
    Notice,
    Player,
    Rating,
    SchoolClass,
)
from league.service import topics
from league.web.people import notice_words
from tests.support import league as made
from tests.support import rows
from tests.support.league import NOW, later

DUE = later(7 * 24 * 3600)
TERMS = AssignmentTerms(title="Beat greedy", due=DUE, rival="greedy")


class Course:
    """A class with a teacher and two students, and an assignment."""

    def __init__(self) -> None:
        house = players.create(players.HOUSE, reserved=True, now=NOW)
        self.house = made.accepted(house, "greedy")
        self.vega, self.ana, self.hugo = (players.create(name, now=NOW) for name in ("vega", "ana", "hugo"))
        self.row = classes.create(self.vega, ClassTerms("Programación 2"), now=NOW)
        self.teacher = self.row.members.get()
        self.students = [self.join(self.ana, "Alonso, Marta"), self.join(self.hugo, "Benítez, Hugo")]
        self.bots = [made.accepted(self.ana, "uno"), made.accepted(self.hugo, "dos")]
        self.task = assignments.create(self.teacher, TERMS, now=NOW)

    def join(self, player: Player, name: str, **how: bool) -> ClassMember:
        student = classes.join(self.row.slug, self.row.link, player, name, now=NOW, **how)
        assert student is not None
        return student

    def hand_in(self, number: int = 0, version: BotVersion | None = None, **how: object) -> HandIn:
        return assignments.hand_in(self.students[number], self.task, version or self.bots[number], now=NOW, **how)  # type: ignore[arg-type]


@pytest.fixture
def course(db: None) -> Course:
    return rows.once(Course)


def measure(winner: int | None, times: int = 20) -> None:
    """Play the matches of measurements until none is queued, as the scheduler and a worker do."""
    for _ in range(times):
        measuring.advance(now=NOW)
        match = Match.work.filter(kind="assignment", status="queued").first()
        if match is None:
            return
        made.play(match, winner=winner)


def refused(text: str) -> pytest.RaisesExc:
    return pytest.raises(Refused, match=text)


# ---- joining


def test_only_names_on_the_roster_join_each_once(course: Course) -> None:
    terms = ClassTerms("P2", 3, roster=classes.read_roster("Alonso, Marta; 4711\nBenítez, Hugo\t12\n\nCano,  Lucía\n"))
    row = classes.create(course.vega, terms, now=NOW)
    join = lambda player, name: classes.join(row.slug, row.link, player, name, now=NOW)  # noqa: E731
    with refused("not on the list"):
        join(course.ana, "Somebody Else")
    student = join(course.ana, "marta ALONSO")
    assert (student.name, student.number) == ("Alonso, Marta", "4711")
    assert join(course.ana, "Cano Lucía") == student
    with refused("has joined as"):
        join(course.hugo, "Alonso Marta")
    assert join(course.hugo, "Hugo Benitez").name == "Benítez, Hugo"


@pytest.mark.parametrize("roster", ["Ana\nana", "x" * 81, "a\u202eb", "\n".join(f"n{n}" for n in range(201))])
def test_a_bad_roster_is_refused(roster: str) -> None:
    with pytest.raises(Refused):
        classes.read_roster(roster)


def test_a_link_that_is_closed_full_replaced_or_archived_lets_nobody_in(course: Course) -> None:
    other = players.create("other", now=NOW)
    classes.change(course.teacher, ClassTerms("P2", 2, closes=later(60)), now=NOW)
    with refused("full"):
        course.join(other, "Other")
    classes.change(course.teacher, ClassTerms("P2", 3, closes=later(60)), now=NOW)
    assert classes.join(course.row.slug, course.row.link, other, "Other", now=later(61)) is None
    classes.renew_link(course.teacher, now=NOW)
    assert classes.invited(course.row.slug, course.row.link, now=NOW) is None
    course.row.refresh_from_db()
    assert classes.invited(course.row.slug, course.row.link, now=NOW) == course.row
    classes.renew_link(course.teacher, close=True, now=NOW)
    assert classes.invited(course.row.slug, "", now=NOW) is None
    classes.renew_link(course.teacher, now=NOW)
    classes.set_archived(course.teacher, archived=True, now=NOW)
    course.row.refresh_from_db()
    assert classes.invited(course.row.slug, course.row.link, now=NOW) is None


# ---- rights


TEACHER_ONLY: dict[str, Callable[[ClassMember, Course], object]] = {
    "change": lambda member, c: classes.change(member, ClassTerms("X"), now=NOW),
    "link": lambda member, c: classes.renew_link(member, now=NOW),
    "remove": lambda member, c: classes.remove(member, c.students[0], now=NOW),
    "rename": lambda member, c: classes.rename(member, c.students[0], "X", now=NOW),
    "teacher": lambda member, c: classes.make_teacher(member, c.students[0], now=NOW),
    "archive": lambda member, c: classes.set_archived(member, archived=True, now=NOW),
    "delete": lambda member, c: classes.delete(member, now=NOW),
    "assignment": lambda member, c: assignments.create(member, TERMS, now=NOW),
    "edit": lambda member, c: assignments.change(member, c.task, TERMS, now=NOW),
    "drop": lambda member, c: assignments.remove(member, c.task, now=NOW),
    "tournament": lambda member, c: contests.create(member, c.task, now=NOW),
    "password": lambda member, c: helping.new_password(member, c.students[0], now=NOW),
}


@pytest.mark.parametrize("act", TEACHER_ONLY)
def test_only_teachers_of_the_class_act(course: Course, act: str) -> None:
    elsewhere = classes.create(course.hugo, ClassTerms("Other"), now=NOW).members.get()
    for nobody in (course.students[1], ClassMember(school_class=course.row, player=course.hugo, role="teacher")):
        with pytest.raises(Forbidden):
            TEACHER_ONLY[act](nobody, course)
    if act in ("remove", "password"):  # A teacher of another class.
        with pytest.raises(Refused):
            TEACHER_ONLY[act](elsewhere, course)
        assert course.row.members.count() == 3


def test_a_co_teacher_goes_on_when_the_first_one_leaves(course: Course) -> None:
    with refused("only teacher"):
        classes.leave(course.teacher, now=NOW)
    classes.make_teacher(course.teacher, course.students[1], now=NOW)
    classes.leave(course.teacher, now=NOW)
    assert set(course.row.members.values_list("player__name", "role")) == {("ana", "student"), ("hugo", "teacher")}
    with pytest.raises(Forbidden):
        classes.renew_link(course.teacher, now=NOW)


def test_a_class_that_is_deleted_or_has_no_teacher_is_gone_and_the_bots_stay(course: Course) -> None:
    course.hand_in()
    measuring.advance(now=NOW)
    closing.close(course.vega, now=NOW)
    assert not SchoolClass.objects.exists()
    assert not HandIn.objects.exists()
    assert BotVersion.objects.filter(bot__slug="uno").exists()
    second = classes.create(course.ana, ClassTerms("Second"), now=NOW)
    classes.delete(second.members.get(), now=NOW)
    assert not SchoolClass.objects.exists()


def test_a_player_exports_what_they_handed_in(course: Course) -> None:
    course.hand_in()
    out = io.BytesIO()
    exporting.write(course.ana, out, site="https://league.example")
    assert next(iter(exporting._classes(course.ana)))["handed_in"][0]["bot"] == "uno"


# ---- measurement


def test_a_better_bot_passes_and_nothing_counts_elsewhere(course: Course) -> None:
    hand_in = course.hand_in()
    measure(winner=0)
    hand_in.refresh_from_db()
    assert (hand_in.verdict, hand_in.lost) == (HandInVerdict.PASSED, 0)
    assert hand_in.boards < measuring.CAP
    assert hand_in.llr >= sprt.bounds(0.05 / 3, 0.05).upper
    hand_in.assignment = course.task
    assert measuring.sureness(hand_in) >= measuring.SURE
    matches = Match.work.filter(kind="assignment")
    assert set(matches.values_list("rated", flat=True)) == {False}
    assert not Match.objects.filter(pk__in=matches).exists(), "no page and no rating sees them"
    assert not Rating.objects.exists()
    assert "measured" in reconcile.reconcile(now=NOW).counts()


@pytest.mark.parametrize("attempts", [1, 10])
def test_more_attempts_ask_for_more_evidence(course: Course, attempts: int) -> None:
    """A lucky run cannot be bought by trying again: the error of 5 % is shared by all attempts."""
    hand_in = HandIn(assignment=replace_task(course.task, attempts=attempts), won=25, lost=0)
    hand_in.llr = sprt.llr((0, 0, 25), measuring.ELO0, measuring.ELO1)
    assert (measuring._verdict(hand_in) == HandInVerdict.PASSED) == (attempts == 1)
    assert (measuring.sureness(hand_in) >= measuring.SURE) == (attempts == 1)


def replace_task(task: Assignment, **columns: object) -> Assignment:
    for name, value in columns.items():
        setattr(task, name, value)
    return task


def test_a_worse_bot_is_soon_refused(course: Course) -> None:
    hand_in = course.hand_in()
    measure(winner=1)
    hand_in.refresh_from_db()
    assert hand_in.verdict == HandInVerdict.NOT_BETTER
    assert hand_in.boards <= 2 * measuring.BOARDS


def test_undecided_boards_end_at_the_cap(course: Course) -> None:
    hand_in = course.hand_in()
    measure(winner=0, times=1)
    HandIn.objects.update(won=145, lost=135)  # A little better, but not clearly.
    measuring.advance(now=NOW)
    hand_in.refresh_from_db()
    assert hand_in.verdict == HandInVerdict.UNSURE


def test_a_fault_is_shown_with_its_reason(course: Course) -> None:
    hand_in = course.hand_in()
    measuring.advance(now=NOW)
    match = made.begun(Match.work.get(kind="assignment"))
    fault = FaultReport(kind="illegal_action", detail="played Ro", party=0, seat=0, board=3, sitting=0, step=3)
    reports.report(match, made.result(match, winner=0, faults=[fault]), now=NOW)
    measuring.advance(now=NOW)
    hand_in.refresh_from_db()
    assert hand_in.verdict == HandInVerdict.FAULT
    assert "played Ro" in hand_in.why
    assert marks.table(course.row, now=NOW).rows[0].states[0].mark == 0


def test_the_pass_mark_no_fault_asks_for_boards_only(course: Course) -> None:
    course.task = assignments.create(course.teacher, replace(TERMS, rule=PassRule.CLEAN), now=NOW)
    hand_in = course.hand_in()
    measure(winner=1)
    hand_in.refresh_from_db()
    assert (hand_in.verdict, hand_in.boards) == (HandInVerdict.PASSED, measuring.CLEAN_BOARDS)


def test_a_version_that_is_being_validated_waits_and_a_rejected_one_is_a_fault(course: Course) -> None:
    version = made.uploaded(course.ana, "tres")
    hand_in = course.hand_in(version=version)
    measuring.advance(now=NOW)
    assert not Match.work.filter(kind="assignment").exists()
    BotVersion.objects.filter(pk=version.pk).update(status=VersionStatus.REJECTED, fault_detail="no bot")
    measuring.advance(now=NOW)
    hand_in.refresh_from_db()
    assert (hand_in.verdict, hand_in.why) == (HandInVerdict.FAULT, "no bot")


def test_few_matches_wait_at_a_time_and_classes_take_turns(course: Course) -> None:
    course.hand_in(0)
    course.hand_in(1)
    other = classes.create(course.hugo, ClassTerms("Other"), now=NOW)
    task = assignments.create(other.members.get(), TERMS, now=NOW)
    student = classes.join(other.slug, other.link, course.ana, "Ana", now=NOW)
    assert student is not None
    theirs = assignments.hand_in(student, task, course.bots[0], now=NOW)
    measuring.advance(now=NOW)
    measuring.advance(now=NOW)
    waiting = Match.work.filter(kind="assignment", status="queued")
    assert waiting.count() == 1, "one for each two workers, and at least one"
    made.play(waiting.get())
    measuring.advance(now=NOW)
    first, second = HandIn.objects.filter(matches=1).order_by("pk")
    assert first.member_id != second.member_id
    assert theirs.pk in (first.pk, second.pk) or Match.work.filter(kind="assignment").count() == 2


def test_classes_and_tournaments_take_turns(course: Course) -> None:
    """No tournament waits for a whole class, and no class for a whole tournament: the class counts as one owner."""
    organiser = players.create("organiser", now=NOW)
    owners = [players.create(f"owner-{number}", now=NOW) for number in range(4)]
    made.started(organiser, [made.accepted(owner, f"de-{owner.name}") for owner in owners], boards=20)
    course.hand_in(0)
    course.hand_in(1)
    kinds = []
    for turn in range(4):
        now = later(3600 * turn)
        measuring.advance(now=now)
        match = made.running(now=now)
        kinds.append(match.kind)
        assert reports.report(match, made.result(match), now=later(3600 * turn + 60)) == reports.Receipt.STORED
    assert sorted(kinds) == ["assignment", "assignment", "tournament", "tournament"]


def test_one_worker_plays_other_matches_as_long_as_those_of_classes(course: Course) -> None:
    course.hand_in(0)
    course.hand_in(1)
    measuring.advance(now=NOW)
    challenges.challenge(course.hugo, course.bots[1].bot, [course.house.bot], "partnership", 2, now=NOW)
    Match.work.filter(kind="challenge").update(priority=-9)
    match = made.running(now=NOW)
    assert match.kind == "assignment"
    assert reports.report(match, made.result(match), now=later(30)) == reports.Receipt.STORED
    measuring.advance(now=later(40))
    waiting = Match.work.filter(kind="assignment", status="queued")
    assert not waiting.exists()
    measuring.advance(now=later(61))
    assert waiting.count() == 1


def test_the_boards_of_a_measurement_are_for_the_student_and_the_teachers(course: Course) -> None:
    row = course.hand_in()
    measure(winner=1, times=1)
    stranger = players.create("stranger", now=NOW)
    row.refresh_from_db()
    boards = measuring.boards(row)
    assert len(boards) == measuring.BOARDS
    assert boards == sorted(boards, key=lambda board: board.lead)
    match = Match.work.get(public_id=boards[0].match)
    people = (course.ana, course.vega, course.hugo, stranger)
    assert [match in sight.readable(player.user) for player in people] == [True, True, False, False]
    assert match not in sight.readable(None)
    assert not sight.is_public(match)
    assert all(match not in sight.matches(Match.objects.all(), player.user) for player in people)


def test_the_deals_of_an_attempt_are_fixed_beforehand(course: Course) -> None:
    course.hand_in()
    measuring.advance(now=NOW)
    match = Match.work.get(kind="assignment")
    assert bytes(match.secret) == bytes(course.task.secret)
    assert match.table == f"h:{course.task.pk}:{course.students[0].pk}:1:1"


def test_a_bot_of_a_student_stays_in_the_class_until_its_owner_shows_it(course: Course, client: Client) -> None:
    bot = made.accepted(course.ana, "nuevo", policy=EntryPolicy.ANYBODY).bot
    Bot.objects.filter(pk=bot.pk).update(in_class=True)
    bot.refresh_from_db()
    stranger = players.create("stranger", now=NOW)
    staff = players.create("staff", staff=True, now=NOW)
    sees = {
        player: sight.bots(Bot.objects.filter(pk=bot.pk), player.user).exists()
        for player in (course.ana, course.hugo, course.vega, staff, stranger)
    }
    assert list(sees.values()) == [True, True, True, True, False]
    for player, is_seen in sees.items():
        client.force_login(player.user)
        followed = client.get("/live", {"topic": topics.of_bot(bot.pk)}).content.decode()
        assert (topics.of_bot(bot.pk) in followed) == is_seen, player
    match = challenges.challenge(course.ana, bot, [course.house.bot], "partnership", 2, now=NOW)
    visible = {player: sight.matches(Match.objects.all(), player and player.user) for player in (*sees, None)}
    assert [match in rows for rows in visible.values()] == [True, True, True, True, False, False]
    assert not sight.is_public(match)
    assert not Bot.objects.filter(willing(""), pk=bot.pk).exists()
    cup = tournaments.create(stranger, "Copa", "partnership", now=NOW)
    with refused("show it to everybody first"):
        enrolment.enter(cup, bot, player=course.ana, now=NOW)
    bots.show(bot, actor="ana", now=NOW)
    match.refresh_from_db()
    assert sight.is_public(match)
    assert sight.bots(Bot.objects.filter(pk=bot.pk), None).exists()


def test_only_bots_made_while_in_a_class_stay_there(course: Course) -> None:
    assert made.uploaded(course.ana, "nuevo").bot.in_class
    assert Match.objects.get(parties__version__bot__slug="nuevo", parties__number=0).in_class
    assert not made.uploaded(course.vega, "ajeno").bot.in_class
    classes.set_archived(course.teacher, archived=True, now=NOW)
    assert not made.uploaded(course.hugo, "luego").bot.in_class


# ---- handing in


def test_attempts_are_counted_and_the_same_files_are_not_measured_twice(course: Course) -> None:
    course.hand_in()
    with refused("still being measured"):
        course.hand_in()
    HandIn.objects.update(verdict=HandInVerdict.UNSURE)
    with refused("already"):
        course.hand_in()
    for number in range(2):
        course.hand_in(version=made.accepted(course.ana, f"otro-{number}"))
        HandIn.objects.update(verdict=HandInVerdict.UNSURE)
    with refused("all 3 attempts"):
        course.hand_in(version=made.accepted(course.ana, "cuatro"))


def test_whoever_joins_again_has_no_new_attempts(course: Course) -> None:
    course.task = assignments.create(course.teacher, replace(TERMS, attempts=1), now=NOW)
    course.hand_in()
    classes.leave(course.students[0], now=NOW)
    assert not HandIn.objects.exists()
    course.students[0] = course.join(course.ana, "Alonso, Marta")
    with refused("all 1 attempts"):
        course.hand_in(version=made.accepted(course.ana, "otro"))


def test_who_hands_in_what_and_when(course: Course) -> None:
    with refused("not yours"):
        course.hand_in(0, course.bots[1])
    with pytest.raises(Forbidden):
        assignments.hand_in(course.teacher, course.task, course.bots[0], now=NOW)
    with refused("was due"):
        assignments.hand_in(course.students[0], course.task, course.bots[0], now=DUE + timedelta(seconds=1))
    soon = assignments.create(course.teacher, replace(TERMS, opens=later(60)), now=NOW)
    with refused("not open yet"):
        assignments.hand_in(course.students[0], soon, course.bots[0], now=NOW)
    late = assignments.create(course.teacher, replace(TERMS, late_percent=50), now=NOW)
    hand_in = assignments.hand_in(course.students[0], late, course.bots[0], now=DUE + timedelta(seconds=1))
    assert hand_in.is_late
    HandIn.objects.update(verdict=HandInVerdict.PASSED, won=1, points=3.0)
    states = marks.table(course.row, now=DUE + timedelta(days=1)).rows[0].states
    assert [state.mark for state in states] == [0.0, 0.0, 5.0]
    classes.set_archived(course.teacher, archived=True, now=NOW)
    with refused("archived"):
        course.hand_in(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"due": NOW},
        {"opens": DUE},
        {"due": later(900 * 24 * 3600)},
        {"attempts": 0},
        {"attempts": 11},
        {"rival": "nobody"},
        {"rule": "none"},
        {"late_percent": 70},
        {"clean_marks": 11},
        {"marks": -1},
        {"title": " "},
    ],
)
def test_terms_that_make_no_sense_are_refused(course: Course, wrong: dict[str, object]) -> None:
    with pytest.raises(Refused):
        assignments.create(course.teacher, replace(TERMS, **wrong), now=NOW)  # type: ignore[arg-type]


def test_what_is_measured_stays_once_somebody_has_handed_in(course: Course) -> None:
    course.task = assignments.change(course.teacher, course.task, replace(TERMS, attempts=5), now=NOW)
    course.hand_in()
    with refused("handed in already"):
        assignments.change(course.teacher, course.task, replace(TERMS, attempts=9), now=NOW)
    longer = replace(TERMS, attempts=5, due=DUE + timedelta(days=1), marks=20)
    assert assignments.change(course.teacher, course.task, longer, now=NOW).marks == 20
    with refused("stays"):
        assignments.remove(course.teacher, course.task, now=NOW)


# ---- marks


def test_marks_by_place_and_the_ladder_of_the_class(course: Course) -> None:
    course.task = assignments.change(course.teacher, course.task, replace(TERMS, place_marks=4), now=NOW)
    for number, points in ((0, 100.0), (1, 300.0)):
        row = course.hand_in(number)
        numbers = {"won": 20, "points": points, "squares": points * points, "counted": 1, "matches": 1}
        HandIn.objects.filter(pk=row.pk).update(verdict=HandInVerdict.PASSED, **numbers)
    table = marks.table(course.row, now=NOW)
    assert [(line.member.name, line.total) for line in table.rows] == [("Alonso, Marta", 12.0), ("Benítez, Hugo", 14.0)]
    assert table.most == 10
    assert [(line.place, line.player) for line in marks.ladder(course.task)] == [(1, "hugo"), (2, "ana")]


def test_a_bot_without_faults_that_does_not_pass_gets_its_share(course: Course) -> None:
    assignments.change(course.teacher, course.task, replace(TERMS, clean_marks=4), now=NOW)
    course.hand_in()
    HandIn.objects.update(verdict=HandInVerdict.NOT_BETTER)
    first, second = marks.table(course.row, now=NOW).rows
    assert (first.total, first.states[0].state, second.states[0].state) == (4.0, "not_better", "none")


def test_the_tournament_of_a_class_is_private_and_invites_its_members(course: Course) -> None:
    event = contests.create(course.teacher, course.task, now=NOW)
    assert event.private
    assert (event.audience, event.pace_s) == (Audience.HIDDEN, contests.PACE_S)
    course.row.refresh_from_db()
    assert course.row.event == event
    late = players.create("late", now=NOW)
    student = course.join(late, "Cano, Luis")
    invited = event.guests.values_list("player__name", flat=True)
    assert set(invited) == {"vega", "ana", "hugo", "late"}
    classes.remove(course.teacher, student, now=NOW)
    assert set(invited.all()) == {"vega", "ana", "hugo"}


def test_a_bot_from_before_is_kept_in_class_only_before_it_has_played(course: Course) -> None:
    """Otherwise a student could hide a bot that loses, or dodge matches: what others have seen stays public."""
    joined = players.create("cano", now=NOW)
    bot = made.accepted(joined, "before").bot
    with refused("only a student"):
        bots.keep_in_class(bot, actor="cano", now=NOW)
    course.join(joined, "Cano, Luis")
    assert not bot.in_class
    bots.keep_in_class(bot, actor="cano", now=NOW)
    bots.keep_in_class(bot, actor="cano", now=NOW)
    assert Bot.objects.get(pk=bot.pk).in_class
    assert LeagueEvent.objects.filter(kind="bot.kept_in_class", subject="bot:before").count() == 1
    arena = arenas.create("partnership", NOW + timedelta(hours=1), now=NOW)
    with refused("only your class sees"):
        arenas.enter_bot(arena, bot, joined, now=NOW)
    bots.show(bot, actor="cano", now=NOW)
    with refused("everybody has seen"):
        bots.keep_in_class(bot, actor="cano", now=NOW)
    LeagueEvent.objects.filter(kind="bot.shown").delete()
    arenas.enter_bot(arena, bot, joined, now=NOW)
    assert bots.why_not_in_class(bot)
    arenas.withdraw_bot(arena, bot, joined)
    assert bots.why_not_in_class(bot) == ""
    match = challenges.challenge(joined, bot, [course.house], "partnership", 1, now=NOW)
    assert bots.why_not_in_class(bot)
    match.delete()
    tournaments.create(joined, "Copa", "partnership", versions=[bot.versions.get()], boards=1, now=NOW)
    assert bots.why_not_in_class(bot)


# ---- passwords


def test_a_teacher_sets_a_password_only_of_a_student_who_agreed(course: Course) -> None:
    student = course.students[0]
    with refused("not agreed"):
        helping.new_password(course.teacher, student, now=NOW)
    helping.agree(student, helped=True)
    word = helping.new_password(course.teacher, student, now=NOW)
    course.ana.user.refresh_from_db()
    assert re.fullmatch(r"\w{12}", word)
    assert course.ana.user.check_password(word)
    assert passwords.set_by_another(course.ana).actor == "vega"
    assert LeagueEvent.objects.filter(kind="class.password", actor="vega").exists()
    assert word not in str(list(LeagueEvent.objects.values_list("data", flat=True)))


@pytest.mark.parametrize("account", [{"email": "ana@example.org"}, {"is_staff": True}, {"is_active": False}])
def test_no_account_that_can_get_in_alone_or_has_rights(course: Course, account: dict[str, object]) -> None:
    helping.agree(course.students[0], helped=True)
    type(course.ana.user).objects.filter(pk=course.ana.user_id).update(**account)
    with pytest.raises(Refused):
        helping.new_password(course.teacher, course.students[0], now=NOW)


def test_a_teacher_of_a_class_gets_no_new_password_from_another(course: Course) -> None:
    classes.make_teacher(course.teacher, course.students[0], now=NOW)
    ClassMember.objects.filter(role=ClassRole.TEACHER).update(helped=True)
    with pytest.raises(Refused):
        helping.new_password(course.teacher, course.students[0], now=NOW)


# ---- similar code


def test_similar_code_of_two_students_is_pointed_at(course: Course) -> None:
    course.hand_in(0)
    course.hand_in(1)
    assert alike.pairs(course.task) == [], "what stands in the template does not count"


def test_who_has_handed_in_nothing_hears_once_on_the_day_before(course: Course) -> None:
    course.hand_in(0)
    for _ in range(3):
        spreading.run(now=DUE - timedelta(hours=3))
    heard = Notice.objects.filter(text="assignment_due").values_list("player__name", flat=True)
    assert list(heard) == ["hugo"]
    notice = Notice.objects.get(text="assignment_due")
    assert notice_words.sentence(notice) == f"Beat greedy is due at {DUE:%Y-%m-%d %H:%M} UTC."
    assert notice_words.address(notice) == f"/class/{course.row.slug}/1/"
