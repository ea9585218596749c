"""Judgements: who may ask, who does the work and when, and that a result is stored once and says what the engine says."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from operator import attrgetter
from pathlib import Path

import pytest

from engine.analysis import JUDGE, with_open_cards
from engine.judging import Child
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers import analysis, requests
from league.domain.jobs.handlers.base import Signals
from league.domain.jobs.worker import WorkerLoop
from league.domain.judgements import asking, bodies, reading
from league.domain.matches import embargoes, matches, replays
from league.domain.upkeep import reconcile, retention
from league.enums import JudgementKind, JudgementStatus, MatchKind, MatchStatus
from league.models import Job, Judgement, LeagueEvent, Match, MatchLog, Sitting
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, later, play, started, uploaded

OPEN, FAIR = JudgementKind.OPEN, JudgementKind.FAIR
FEW = 300  # nodes: endings of two tricks, in no time


@pytest.fixture(autouse=True)
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "USUAL_NODES", FEW)
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=FEW))


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, of one board in two sittings."""
    return rows.once(make_match, ana, berto)


def make_match(ana, berto) -> Match:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1)
    return play(cup.matches.get())


def asked(match: Match, player, kind: str = OPEN) -> Judgement:
    return asking.ask(match, kind, player, now=NOW)[0]


def carried_out(now=NOW, stop=lambda: False) -> Judgement:
    job = jobs.ANALYSIS.claim("host:1", now=now)
    assert job is not None
    jobs.run(job, stop=stop, now=now)
    job.subject.refresh_from_db()
    return job.subject


def test_what_is_there_is_asked_for_once_and_costs_nobody_else(match, ana, berto, settings) -> None:
    settings.QUOTA_JUDGEMENTS = 1
    row, created = asking.ask(match, OPEN, ana, now=NOW)

    assert created
    assert asking.ask(match, OPEN, ana, now=NOW) == (row, False)
    assert asking.ask(match, OPEN, berto, now=NOW) == (row, False)
    with pytest.raises(TooMany, match="the limit is 1"):
        asking.ask(match, FAIR, ana, now=NOW)
    fair, created = asking.ask(match, FAIR, berto, now=NOW)
    assert (created, fair.samples, row.samples, row.judge) == (True, settings.JUDGE_DEALS, 0, JUDGE)
    assert [event.data["how"] for event in LeagueEvent.objects.filter(kind="judgement.asked")] == ["open", "fair"]


def test_cards_that_nobody_may_see_are_not_judged(match, ana, berto) -> None:
    """Neither asked for, nor carried out, nor read."""
    waits = started(ana, [accepted(ana, "nena"), accepted(berto, "sola")], name="Next").matches.get()
    with pytest.raises(Refused, match="see its replays when it has finished"):
        asking.ask(waits, OPEN, ana, now=NOW)
    Match.objects.filter(pk=waits.pk).update(status=MatchStatus.CANCELLED)

    row = asked(match, ana)
    far = NOW + timedelta(days=36_500)  # pages go by the clock of the machine
    embargoes.change(match, far, why="a final", actor="eva", now=NOW)
    match.refresh_from_db()
    with pytest.raises(Refused, match="hidden until"):
        asking.ask(match, FAIR, ana, now=NOW)
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None
    assert asking.of_match(match) == {}
    assert asking.find(match, OPEN) is None

    embargoes.change(match, None, why="over", actor="eva", now=NOW)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)  # it was claimed before
    embargoes.change(match, far, why="a final", actor="eva", now=NOW)
    assert job is not None
    assert not jobs.run(job, now=NOW)
    row.refresh_from_db()
    assert (row.status, row.cpu_s) == (JudgementStatus.ASKED, 0)

    embargoes.change(match, None, why="over", actor="eva", now=NOW)
    match.refresh_from_db()
    assert asking.of_match(match).keys() == {OPEN}
    matches.void(match, why="odd", actor="eva", now=NOW)
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None
    jobs.ANALYSIS.expire(now=NOW)
    assert not Judgement.objects.exists()


