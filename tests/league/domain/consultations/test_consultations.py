"""Consultations: who may ask, what the bot is sent and what is kept of it, and that a worker does it where nothing else waits."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as configured

import engine
from engine.runner.rebuild import exchanges
from engine.sandbox import Sandbox
from league.domain.bots import bots, packages
from league.domain.consultations import asking, reading
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers import background
from league.domain.jobs.worker import WorkerLoop
from league.domain.judgements import asking as judging
from league.domain.matches import embargoes, matches, replays
from league.domain.upkeep import reconcile, retention, waiting
from league.enums import BotState, ConsultationStatus, MatchStatus
from league.models import Bot, Consultation, Job, LeagueEvent, Match, MatchLog, Pool
from tests.support import consulting, jobs, rows
from tests.support.league import NOW, accepted, later, play, started, uploaded


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, of two boards in two sittings; greedy and random are of the house."""
    return rows.once(make_match, ana, berto)


def make_match(ana, berto) -> Match:
    consulting.enter("greedy", "random")
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=2)
    return consulting.told(play(cup.matches.get()))


def asked(match: Match, player, bot: str = "greedy", board: int = 2, sitting: int = 1, seat: int = 0) -> Consultation:
    return asking.ask(match, board, sitting, seat, bot, player, now=NOW)[0]


def test_what_is_there_is_asked_for_once_and_counts_with_judgements(match, ana, berto, settings) -> None:
    settings.QUOTA_JUDGEMENTS = 2
    row, created = asking.ask(match, 1, 0, 3, "greedy", ana, now=NOW)

    assert created
    assert asking.ask(match, 1, 0, 3, "greedy", ana, now=NOW) == (row, False)
    assert asking.ask(match, 1, 0, 3, "greedy", berto, now=NOW) == (row, False)
    judging.ask(match, "open", ana, now=NOW)
    for refused in (
        lambda: asking.ask(match, 1, 0, 3, "random", ana, now=later(60)),
        lambda: judging.ask(match, "fair", ana, now=later(60)),
    ):
        with pytest.raises(TooMany, match="the limit is 2") as error:
            refused()
        assert error.value.retry_after == 24 * 3600 - 60
    assert asking.ask(match, 1, 0, 3, "random", ana, now=NOW + timedelta(days=1))[1]
    data = LeagueEvent.objects.filter(kind="consultation.asked").order_by("id").values_list("data", flat=True)
    assert [entry["version"] for entry in data] == ["greedy v1", "random v1"]


def test_only_bots_of_the_house_that_play_the_game_are_asked_about_seats_that_are_there(match, ana) -> None:
    for bot in ("rufo", "nobody"):
        with pytest.raises(Refused, match="choose one of: greedy, random"):
            asked(match, ana, bot)
    for place in ((3, 0, 0), (1, 2, 0), (1, 0, 4), (1, 0, -1)):
        with pytest.raises(Refused, match="nobody sat at this seat"):
            asking.ask(match, *place, "greedy", ana, now=NOW)
    Bot.objects.filter(slug="greedy").update(state=BotState.RETIRED)
    with pytest.raises(Refused, match="choose one of: random"):
        asked(match, ana)
    assert not Consultation.objects.exists()


def test_cards_that_nobody_may_see_are_not_told(match, ana, berto, tmp_path) -> None:
    """Neither asked about, nor played, nor read."""
    waits = started(ana, [accepted(ana, "nena"), accepted(berto, "sola")], name="Next").matches.get()
    with pytest.raises(Refused, match="see its replays when it has finished"):
        asking.ask(waits, 1, 0, 0, "greedy", ana, now=NOW)
    Match.objects.filter(pk=waits.pk).update(status=MatchStatus.CANCELLED)

    row = asked(match, ana)
    far = NOW + timedelta(days=36_500)  # pages go by the clock of the machine
    embargoes.change(match, far, why="a final", actor="eva", now=NOW)
    match.refresh_from_db()
    with pytest.raises(Refused, match="hidden until"):
        asked(match, ana, seat=1)
    assert jobs.CONSULTATION.claim("host:1", now=NOW) is None
    assert asking.of_sitting(match, 2, 1) == []
    assert asking.find(match, 2, 1, 0, "greedy") is None

    embargoes.change(match, None, why="over", actor="eva", now=NOW)
    job = jobs.CONSULTATION.claim("host:1", now=NOW)  # it was claimed before
    embargoes.change(match, far, why="a final", actor="eva", now=NOW)
    assert job is not None
    box = Sandbox("none", configured.STATE_DIR / "sandbox")
    assert not jobs.run(job, box=box, folder=tmp_path, now=NOW)
    row.refresh_from_db()
    assert (row.status, row.answers) == (ConsultationStatus.ASKED, [])

    embargoes.change(match, None, why="over", actor="eva", now=NOW)
    match.refresh_from_db()
    assert asking.of_sitting(match, 2, 1) == [row]
    matches.void(match, why="odd", actor="eva", now=NOW)
    assert jobs.CONSULTATION.claim("host:1", now=NOW) is None
    reconcile.reconcile(now=NOW)
    assert not Consultation.objects.exists()


