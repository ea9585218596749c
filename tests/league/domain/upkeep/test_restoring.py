"""Replays that the disk has damaged, lost or exchanged: found, reported, and restored if that can be proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

import engine
from engine.runner import FaultReport
from engine.runner.match import forfeited
from league.domain.consultations import asking as consultations
from league.domain.judgements import asking
from league.domain.matches import leases, logs, packing, replays, reports
from league.domain.upkeep import invariants
from league.domain.upkeep.restoring import RESTORED, restore_replays
from league.models import Consultation, Job, Judgement, LeagueEvent, Match, MatchLog, Sitting
from tests.support import consulting, rows
from tests.support.league import NOW, accepted, play, result, started
from tests.support.parts import mostly_slow


@pytest.fixture
def logged(ana, berto) -> Match:
    """A finished match of two boards in two sittings."""
    return rows.once(make_logged, ana, berto)


def make_logged(ana, berto) -> Match:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    return play(Match.objects.get(status="queued"))


def sittings() -> list[Sitting]:
    return list(Sitting.objects.select_related("board__match").order_by("board__match", "board__number", "number"))


# The faults of a match, by board and sitting: the seats reported there, and the seats that forfeited it
FAULTS = {(1, 0): ([], None), (1, 1): ([2, 1], [1, 2]), (2, 0): ([3], [3]), (2, 1): ([], [1, 2])}
PASSES = ({"boards": [1, 2], "seeds": [5]}, {"boards": [1, 2], "seeds": [6]})  # The bots' opening data in each pass


@pytest.fixture
def faulty(ana, berto) -> Match:
    return rows.once(make_faulty, ana, berto)


def make_faulty(ana, berto) -> Match:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    match = leases.claim("w1", now=NOW)
    assert match is not None
    leases.start(match, now=NOW)
    faults = [
        FaultReport(seat % 2, seat, board, sitting, 5, "crash", "exit status 3")
        for (board, sitting), (seats, _) in FAULTS.items()
        for seat in seats
    ]
    outcome = result(match)
    game = engine.load("partnership")
    for board in outcome.boards:
        for place, sitting in enumerate(board.sittings):
            sitting.replay["pass"] = PASSES[sitting.number]
            _, out = FAULTS[board.number, sitting.number]
            if out:
                own_faults = tuple(fault for fault in faults if fault.sitting == sitting.number)
                board.sittings[place] = replace(sitting, faults=own_faults, scores=forfeited(game, set(out)))
    for number, party in enumerate(outcome.parties):
        party.faults += [fault for fault in faults if fault.party == number]
    assert reports.report(match, outcome, now=NOW) == reports.Receipt.STORED
    return match


def test_what_the_referee_has_added_is_restored_from_the_rows_and_the_same_pass(faulty: Match) -> None:
    told_wrongly(faulty, faulty)

    assert len(restore_replays(actor="test", now=NOW).played) == len(FAULTS)

    for sitting in sittings():
        record = replays.unpack(sitting)
        seats, forfeited = FAULTS[sitting.board.number, sitting.number]
        assert record["faults"] == [{"step": 5, "seat": seat, "fault": "crash", "detail": ""} for seat in seats]
        assert record["notes"] == []
        assert record.get("forfeit") == (forfeited and {"seats": forfeited, "scores": sitting.scores})
        assert record.get("pass") == PASSES[sitting.number]


def test_a_wrong_action_is_never_taken_for_what_was_played(logged: Match, capsys) -> None:
    """The text of the actions may be damaged and still be legal: the scores of the row decide."""
    other_actions(logged, logged)

    with pytest.raises(CommandError, match="2 of 4 damaged replays cannot be restored; restore a backup"):
        call_command("repair", "--replays", "--dry-run")
    assert len(restore_replays(actor="test", now=NOW).lost) == 2
    call_command("repair", "--replays")
    assert "nothing to repair" in capsys.readouterr().out


def log_of(match: Match) -> bytes:
    return bytes(MatchLog.objects.get(match=match).data)


def written(match: Match, data: bytes) -> None:
    """Past the league, as a disk does."""
    MatchLog.objects.filter(match=match).update(data=data)


def swapped(match: Match, other: Match) -> None:
    first, second = log_of(match), log_of(other)
    written(match, second)
    written(other, first)


def told_wrongly(match: Match, other: Match) -> None:
    """One bit of what the referee told: of the second frame."""
    data = bytearray(log_of(match))
    data[-9] ^= 1
    written(match, bytes(data))


def played_wrongly(match: Match, other: Match) -> None:
    """One bit of what was played: of the first frame."""
    data = bytearray(log_of(match))
    data[packing.START.size + 20] ^= 1
    written(match, bytes(data))


def other_scores(match: Match, other: Match) -> None:
    """A sound log that nobody stored."""
    opened = logs.opened(Match.objects.get(pk=match.pk))
    written(match, packing.pack({place: opened.record(place) | {"scores": [9] * 4} for place in opened.places()}))


def other_actions(match: Match, other: Match) -> None:
    """Actions may be legal and still not those that were played: the scores of the rows decide."""
    opened = logs.opened(Match.objects.get(pk=match.pk))
    records = {place: opened.record(place) for place in opened.places()}
    wrong = {place: record | {"actions": records[2, 0]["actions"]} for place, record in records.items()}
    written(match, packing.pack(wrong | {(2, 0): records[2, 0], (2, 1): records[2, 1]}))


# words of the finding, status of a page, matches found, what repair does and for how many
LOGS: dict[str, tuple[Callable[[Match, Match], None], str, int, int, dict[str, int]]] = {
    "a bit of what was told": (told_wrongly, "is damaged", 500, 1, {"played": 4}),
    "a bit of what was played": (played_wrongly, "is damaged", 500, 1, {"lost": 4}),
    "cut short": (lambda match, other: written(match, log_of(match)[:-9]), "is damaged", 500, 1, {"played": 4}),
    "overwritten": (lambda match, other: written(match, bytes(1000)), "is damaged", 500, 1, {"lost": 4}),
    "another log": (other_scores, "is damaged", 500, 1, {"played": 4}),
    "other actions": (other_actions, "is damaged", 500, 1, {"played": 2, "lost": 2}),
    "empty": (lambda match, other: written(match, b""), "is no longer stored", 410, 1, {"lost": 4}),
    "exchanged": (swapped, "belongs to another", 500, 2, {"put_back": 2}),
    "copied": (lambda match, other: written(match, log_of(other)), "belongs to another", 500, 1, {"lost": 4}),
}


@pytest.mark.parametrize("way", mostly_slow(LOGS, list(LOGS)[:1].__contains__))
def test_a_log_is_found_told_and_restored_where_that_can_be_proved(way: str, logged: Match, ana, berto) -> None:
    break_it, words, status, count, does = LOGS[way]
    started(ana, [accepted(ana, "otra"), accepted(berto, "mas")], name="Other")
    other = play(Match.objects.get(status="queued"))
    before = [replays.unpack(sitting) for sitting in sittings()]
    assert invariants.check_all(now=NOW) == []
    break_it(logged, other)

    with pytest.raises(replays.Unreadable, match=words) as caught:
        replays.replay(sittings()[0])
    assert caught.value.status == status
    findings = [finding for finding in invariants.check_all(now=NOW) if finding.check == "replays"]
    assert [words in finding.what for finding in findings] == [True] * count
    assert findings[0].subject == f"match:{logged.public_id}"

    would = restore_replays(actor="test", dry_run=True, now=NOW)
    assert len(invariants.check_all(now=NOW)) == count
    did = restore_replays(actor="test", now=NOW)
    assert would == did
    assert {name: len(getattr(did, name)) for name in ("put_back", "played", "lost")} == {
        "put_back": 0, "played": 0, "lost": 0, **does
    }  # fmt: skip
    assert len(invariants.check_all(now=NOW)) == ("lost" in does)
    if "played" not in does:
        assert does == {"lost": 4} or [replays.unpack(sitting) for sitting in sittings()] == before
        return
    for old, sitting in zip(before, sittings(), strict=True):
        name = f"{sitting.board.match.public_id}, board {sitting.board.number}, sitting {sitting.number}"
        if name not in did.lost:
            new = replays.unpack(sitting)
            assert (new["actions"], new["events"], new["scores"]) == (old["actions"], old["events"], sitting.scores)
            engine.replay.verify(new)
            assert new["meta"].get("restored") == (RESTORED if name in did.played else None)
    assert LeagueEvent.objects.filter(kind="match.replay_restored", subject=f"match:{logged.public_id}").count() == 1


def test_a_log_whose_row_is_gone_is_missed(logged: Match) -> None:
    MatchLog.objects.all().delete()

    assert [finding.check for finding in invariants.check_all(now=NOW)] == ["replays"]
    assert len(restore_replays(actor="test", now=NOW).lost) == 4


def test_a_judgement_and_answers_that_are_damaged_are_made_again(logged, ana) -> None:
    """They keep their rows: a counted judgement is not counted again."""
    consulting.enter("random")
    consulting.told(logged)
    judged, _ = asking.ask(logged, "open", ana, now=NOW)
    answered, _ = consultations.ask(logged, 1, 0, 0, "random", ana, now=NOW)
    whole, _ = consultations.ask(logged, 1, 0, 1, "random", ana, now=NOW)
    Judgement.objects.filter(pk=judged.pk).update(status="done", body=b"rubbish", summed=True, finished=NOW)
    Consultation.objects.filter(pk=answered.pk).update(status="done", answers=[[1]], finished=NOW)
    Consultation.objects.filter(pk=whole.pk).update(
        status="done", answers=[[1, 1, 0, "play 1o", "play 3o"]], finished=NOW
    )

    Job.objects.all().delete()
    old = {"judge": "0", "status": "done", "body": b"rubbish", "finished": NOW}
    of_before = Judgement.objects.create(match=logged, kind="open", asked_by=ana, created=NOW, **old)

    preview = restore_replays(actor="ana", dry_run=True, now=NOW)
    assert preview.again == [
        f"{logged.public_id}, open judgement",
        f"{logged.public_id}, board 1, sitting 0, seat 0, answers of random v1",
    ]
    judged.refresh_from_db()
    assert judged.status == "done"

    assert restore_replays(actor="ana", now=NOW).again == preview.again
    judged.refresh_from_db()
    answered.refresh_from_db()
    whole.refresh_from_db()
    of_before.refresh_from_db()
    assert of_before.status == "done", "another judge would judge it now"
    assert (judged.status, bytes(judged.body), judged.summed, judged.finished) == ("asked", b"", True, None)
    assert (answered.status, answered.answers, whole.status) == ("asked", [], "done")
    assert list(Job.objects.order_by("kind").values_list("kind", "judgement", "consultation")) == [
        ("analysis", judged.pk, None),
        ("consultation", None, answered.pk),
    ]
    assert restore_replays(actor="ana", now=NOW).is_empty
