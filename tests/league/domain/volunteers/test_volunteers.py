"""Volunteers: who gets which work, when their results count, and what happens to a liar."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from engine.judging import Child, fingerprint
from league.domain.core.errors import Forbidden, Refused
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking, bodies
from league.domain.matches import embargoes, matches
from league.domain.people import bans, players, rights, tokens
from league.domain.upkeep import reconcile
from league.domain.volunteers import checks, keys, work
from league.enums import JudgementKind, JudgementStatus, TokenScope
from league.models import Job, Judgement, LeagueEvent, Match, Notice, Volunteer, VolunteerTask
from league.web.people.notice_words import sentence
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, later, play, started

FEW = 300  # nodes: endings of two tricks, in no time
OPEN, FAIR = JudgementKind.OPEN, JudgementKind.FAIR


@pytest.fixture(autouse=True)
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "USUAL_NODES", FEW)
    monkeypatch.setattr(work, "USUAL_NODES", FEW)
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=FEW))


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, with two analyses that its player asked for a minute ago."""
    return rows.once(make_match, ana, berto)


def make_match(ana, berto) -> Match:
    match = play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())
    for kind in (OPEN, FAIR):
        asking.ask(match, kind, ana, now=later(-60))
    return match


def volunteer(name: str, *, agreed: int = 0) -> Volunteer:
    row, _key = keys.create(players.create(name, now=NOW), "cellar", actor="olga", now=NOW)
    row.agreed = agreed
    row.save()
    return row


def computed(task: dict[str, Any]) -> list[Any]:
    """Return what `tute volunteer` sends for a task."""
    child = Child(cpu_s=task["cpu_s"], fair=task["fair"], nodes=task["nodes"])
    try:
        return [
            [
                [row.step, row.lost, list(row.best), row.par, row.worth, row.error, [list(move) for move in row.line]]
                for row in child.judge(record, stop=lambda: False)[0]
                if row.lost is not None
            ]
            for record in task["records"]
        ]
    finally:
        child.close()


def carried_out(vera: Volunteer, *, lies: bool = False, now=NOW) -> VolunteerTask:
    """Let a volunteer do the next task."""
    task = work.claim(vera, now=now)
    assert task is not None
    sittings = computed(task)
    if lies:
        sittings[-1][-1][1] += 1.0
    assert work.report(vera, task["task"], task["token"], sittings, now=now)
    return VolunteerTask.objects.get(pk=task["task"])


def repeated(now=NOW) -> Judgement:
    """Let a worker of the league do the next analysis."""
    job = jobs.ANALYSIS.claim("host:1", now=now)
    assert job is not None
    assert jobs.run(job, now=now)
    job.subject.refresh_from_db()
    return job.subject


def test_a_result_counts_when_a_repetition_agrees(match, settings) -> None:
    settings.VOLUNTEER_CHECKS = 0
    vera = volunteer("vera", agreed=work.PROVED)
    waiting = carried_out(vera)
    assert jobs.ANALYSIS.claim("host:1", now=NOW).subject.kind == FAIR, "the other waits for its confirmation"
    assert (waiting.judgement.status, checks.settle(now=NOW)) == (JudgementStatus.ASKED, 0)

    Volunteer.objects.update(agreed=0)  # A new key: the next result is drawn for certain.
    vera.refresh_from_db()
    jobs.ANALYSIS.expire(now=later(60))
    drawn = carried_out(vera, now=later(70))
    assert repeated(now=later(70)) == drawn.judgement
    assert checks.settle(now=later(80)) == 1
    assert {row.status for row in Judgement.objects.all()} == {JudgementStatus.DONE}
    vera.refresh_from_db()
    assert (vera.agreed, vera.accepted, vera.shut_out) == (1, 1, None)
    assert not VolunteerTask.objects.exists()
    assert not Job.objects.filter(kind="analysis").exists()
    waiting.judgement.refresh_from_db()
    assert Judgement.objects.get(by_volunteer=True) == waiting.judgement
    body, kind = bytes(waiting.judgement.body), waiting.judgement.kind
    assert asking.ask_for_league(match, kind, now=later(90)), "no evidence in a case before a worker has repeated it"
    assert not asking.ask_for_league(match, kind, now=later(90))
    assert bytes(repeated(now=later(90)).body) == body, "to the last byte what a worker would have stored"
    assert not Judgement.objects.filter(by_volunteer=True).exists()
    assert not asking.ask_for_league(match, kind, now=later(91))


