"""Whole matches between honest bots: seatings, secrecy, determinism, time, notes."""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.replay import ReplayError
from engine.runner import BotSpec, MatchResult, load_package, runtimes
from engine.runner.bot_processes import start_bot
from engine.runner.evidence.replays import check
from engine.runner.match import AT_ONCE, play_match
from engine.runner.result import BoardResult
from engine.sandbox import BotProcess, Policy, Sandbox
from engine.sandbox.process import spawn
from tests.engine.runner.conftest import Maker
from tests.support import languages
from tests.support.bots import match
from tests.support.parts import mostly_slow

Line = tuple[int, int, dict[str, Any], dict[str, Any]]  # pass, seat, request, answer


def replays(result: MatchResult) -> list[dict[str, Any]]:
    """Return all replays without what time writes into them, as they come back from a file."""
    replays_of_result = [
        json.loads(json.dumps(sitting.replay)) for board in result.boards for sitting in board.sittings
    ]
    for replay in replays_of_result:
        del replay["timings"], replay["pass"]["pinned"]  # The latter depends on free cores.
    return replays_of_result


def played(box: Sandbox, *parties: BotSpec, **how: Any) -> tuple[MatchResult, list[Line]]:
    lines: list[Line] = []

    def tap(number: int, seat: int, request: bytes, answer: bytes) -> None:
        lines.append((number, seat, json.loads(request), json.loads(answer or b"null")))

    return play_match(match(*parties, **how), box, tap=tap), lines


@pytest.mark.parametrize(
    ("game", "parties", "how"),
    mostly_slow(
        [
            ("partnership", 2, {}),
            ("corriente", 2, {}),
            ("cabrero", 4, {"boards": 1}),
            ("cabrero", 3, {"boards": 1, "players": 3}),
            ("brisca", 2, {"players": 2}),
            ("subastado", 3, {"boards": 1}),
        ],
        lambda case: case[0] in ("partnership", "subastado"),
    ),
)
def test_match_is_whole_and_its_replays_hold(
    game: str, parties: int, how: dict[str, Any], box: Sandbox, honest: BotSpec
) -> None:
    result, _ = played(box, *[honest] * parties, game=game, **how)

    seatings = engine.load(game, **({"players": how["players"]} if "players" in how else {})).sittings(parties)
    assert [report.faults for report in result.parties] == [[]] * parties
    for board in result.boards:
        assert board.complete
        assert [sitting.seating for sitting in board.sittings] == seatings
        for sitting in board.sittings:
            check(json.loads(json.dumps(sitting.replay)))
            assert sitting.scores == sitting.replay["scores"]
            assert sitting.replay["over"]


def test_same_bots_on_both_sides_share_every_board_alike(box: Sandbox, honest: BotSpec) -> None:
    """The first legal action names suits in order, so the exchange of suits alone can make a difference between the sittings."""
    result, _ = played(box, honest, honest, options={}, boards=4)

    for board in result.boards:
        hands = [sitting.replay["events"][1]["hands"] for sitting in board.sittings]
        ranks = [[sorted(card[0] for card in hand) for hand in deal] for deal in hands]
        assert ranks[0] == ranks[1]
        assert hands[0] != hands[1]
        assert board.sittings[0].replay["seed"] == board.sittings[1].replay["seed"]
        assert board.sittings[0].replay["suits"] != board.sittings[1].replay["suits"]


def test_suits_stay_where_the_rules_name_one(box: Sandbox, honest: BotSpec) -> None:
    result, _ = played(box, *[honest] * 3, game="brisca", players=3, boards=1, options={"deck": "es39"})

    assert {sitting.replay["suits"] for sitting in result.boards[0].sittings} == {"oceb"}


def test_same_secret_gives_the_same_match(box: Sandbox, make: Maker) -> None:
    chance = make(
        "import random\n"
        "def hello(m):\n    random.seed(m['seed'])\n    return '{\"type\":\"ready\"}\\n'\n"
        "def act(m): return json.dumps({'id': m['id'], 'do': random.choice(m['legal']), 'note': str(random.random())}) + '\\n'"
    )

    first, _ = played(box, chance, chance)
    second, _ = played(box, chance, chance)

    assert replays(first) == replays(second)
    assert [board.scores for board in first.boards] == [board.scores for board in second.boards]


