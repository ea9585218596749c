"""Audits in the league: what is drawn, who does it and when, and that a result is stored once."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.runner import BotSpec
from engine.runner import audit as runner
from engine.sandbox.errors import BrokenOff
from league.domain.audits import cases, results, sampling
from league.domain.bots import house
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.jobs.handlers import audits
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import leases, workers
from league.domain.matches.reports import Receipt
from league.domain.tournaments import progress, tournaments
from league.enums import AuditReason, AuditVerdict, MatchStatus, VersionStatus
from league.models import Audit, BotVersion, LeagueEvent, Match, RatingPoint, Tournament
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play, started, uploaded, with_token

FOUND = runner.AuditResult(
    runner.DIFFERS,
    30,
    20,
    1,
    2,
    1e-8,
    runner.Difference(1, 4, 2, ["play 1o", "play 2o"], "play 2o", ["play 1o", "play 1o"]),
)


@pytest.fixture
def cup(ana, berto, settings) -> Tournament:
    """One match of two boards, finished: two passes, four seats."""
    settings.AUDIT_PERCENT = 100
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto) -> Tournament:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    play(cup.matches.get())
    return cup


def drawn() -> list[tuple[int, int, str]]:
    return list(Audit.objects.order_by("sitting", "seat").values_list("sitting", "seat", "version__bot__slug"))


# ---- what is drawn


def test_every_conversation_may_be_drawn_and_is_drawn_once(cup) -> None:
    match = cup.matches.get()

    assert sampling.draw(now=NOW) == 8

    bots = ["rufo", "lola", "rufo", "lola"]
    assert drawn() == [(0, seat, bots[seat]) for seat in range(4)] + [(1, seat, bots[::-1][seat]) for seat in range(4)]
    assert sampling.draw(now=NOW) == 0
    Match.objects.filter(pk=match.pk).update(drawn=None)
    assert sampling.draw(now=NOW) == 0, "the rows are there"
    assert Match.work.count() == Match.objects.count() + 8


def test_the_share_is_what_the_setting_says_and_the_lots_need_the_secret_key(cup, settings) -> None:
    match = cup.matches.get()
    lots = [sampling.lot(match, sitting, seat) for sitting in range(500) for seat in range(4)]
    settings.SECRET_KEY = "another"
    others = [sampling.lot(match, sitting, seat) for sitting in range(500) for seat in range(4)]

    assert all(0 <= lot < 1 for lot in lots)
    assert 30 < sum(lot < 0.03 for lot in lots) < 95
    assert not set(lots) & set(others)
    settings.AUDIT_PERCENT = 0
    assert sampling.draw(now=NOW) == 0
    assert not Match.objects.get(pk=match.pk).audits.exists()


def test_validation_matches_are_not_drawn(ana, settings) -> None:
    settings.AUDIT_PERCENT = 100
    version = uploaded(ana, "rufo")
    play(Match.objects.get(parties__version=version, parties__number=0))

    assert sampling.draw(now=NOW) == 0
    assert not Match.objects.filter(status=MatchStatus.FINISHED, drawn=None).exists()


def test_of_a_bot_that_rises_more_is_drawn(cup, settings) -> None:
    settings.AUDIT_PERCENT = 20  # Five times as much for a rising bot: all of its matches
    match = cup.matches.get()
    rufo = match.parties.get(number=0).version
    for version, change in ((rufo, 60.0), (match.parties.get(number=1).version, 40.0)):
        RatingPoint.objects.create(
            pool=match.pool, version=version, match=match, elo=1000, margin=50, change=change, at=NOW
        )

    sampling.draw(now=NOW)

    assert Audit.objects.filter(version=rufo, reason=AuditReason.RISE).count() == 4
    assert Audit.objects.exclude(version=rufo).exclude(reason=AuditReason.SAMPLE).count() == 0
    assert Audit.objects.exclude(version=rufo).count() < 4


@pytest.mark.slow
def test_all_of_a_last_round_is_drawn_and_nothing_of_a_semifinal(ana, settings) -> None:
    settings.AUDIT_PERCENT = 1e-9  # no lot is so small
    field = [accepted(ana, name) for name in ("uno", "dos", "tres", "siete")]
    cup = tournaments.create(
        ana, "Copa", "partnership", boards=1, versions=field, format="single_elimination", secret=SECRET, now=NOW
    )
    tournaments.start(cup, now=NOW)
    while waiting := cup.matches.filter(status=MatchStatus.QUEUED).first():
        play(waiting, winner=0)
        progress.advance(cup, now=NOW)
    cup.refresh_from_db()
    assert cup.status == "finished"

    assert sampling.draw(now=later(5)) == 16
    assert sampling.draw(now=later(9)) == 0

    last = cup.matches.filter(round__number=2)  # the final, and the match for the third place
    drawn = {(pk, AuditReason.FINAL) for pk in last.values_list("pk", flat=True)}
    assert set(Audit.objects.values_list("match", "reason")) == drawn


# ---- who does it, and when


def test_an_audit_is_work_for_who_has_no_other(cup, ana) -> None:
    sampling.draw(now=NOW)
    uploaded(ana, "nena", now=NOW)

    first, second = (leases.claim("w", now=NOW) for _ in range(2))

    assert first is not None
    assert second is not None
    assert (first.kind, second.kind) == ("validation", "audit")
    assert leases.claim("w", ahead=True, now=NOW) is None


def test_no_queue_keeps_an_audit_away_for_ever(cup, ana) -> None:
    sampling.draw(now=NOW)
    uploaded(ana, "nena", now=NOW)

    assert leases.claim_several("w", overdue_audits=True, now=later(3599)) == []
    assert [match.kind for match in leases.claim_several("w", overdue_audits=True, now=later(3600))] == ["audit"]


def test_what_a_worker_has_played_is_audited_by_another_while_there_is_one(cup) -> None:
    """Else a worker that reports what was never played would also say that it was."""
    sampling.draw(now=NOW)
    worker = cup.matches.get().worker
    for name in (worker, "w2"):
        workers.register(name, tier="landlock", now=NOW)
    assert leases.claim(worker, now=NOW) is None

    taken = leases.claim("w2", now=NOW)
    workers.unregister("w2", now=NOW)
    alone = leases.claim(worker, now=NOW)

    assert taken is not None
    assert alone is not None
    assert (taken.kind, alone.kind) == ("audit", "audit")


def test_what_a_host_has_played_is_audited_on_another_while_there_is_one(cup) -> None:
    """A bot that breaks out of a sandbox may control any worker of that host, even one started later."""
    sampling.draw(now=NOW)
    Match.work.filter(kind="audit").update(avoid="one:17")
    for name in ("one:17", "one:18", "two:17"):
        workers.register(name, tier="landlock", now=NOW)
    assert [leases.claim(name, now=NOW) for name in ("one:17", "one:18")] == [None, None]
    assert leases.claim("two:17", now=NOW) is not None

    workers.unregister("two:17", now=NOW)
    assert leases.claim("one:17", now=NOW) is None
    assert leases.claim("one:18", now=NOW) is not None


def test_audits_are_no_matches_for_anybody_else(cup) -> None:
    before, of_pool = Match.objects.count(), cup.pool.matches.count()
    sampling.draw(now=NOW)

    assert Match.objects.count() == before
    assert not Match.objects.filter(kind="audit").exists()
    assert cup.pool.matches.count() == of_pool


def audit_held(now=NOW) -> Match:
    match = leases.claim("w", now=now)
    assert match is not None
    leases.start(match, now=now)
    return match


def test_a_result_is_stored_once_and_only_by_who_holds_the_lease(cup) -> None:
    sampling.draw(now=NOW)
    match = audit_held()

    assert audits.report(with_token(match, 0), FOUND, now=NOW) == Receipt.REFUSED
    assert Audit.objects.exclude(verdict="").count() == 0
    assert audits.report(match, FOUND, now=later(1)) == Receipt.STORED
    assert audits.report(match, FOUND, now=later(2)) == Receipt.REFUSED

    row = Audit.objects.get(work=match)
    assert (row.verdict, row.decisions, row.log_odd, row.run_odd, row.all_differ, row.chance) == (
        AuditVerdict.DIFFERS,
        30,
        20,
        1,
        2,
        1e-8,
    )
    assert row.first == FOUND.plain()["first"]
    assert row.finished == later(1)
    event = LeagueEvent.objects.get(kind="audit.finished")
    assert event.subject == f"match:{row.match.public_id}"
    assert (event.data["verdict"], event.data["version"], event.data["decisions"]) == ("differs", str(row.version), 30)
    assert not LeagueEvent.objects.filter(kind="match.moved", subject=f"match:{match.public_id}").exists()
    assert LeagueEvent.objects.filter(kind="audit.moved", subject=f"audit:{match.public_id}").count() == 3


def test_an_audit_whose_worker_is_lost_is_done_by_another(cup) -> None:
    sampling.draw(now=NOW)
    lost = audit_held()

    assert leases.expire(now=NOW + timedelta(hours=1)) == 1
    again = leases.claim("w2", prefer=lost.pk, now=NOW + timedelta(hours=2))

    assert again is not None
    assert (again.pk, again.token, again.attempts) == (lost.pk, lost.token + 1, 2)
    assert audits.report(lost, FOUND, now=NOW + timedelta(hours=2)) == Receipt.REFUSED


# ---- what people make of it


def a_case(**changed: object) -> Audit:
    """The first audit, finished; it differs unless told otherwise."""
    sampling.draw(now=NOW)
    match = audit_held()
    audits.report(match, dataclasses.replace(FOUND, **changed), now=NOW)
    return Audit.objects.get(work=match)


def test_a_case_is_open_until_somebody_says_what_came_of_it(cup, client) -> None:
    case = a_case()
    match = f"/api/v1/matches/{case.match.public_id}"
    assert [row.pk for row in cases.open_cases()] == [case.pk]
    page = client.get(f"/m/{case.match.public_id}/", headers={"accept-language": "en"}).content.decode()
    assert "Not reviewed yet." in page

    cases.close(case, actor="eva", conclusion="honest", why="It searches for a fixed time.", now=later(60))
    assert not cases.open_cases().exists()

    event = LeagueEvent.objects.get(kind="audit.closed")
    assert (event.subject, event.actor, event.at) == (f"match:{case.match.public_id}", "eva", later(60))
    assert event.data == {"audit": case.work.public_id, "conclusion": "honest", "why": "It searches for a fixed time."}
    page = client.get(f"/m/{case.match.public_id}/", headers={"accept-language": "en"}).content.decode()
    assert "Reviewed by eva: harmless difference. It searches for a fixed time." in page
    (audit,) = client.get(match).json()["audits"]
    assert (audit["id"], audit["verdict"], audit["conclusion"], audit["closed_by"]) == (
        case.work.public_id,
        "differs",
        "honest",
        "eva",
    )


def test_who_looks_again_may_come_to_another_conclusion(cup) -> None:
    case = a_case()
    conclusions = [("bent", "eva"), ("bent", "tom"), ("honest", "tom")]
    assert [
        cases.close(case, actor=actor, conclusion=word, why="Its pauses.", now=NOW) for word, actor in conclusions
    ] == [
        True,
        False,
        True,
    ]

    case.refresh_from_db()
    assert (case.conclusion, case.closed_by) == ("honest", "tom")
    events = LeagueEvent.objects.filter(kind="audit.closed").order_by("id")
    assert [(event.data["conclusion"], event.actor) for event in events] == [("bent", "eva"), ("honest", "tom")]


def test_what_does_not_differ_is_no_case(cup) -> None:
    row = a_case(verdict=runner.SAME, first=None)

    with pytest.raises(Refused, match="no case"):
        cases.close(row, actor="eva", conclusion="honest", why="x", now=NOW)
    assert not cases.open_cases().exists()


LEFT = runner.AuditResult(
    runner.FAILED,
    0,
    first=runner.Difference(1, -1, 0, [], "ready", ["(crash)", "(crash)"]),
    fault="crash",
    detail="ended with status 3",
)


def test_a_bot_that_fails_in_an_audit_is_a_case_that_is_counted_and_shown(cup, client) -> None:
    case = a_case(**{field.name: getattr(LEFT, field.name) for field in dataclasses.fields(LEFT)})

    assert [row.pk for row in cases.open_cases()] == [case.pk]
    assert results.summaries([case.version])[case.version_id] == results.Summary(failed=1)
    page = client.get(f"/m/{case.match.public_id}/", headers={"accept-language": "en"}).content.decode()
    assert "failed when repeated" in page
    assert "(crash)" in page
    assert "Not reviewed yet." in page
    assert "ended with status 3" not in page, "only the owner reads what it wrote"
    (audit,) = client.get(f"/api/v1/matches/{case.match.public_id}").json()["audits"]
    assert (audit["verdict"], audit["first"]["runs"]) == ("failed", ["(crash)", "(crash)"])
    assert cases.close(case, actor="eva", conclusion="honest", why="A slow machine.", now=later(60))
    assert not cases.open_cases().exists()


def test_an_audit_that_breaks_off_at_its_bot_twice_is_a_failure_of_the_bot(cup, tmp_path) -> None:
    """Otherwise a bot that does not stop or die would leave its audits without a result."""
    sampling.draw(now=NOW)
    handler = audits.AuditHandler()
    for at in (NOW, later(3600)):
        job = MatchLease(audit_held(now=at))
        job.task = audits.AuditTask(
            Audit.objects.get(work=job.match), [], BotSpec("rufo", tmp_path, "python", "bot.py")
        )
        error = BrokenOff("it does not die")
        error.party = job.task.row.seat
        handler.fail(job, error, now=at)
        Match.work.exclude(pk=job.match.pk).filter(kind="audit").delete()

    row = Audit.objects.get()
    assert (row.verdict, row.fault) == (AuditVerdict.FAILED, "unplayable")
    assert "it does not die" in row.fault_detail
    assert row.work.status == MatchStatus.FINISHED


# ---- what was shown


def test_the_mark_is_earned_by_who_declares_and_always_answers_the_same(cup) -> None:
    sampling.draw(now=NOW)
    rufo, lola = (BotVersion.objects.get(bot__slug=name) for name in ("rufo", "lola"))
    BotVersion.objects.filter(pk=rufo.pk).update(deterministic=True)
    Audit.objects.update(verdict="same", decisions=9, finished=NOW)

    def summaries() -> tuple[results.Summary, results.Summary]:
        with CaptureQueriesContext(connection) as queries:
            by_version = results.summaries(list(BotVersion.objects.filter(pk__in=[rufo.pk, lola.pk])))
        assert len(queries) == 2
        return by_version[rufo.pk], by_version[lola.pk]

    assert summaries() == (results.Summary(same=4, reproducible=True), results.Summary(same=4))
    Audit.objects.filter(version=rufo, sitting=0, seat=0).update(verdict="differs")
    assert summaries()[0] == results.Summary(same=3, differs=1)
    Audit.objects.filter(version=rufo).update(decisions=0)
    assert summaries()[0] == results.Summary()
    assert summaries()[0].total == 0


# ---- by a real worker


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_audits_what_it_has_played_in_idle_time(worker: WorkerLoop, ana, settings) -> None:
    settings.AUDIT_PERCENT = 100
    versions = [version for version, _ in house.enter(now=NOW)]
    Match.objects.all().delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    own_version = accepted(ana, "mine")
    greedy = next(version for version in versions if version.bot.slug == "greedy")
    cup = started(ana, [own_version, greedy], boards=1)
    claim = leases.claim(worker.name)
    assert claim is not None
    worker.run(MatchLease(claim))
    assert sampling.draw() == 8
    started(ana, [own_version, greedy], boards=1, name="More")
    Match.work.filter(kind="audit").update(created=clock.present() - leases.AUDITS_WAIT)
    for _ in range(2):  # The second time it is the turn of the match
        assert worker.look()
        assert Match.work.filter(kind="audit", status=MatchStatus.FINISHED).count() == 1
    assert not Match.objects.filter(status=MatchStatus.QUEUED).exists()

    while (work := leases.claim(worker.name)) is not None:
        assert worker.run(MatchLease(work)) == Receipt.STORED

    assert set(Audit.objects.values_list("verdict", flat=True)) == {AuditVerdict.SAME}
    assert Match.work.filter(kind="audit", status=MatchStatus.FINISHED).count() == 8
    match = cup.matches.get()
    assert [audit.decisions > 0 for audit in results.of_match(match)] == [True] * 8
    assert results.summaries([greedy])[greedy.pk] == results.Summary(same=4, reproducible=True)
    assert results.summaries([own_version])[own_version.pk] == results.Summary(same=4)


def test_a_match_is_drawn_from_when_it_is_finished(ana, berto, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call looks at one match here: those that were drawn from before take no room."""
    monkeypatch.setattr(sampling, "MOST", 1)
    settings.AUDIT_PERCENT = 100
    make_cup(ana, berto)
    started(ana, [accepted(ana, "nena"), accepted(berto, "sol")], name="Later")
    late = Match.objects.get(status="queued")

    assert sampling.draw(now=NOW) == 8
    late.refresh_from_db()
    assert late.drawn is None

    play(late, now=later(1))
    assert sampling.draw(now=later(2)) == 8
    late.refresh_from_db()
    assert late.drawn == later(2)
    assert sampling.draw(now=later(3)) == 0
