"""The referee's record of a sitting, with seats whose answers the test writes."""

from __future__ import annotations

import json
from collections.abc import Callable

import engine
from engine.runner.faults import Fault
from engine.runner.feed import Feed
from engine.runner.protocol import MAX_NOTE
from engine.runner.sitting import NOTES, BoardRun, Texts

Says = Callable[[int, list[str]], bytes]  # the line to a request, of its number and what is legal


class Writer:
    """Holds a seat and answers what it was made with."""

    def __init__(self, seat: int, says: Says) -> None:
        self.party, self.seat, self._says = seat, seat, says
        self.requests = 0
        self.heard: list[str] = []
        self.cpu_us, self.took_s, self.latency_s = 1500 + seat, 0.25, 0.5

    def ask(self, events: list[str], legal: str) -> bytes:
        self.requests += 1
        self.heard += events
        return self._says(self.requests, json.loads(f"[{legal}]"))

    def evidence(self) -> tuple[str, str]:
        return f"request {self.requests}", "answer"


def plain(number: int, legal: list[str]) -> bytes:
    return json.dumps({"id": number, "do": legal[0]}).encode()


def sitting(*says: Says, game: str = "two_player", deals: int = 1) -> BoardRun:
    rules = engine.load(game)
    state = rules.new_match(seed="notes", deals=deals)
    seats = [Writer(seat, answers) for seat, answers in enumerate(says)]
    return BoardRun(state, seats, Feed(rules.players), Texts(rules), 1, 0)


def test_a_seat_has_room_for_its_own_notes_and_the_last_that_begins_in_it_is_kept_whole() -> None:
    """One character is left to seat 0 after 31 notes, so one more is taken, and whole; those of seat 1 just fill its room."""
    lengths, most_notes = (129, MAX_NOTE), (32, 20)
    assert (31 * 129, 20 * MAX_NOTE) == (NOTES - 1, NOTES)

    def noting(seat: int) -> Says:
        return lambda number, legal: json.dumps(
            {"id": number, "do": legal[0], "note": f"{number} ".ljust(lengths[seat], "n")}
        ).encode()

    played = sitting(noting(0), noting(1), deals=5)

    assert played.play()

    notes, times = played.record({})["notes"], played.record({})["timings"]
    assert min(times["seats"].count(seat) for seat in (0, 1)) > max(most_notes)
    for seat in (0, 1):
        texts = [note["note"] for note in notes if note["seat"] == seat]
        assert texts == [f"{number} ".ljust(lengths[seat], "n") for number in range(1, most_notes[seat] + 1)]
    assert {(note["step"], note["seat"]) for note in notes} <= set(zip(times["steps"], times["seats"], strict=True))


def test_the_times_of_each_decision_are_written_down_in_microseconds() -> None:
    played = sitting(plain, plain)

    assert played.play()

    times = played.record({})["timings"]
    assert len(times["steps"]) == played.decisions > 10
    assert times["steps"] == sorted(set(times["steps"]))
    assert times["cpu"] == [1500 + seat for seat in times["seats"]]
    assert set(times["seats"]) == {0, 1}
    assert (set(times["wall"]), set(times["latency"])) == ({250_000}, {500_000})


def test_an_answer_that_is_none_of_the_choices_ends_the_sitting_with_its_evidence() -> None:
    def wrong(number: int, legal: list[str]) -> bytes:
        return plain(number, legal) if number < 3 else plain(number, ["fold"])

    played = sitting(wrong, plain)

    assert played.play()

    (fault,) = played.faults
    assert (fault.party, fault.seat, fault.board, fault.sitting, fault.kind) == (0, 0, 1, 0, "illegal_action")
    assert fault.step == len(played.state.actions)
    assert (fault.request, fault.answer) == ("request 3", "answer")
    assert not played.state.is_over
    # Its time is recorded even though it brought the board no further
    assert played.record({})["timings"]["steps"][-1] == fault.step


def test_a_sitting_that_is_stopped_goes_on_where_it_was_and_tells_everything_once() -> None:
    played = sitting(plain, plain)

    assert not played.play(lambda: played.decisions == 4)
    assert played.decisions == 4
    assert played.play()
    assert played.state.is_over
    for seat in played.seats:
        assert isinstance(seat, Writer)
        events = [json.loads(text) for text in (*seat.heard, *played.feed.take(seat.seat))]
        due = engine.redact(played.state.events, seat.seat)
        assert events == [{"board": 1, **event} if event["e"] == "deal" else event for event in due]


def test_who_is_blamed_before_the_first_decision_is_told_of_after_the_opening() -> None:
    played = sitting(plain, plain)

    played.blame(1, 1, Fault("crash", "gone"), -1, ("", ""))

    events = [json.loads(text) for text in played.feed.take(0)]
    assert {"match", "deal"} <= {event["e"] for event in events[:-1]}
    assert events[-1]["e"] == "fault"
    assert (events[-1]["seat"], events[-1]["fault"]) == (1, "crash")