def test_seat_is_told_all_it_may_know_and_nothing_else(box: Sandbox, honest: BotSpec) -> None:
    result, lines = played(box, honest, honest, boards=3)

    for number in (0, 1):
        record = [event for board in result.boards for event in board.sittings[number].replay["events"]]
        for seat in range(4):
            requests = [request for sitting, place, request, _ in lines if (sitting, place) == (number, seat)]
            events = [event for request in requests if request["type"] != "hello" for event in request["events"]]
            allowed = json.loads(json.dumps(engine.redact(record, seat)))
            assert [{k: v for k, v in event.items() if k != "board"} for event in events] == allowed
            assert [event["board"] for event in events if event["e"] == "deal"] == [1, 2, 3]
            assert not any("hands" in event or "rest" in event for event in events)
            scores = [board.sittings[number].scores for board in result.boards]
            assert requests[-1]["result"] == {"scores": [sum(column) for column in zip(*scores, strict=True)]}


def test_requests_are_numbered_timed_and_leave_a_choice(box: Sandbox, honest: BotSpec) -> None:
    result, lines = played(box, honest, honest)

    questions = [line for line in lines if line[2]["type"] == "act"]
    for number in (0, 1):
        for seat in range(4):
            requests = [request for sitting, place, request, _ in questions if (sitting, place) == (number, seat)]
            assert [request["id"] for request in requests] == list(range(1, len(requests) + 1))
    assert all(len(request["legal"]) > 1 for _, _, request, _ in questions)
    assert result.decisions == len(questions) == sum(report.decisions for report in result.parties)
    assert sum(len(sitting.replay["timings"]["steps"]) for board in result.boards for sitting in board.sittings) == len(
        questions
    )


def test_hello_says_what_is_played(box: Sandbox, honest: BotSpec) -> None:
    _, lines = played(box, honest, honest, boards=2, options={"undertrump": True})

    hellos = [request for _, _, request, _ in lines if request["type"] == "hello"]
    assert [hello["seat"] for hello in hellos] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len({hello["seed"] for hello in hellos}) == 8
    first = {**hellos[0], "seed": 0}
    assert first == {
        "type": "hello",
        "protocol": 1,
        "game": "partnership",
        "revision": 1,
        "options": {"undertrump": True},
        "seats": 4,
        "seat": 0,
        "sides": [[0, 2], [1, 3]],
        "boards": 2,
        "limits": {"start_s": 1.0, "move_s": 0.2, "bank_s": 0.2, "memory_mb": 256, "pass_s": 4.4},
        "seed": 0,
        "sealed": False,
    }


