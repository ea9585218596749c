"""Puzzles of the league's own matches: by whom and when they are looked for, which matches count, and what is shown no longer."""

from __future__ import annotations

import io
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engine.judging import Broken, Child
from engine.puzzles import read
from league.domain.core import clock
from league.domain.jobs.handlers import background, puzzles
from league.domain.jobs.worker import WorkerLoop
from league.domain.judgements import asking, summing
from league.domain.matches import embargoes, matches, sight
from league.domain.puzzles import shelf
from league.enums import JudgementStatus, MatchKind
from league.models import FoundPuzzle, Job, Judgement, LeagueEvent, Match, PuzzleSearch, Tournament
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, later, play, started


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deals and shallow ones, with margins that such deals can prove."""
    monkeypatch.setattr(puzzles, "DEALS", 4)
    monkeypatch.setattr(puzzles, "Child", partial(Child, nodes=2000, margin=3))


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, judged fairly, and counted."""
    match = rows.once(make_match, ana, berto)
    assert summing.count_new(now=NOW) == 1
    return match


def make_match(ana, berto) -> Match:
    versions = [accepted(who, name, games=["two_player"]) for who, name in ((ana, "rufo"), (berto, "lola"))]
    match = play(started(ana, versions, game="two_player", boards=1).matches.get())
    row, _created = asking.ask(match, "fair", ana, now=NOW)
    Judgement.objects.filter(pk=row.pk).update(status=JudgementStatus.DONE, finished=NOW)
    Job.objects.all().delete()
    return match


def look(now=NOW, stop=lambda: False) -> int | None:
    """Let a worker search the next match; return the number of puzzles it made, or None where no match waits."""
    job = jobs.PUZZLES.claim("host:1", now=now)
    if job is None:
        return None
    before = job.subject.made
    jobs.run(job, stop=stop, now=now)
    return job.subject.made - before


def mine(match: Match) -> list[str]:
    return [puzzle.id for puzzle in shelf.shelf().by_id.values() if puzzle.source["match"] == match.public_id]


@pytest.mark.slow
@pytest.mark.django_db  # a worker goes by the clock of the machine
def test_a_worker_with_nothing_else_to_do_makes_puzzles_that_everybody_is_shown(
    match, settings, tmp_path: Path
) -> None:
    shipped = len(shelf.shelf().by_id)
    worker = WorkerLoop(tmp_path)

    assert worker.look()
    assert not worker.look()

    row = PuzzleSearch.objects.get()
    assert (row.finished is not None, Job.objects.count()) == (True, 0)
    assert 0 < row.made <= puzzles.PER_MATCH
    names = mine(match)
    assert (len(names), len(shelf.shelf().by_id)) == (row.made, shipped + row.made)
    events = LeagueEvent.objects.filter(kind="puzzle.found")
    assert sorted(name for event in events for name in event.data["puzzles"]) == sorted(names)
    assert {(event.subject, event.actor) for event in events} == {(f"match:{match.public_id}", worker.name)}
    puzzle = shelf.shelf().by_id[names[0]]
    assert (puzzle.game, puzzle.deals, puzzle.source["board"]) == ("two_player", 4, 1)
    assert puzzle.margin - 2.58 * puzzle.error >= 3
    page = Client(headers={"accept-language": "en"})
    assert page.get(f"/puzzles/{puzzle.id}/").status_code == 200
    answer = page.post(f"/puzzles/{puzzle.id}/", {"do": puzzle.best[0]}).content.decode()
    assert f'href="/m/{match.public_id}/' in answer
    lines = b"".join(page.get("/puzzles.jsonl").streaming_content).decode().splitlines()
    assert set(names) <= {read(line).id for line in lines}
    settings.PUZZLES = ""
    assert not shelf.shelf().by_id


@pytest.mark.slow
def test_it_makes_way_for_a_judgement_and_an_audit(match, ana) -> None:
    assert not background.is_work_waiting(now=NOW)
    judgement, _created = asking.ask(match, "open", ana, now=NOW)
    assert background.is_work_waiting(before_ladders=True, now=NOW)
    assert look() is None
    judgement.delete()
    waits = started(ana, list({party.version for party in match.parties.all()}), game="two_player", name="Next").matches
    audit = Match.work.filter(pk=waits.get().pk)
    audit.update(kind=MatchKind.AUDIT)
    assert look() is None
    assert not background.is_work_waiting(before_ladders=True, now=NOW)
    audit.delete()
    assert look() is not None


def test_it_waits_for_every_match_but_those_of_ladders(match, ana) -> None:
    waits = started(ana, list({party.version for party in match.parties.all()}), game="two_player", name="Next").matches
    assert look() is None
    Match.objects.filter(pk=waits.get().pk).update(kind=MatchKind.LADDER)
    assert look() is None
    assert jobs.PUZZLES.claim("host:1", before_ladders=True, now=NOW) is not None
    assert jobs.PUZZLES.claim("host:2", before_ladders=True, now=NOW) is None, "it is held"
    assert jobs.PUZZLES.expire(now=later(60)) == 1, "that one was killed"
    assert jobs.PUZZLES.claim("host:2", before_ladders=True, now=later(70)) is not None
    assert jobs.PUZZLES.expire(now=later(130)) == 1
    assert jobs.PUZZLES.claim("host:3", before_ladders=True, now=later(1000)) is None, "not for ever"
    assert PuzzleSearch.objects.get().finished == later(130)


