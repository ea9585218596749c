"""Tunings: the best value found by a real worker; each result counted once; out of the way of matches and of closed bots."""

from __future__ import annotations

import io
import zipfile

import pytest

from engine.runner import FaultReport
from engine.tuning import BOARDS, PairResult
from league.domain.bots import bots, sources
from league.domain.core import transitions
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers.tunings import StepResult, TuningHandler
from league.domain.jobs.worker import WorkerLoop
from league.domain.tunings import asking, steps
from league.domain.upkeep.reconcile import reconcile
from league.enums import MatchStatus, VersionStatus
from league.models import BotVersion, Job, Match, Player, Tuning, TuningStep
from tests.support.league import NOW, accepted, later, uploaded
from tests.support.tuned import BOT, TOML

pytestmark = pytest.mark.django_db


def tunable(player: Player, name: str = "rufo") -> BotVersion:
    """Upload the bot whose best value is known, and accept it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.toml", TOML)
        archive.writestr("bot.py", f"# {name} of {player.name}\n{BOT}")
    version = bots.upload(player, name, packed.getvalue(), "rufo.zip", now=NOW)
    for match in Match.objects.filter(status=MatchStatus.QUEUED):
        transitions.move(match, MatchStatus.CANCELLED, now=NOW)
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    return BotVersion.objects.select_related("bot", "package").get(pk=version.pk)


def outcome(won: int = 0, drawn: int = 0, lost: int = 0, **more) -> StepResult:
    return StepResult(PairResult(won, drawn, lost, **more), 1.0)


@pytest.mark.slow
def test_a_worker_finds_the_best_value_and_the_test_shows_it(ana, worker: WorkerLoop, monkeypatch) -> None:
    monkeypatch.setattr(asking, "LEAST", 200)
    row = asking.begin(tunable(ana), "a_dos", ana, boards=200)
    handler = TuningHandler()
    while Tuning.objects.filter(decided=None).exists():
        job = handler.claim(worker.name)
        assert job is not None
        assert worker.run(job) == "stored"
        steps.settle()
    row.refresh_from_db()
    assert (row.why, row.verdict) == ("", "stronger")
    assert 4 < row.values["care"] <= 10
    assert row.played == 200
    assert row.course[-1][0] == 200
    assert (TuningStep.objects.exists(), Job.objects.exists()) == (False, False)
    assert not Match.objects.exclude(status=MatchStatus.CANCELLED).exists(), "no match, so nothing rated"


def test_a_result_counts_once_through_a_killed_worker(ana) -> None:
    row = asking.begin(tunable(ana), "a_dos", ana, now=NOW)
    handler = TuningHandler()
    assert row.steps.count() == Job.objects.count() == steps.AHEAD
    lost = handler.claim("host:1", now=NOW)
    other = handler.claim("host:2", now=NOW)
    assert handler.report(other, outcome(won=6, lost=2), now=NOW) == "stored"
    assert (steps.settle(now=NOW), steps.settle(now=NOW)) == (1, 0)
    row.refresh_from_db()
    change = other.subject.change["care"]
    assert (row.played, row.values["care"], row.steps.count()) == (8, 1 + 4 * change, steps.AHEAD)

    reconcile(now=later(3600))
    again = handler.claim("host:3", now=later(3700))
    first, second = lost.subject, again.subject
    assert (second.pk, second.plus, bytes(second.secret)) == (first.pk, first.plus, bytes(first.secret))
    assert handler.report(lost, outcome(won=8), now=later(3701)) == "refused"
    assert handler.report(again, outcome(won=1), now=later(3702)) == "stored"
    assert handler.report(again, outcome(won=1), now=later(3703)) == "refused"
    steps.settle(now=later(3704))
    row.refresh_from_db()
    assert row.played == 9


def test_the_search_ends_in_a_test_and_the_test_in_a_verdict(ana) -> None:
    row = asking.begin(tunable(ana), "a_dos", ana, boards=asking.LEAST, now=NOW)
    handler, searched, tested = TuningHandler(), 0, 0
    while (job := handler.claim("host:1", now=NOW)) is not None:
        step = job.subject
        if step.change:
            assert not tested
            searched += 1
            lead = 1 if step.plus["care"] > step.minus["care"] else -1
            handler.report(job, outcome(won=4 + lead, lost=4 - lead), now=NOW)
        else:
            tested += 1
            assert (step.plus, step.minus) == (row.values, {"care": 1.0})
            handler.report(job, outcome(won=6, lost=2), now=NOW)
        steps.settle(now=NOW)
        row.refresh_from_db()
    assert (searched * BOARDS, row.tested, row.decided) == (asking.LEAST, NOW, NOW)
    assert row.values["care"] > 3
    assert (row.verdict, row.won, row.lost) == ("stronger", 6 * tested, 2 * tested)
    assert not TuningStep.objects.exists()


def test_who_may_tune_what_against_whom(ana, berto) -> None:
    version, closed = tunable(ana), accepted(berto, "lola", games=("a_dos",))
    plain = BotVersion.objects.select_related("bot", "package").get(pk=accepted(ana, "pepa", games=("a_dos",)).pk)
    every = BotVersion.objects.select_related("bot", "package").get(pk=version.pk)
    every.games = []  # It plays every game.
    refusals = [
        (every, "chess", ana, {}, "not accepted for chess"),
        (every, "", ana, {}, "not accepted for"),
        (version, "brisca", ana, {}, "not accepted for brisca"),
        (plain, "a_dos", ana, {}, "declares no parameters"),
        (version, "a_dos", berto, {}, "not yours"),
        *((version, "a_dos", ana, {"boards": boards}, "400 to 10000") for boards in (-1, 0, 399, 10_001)),
        *(
            (version, "a_dos", ana, {"opponent": name}, "cannot be the opponent")
            for name in ("lola", "lola/1", "nobody", "lola/x", "/", "pepa/" + "9" * 99, "pepa/²")
        ),
    ]
    for tuned, game, player, more, why in refusals:
        with pytest.raises(Refused, match=why):
            asking.begin(tuned, game, player, now=NOW, **more)
    assert not Tuning.objects.exists()
    sources.publish(closed, "MIT", actor="berto", now=NOW)
    row = asking.begin(version, "a_dos", ana, opponent="lola/1", now=NOW)
    assert row.opponent == closed
    with pytest.raises(TooMany, match="still running"):
        asking.begin(version, "a_dos", ana, now=NOW)

    BotVersion.objects.filter(pk=version.pk).update(runtime="python 3.99")
    assert TuningHandler().claim("host:1", now=NOW) is None, "this machine has another Python"
    BotVersion.objects.filter(pk=version.pk).update(runtime="python")
    job = TuningHandler().claim("host:1", now=NOW)
    assert (asking.stop(row, ana, now=later(1)), asking.stop(row, ana, now=later(1))) == (True, False)
    assert TuningHandler().report(job, outcome(won=8), now=later(2)) == "refused"
    row.refresh_from_db()
    assert (row.why, row.played, Job.objects.exists()) == ("stopped", 0, False)
    for number in range(asking.KEPT + 2):
        asking.stop(asking.begin(version, "a_dos", ana, now=later(number)), ana, now=later(number))
    assert Tuning.objects.count() == asking.KEPT


def test_a_step_that_yields_again_and_again_keeps_nobody_waiting(ana, berto) -> None:
    for player, name in ((ana, "rufo"), (berto, "lola")):
        asking.begin(tunable(player, name), "a_dos", player, now=NOW)
    handler = TuningHandler()
    for at, player in ((0, ana), (1, berto), (60, ana)):
        job = handler.claim("host:1", now=later(at))
        assert job.subject.tuning.player == player
        handler.give_back(job, "a match waits", now=later(at))


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (
            outcome(won=1, fault=FaultReport(0, 0, 1, 0, 3, "crash", "exit\0 code 1")),
            "the bot failed: crash: exit\ufffd code 1",
        ),
        (outcome(), "no board was finished within 120 s"),
    ],
)
def test_a_bot_that_cannot_be_tuned_ends_its_tuning(result: StepResult, why: str, ana) -> None:
    row = asking.begin(tunable(ana), "a_dos", ana, now=NOW)
    job = TuningHandler().claim("host:1", now=NOW)
    TuningHandler().report(job, result, now=NOW)
    steps.settle(now=NOW)
    row.refresh_from_db()
    assert (row.why, row.decided, row.values, Job.objects.exists()) == (why, NOW, {"care": 1.0}, False)


def test_what_is_rated_goes_first_and_stopped_bots_stay_where_they_are(ana, berto) -> None:
    version = tunable(ana)
    row = asking.begin(version, "a_dos", ana, now=NOW)
    upload = uploaded(berto, "lola")
    handler = TuningHandler()
    assert handler.claim("host:1", now=NOW) is None
    assert handler.claim("host:1", before_ladders=True, now=NOW) is None
    Match.objects.filter(parties__version=upload).delete()
    assert handler.claim("host:1", now=NOW) is not None
    assert handler.claim("host:1", now=NOW) is not None
    bots.stop(version.bot, why="hostile", actor="op", now=NOW)
    assert handler.claim("host:1", now=NOW) is None
    assert (steps.settle(now=NOW), steps.settle(now=NOW)) == (1, 0)
    row.refresh_from_db()
    assert (row.why, Job.objects.exists()) == ("a bot of it may not play any more", False)
    with pytest.raises(Refused, match="is stopped or retired"):
        asking.begin(version, "a_dos", ana, now=NOW)