def test_a_bot_answers_every_decision_of_the_seat_as_it_does_when_it_sits_there(match, ana, tmp_path) -> None:
    row = asked(match, ana)
    assert consulting.carry_out(tmp_path)
    row.refresh_from_db()

    assert (row.status, row.progress, row.reason, row.limited, row.finished) == ("done", 100, "", False, NOW)
    assert row.cpu_s > 0
    record = replays.unpack(consulting.sitting(match, row))
    expected = [
        exchange for exchange in exchanges([record]) if exchange.seat == 0 and exchange.step >= 0 and exchange.answer
    ]
    answers = reading.answers(row)
    assert [(answer.step, answer.action) for answer in answers] == [
        (exchange.step, exchange.answer) for exchange in expected
    ]
    assert all(
        answer.would in json.loads(exchange.request)["legal"]
        for answer, exchange in zip(answers, expected, strict=True)
    )
    assert {answer.differs for answer in answers} == {True, False}, "the record was played at random"
    state = engine.replay.begin(record)
    for answer in answers:  # the moment that follows is the one of this action
        at = [event["e"] for event in record["events"]].index("deal") + answer.ply
        assert record["events"][at]["seat"] == 0
        assert answer.deal == state.deal_no

    # The same bot once more answers the same, whatever stood in the row: it is sent what was sent, not what it answered
    first = row.answers
    again = {"status": "asked", "answers": [], "finished": None}
    Consultation.objects.filter(pk=row.pk).update(**again)
    judging.enqueue(row, now=NOW)
    assert consulting.carry_out(tmp_path)
    row.refresh_from_db()
    assert row.answers == first
    assert asked(match, ana).pk == row.pk
    assert asking.find(match, 2, 1, 0, "greedy") == row


def test_a_match_that_waits_goes_first_and_takes_it_from_a_worker(match, ana, tmp_path) -> None:
    row = asked(match, ana)
    uploaded(ana, "nena", now=NOW)
    assert jobs.CONSULTATION.claim("host:1", now=NOW) is None
    Match.objects.filter(status=MatchStatus.QUEUED).update(held_back=True)
    assert background.is_work_waiting(now=NOW), "puzzles come after it"

    asked_so_far = []

    def stop() -> bool:
        asked_so_far.append(1)
        return len(asked_so_far) > 3

    assert not consulting.carry_out(tmp_path, stop=stop)
    row.refresh_from_db()
    assert (row.status, row.answers) == (ConsultationStatus.ASKED, [])
    assert Job.objects.values_list("state", "attempts", "worker").get() == ("queued", 0, "")
    assert consulting.carry_out(tmp_path)


def test_a_bot_that_an_operator_holds_back_is_not_begun(match, ana) -> None:
    """Nor does it keep anything else waiting, or the status page worried."""
    bot = asked(match, ana).version.bot
    bots.stop(bot, why="odd", actor="eva", now=NOW)
    assert jobs.CONSULTATION.claim("host:1", now=NOW) is None
    assert not background.is_work_waiting(now=NOW)
    assert waiting.waiting_jobs(now=NOW) == []
    asked(match, ana, "random")
    assert [row.count for row in waiting.waiting_jobs(now=NOW)] == [1]
    job = jobs.CONSULTATION.claim("host:1", now=NOW)
    assert job is not None
    assert job.subject.version.bot.slug == "random"
    bots.release(bot, why="it is well", actor="eva", now=NOW)
    assert jobs.CONSULTATION.claim("host:1", now=NOW) is not None