def test_bots_get_fresh_processes_in_every_pass(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    counting = make("def end(m):\n    sys.stderr.write('acts %d\\n' % counter); sys.stderr.flush()")

    result, _ = played(box, counting, honest)

    counts = [int(line.split()[1]) for line in result.parties[0].stderr.splitlines() if line.startswith("acts")]
    assert len(counts) == 4
    assert sum(counts) == result.parties[0].decisions


def test_time_is_measured_per_decision(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    slow = make(
        "def act(m):\n    until = time.process_time() + 0.02\n    while time.process_time() < until: pass\n    return good(m)"
    )

    began = time.monotonic()
    result, _ = played(box, slow, honest, boards=1)
    lasted = time.monotonic() - began

    report = result.parties[0]
    assert 0.02 * report.decisions <= report.cpu_s
    assert 0.02 <= report.max_cpu_s <= report.wall_s
    timings = result.boards[0].sittings[0].replay["timings"]
    assert sorted(map(len, timings.values()))[1:] == [len(timings["steps"])] * 5
    assert all(wall <= latency for latency, wall in zip(timings["latency"], timings["wall"], strict=True))
    assert sum(timings["latency"]) <= 1e6 * lasted  # one clock cannot show more than itself
    assert sum(used > 19_000 for used in timings["cpu"]) == report.decisions - sum(
        used > 19_000 for used in result.boards[0].sittings[1].replay["timings"]["cpu"]
    )


def test_notes_are_kept_cut_and_capped(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    talkative = make(
        "def act(m): return json.dumps({'id': m['id'], 'do': m['legal'][0], 'note': '\\x1b' + 'ñ' * 500}) + '\\n'"
    )

    result, _ = played(box, talkative, honest, game="corriente", boards=1)

    notes = result.boards[0].sittings[0].replay["notes"]
    assert {note["note"] for note in notes} == {"\x1b" + "ñ" * 199}
    assert len(notes) == 20  # 4,000 characters
    assert {note["seat"] for note in notes} == {0}
    assert result.parties[0].notes == 40


def test_a_bot_that_plays_from_elsewhere_hears_the_same_and_meets_each_board_once(
    box: Sandbox, make: Maker, honest: BotSpec
) -> None:
    def connect(seat: int) -> BotProcess:
        return start_bot(box, honest, runtimes.get(honest.runtime, box.state_dir), Policy(memory_mb=256, threads=4))

    distant = replace(honest, path=Path(), runtime="remote", entry="", connect=connect)
    how = {"game": "brisca", "boards": 3, "once": True}
    (near, lines), (far, distant_lines) = played(box, honest, honest, **how), played(box, distant, honest, **how)
    assert lines == distant_lines
    assert replays(near) == replays(far)
    for result in (near, far):
        assert [[sitting.number for sitting in board.sittings] for board in result.boards] == [[0], [1], [0]]
        assert all(board.complete for board in result.boards)
        assert [sitting.replay["pass"]["boards"] for board in result.boards for sitting in board.sittings] == [
            [1, 3],
            [2],
            [1, 3],
        ]
        for replay in replays(result):
            check(replay)


def test_progress_counts_sittings(box: Sandbox, honest: BotSpec) -> None:
    calls = []

    play_match(
        match(honest, honest), box, progress=lambda played_sittings, total: calls.append((played_sittings, total))
    )

    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_boards_are_told_as_decided_once_all_their_sittings_are_over(box: Sandbox, honest: BotSpec) -> None:
    batches: list[list[tuple[int, list[int]]]] = []
    over: list[int] = []

    def decided(boards: Sequence[BoardResult]) -> None:
        assert all(len(board.sittings) == 2 for board in boards)
        batches.append([(board.number, board.scores) for board in boards])
        over.append(sittings[-1])

    sittings = [0]
    result = play_match(
        match(honest, honest, boards=AT_ONCE + 1),
        box,
        progress=lambda played_sittings, total: sittings.append(played_sittings),
        decided=decided,
    )

    assert [len(boards) for boards in batches] == [AT_ONCE, AT_ONCE + 1]
    assert batches[-1] == [(board.number, board.scores) for board in result.boards]
    assert over[0] > AT_ONCE, "nothing before the last pass"


def test_stop_leaves_boards_incomplete_and_blames_nobody(box: Sandbox, honest: BotSpec) -> None:
    counts, answers = [], []

    def progress(sittings: int, _: int) -> None:
        counts.append(sittings)

    def stop() -> bool:
        if counts:
            answers.append(True)
        return bool(answers)

    result = play_match(match(honest, honest, boards=2), box, progress=progress, stop=stop)

    assert (counts, answers) == ([1], [True]), "no other pass was begun"
    assert len(result.boards[0].sittings) == 1
    assert not any(board.complete for board in result.boards)
    assert [report.faults for report in result.parties] == [[], []]


@pytest.mark.parametrize("how", [{"game": "mus"}, {"players": 5}, {"options": {"no": 1}}, {"options": {"win_by": 7}}])
def test_match_that_cannot_be_set_up_is_refused_at_once(how: dict[str, Any], box: Sandbox, honest: BotSpec) -> None:
    with pytest.raises(ValueError, match=r"mus|5|no|win_by"):
        play_match(match(honest, honest, **how), box)


def test_wrong_number_of_parties_is_refused(box: Sandbox, honest: BotSpec) -> None:
    with pytest.raises(ValueError, match="takes 2 parties, not 3"):
        play_match(match(honest, honest, honest), box)


def test_replay_with_one_card_changed_names_the_step(box: Sandbox, honest: BotSpec) -> None:
    result, _ = played(box, honest, honest, boards=1)
    good = replays(result)[0]
    plays = [place for place, event in enumerate(good["events"]) if event["e"] == "play"]

    for step in (1, 17, 40):
        bad = json.loads(json.dumps(good))
        event = bad["events"][plays[step - 1]]
        event["card"] = "1o" if event["card"] != "1o" else "3o"
        with pytest.raises(ReplayError) as caught:
            check(bad)
        assert caught.value.step == step

    bad = json.loads(json.dumps(good))
    other = bad["actions"].index(next(action for action in good["actions"][20:] if action != good["actions"][10]))
    bad["actions"][10], bad["actions"][other] = bad["actions"][other], bad["actions"][10]
    with pytest.raises(ReplayError) as caught:
        check(bad)
    assert caught.value.step == 11


def test_forfeit_is_checked_too(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    result, _ = played(box, make("def act(m): sys.exit(1)"), honest, boards=1)
    good = replays(result)[0]
    check(good)

    for change in (
        {"forfeit": {"seats": good["forfeit"]["seats"], "scores": [1, 2, 3, 4]}},
        {"forfeit": None},
        {"forfeit": {"seats": [9]}},
    ):
        with pytest.raises(ReplayError):
            check({**good, **change})


def test_binary_bot_plays(box: Sandbox, make: Maker, honest: BotSpec, tmp_path: Any, state_dir: Any) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "bot.c").write_text(
        r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        char *legal = strstr(line, "\"legal\":[\"");
        if (strstr(line, "\"type\":\"hello\"")) {
            puts("{\"type\":\"ready\"}");
        } else if (legal) {
            legal += 10;
            printf("{\"id\":%d,\"do\":\"%.*s\"}\n", atoi(strstr(line, "\"id\":") + 5), (int)strcspn(legal, "\""), legal);
        } else {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}
"""
    )
    shutil.copy(languages.build("cc", "-O1", "-static", source=folder / "bot.c"), folder / "bot")
    (folder / "bot.toml").write_text('name = "c"\nruntime = "binary"\nentry = "bot"\n')
    binary = load_package(folder, state_dir / "packages")

    result, _ = played(box, binary, honest)
    twin, _ = played(box, honest, honest)

    assert result.parties[0].faults == []
    assert [board.scores for board in result.boards] == [board.scores for board in twin.boards]


def cpu_of_bots() -> dict[int, int]:
    """Clock ticks that every bot of this process has used. Spares of its forkserver are no bots yet."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text().rpartition(")")
            fields = rest.split()
            if not name.endswith("(tute-spare"):
                stats[int(path.parent.name)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
    forkserver = spawn.ready()
    pids = {forkserver}
    while more := {pid for pid, (parent, _) in stats.items() if parent in pids} - pids:
        pids |= more
    return {pid: stats[pid][1] for pid in pids - {forkserver}}


def test_an_interlude_stops_every_bot_and_costs_none_anything(box: Sandbox, make: Maker) -> None:
    """One in the middle of a decision, one between two: the match goes on with the same bots, and is the same."""
    busy = make(
        "def act(m):\n"
        "    while m['id'] == 1 and time.process_time() < 0.15: pass\n"
        "    return json.dumps({'id': m['id'], 'do': m['legal'][0]}) + '\\n'"
    )
    quiet, _ = played(box, busy, busy, game="corriente", boards=1)
    calls, pauses, lasted = [], [], []

    def act() -> None:
        before, began = cpu_of_bots(), time.monotonic()
        time.sleep(0.5)
        after = cpu_of_bots()
        pauses.append({pid: after[pid] - ticks for pid, ticks in before.items() if pid in after})
        lasted.append(time.monotonic() - began)

    def interlude() -> Callable[[], None] | None:
        calls.append(True)
        return act if len(calls) in (2, 8) else None

    result = play_match(match(busy, busy, game="corriente", boards=1), box, ahead=False, interlude=interlude)

    assert (len(pauses), len(calls) > 8) == (2, True), len(calls)
    for used in pauses:
        assert len(used) >= 2
        assert set(used.values()) == {0}
    assert replays(result) == replays(quiet)
    assert [party.faults for party in result.parties] == [[], []]
    timings = [sitting.replay["timings"] for board in result.boards for sitting in board.sittings]
    answered = sum(sum(timing["latency"]) for timing in timings) / 1e6
    assert answered + sum(lasted) <= result.seconds