def test_a_liar_is_shut_out_and_what_nobody_confirmed_is_done_again(match, settings) -> None:
    settings.VOLUNTEER_CHECKS = 0
    for name, words in (("olga", ["staff", "audit"]), ("otto", ["staff"])):
        rights.change(players.create(name, now=NOW), words, give=True, why="a test", actor="eva", now=NOW)
    vera = volunteer("vera", agreed=work.PROVED)
    carried_out(vera)
    vera.agreed = 0
    lie = carried_out(vera, lies=True)
    assert repeated() == lie.judgement
    assert checks.settle(now=NOW) == 0
    vera.refresh_from_db()
    assert vera.shut_out == NOW
    assert match.public_id in vera.evidence
    assert vera.evidence.count("DecisionVerdict") == 2, "what the league found, and what the volunteer said"
    assert vera.token.revoked == NOW
    assert LeagueEvent.objects.get(kind="volunteer.shut_out").data["evidence"] == vera.evidence
    notice = Notice.objects.get(text="volunteer_out")
    assert (notice.player.name, notice.actor, sentence(notice)) == (
        "olga",
        vera.token.player,
        f"The volunteer key tute_{vera.token.prefix}… of vera is shut out: a result was wrong.",
    )
    assert not VolunteerTask.objects.exists()
    assert repeated().status == JudgementStatus.DONE, "at once"
    assert Judgement.objects.get(pk=lie.judgement_id).judged
    assert (checks.settle(now=NOW), Volunteer.objects.get().agreed) == (0, work.PROVED)


@pytest.mark.parametrize("why", ["no whole sitting", "another program", "damaged"])
def test_a_repetition_that_proves_nothing_confirms_nothing_and_accuses_nobody(match, why, monkeypatch) -> None:
    vera = volunteer("vera")
    waiting, drawn = carried_out(vera, lies=True), carried_out(vera, lies=True)
    Job.objects.filter(judgement=waiting.judgement).update(not_before=later(600))
    if why == "another program":
        monkeypatch.setattr(analysis, "fingerprint", lambda: "of the next release")
    row = repeated()
    assert row == drawn.judgement
    if why == "no whole sitting":
        body = bodies.unpack(bytes(row.body))
        body.sittings = {min(body.sittings): []}
        Judgement.objects.filter(pk=row.pk).update(limited=True, body=bodies.pack(body))
    elif why == "damaged":
        Judgement.objects.filter(pk=row.pk).update(body=b"x")
    assert checks.settle(now=NOW) == 0
    vera.refresh_from_db()
    assert (vera.agreed, vera.shut_out) == (0, None)
    assert [task.pk for task in VolunteerTask.objects.all()] == [waiting.pk]


def test_a_task_comes_back_from_a_volunteer_who_is_lost_once(match) -> None:
    """Its attempt is not counted, its late report is refused, and no volunteer gets it again."""
    vera, wim = volunteer("vera"), volunteer("wim")
    Job.objects.update(attempts=1)  # A worker was lost with it.
    task = work.claim(vera, now=NOW)
    assert task is not None
    assert Job.objects.get(judgement__tasks=task["task"]).attempts == 1
    assert work.beat(vera, task["task"], task["token"], 40, now=later(20))
    assert not work.beat(wim, task["task"], task["token"], 40, now=later(20)), "somebody else's"
    assert not work.beat(vera, task["task"], task["token"] + 1, 40, now=later(20))
    assert jobs.ANALYSIS.expire(now=later(40)) == 0
    assert jobs.ANALYSIS.expire(now=later(60)) == 1
    assert set(Job.objects.values_list("attempts", flat=True)) == {1}
    assert not work.beat(vera, task["task"], task["token"], 50, now=later(61))
    assert not work.report(vera, task["task"], task["token"], computed(task), now=later(61))
    other = work.claim(wim, now=later(70))
    assert other is not None
    assert other["fair"] != task["fair"]
    assert work.claim(vera, now=later(70)) is None
    work.drop(wim, other["task"], other["token"], now=later(71))
    assert set(Job.objects.values_list("attempts", flat=True)) == {1}, "an attempt of a worker stays counted"
    for _ in range(2):
        assert repeated(now=later(80)).status == JudgementStatus.DONE
    assert checks.settle(now=later(90)) == 0
    assert not VolunteerTask.objects.exists()
    assert not Volunteer.objects.exclude(shut_out=None).exists()


def test_a_repetition_without_confirmation_is_done_after_a_while(match, settings) -> None:
    settings.VOLUNTEER_CHECKS = 0
    vera = volunteer("vera", agreed=work.PROVED)
    for _ in range(2):
        carried_out(vera)
    assert jobs.ANALYSIS.claim("host:1", now=NOW + work.HOLD - timedelta(seconds=1)) is None
    assert repeated(now=NOW + work.HOLD).status == JudgementStatus.DONE
    waiting = jobs.ANALYSIS.claim("host:1", now=NOW + work.HOLD)
    assert checks.settle(now=NOW + work.HOLD) == 0, "a worker is doing the other one"
    jobs.ANALYSIS.give_back(waiting, "", now=NOW + work.HOLD)
    assert VolunteerTask.objects.count() == 1
    assert repeated(now=NOW + work.HOLD).status == JudgementStatus.DONE
    assert reconcile.reconcile(now=NOW + work.HOLD).confirmed == 0
    assert (Volunteer.objects.get().agreed, VolunteerTask.objects.count()) == (work.PROVED + 2, 0)


