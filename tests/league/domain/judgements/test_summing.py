"""Sums of what was judged: each judgement once, and the same numbers as from all decisions together."""

from __future__ import annotations

from functools import partial

import pytest

from engine.analysis import Tally
from engine.judging import Child
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking, bodies, reading, summing
from league.domain.matches import matches, sight
from league.enums import JudgementStatus
from league.models import JudgedSum, Judgement, Match, PuzzleSearch, Tournament
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, play, started

FEW = 300


@pytest.fixture(autouse=True)
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "USUAL_NODES", FEW)
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=FEW))


@pytest.fixture
def judged(ana, berto) -> list[Match]:
    """Two matches of a board between the same bots, both judged with open cards."""
    return rows.once(make_judged, ana, berto)


def make_judged(ana, berto) -> list[Match]:
    bots = [accepted(ana, "rufo"), accepted(berto, "lola")]
    played = [play(started(ana, bots, boards=1, name=name).matches.get()) for name in ("One", "Two")]
    for match in played:
        asking.ask(match, "open", ana, now=NOW)
        job = jobs.ANALYSIS.claim("host:1", now=NOW)
        assert job is not None
        assert jobs.run(job, now=NOW)
    return played


def test_each_judgement_counts_once_and_the_sums_are_those_of_all_decisions(judged, ana, berto) -> None:
    pool = judged[0].pool
    assert summing.count_new(most=1, now=NOW) == 1
    assert summing.count_new(now=NOW) == 1
    assert summing.count_new(now=NOW) == 0

    expected = {0: Tally(), 1: Tally()}
    every = Tally()
    for number, match in enumerate(judged):
        row = Judgement.objects.get(match=match)
        for decision in reading.placed(bodies.unpack(bytes(row.body)), reading.seatings(row)):
            expected[decision.party].add(100 * number + decision.board, decision.verdict.lost)
            every.add(1000 * decision.party + 100 * number + decision.board, decision.verdict.lost)
    for party, player in enumerate((ana, berto)):
        [summary] = summing.of_bot(player.bots.get(), pool)
        line = summary.lines[0]
        assert (summary.kind, summary.version, line.phase) == ("open", 1, reading.ALL)
        for sums, tally in ((line.mine, expected[party]), (line.everybody, every)):
            assert (sums.judged, sums.boards) == (tally.judged, len(tally.boards))
            assert sums.lost == pytest.approx(tally.lost)
            assert sums.margin == pytest.approx(tally.margin)
            assert sums.right == tally.right / tally.judged
        assert sum(part.mine.judged for part in summary.lines[1:]) == line.mine.judged
    total = JudgedSum.objects.get(version=None, phase=reading.ALL)
    assert (total.decisions, total.judged) == (every.decisions, every.judged)


def test_what_was_struck_out_or_cannot_be_read_counts_for_nothing_and_holds_up_nobody(judged) -> None:
    matches.void(judged[0], why="odd", actor="eva", now=NOW)
    Judgement.objects.filter(match=judged[1]).update(body=b"x")

    assert summing.count_new(now=NOW) == 2
    assert not JudgedSum.objects.exists()
    assert not Judgement.objects.filter(status=JudgementStatus.DONE, summed=False).exists()


def test_what_is_held_back_from_somebody_is_in_no_sum(judged, ana) -> None:
    Tournament.objects.filter(matches__in=judged).update(opens=sight.NEVER)
    assert summing.count_new(now=NOW) == 2
    assert summing.of_bot(ana.bots.get(), judged[0].pool) == []


def test_a_match_that_is_judged_over_another_number_of_deals_counts_once(judged, ana, settings) -> None:
    """Its boards are the same: counted twice they would pass for independent ones."""
    first = Judgement.objects.filter(match=judged[0])
    first.update(kind="fair", samples=settings.JUDGE_DEALS)
    assert summing.count_new(now=NOW) == 2
    before = list(JudgedSum.objects.order_by("pk").values())
    settings.JUDGE_DEALS += 12
    again, created = asking.ask(judged[0], "fair", ana, now=NOW)
    assert created
    Judgement.objects.filter(pk=again.pk).update(status=JudgementStatus.DONE, body=first.first().body)

    assert summing.count_new(now=NOW) == 1
    assert list(JudgedSum.objects.order_by("pk").values()) == before
    assert PuzzleSearch.objects.count() == 1, "and it is looked through for puzzles once"
