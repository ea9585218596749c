"""Studies: the boards of `tute lab`, each counted once through kills and stops; shared by equal rules; limits of a person."""

from __future__ import annotations

import zlib
from datetime import timedelta
from hashlib import sha256

import pytest

from engine.lab.variants import Variant
from engine.studying import BOARDS
from league.domain.bots import house
from league.domain.core import transitions
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.jobs.handlers.studies import PartResult, StudyHandler
from league.domain.jobs.worker import WorkerLoop
from league.domain.studies import asking, parts
from league.domain.upkeep.reconcile import has_work, reconcile
from league.enums import VersionStatus
from league.models import Job, Match, Player, Study, StudyPart
from tests.support.league import NOW, later, uploaded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("house_bots")]
PLAIN = {"exchange": "none"}


@pytest.fixture
def house_bots(db: None) -> None:
    """The two bots that play every game, accepted."""
    for version, _ in house.enter(["counting", "greedy"], now=NOW):
        transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    Match.objects.all().delete()


def begin(player: Player, *, options: dict[str, object] | None = None, game: str = "brisca", **more) -> Study:
    return asking.begin(Variant(game, None, options or {}).load(), player, **({"boards": 64, "now": NOW} | more))


def boards_of(part: StudyPart) -> list[dict]:
    """Return boards as a worker stores them, with invented scores."""
    facts = dict.fromkeys(("deals", "tricks", "decisions", "choices", "half", "runaway", "forty"), 1)
    facts |= dict.fromkeys(("tute_decides", "capote_decides", "song", "tute", "capote", "exchange"), 0)
    facts |= {"songs_decides": 0, "forty_decides": 0, "last_decides": 0, "exchanged": []}
    return [
        {
            "number": number,
            "complete": True,
            "scores": [number % 7, 4],
            "sittings": [
                {"seating": [n, 1 - n], "scores": [number % 7, 3], "fault": None, "facts": facts | {"lead": n}}
                for n in (0, 1)
            ],
        }
        for number in parts.numbers_of(part.study, part.first)
    ]


def do(handler: StudyHandler, job, *, now=NOW) -> str:
    """Report a job: invented boards, or the true report of those that are counted."""
    if job.subject.first == parts.REPORT:
        result = handler.run(job, (), None, None)
    else:
        result = PartResult(parts.pack(boards_of(job.subject)), 2.0, 1.0)
    return handler.report(job, result, now=now)


def play_all(now=NOW) -> int:
    """Do all jobs, and count after each. Return their number."""
    handler, count = StudyHandler(), 0
    while (job := handler.claim("host:1", now=now)) is not None:
        assert do(handler, job, now=now) == "stored"
        parts.settle(now=now)
        count += 1
    return count


@pytest.mark.slow
def test_a_worker_plays_the_boards_of_tute_lab(ana: Player, worker: WorkerLoop) -> None:
    row, handler = begin(ana, game="a_dos", better="counting"), StudyHandler()
    while Study.objects.filter(decided=None).exists():
        job = handler.claim(worker.name)
        assert job is not None
        assert worker.run(job) == "stored"
        parts.settle()
    row.refresh_from_db()
    assert (row.why, row.played, row.report["boards"], Job.objects.exists()) == ("", 64, 64, False)
    # What `tute lab a_dos --boards 64 --bot counting --against greedy` prints.
    assert row.report["digest"] == "5ff210ea88069fe9c809686f527ea424d9a58df920a499399d18271da13a190b"
    assert not Match.objects.exists(), "no match, so nothing rated"


def test_a_variant_is_played_beside_its_game_and_equal_rules_are_one_study(ana: Player, berto: Player) -> None:
    row = begin(ana, options=PLAIN)
    assert (row.parent.options, row.options, row.parts.count()) == ({}, PLAIN, 2)
    assert begin(berto, options=PLAIN) == row, "the same rules are the same study"
    assert (Study.objects.count(), row.player, asking.running(berto).exists()) == (2, ana, False)
    play_all()
    row.refresh_from_db()
    assert (row.played, row.decided, row.why, row.report["boards"]) == (64, NOW, "", 64)
    assert Study.objects.get(pk=row.parent_id).report["options"] == {}
    assert begin(berto, options=PLAIN) == row
    assert not Job.objects.exists(), "it has all boards"

    more = begin(berto, options=PLAIN, boards=96, now=later(5))
    assert (more.pk, more.player, more.boards, more.decided) == (row.pk, berto, 96, None)
    play_all(later(5))
    more.refresh_from_db()
    assert (more.played, more.report["boards"]) == (96, 96)


