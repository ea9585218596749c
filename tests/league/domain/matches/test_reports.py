"""Results enter exactly once."""

from __future__ import annotations

import json

import pytest

import engine
from engine.runner import FaultReport
from league.domain.matches import leases, replays, reports
from league.domain.matches.reports import Receipt
from league.enums import MatchStatus
from league.models import Board, LeagueEvent, Match, Party, Sitting
from tests.support import rows
from tests.support.league import NOW, accepted, later, result, running, started


@pytest.fixture
def match(ana, berto) -> Match:
    return rows.once(make_match, ana, berto)


def make_match(ana, berto) -> Match:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    return running()


def test_report_stores_boards_sittings_and_parties(match: Match) -> None:
    outcome = result(match)

    assert reports.report(match, outcome, now=NOW) == Receipt.STORED

    row = Match.objects.get(pk=match.pk)
    assert (row.status, row.finished, row.progress, row.host["tier"]) == (MatchStatus.FINISHED, NOW, 100, "landlock")
    assert list(row.boards.order_by("number").values_list("number", "scores")) == [
        (b.number, b.scores) for b in outcome.boards
    ]
    stored = list(Sitting.objects.order_by("board__number", "number"))
    assert [s.seating for s in stored] == [[0, 1, 0, 1], [1, 0, 1, 0]] * 2
    for row, sitting in zip(stored, [s for b in outcome.boards for s in b.sittings], strict=True):
        replay = replays.unpack(row)
        assert replay == json.loads(json.dumps(sitting.replay))
        engine.replay.verify(replay)
    party = row_of(match, 0)
    assert party.points == sum(board.scores[0] for board in outcome.boards)
    assert party.wins + party.draws + party.losses == 2
    assert (party.stderr, party.decisions, party.fault, party.faults) == ("log of rufo v1", 40, "", [])


def row_of(match: Match, number: int) -> Party:
    return Party.objects.get(match=match, number=number)


def test_second_report_of_the_same_lease_changes_nothing(match: Match) -> None:
    reports.report(match, result(match), now=NOW)
    before = list(Board.objects.values_list()), list(Party.objects.values_list()), LeagueEvent.objects.count()

    assert reports.report(match, result(match, winner=1), now=later(1)) == Receipt.REPEATED

    assert (list(Board.objects.values_list()), list(Party.objects.values_list()), LeagueEvent.objects.count()) == before


def test_report_of_a_lost_lease_is_refused_and_kept_as_evidence(match: Match) -> None:
    late = result(match, winner=0)
    leases.expire(now=later(3600))
    other = leases.claim("w2", now=later(7200))
    leases.start(other, now=later(7200))

    assert reports.report(match, late, now=later(7201)) == Receipt.REFUSED

    assert Board.objects.count() == 0
    event = LeagueEvent.objects.get(kind="match.report_refused")
    assert (event.data["token"], event.data["expected"], event.data["scores"]) == (1, 2, [[100, 49], [100, 49]])
    assert reports.report(other, result(other), now=later(7202)) == Receipt.STORED
    assert Board.objects.count() == 2


def test_report_of_a_requeued_match_is_refused(match: Match) -> None:
    leases.expire(now=later(3600))

    assert reports.report(match, result(match), now=later(3601)) == Receipt.REFUSED
    assert Match.objects.get(pk=match.pk).status == MatchStatus.QUEUED


def test_report_after_a_late_heartbeat_still_counts(match: Match) -> None:
    """A lease that ran out but was not taken back is still the worker's."""
    assert reports.report(match, result(match), now=later(3600)) == Receipt.STORED


def test_report_that_is_not_complete_is_a_bug_and_stores_nothing(match: Match) -> None:
    short = result(match)
    short.boards.pop()

    with pytest.raises(ValueError, match="has boards 1 to 2, not"):
        reports.report(match, short, now=NOW)

    assert (Board.objects.count(), Match.objects.get(pk=match.pk).status) == (0, MatchStatus.RUNNING)


def test_report_keeps_faults_whole_for_the_owner(match: Match) -> None:
    fault = FaultReport(1, 1, 1, 0, 12, "illegal_action", "play 1o is not legal", "{}", "play 1o")

    reports.report(match, result(match, faults=[fault]), now=NOW)

    party = row_of(match, 1)
    assert (party.fault, party.fault_detail) == ("illegal_action", "play 1o is not legal")
    assert party.fault_at == {"board": 1, "sitting": 0, "step": 12}
    assert party.faults[0]["answer"] == "play 1o"
    sitting = Sitting.objects.get(board__number=1, number=0)
    assert (sitting.fault, sitting.fault_party) == ("illegal_action", 1)


@pytest.mark.parametrize(
    ("boards", "expected"),
    [
        ([[10, 5], [5, 10], [7, 7]], [(1, 1, 1), (1, 1, 1)]),
        ([[3, 2, 1]], [(2, 0, 0), (1, 0, 1), (0, 0, 2)]),
        ([[2, 2, 0], [0, 1, 1]], [(1, 1, 2), (2, 2, 0), (1, 1, 2)]),
        ([], [(0, 0, 0), (0, 0, 0)]),
    ],
)
def test_tally_counts_pair_by_pair(boards, expected) -> None:
    assert reports.tally(boards, len(expected)) == expected