def test_nobody_judges_what_is_hidden_or_their_own(match, ana, berto) -> None:
    vera = volunteer("vera")
    for owner in (ana, berto):
        key, _ = keys.create(owner, "cellar", actor="olga", now=NOW)
        assert work.claim(key, now=NOW) is None, "their bot played"
    for changes in (
        {"kind": "validation"},
        {"kind": "assignment"},
        {"kind": "audit"},
        {"kind": "try"},
        {"status": "void"},
        {"embargo": later(5)},
    ):
        before = Match.objects.filter(pk=match.pk).values(*changes).get()
        Match.objects.filter(pk=match.pk).update(**changes)
        assert work.claim(vera, now=NOW) is None, changes
        Match.work.filter(pk=match.pk).update(**before)
    match.tournament.opens = later(3600)
    match.tournament.save()
    assert work.claim(vera, now=NOW) is None
    match.tournament.opens = None
    match.tournament.save()
    Job.objects.update(created=NOW)
    assert work.claim(vera, now=later(59)) is None, "the league's own workers go first where a player waits"
    Judgement.objects.filter(kind=FAIR).update(asked_by=None)  # Evidence in a case
    task = work.claim(vera, now=later(60))
    assert task is not None
    assert {*task["records"][0]} == {*work.RECORD, "events"}, "no names, no notes, no code"
    embargoes.change(match, later(10_000), why="late", actor="eva", now=later(61))
    assert work.claim(vera, now=later(62)) is None
    embargoes.change(match, None, why="over", actor="eva", now=later(63))
    matches.void(Match.objects.get(pk=match.pk), why="odd", actor="eva", now=later(64))
    work.report(vera, task["task"], task["token"], computed(task), now=later(65))
    assert not Judgement.objects.filter(status=JudgementStatus.DONE).exists()


def test_what_is_no_result_is_refused_and_limits_hold(match, monkeypatch) -> None:
    vera = volunteer("vera")
    task = work.claim(vera, now=NOW)
    assert task is not None
    right = computed(task)
    row = right[-1][-1]
    for sittings in (
        [],
        right[:-1],
        [*right[:-1], [[*row[:6]]]],
        *(
            [*right[:-1], [[*row[:place], value, *row[place + 1 :]]]]
            for place, value in (
                (0, 9_999),
                (0, "0"),
                (0, []),
                (1, None),
                (1, True),
                (1, 10**400),
                (2, ["play XX"]),
                (2, [None]),
                (2, row[2] * 50),
                (3, "1"),
                (6, [[0, "play XX"]]),
                (6, [[99, row[2][0]]]),
                (6, 5),
            )
        ),
    ):
        with pytest.raises(Refused, match="does not fit"):
            work.report(vera, task["task"], task["token"], sittings, now=NOW)
        assert not work.report(vera, task["task"], task["token"], right, now=NOW), "a worker does it"
        VolunteerTask.objects.all().delete()
        task = work.claim(vera, now=NOW)
        assert task is not None
    assert work.report(vera, task["task"], task["token"], right, now=NOW)
    assert not work.report(vera, task["task"], task["token"], right, now=NOW), "once"
    for name in ("MOST_HELD", "MOST_WORKING"):
        with monkeypatch.context() as patch:
            patch.setattr(work, name, int(name == "MOST_HELD"))
            assert work.claim(vera, now=NOW) is None
    with monkeypatch.context() as patch:
        patch.setattr(work, "MOST_BYTES", 100)
        assert work.claim(vera, now=NOW) is None, "too large; and a worker does it"
    assert not Job.objects.filter(state="leased").exists()
    work.require_same_program(fingerprint())
    with pytest.raises(Refused, match=r"another program.*make fast"):
        work.require_same_program("0" * 16)


def test_a_key_of_a_volunteer_may_do_nothing_else(ana) -> None:
    row, key = keys.create(ana, "cellar", actor="olga", now=NOW)
    assert keys.of_token(tokens.authenticate(key, now=NOW)) == row
    scopes = list(TokenScope)
    assert [scope for scope in scopes if TokenScope.VOLUNTEER.covers(scope)] == [TokenScope.VOLUNTEER]
    assert [scope for scope in scopes if scope.covers(TokenScope.VOLUNTEER)] == [TokenScope.VOLUNTEER]
    with pytest.raises(Refused, match="no scope"):
        tokens.create(ana, "mine", scope=TokenScope.VOLUNTEER, now=NOW)
    for token in (None, tokens.create(ana, "mine", now=NOW)[0]):
        with pytest.raises(Forbidden, match="operator"):
            keys.of_token(token)
    bans.ban(ana, until=None, why="rude", actor="eva", now=NOW)
    assert tokens.authenticate(key, now=NOW) is None
    assert not keys.listed()