def test_a_part_counts_once_through_a_killed_worker_and_damage(ana: Player) -> None:
    row, handler = begin(ana), StudyHandler()
    lost, other = handler.claim("host:1", now=NOW), handler.claim("host:2", now=NOW)
    assert do(handler, other) == "stored"
    assert (parts.settle(now=NOW), parts.settle(now=NOW)) == (1, 0)
    reconcile(now=later(3600))
    again = handler.claim("host:3", now=later(3700))
    while again.subject.first != lost.subject.first:
        do(handler, again, now=later(3700))
        again = handler.claim("host:3", now=later(3700))
    assert do(handler, lost, now=later(3701)) == "refused"
    assert do(handler, again, now=later(3702)) == "stored"
    assert do(handler, again, now=later(3703)) == "refused"
    bomb = zlib.compress(b"[" + b"0," * parts.MOST_BYTES + b"0]")
    for data, digest in ((parts.pack([]), again.subject.digest), (bomb, sha256(bomb).hexdigest())):
        StudyPart.objects.filter(pk=again.subject.pk).update(data=data, digest=digest, finished=NOW)
        parts.settle(now=later(3704))
        row.refresh_from_db()
        assert row.played == 32, "what is damaged does not count"
    assert has_work(), "the scheduler looks often while parts wait"
    play_all(later(3705))
    row.refresh_from_db()
    assert (row.played, row.report["boards"], row.why) == (64, 64, "")


def test_a_stopped_study_goes_on_where_it_was(ana: Player, berto: Player) -> None:
    row, handler = begin(ana, boards=160), StudyHandler()
    assert row.parts.count() == parts.AHEAD
    jobs = [handler.claim("host:1", now=NOW) for _ in range(3)]
    for job in (jobs[0], jobs[2]):
        do(handler, job)
    parts.settle(now=NOW)
    assert (asking.may_stop(row, ana), asking.may_stop(row, berto), asking.may_stop(row, None)) == (True, False, False)
    with pytest.raises(Forbidden):
        asking.stop(row, berto, now=NOW)
    assert (asking.stop(row, ana, now=NOW), asking.stop(row, ana, now=NOW)) == (True, False)
    assert do(handler, jobs[1]) == "refused"
    before = Study.objects.get(pk=row.pk)
    row.refresh_from_db()
    assert (row.why, row.played, Job.objects.exists()) == ("stopped", 64, False)
    begin(berto, now=later(9))
    with pytest.raises(Forbidden):
        asking.stop(before, ana, now=later(9))  # Read before it went on for another player.
    play_all(later(9))
    row.refresh_from_db()
    assert (row.played, row.report["boards"], row.decided) == (96, 96, later(9)), "without a gap"


def test_only_operators_let_go_on_what_an_operator_stopped(ana: Player, berto: Player) -> None:
    ana.user.is_staff = True
    ana.user.save()
    row = begin(berto, options=PLAIN)
    for each in (row.parent, row):
        asking.stop(each, ana, now=NOW)
    with pytest.raises(Refused, match="ask an operator"):
        begin(berto, options=PLAIN, now=later(9))
    other = begin(berto, options={"exchange_trigger": "own_turn"}, now=later(9))
    assert (other.decided, other.parent.why) == (None, parts.BY_OPERATOR), "beside the usual rules, as far as they are"
    again = begin(ana, options=PLAIN, now=later(9))
    assert (again.decided, again.why, again.parent.why) == (None, "", "")


@pytest.mark.parametrize("taken_back", [True, False])
def test_the_days_in_which_a_league_was_switched_off_do_not_count(ana: Player, taken_back: bool) -> None:
    row, monday = begin(ana), later(3 * 86400)
    assert StudyHandler().claim("host:1", now=NOW) is not None
    if taken_back:
        reconcile(now=monday)
    asking.stop(row, ana, now=monday)
    row.refresh_from_db()
    assert row.spent_s == parts.PART.total_seconds(), "no attempt lasts longer"
    assert begin(ana, now=monday).decided is None


def test_the_time_of_all_attempts_counts(ana: Player, berto: Player) -> None:
    row, handler = begin(ana, boards=160), StudyHandler()
    jobs = [handler.claim(f"host:{n}", now=NOW) for n in range(4)]  # Two of them end without a word.
    handler.give_back(jobs[0], "stopped", now=later(10))
    do(handler, jobs[2], now=later(10))  # 1 s, as its worker measured.
    reconcile(now=later(600))
    parts.settle(now=later(600))
    row.refresh_from_db()
    assert row.spent_s == 1.0, "what has no result yet counts at its end"
    asking.stop(row, ana, now=later(600))
    row.refresh_from_db()
    assert row.spent_s == 1.0 + 10.0 + 600.0 + 600.0
    Study.objects.update(spent_s=parts.MOST_S + 1)
    with pytest.raises(Refused, match="24 hours"):
        begin(berto, boards=160, now=later(700))


def test_the_time_in_which_the_league_was_down_does_not_count(ana: Player) -> None:
    row, handler = begin(ana), StudyHandler()
    assert handler.claim("host:1", now=NOW) is not None
    assert handler.claim("host:1", now=NOW) is not None
    reconcile(now=later(3 * 86400))
    assert [part.seconds for part in row.parts.all()] == [1800.0] * 2
    play_all(later(3 * 86400 + 60))
    row.refresh_from_db()
    assert (row.played, row.why) == (64, "")


