"""Replays: actions are public, private parts stay with their owner, restricted views hold nothing hidden."""

from __future__ import annotations

import json

import pytest

import engine
from engine.runner import FaultReport
from league.domain.core.errors import Refused
from league.domain.matches import matches, replays, reports
from league.models import Match, Party, Sitting
from tests.support import rows
from tests.support.league import NOW, accepted, result, running, started


@pytest.fixture
def sitting(ana, berto) -> Sitting:
    """First sitting of a finished match of rufo (ana, party 0) and lola (berto, party 1), who made a fault."""
    return rows.once(make_sitting, ana, berto)


def make_sitting(ana, berto) -> Sitting:
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    match = running()
    fault = FaultReport(1, 1, 1, 0, 5, "protocol", "not JSON", '{"type":"act"}', "nonsense")
    reports.report(match, result(match, faults=[fault]), now=NOW)
    return Sitting.objects.select_related("board__match").get(board__number=1, number=0)


def test_finished_match_is_public_in_full(sitting: Sitting) -> None:
    record = replays.replay(sitting)

    engine.replay.verify(record)
    assert "hands" in next(event for event in record["events"] if event["e"] == "deal")


@pytest.mark.parametrize("seat", [0, 1, 2, 3, "public"])
def test_restricted_view_is_redacted_on_the_server(sitting: Sitting, seat) -> None:
    record = replays.replay(sitting, seat=seat)

    full = replays.unpack(sitting)
    assert record["events"] == engine.redact(full["events"], None if seat == "public" else seat)
    assert not {"seed", "actions", "suits", "meta"} & set(record)
    deal = next(event for event in record["events"] if event["e"] == "deal")
    hands = next(event for event in full["events"] if event["e"] == "deal")["hands"]
    assert "hands" not in deal
    assert "rest" not in deal
    assert deal.get("hand") == (None if seat == "public" else hands[seat])
    assert full["seed"] not in json.dumps(record)


@pytest.mark.parametrize("seat", [-1, 4, True, "north", 1.0])
def test_seats_that_are_not_there_are_refused(sitting: Sitting, seat) -> None:
    with pytest.raises(Refused, match="no seat"):
        replays.replay(sitting, seat=seat)


def test_notes_are_for_the_owner_of_the_seat(sitting: Sitting, ana, berto) -> None:
    note = {"step": 0, "seat": 0, "note": "mine"}

    assert replays.replay(sitting)["notes"] == []
    assert replays.replay(sitting, berto)["notes"] == []
    assert replays.replay(sitting, ana)["notes"] == [note]
    assert replays.replay(sitting, ana, seat=0)["notes"] == [note]
    assert replays.replay(sitting, ana, seat=2)["notes"] == []


def test_details_of_a_fault_and_stderr_are_for_the_owner(sitting: Sitting, ana, berto) -> None:
    party = Party.objects.select_related("version__bot").get(match=sitting.board.match, number=1)

    for viewer in (None, ana):
        view = replays.party_view(party, viewer)
        assert (view.private, view.fault_detail, view.stderr) == (False, "", "")
        assert view.faults == [{"kind": "protocol", "board": 1, "sitting": 0, "step": 5, "seat": 1, "party": 1}]
    own_view = replays.party_view(party, berto)
    assert (own_view.private, own_view.fault_detail, own_view.stderr) == (True, "not JSON", "log of lola v1")
    assert own_view.faults[0]["answer"] == "nonsense"
    ana.user.is_staff = True
    assert replays.party_view(party, ana).private is True


def test_replay_of_a_match_that_is_not_over_is_refused(sitting: Sitting) -> None:
    Match.objects.update(status="running")

    with pytest.raises(Refused, match="is running; you can see its replays"):
        replays.replay(Sitting.objects.select_related("board__match").first())


@pytest.mark.slow
def test_a_match_whose_deals_are_played_again_is_closed_until_then(sitting: Sitting, ana, client) -> None:
    """A struck-out match is public, but not while another is still to be played on the same cards: not in any form."""
    match = sitting.board.match
    pages = [f"/m/{match.public_id}{end}" for end in ("/", "/replay.json", ".txt", ".jsonl", "/b/1/")]
    pages.append(f"/api/v1/matches/{match.public_id}/boards/1/sittings/0/replay")
    deal = next(event for event in replays.unpack(sitting)["events"] if event["e"] == "deal")
    cards = deal["hands"][0]

    def told(url: str) -> tuple[int, str]:
        answer = client.get(url)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        return answer.status_code, body.decode()

    open_to_all = [told(url) for url in pages]
    assert [status for status, _ in open_to_all] == [200] * len(pages)
    matches.void(match, actor="op", why="a mistake of ours", now=NOW)
    fresh, _ = matches.play_again(match, actor="op", why="a mistake of ours", now=NOW)
    for status, body in map(told, pages):
        assert status in (200, 400, 404, 409)
        assert replays.unpack(sitting)["seed"] not in body
        assert "hands" not in body
        assert "tute-replay" not in body
        assert not all(card in body for card in cards), body
    again = running()
    assert again == fresh
    reports.report(again, result(again), now=NOW)
    sitting.board.match.refresh_from_db()
    assert replays.reason_closed(sitting.board.match) is None
    assert told(pages[1])[0] == 200