@pytest.mark.slow
def test_a_bot_that_fails_is_tried_twice_and_no_more(match, ana, tmp_path) -> None:
    broken = accepted(ana, "broken")
    Bot.objects.filter(pk=broken.bot_id).update(is_house=True)
    # Its text is valid and ends at once
    content = packages.inspect(b"raise SystemExit('no more')\n", "broken.py", ["partnership"])
    broken.package = packages.store(content)
    broken.save()
    row = asked(match, ana, "broken")

    assert not consulting.carry_out(tmp_path)
    row.refresh_from_db()
    assert (row.status, Job.objects.get().attempts) == (ConsultationStatus.ASKED, 1)
    assert "the bot failed: crash" in row.reason
    assert not consulting.carry_out(tmp_path, now=later(2))
    row.refresh_from_db()
    assert (row.status, row.finished, Job.objects.count()) == (ConsultationStatus.FAILED, later(2), 0)
    assert jobs.CONSULTATION.claim("host:1", now=later(60)) is None
    assert asking.ask(match, 2, 1, 0, "broken", ana, now=later(2)) == (row, False), "nobody asks again and again"
    jobs.CONSULTATION.expire(now=NOW + timedelta(days=31))
    assert asking.ask(match, 2, 1, 0, "broken", ana, now=later(2))[1]


def test_a_log_that_cannot_be_read_fails_at_once(match, ana, tmp_path) -> None:
    row = asked(match, ana)
    MatchLog.objects.filter(match=match).update(data=b"rubbish")
    assert not consulting.carry_out(tmp_path)
    row.refresh_from_db()
    assert row.status == ConsultationStatus.FAILED
    assert "damaged" in row.reason


def test_what_can_never_be_played_fails_and_holds_up_nobody(match, ana, tmp_path) -> None:
    """The rules of its match have changed since the question, or its log was removed just now."""
    first, second = asked(match, ana), asked(match, ana, seat=1)
    pool = Pool.objects.filter(pk=match.pool_id)
    pool.update(revision=match.pool.revision + 1)
    assert not consulting.carry_out(tmp_path)
    pool.update(revision=match.pool.revision)
    assert consulting.carry_out(tmp_path), "the next one has its turn"

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, first.finished, second.status) == (ConsultationStatus.FAILED, NOW, ConsultationStatus.DONE)
    assert "by other rules" in first.reason

    third = asked(match, ana, seat=2)
    MatchLog.objects.filter(match=match).update(data=b"", let_go=NOW)
    assert not consulting.carry_out(tmp_path)
    third.refresh_from_db()
    assert third.status == ConsultationStatus.FAILED
    assert "no longer stored" in third.reason
    assert not background.is_work_waiting(now=NOW)


def test_it_goes_with_the_replays_of_its_match(match, ana) -> None:
    asked(match, ana)
    Match.objects.filter(pk=match.pk).update(drawn=NOW)
    MatchLog.objects.filter(match=match).update(until=NOW)
    assert retention.remove_expired(now=later(1)) == 1
    assert not Consultation.objects.exists()
    match.refresh_from_db()
    with pytest.raises(Refused, match="no longer stored"):
        asked(match, ana)


@pytest.mark.django_db
def test_a_worker_with_nothing_else_to_do_carries_it_out(match, ana, tmp_path: Path) -> None:
    """A worker without a sandbox, or one that is stopping, leaves it alone."""
    row = asked(match, ana)
    assert jobs.CONSULTATION.is_overdue(now=later(10**6))
    here = WorkerLoop(tmp_path / "bots")
    assert not here.look()
    here.box = Sandbox("none", configured.STATE_DIR / "sandbox")
    here.stopping.set()
    assert not here.look()
    here.stopping.clear()
    assert here.look()

    row.refresh_from_db()
    assert (row.status, Job.objects.count()) == (ConsultationStatus.DONE, 0)
    assert not here.look()


def test_damaged_answers_are_said_to_be_so(match, ana) -> None:
    row = asked(match, ana)
    row.answers = [[1, 2]]
    with pytest.raises(Refused, match="damaged"):
        reading.answers(row)