@pytest.mark.slow
def test_a_judgement_says_what_the_engine_says(match, ana) -> None:
    asked(match, ana)
    row = carried_out()

    assert (row.status, row.progress, row.reason, row.limited, row.finished) == (
        JudgementStatus.DONE,
        100,
        "",
        False,
        NOW,
    )
    body = bodies.unpack(bytes(row.body))
    sittings = Sitting.objects.filter(board__match=match).select_related("board__match")
    assert body.sittings.keys() == {(sitting.board.number, sitting.number) for sitting in sittings}
    assert (body.unit, body.nodes) == ("points", FEW)
    for sitting in sittings:
        record = replays.unpack(sitting)
        expected = [verdict for deal in with_open_cards(record, FEW) for verdict in deal]
        verdicts = body.sittings[sitting.board.number, sitting.number]
        fields = attrgetter("step", "seat", "phase", "action", "lost", "best", "par", "worth")
        assert [fields(verdict) for verdict in verdicts] == [fields(verdict) for verdict in expected]
        for verdict in verdicts:  # the moment that follows is the one of this action
            assert record["events"][verdict.at]["seat"] == verdict.seat
    assert 0 < row.judged < row.decisions == sum(map(len, body.sittings.values()))
    assert row.cpu_s > 0
    assert len(row.body) < 40 * row.decisions

    rows = reading.placed(body, reading.seatings(row))
    sums = reading.tallies(rows, 2)
    assert sum(phases["all"].judged for phases in sums) == row.judged
    assert sums[0]["all"].decisions == sum(sums[0][phase].decisions for phase in sums[0] if phase != "all")
    worst = reading.costliest(rows, "points", 3)
    assert [judged.verdict.lost for judged in worst] == sorted((judged.verdict.lost for judged in worst), reverse=True)
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None
    assert asked(match, ana).pk == row.pk


def test_a_match_that_waits_goes_first(match, ana) -> None:
    row = asked(match, ana)
    uploaded(ana, "nena", now=NOW)
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None

    Match.objects.filter(status=MatchStatus.QUEUED).update(held_back=True)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    row.refresh_from_db()
    assert (row.status, job.row.token, job.row.attempts) == (JudgementStatus.WORKING, 1, 1)
    assert jobs.ANALYSIS.claim("host:2", now=NOW) is None, "one worker has it"


@pytest.mark.slow
def test_what_was_judged_is_kept_when_it_makes_way(match, ana) -> None:
    asked(match, ana)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    # it is asked at each sitting whether to stop, and while one is judged
    assert not jobs.run(job, stop=lambda: job.progress > 0, now=NOW)

    row, waits = Judgement.objects.get(), Job.objects.get()
    first = bodies.unpack(bytes(row.body)).sittings
    assert (row.status, row.progress, len(first)) == (JudgementStatus.ASKED, 50, 1)
    assert (waits.state, waits.attempts, waits.worker) == ("queued", 0, "")
    spent = row.cpu_s
    assert spent > 0

    row = carried_out(now=later(60))
    whole = bodies.unpack(bytes(row.body)).sittings
    assert (row.status, len(whole), row.cpu_s > spent) == (JudgementStatus.DONE, 2, True)
    assert {place: whole[place] for place in first} == first


@pytest.mark.slow
def test_after_a_minute_no_further_sitting_is_begun(match, ana) -> None:
    asked(match, ana)
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    site, signals = jobs.WorkerSite("host:1", Path(), None), Signals(lambda: False)
    late, fresh = (jobs.ANALYSIS.read(job, site) for _ in range(2))
    late.began -= analysis.SLICE_S + 1

    assert jobs.ANALYSIS.run(job, late, site, signals) is None
    assert jobs.ANALYSIS.run(job, fresh, site, signals) is True

    assert (len(late.body.sittings), len(fresh.body.sittings)) == (0, 2)
    assert fresh.cpu_s > 0


@pytest.mark.slow
def test_its_time_is_bounded(match, ana, settings, monkeypatch) -> None:
    settings.JUDGE_CPU_S = 1
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=10**9))
    asked(match, ana, FAIR)
    row = carried_out()

    assert (row.status, row.limited) == (JudgementStatus.DONE, True)
    assert 0.5 < row.cpu_s < 10
    assert row.decisions > row.judged


@pytest.mark.slow
def test_what_breaks_the_judge_is_tried_twice_and_no_more(match, ana, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, memory=1 << 20))
    asked(match, ana)

    row = carried_out()
    assert row.status == JudgementStatus.ASKED
    assert "the analysis process ended with" in row.reason
    assert jobs.ANALYSIS.claim("host:1", now=later(1)) is None, "it waits a little"
    row = carried_out(now=later(2))
    assert (row.status, row.finished, Job.objects.count()) == (JudgementStatus.FAILED, later(2), 0)
    assert jobs.ANALYSIS.claim("host:1", now=later(60)) is None
    assert asking.ask(match, OPEN, ana, now=later(2)) == (row, False), "nobody asks for it again and again"
    jobs.ANALYSIS.expire(now=NOW + timedelta(days=31))
    assert asking.ask(match, OPEN, ana, now=later(2))[1]


def test_a_log_that_cannot_be_read_fails_at_once(match, ana) -> None:
    asked(match, ana)
    MatchLog.objects.filter(match=match).update(data=b"rubbish")
    row = carried_out()
    assert row.status == JudgementStatus.FAILED
    assert "damaged" in row.reason