@pytest.mark.slow
def test_who_is_interrupted_goes_on_where_it_stopped(match, monkeypatch) -> None:
    monkeypatch.setattr(puzzles, "PER_MATCH", 100)
    assert look(stop=lambda: PuzzleSearch.objects.get().done > 0) is not None
    row, waits = PuzzleSearch.objects.get(), Job.objects.get()
    assert (row.finished, row.done) == (None, 1)
    assert (waits.worker, waits.attempts, waits.not_before) == ("", 0, later(60))
    assert look() is None, "a while later"
    assert look(now=later(61)) is not None
    row = PuzzleSearch.objects.get()
    assert row.finished is not None
    assert row.made == FoundPuzzle.objects.count() > 0


def test_what_breaks_is_tried_once_more(match, monkeypatch, caplog) -> None:
    class Torn(Child):
        def find(self, *args, **kwargs):
            raise Broken("no memory")

    monkeypatch.setattr(puzzles, "Child", Torn)
    assert [look(now=later(100 * number)) for number in range(3)] == [0, 0, None]
    assert caplog.text.count("no memory") == 2


@pytest.mark.slow
def test_a_sitting_that_takes_longer_than_a_worker_looks_ends_the_search(match, monkeypatch) -> None:
    """The next one would give it as long, and so on for ever."""
    monkeypatch.setattr(puzzles, "MOST_S", 1)
    monkeypatch.setattr(puzzles, "Child", partial(Child, nodes=10**9))
    assert look() == 0
    row = PuzzleSearch.objects.get()
    assert (row.finished, row.done) == (NOW, 0)
    assert look(now=later(100)) is None


@pytest.mark.slow
def test_a_day_has_so_many_and_a_switch_ends_it(match, settings) -> None:
    settings.PUZZLES_PER_DAY = 1
    FoundPuzzle.objects.create(puzzle="0" * 12, match=match, created=NOW, line="{}")
    assert look(now=later(3600)) is None
    settings.PUZZLES_PER_DAY = 0
    assert look(now=later(25 * 3600)) is None
    with pytest.raises(CommandError, match="PUZZLES_PER_DAY is 0"):
        call_command("find_puzzles")
    settings.PUZZLES_PER_DAY = 2
    assert look(now=later(25 * 3600))


@pytest.mark.slow
def test_what_not_everybody_may_see_is_shown_no_longer(match) -> None:
    assert look()
    names = mine(match)
    embargoes.change(match, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    assert mine(match) == []
    assert Client().get(f"/puzzles/{names[0]}/").status_code == 404
    embargoes.change(match, None, why="it is over", actor="eva", now=NOW)
    assert mine(match) == names
    Tournament.objects.update(opens=NOW)
    assert mine(match) == [], "it was held back once"
    Tournament.objects.update(opens=None)
    matches.void(match, why="odd", actor="eva", now=NOW)
    assert mine(match) == []


@pytest.mark.parametrize("why", ["private", "held back once", "held back now", "struck out"])
def test_a_match_that_was_ever_held_back_or_counts_for_nothing_makes_none(match, why: str) -> None:
    if why == "struck out":
        matches.void(match, why="odd", actor="eva", now=NOW)
    elif why == "held back now":
        embargoes.change(match, NOW.replace(year=2126), why="a final", actor="eva", now=NOW)
    else:
        Tournament.objects.update(opens=sight.NEVER if why == "private" else NOW)
    assert look() == 0
    assert PuzzleSearch.objects.get().finished == NOW
    assert not FoundPuzzle.objects.exists()


@pytest.mark.slow
def test_by_hand_and_with_a_bound_on_what_is_kept(match, monkeypatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(clock, "present", lambda: NOW)
    call_command("find_puzzles", "--seconds", "0", stdout=out)
    assert out.getvalue().strip() == "0 new puzzles in 0 matches"
    call_command("find_puzzles", stdout=(out := io.StringIO()))
    count = FoundPuzzle.objects.count()
    assert out.getvalue().split() == f"match {match.public_id} {count} new puzzles in 1 matches".split()

    with CaptureQueriesContext(connection) as queries:
        assert jobs.PUZZLES.claim("host:1", now=NOW) is None
    assert len(queries) == 1
    assert puzzles.tidy() == 0
    monkeypatch.setattr(puzzles, "MOST", count - 1)
    assert puzzles.tidy() == 1
    assert len(mine(match)) == count - 1


def test_a_puzzle_counts_for_a_day(match, settings) -> None:
    settings.PUZZLES_PER_DAY = 1
    FoundPuzzle.objects.create(puzzle="0" * 12, match=match, created=NOW, line="{}")

    assert jobs.PUZZLES.claim("host:1", now=later(86_399)) is None
    by_hand = jobs.PUZZLES.claim_by_hand("host:1", now=NOW)
    assert by_hand is not None
    jobs.PUZZLES.give_back(by_hand, "enough", now=NOW)
    job = jobs.PUZZLES.claim("host:1", now=later(86_400))
    assert job is not None
    row = job.row
    assert (row.worker, row.token, row.attempts) == ("host:1", 2, 1)
    assert row.ends_by == later(86_400) + puzzles.PuzzleHandler.terms.limit
    job.beat(now=row.ends_by - timedelta(seconds=1))
    assert Job.objects.get().lease_until == row.ends_by, "a lease outlives no deadline"
    job.beat(now=row.ends_by)
    assert job.lost
