"""One process at one seat: what its answers cost it, and what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from engine.runner import BotSpec, protocol, runtimes
from engine.runner.faults import Fault
from engine.runner.seat import EXCERPT_REQUEST, Seat
from engine.sandbox import Policy, Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import SHORT

HELLO = b'{"type":"hello"}\n'
PASS_S = 60.0
ANSWERS = 20


@pytest.fixture
def seat(box: Sandbox, honest: BotSpec) -> Iterator[Seat]:
    with box.start(honest.path, runtimes.get("python", box.state_dir), honest.entry, Policy()) as process:
        yield Seat(0, 0, process, SHORT, pass_s=PASS_S)


def test_a_seat_begins_with_nothing_used_and_nothing_said(seat: Seat) -> None:
    assert (seat.party, seat.seat, seat.name, seat.requests) == (0, 0, "", 0)
    assert (seat.cpu_s, seat.wall_s, seat.max_cpu_s) == (0.0, 0.0, 0.0)
    assert (seat.cpu_us, seat.took_s, seat.latency_s) == (0, 0.0, 0.0)
    assert seat.evidence() == ("", "")
    heard: list[bytes] = []
    seat.listen(lambda request, answer: heard.append(request))
    assert heard == []


def test_no_answer_takes_more_off_the_pass_than_it_took(seat: Seat) -> None:
    seat.start(HELLO)
    assert PASS_S > seat.clock.left_s >= PASS_S - seat.wall_s
    left_s, wall_s = seat.clock.left_s, seat.wall_s

    for _ in range(ANSWERS):
        seat.ask([], '"play ao","play 2o"')

    assert left_s > seat.clock.left_s >= left_s - (seat.wall_s - wall_s) - 1e-9


def test_each_answer_is_timed_and_the_sums_are_kept(seat: Seat) -> None:
    seat.start(HELLO)
    cpu_s, wall_s, slowest = seat.cpu_s, seat.wall_s, 0.0
    assert seat.cpu_s > 0
    assert seat.max_cpu_s == 0.0, "a start is no decision"

    for number in range(1, ANSWERS + 1):
        before = seat.cpu_s
        line = seat.ask([], '"play ao","play 2o"')

        used = seat.cpu_s - before
        assert json.loads(line) == {"id": number, "do": "play ao"}
        assert seat.requests == number
        assert seat.cpu_us == pytest.approx(1e6 * used, abs=1.1)
        assert seat.latency_s >= 0
        wall_s += seat.took_s
        slowest = max(slowest, used)

    assert seat.cpu_s > cpu_s
    assert seat.wall_s == pytest.approx(wall_s)
    assert seat.max_cpu_s == pytest.approx(slowest)


def test_the_evidence_is_the_end_of_the_conversation_shortened(seat: Seat) -> None:
    seat.start(HELLO)
    short = protocol.act(1, [], '"play ao","play 2o"', "0.200")
    seat.put(short)
    assert seat.evidence() == (short.decode().rstrip("\n"), '{"id": 1, "do": "play ao"}')

    seat.ask(['{"e":"x"}'] * EXCERPT_REQUEST, '"play ao","play 2o"')

    request, _ = seat.evidence()
    assert len(request) == EXCERPT_REQUEST
    assert seat.request.decode().startswith(request)


def test_who_listens_late_hears_the_last_lines_and_all_that_follow(seat: Seat) -> None:
    seat.start(HELLO)
    heard: list[tuple[bytes, bytes]] = []

    seat.listen(lambda request, answer: heard.append((request, answer)))
    seat.ask([], '"play ao","play 2o"')
    seat.tell(protocol.end([], [0, 0]))

    assert [(json.loads(request)["type"], bool(answer)) for request, answer in heard] == [
        ("hello", True),
        ("act", True),
        ("end", False),
    ]
    assert heard[1] == (seat.request, seat.reply)


def test_a_fault_leaves_no_answer_of_before_as_evidence(box: Sandbox, make: Maker) -> None:
    bot = make("def act(m):\n    if m['id'] > 1: sys.exit(3)\n    return good(m)")
    with box.start(bot.path, runtimes.get("python", box.state_dir), bot.entry, Policy()) as process:
        seat = Seat(0, 0, process, SHORT)
        seat.start(HELLO)
        seat.ask([], '"play ao","play 2o"')

        with pytest.raises(Fault, match="exit status 3") as caught:
            seat.ask([], '"play ao","play 2o"')

    assert caught.value.kind == "crash"
    assert seat.evidence() == (seat.request.decode().rstrip("\n"), "")
    assert json.loads(seat.request)["id"] == seat.requests == 2