def test_a_log_that_was_let_go_at_the_very_moment_fails_at_once(match, ana) -> None:
    """Nobody removes a row that was asked for while the log went, and it would be the first in line for ever."""
    asked(match, ana)
    MatchLog.objects.filter(match=match).update(data=b"", let_go=NOW)
    row = carried_out()
    assert (row.status, row.finished) == (JudgementStatus.FAILED, NOW)
    assert "no longer stored" in row.reason


def test_a_worker_that_is_lost_costs_nothing(match, ana) -> None:
    row = asked(match, ana)
    lost = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert lost is not None
    lost.beat(now=later(10))
    assert jobs.ANALYSIS.expire(now=later(35)) == 0
    assert jobs.ANALYSIS.expire(now=later(50)) == 1
    row.refresh_from_db()
    assert (row.status, row.reason) == (JudgementStatus.ASKED, "worker host:1 was lost")
    assert Job.objects.get().attempts == 1

    second = jobs.ANALYSIS.claim("host:2", now=later(60))
    assert second is not None
    lost.beat(now=later(61))
    assert lost.lost
    assert not jobs.run(lost, now=later(62))
    row.refresh_from_db()
    assert (row.status, bytes(row.body)) == (JudgementStatus.WORKING, b"")
    assert Job.objects.values_list("worker", "token").get() == ("host:2", 2)
    assert reconcile.reconcile(now=later(200)).unjudged == 1
    row.refresh_from_db()
    assert (row.status, row.reason) == (JudgementStatus.FAILED, "worker host:2 was lost")


def test_askers_take_turns(ana, berto) -> None:
    cup = started(ana, [accepted(ana, name) for name in ("rufo", "lola", "nena")], boards=1)
    played = [play(match) for match in cup.matches.order_by("id")]
    for match in played:
        asked(match, ana)
    asked(played[0], berto, FAIR)

    order = [jobs.ANALYSIS.claim("host:1", now=NOW) for _ in range(4)]
    assert [(job.row.owner.name, job.subject.match_id) for job in order] == [
        ("ana", played[0].pk),
        ("berto", played[0].pk),
        ("ana", played[1].pk),
        ("ana", played[2].pk),
    ]


def test_it_goes_with_the_replays_of_its_match(match, ana) -> None:
    asked(match, ana)
    Match.objects.filter(pk=match.pk).update(drawn=NOW)
    MatchLog.objects.filter(match=match).update(until=NOW)
    assert retention.remove_expired(now=later(1)) == 1
    assert not Judgement.objects.exists()
    match.refresh_from_db()
    with pytest.raises(Refused, match="no longer stored"):
        asked(match, ana)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_worker_with_nothing_else_to_do_carries_it_out(match, ana, tmp_path: Path) -> None:
    """A worker that is stopping leaves it alone."""
    row = asked(match, ana)
    stopped, here = WorkerLoop(tmp_path), WorkerLoop(tmp_path)
    stopped.stopping.set()

    assert not stopped.look()
    assert here.look()

    row.refresh_from_db()
    assert (row.status, Job.objects.count()) == (JudgementStatus.DONE, 0)
    moves = LeagueEvent.objects.filter(kind="judgement.moved").order_by("id")
    assert {event.actor for event in moves} == {here.name}
    assert not here.look()


@pytest.mark.slow
@pytest.mark.django_db
def test_ladders_which_never_end_keep_nobody_waiting_for_ever(match, ana, berto, tmp_path: Path) -> None:
    """But a worker judges before them for half of its time at most, and before other matches never."""
    rows = [asked(match, ana), asked(match, berto, FAIR)]
    started(ana, [accepted(ana, "nena"), accepted(berto, "sola")], name="Next", boards=1)
    waits = Match.objects.filter(status=MatchStatus.QUEUED)

    assert not jobs.ANALYSIS.is_overdue(now=later(10**6)), "a tournament goes first"
    waits.update(kind=MatchKind.LADDER, tournament=None)
    assert not jobs.ANALYSIS.is_overdue(now=NOW + requests.PATIENCE - timedelta(seconds=1))
    assert jobs.ANALYSIS.is_overdue(now=NOW + requests.PATIENCE)
    assert jobs.ANALYSIS.claim("host:1", now=later(10**6)) is None

    here = WorkerLoop(tmp_path)
    assert here.look()
    assert [row.status for row in Judgement.objects.order_by("pk")] == [JudgementStatus.DONE, JudgementStatus.ASKED]
    assert waits.get().attempts == 0
    here.look()  # it has no sandbox, so what it claims now fails
    assert Match.objects.get(kind=MatchKind.LADDER).attempts == 1
    assert Judgement.objects.get(pk=rows[1].pk).status == JudgementStatus.ASKED