def test_a_running_study_gets_no_boards_from_others(ana: Player, berto: Player) -> None:
    row = begin(ana, options=PLAIN)
    assert begin(berto, boards=96).pk == row.parent_id
    row.refresh_from_db()
    assert (row.parent.player, row.parent.boards, asking.running(berto).exists()) == (ana, 64, False)
    assert (begin(ana, boards=96).boards, asking.running(ana).count()) == (96, 2)


def test_nobody_removes_what_many_boards_have_shown(ana: Player, berto: Player, monkeypatch) -> None:
    monkeypatch.setattr(asking, "KEPT", 2)
    row = begin(ana)
    play_all()
    more = begin(berto, boards=96)
    asking.stop(more, berto, now=NOW)
    for game in ("a_dos", "guinote", "gana_pierde_3"):
        asking.stop(begin(berto, game=game), berto, now=NOW)
    assert begin(berto, game="a_dos").game == "a_dos"
    assert Study.objects.filter(pk=row.pk, played=64).exists()
    assert Study.objects.count() == 3


def test_a_false_report_is_built_again(ana: Player) -> None:
    row, handler = begin(ana), StudyHandler()
    first, second = (handler.claim("host:1", now=NOW) for _ in range(2))
    do(handler, first)
    for false in ([], {}, {"boards": "x"}, {"boards": 99}):
        parts.settle(now=NOW)
        job = handler.claim("host:1", now=NOW)
        assert (job.subject.first, Study.objects.get().report) == (parts.REPORT, None), false
        handler.report(job, PartResult(parts.pack(false), 0.0, 1.0), now=NOW)
    do(handler, second)
    parts.settle(now=NOW)
    play_all()
    row.refresh_from_db()
    assert (row.played, row.report["boards"], row.why) == (64, 64, "")


@pytest.mark.parametrize("columns", [{"player": None}, {"player__banned": NOW}])
def test_studies_of_who_has_left_stop(columns: dict, ana: Player, berto: Player) -> None:
    row, other = begin(ana), begin(berto, game="guinote")
    if "player" in columns:
        Study.objects.filter(pk=row.pk).update(player=None)
    else:
        Player.objects.filter(pk=ana.pk).update(banned=NOW)
    assert (parts.settle(now=NOW), parts.settle(now=NOW)) == (1, 0)
    assert (Study.objects.get(pk=row.pk).why, Study.objects.get(pk=other.pk).why) == ("stopped", "")
    assert begin(berto).player == berto, "anybody can let it go on"


def test_limits(ana: Player, berto: Player, settings) -> None:
    for boards in (-1, 0, 63, 10_001):
        with pytest.raises(Refused, match="64 to 10000"):
            begin(ana, boards=boards)
    with pytest.raises(Refused, match="no such pair"):
        begin(ana, better="champion")
    with pytest.raises(Refused, match="may study 1000 boards"):
        begin(ana, boards=1_001, now=ana.created + timedelta(minutes=1))
    old = ana.created + timedelta(hours=settings.TALK_AFTER_HOURS)
    row = begin(ana, options=PLAIN, boards=10_000, now=old)
    assert row.boards == -(-10_000 // BOARDS) * BOARDS
    with pytest.raises(TooMany, match="still running"):
        begin(ana, game="guinote", now=old)
    assert Study.objects.count() == 2, "the refused one left nothing"
    begin(berto, game="guinote", now=old)
    Player.objects.filter(pk=berto.pk).update(banned=NOW)
    with pytest.raises(Refused, match="banned"):
        begin(berto, game="brisca", now=old)


@pytest.mark.parametrize("why", ["release", "fault", "time"])
def test_what_ends_a_study_early(why: str, ana: Player, monkeypatch) -> None:
    row, handler = begin(ana), StudyHandler()
    job = handler.claim("host:1", now=NOW)
    if why == "release":
        Study.objects.update(inputs=row.inputs | {"engine": "0.9"})
        assert handler.claim("host:1", now=NOW) is None
    elif why == "fault":
        handler.report(job, PartResult(None, 0.0, 1.0, "a bot failed: crash: exit\0 1"), now=NOW)
    else:
        monkeypatch.setattr(parts, "MOST_S", 0.5)
        do(handler, job)
    assert (parts.settle(now=NOW), parts.settle(now=NOW)) == (1, 0)
    row.refresh_from_db()
    texts = {"release": "newer release", "fault": "exit\ufffd 1", "time": "used the time"}
    assert texts[why] in row.why
    assert (row.decided, Job.objects.exists()) == (NOW, False)


def test_what_is_rated_goes_first(ana: Player, berto: Player) -> None:
    begin(ana)
    upload = uploaded(berto, "lola")
    assert StudyHandler().claim("host:1", now=NOW) is None
    assert StudyHandler().claim("host:1", before_ladders=True, now=NOW) is None
    Match.objects.filter(parties__version=upload).delete()
    assert StudyHandler().claim("host:1", now=NOW) is not None
