"""Bots that break the protocol or a limit: the typed fault, the honest opponent's result, and the messages to both."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

import engine
from engine.runner import BotSpec, Limits, MatchResult, load_package
from engine.runner.evidence.replays import check
from engine.runner.match import forfeited, play_match
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support import bots
from tests.support.bots import SHORT, match
from tests.support.parts import mostly_slow

GAME = engine.load("partnership")


def assert_forfeited_from_the_first_decision(result: MatchResult) -> None:
    """Party 0 failed in both passes before it finished a sitting; party 1 has the full result of every board."""
    assert result.parties[1].faults == []
    for board in result.boards:
        assert board.complete
        assert [sitting.scores for sitting in board.sittings] == [GAME.fault_scores(0), GAME.fault_scores(1)]
        assert board.scores == [0, 2 * GAME.fault_scores(1)[0]]
        for sitting in board.sittings:
            check(json.loads(json.dumps(sitting.replay)))


FAULTS = {
    "exits with a code": ("def act(m): sys.exit(3)", "crash", "3"),
    "raises": ("def act(m): raise ValueError('my mistake')", "crash", "1"),
    "dies of a signal": ("def act(m): os.abort()", "crash", "signal"),
    "exits after half a line": ("def act(m): os.write(1, b'{\"id\":'); os._exit(0)", "crash", ""),
    "loops": ("def act(m):\n    while True: pass", "timeout", "CPU"),
    "sleeps": ("def act(m): time.sleep(60)", "timeout", "wall"),
    "writes a byte at a time": (
        "def act(m):\n    while True:\n        os.write(1, b'x'); time.sleep(0.03)",
        "timeout",
        "wall",
    ),
    "writes a line that never ends": ("def act(m):\n    while True: os.write(1, b'x' * 4096)", "output_flood", "65536"),
    "writes a line one byte too long": ("def act(m): return b'x' * 65537 + b'\\n'", "output_flood", "65536"),
    "says nonsense": ("def act(m): return 'I play the ace!\\n'", "protocol", "I play the ace!"),
    "says nothing but a newline": ("def act(m): return '\\n'", "protocol", "not JSON"),
    "answers another request": (
        "def act(m): return json.dumps({'id': m['id'] + 1, 'do': m['legal'][0]}) + '\\n'",
        "protocol",
        '"id" is 2, but the request to answer is 1',
    ),
    "answers without id": ("def act(m): return json.dumps({'do': m['legal'][0]}) + '\\n'", "protocol", '"id"'),
    "says true for one": (
        "def act(m): return json.dumps({'id': True, 'do': m['legal'][0]}) + '\\n'",
        "protocol",
        '"id"',
    ),
    "says a key twice": ('def act(m): return \'{"id":1,"id":1,"do":"pass"}\\n\'', "protocol", "appears twice"),
    "says NaN": ('def act(m): return \'{"id":1,"do":"pass","x":NaN}\\n\'', "protocol", "NaN"),
    "nests deeply": ('def act(m): return "[" * 30000 + "\\n"', "protocol", ""),
    "says a huge number": ('def act(m): return \'{"id":\' + "9" * 5000 + "}\\n"', "protocol", "5000 digits"),
    "writes bytes that are no UTF-8": ("def act(m): return b'\\xff\\xfe\\n'", "protocol", "not UTF-8"),
    "writes a byte order mark": ("def act(m): return b'\\xef\\xbb\\xbf' + good(m).encode()", "protocol", "BOM"),
    "writes half a surrogate pair": (
        'def act(m): return \'{"id":1,"do":"\\\\ud800"}\\n\'',
        "protocol",
        "surrogate",
    ),
    "writes a NUL": ('def act(m): return \'{"id":1,"do":"\\\\u0000"}\\n\'', "protocol", "NUL"),
    "plays a card it has not": (
        "def act(m): return json.dumps({'id': m['id'], 'do': 'bid 70'}) + '\\n'",
        "illegal_action",
        "legal were: ",
    ),
    "does what is no action": (
        "def act(m): return json.dumps({'id': m['id'], 'do': 'win'}) + '\\n'",
        "illegal_action",
        "'win'",
    ),
    # If another process holds the pipe, too (tier namespaces), only the clock shows it
    "closes its output": ("def act(m): os.close(1); time.sleep(60)", "disconnect or timeout", ""),
    "answers twice": ("def act(m): return good(m) * 2", "protocol", "although nothing was asked"),
    "answers before it is asked": (
        'def hello(m): return \'{"type":"ready"}\\n{"id":1,"do":"play 1o"}\\n\'',
        "protocol",
        "although nothing was asked",
    ),
    "floods with answers": (
        "def act(m):\n    while True: os.write(1, good(m).encode())",
        "protocol",
        # The second, where it is stopped between two lines and goes on with the first answer
        "although nothing was asked|write one answer to each request",
    ),
}


QUICK = (
    "exits with a code",
    "loops",
    "plays a card it has not",
    "answers twice",
)


@pytest.mark.parametrize("case", mostly_slow(FAULTS, QUICK.__contains__))
def test_fault_is_typed_and_the_opponent_wins(case: str, box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body, kind, words = FAULTS[case]

    result = play_match(match(make(body), honest), box)

    faults = result.parties[0].faults
    assert [(fault.board, fault.sitting) for fault in faults] == [(1, 0), (1, 1)]
    assert {fault.kind for fault in faults} <= set(kind.split(" or "))
    assert any(part in faults[0].detail for part in words.split("|")), faults[0].detail
    assert_forfeited_from_the_first_decision(result)
    assert json.loads(faults[0].request)["type"] == "act"


STARTS = {
    "exits": ("def hello(m): sys.exit(3)", "crash"),
    "has a syntax error": ("def hello(m: return", "crash"),
    "sleeps": ("def hello(m): time.sleep(60)", "start_timeout"),
    "loops": ("def hello(m):\n    while True: pass", "start_timeout"),
    "is not ready": ("def hello(m): return '{}\\n'", "protocol"),
    "speaks before hello": ("os.write(1, b'hello\\n')", "protocol"),
}


@pytest.mark.parametrize("case", mostly_slow(STARTS, ("exits", "is not ready").__contains__))
def test_fault_at_the_start_is_typed(case: str, box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body, kind = STARTS[case]

    result = play_match(match(make(body), honest), box)

    # the party has two seats, and both fail
    assert {(fault.kind, fault.step) for fault in result.parties[0].faults} == {(kind, -1)}
    assert_forfeited_from_the_first_decision(result)


def test_memory_hog_is_stopped(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = "def act(m):\n    held = []\n    while True: held.append(bytearray(1 << 24))"

    result = play_match(match(make(body), honest, limits=Limits(memory_mb=64)), box)

    assert result.parties[0].fault in ("memory", "crash")  # Python gets a MemoryError and dies of it; others are killed
    assert_forfeited_from_the_first_decision(result)


def test_stderr_is_kept_and_costs_nothing(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = "def act(m):\n    sys.stderr.write('line of log\\n' * 5000)\n    sys.stderr.flush()\n    return good(m)"

    result = play_match(match(make(body), honest), box)

    report = result.parties[0]
    assert report.faults == []
    assert report.stderr.startswith("--- pass 0, seat 0\nline of log\n")
    assert len(report.stderr) <= 4 * (16 * 1024 + 200)


def test_threads_do_not_work_while_the_bot_is_frozen(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = (
        "def spin():\n    while True: pass\n"
        "def hello(m):\n    threading.Thread(target=spin, daemon=True).start()\n    return json.dumps({'type': 'ready'}) + '\\n'"
    )

    result = play_match(match(make(body), honest, boards=1, limits=Limits()), box)

    report = result.parties[0]
    assert report.fault in (None, "timeout", "pondering")  # a thread that is caught before it stops counts as pondering
    # one core's worth at most while it is asked, a tick or two at each freeze, nothing in between
    assert report.cpu_s < report.wall_s + 0.02 * (report.decisions + 4)
    assert result.parties[1].faults == []


def test_traceback_reaches_the_author(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    result = play_match(match(make("def act(m): raise ValueError('my mistake')"), honest), box)

    assert "ValueError: my mistake" in result.parties[0].stderr


def test_fault_ends_only_the_pass_and_what_was_played_stands(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = (
        "def hello(m):\n    global seat\n    seat = m['seat']\n    return '{\"type\":\"ready\"}\\n'\n"
        "def act(m):\n    for e in m['events']:\n        if e['e'] == 'deal' and e['board'] == 2 and seat % 2: sys.exit(1)\n    return good(m)"
    )

    faulty = play_match(match(make(body), honest, boards=3), box)
    sound = play_match(match(honest, honest, boards=3), box)

    assert [fault.at[:2] for fault in faulty.parties[0].faults] == [(2, 1)]
    for number, (board, other) in enumerate(zip(faulty.boards, sound.boards, strict=True), 1):
        assert board.sittings[0].scores == other.sittings[0].scores
        forfeit = GAME.fault_scores(1)
        assert board.sittings[1].scores == (other.sittings[1].scores if number == 1 else forfeit)
        assert (board.sittings[1].fault is None) == (number == 1)
        check(board.sittings[1].replay)


def test_both_failing_at_the_start_is_a_draw(box: Sandbox, make: Maker) -> None:
    result = play_match(match(make("sys.exit(1)", name="a"), make("sys.exit(2)", name="b")), box)

    assert [board.scores for board in result.boards] == [[0, 0], [0, 0]]
    assert all(report.fault == "crash" for report in result.parties)


@pytest.fixture
def damaged(tmp_path: Path, box: Sandbox) -> BotSpec:
    return load_package(bots.damaged(tmp_path / "damaged"), box.state_dir / "packages")


def test_a_file_that_the_kernel_does_not_execute_is_a_crash_of_its_bot(
    box: Sandbox, honest: BotSpec, damaged: BotSpec
) -> None:
    result = play_match(match(damaged, honest), box)

    assert_forfeited_from_the_first_decision(result)
    party = result.parties[0]
    assert {fault.kind for fault in party.faults} == {"crash"}
    assert (party.fault_detail, party.fault_at) == (
        "while starting: bot cannot be executed by the kernel",
        (1, 0, -1),
    )


def test_a_file_that_cannot_be_executed_and_a_bot_that_does_not_get_ready_draw(
    box: Sandbox, make: Maker, damaged: BotSpec
) -> None:
    result = play_match(match(make("sys.exit(1)"), damaged), box)

    assert [board.scores for board in result.boards] == [[0, 0], [0, 0]]
    assert [report.fault for report in result.parties] == ["crash", "crash"]


def test_others_at_a_table_of_four_gain_alike(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    result = play_match(match(make("sys.exit(1)"), honest, honest, honest, game="cabrero", boards=1), box)

    game = engine.load("cabrero")
    first = result.boards[0].sittings[0]
    assert first.scores == game.fault_scores(0) == forfeited(game, {0})
    assert len(set(result.boards[0].scores[1:])) == 1
    assert result.boards[0].scores[0] < result.boards[0].scores[1]


def test_opponents_learn_who_failed_and_no_card_from_it(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = "def act(m): return json.dumps({'id': m['id'], 'do': 'play 1o my hand is 3o'}) + '\\n'"
    witness = make("def end(m):\n    sys.stderr.write(json.dumps(m)); sys.stderr.flush()", name="witness")

    result = play_match(match(make(body), witness), box)

    heard = [json.loads(line) for line in result.parties[1].stderr.splitlines() if line.startswith("{")]
    assert [message["events"][-1] for message in heard] == [
        {"e": "fault", "seat": seat, "fault": "illegal_action", "detail": "the answer is not among the legal actions"}
        for seat in (
            result.parties[0].faults[0].seat,
            result.parties[0].faults[0].seat,
            *[result.parties[0].faults[1].seat] * 2,
        )
    ]
    assert heard[0]["result"]["scores"] == [2 * score for score in GAME.fault_scores(0)]


@pytest.mark.slow
def test_bank_is_spent_and_then_ends_the_bot(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = (
        "def act(m):\n    sys.stderr.write('bank %s\\n' % m['bank_s'])\n    sys.stderr.flush()\n    until = time.process_time() + 0.15\n"
        "    while time.process_time() < until: pass\n    return good(m)"
    )
    limits = Limits(move_s=0.1, bank_s=0.3)

    result = play_match(match(make(body), honest, limits=limits), box)

    assert result.parties[0].fault == "timeout"
    first = result.parties[0].stderr.split("--- ")[1]
    bank = [float(line.split()[1]) for line in first.splitlines() if line.startswith("bank")]
    assert bank[0] == 0.3
    assert bank == sorted(bank, reverse=True)
    assert bank[-1] < 0.15
    assert all(0.04 < a - b < 0.15 for a, b in pairwise(bank) if b)  # the last of it may go by a little at a time


def test_revoke_that_the_rules_let_through_is_no_fault(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    body = (
        "hand = []\n"
        "def hello(m):\n    global me\n    me = m['seat']\n    return '{\"type\":\"ready\"}\\n'\n"
        "def act(m):\n    global hand\n    for e in m['events']:\n"
        "        if e['e'] == 'deal': hand = list(e['hand'])\n"
        "        if e['e'] == 'play' and e['seat'] == me: hand.remove(e['card'])\n"
        "    bad = ['play ' + c for c in hand if 'play ' + c not in m['legal']]\n"
        "    return json.dumps({'id': m['id'], 'do': bad[0] if bad else m['legal'][0]}) + '\\n'"
    )

    result = play_match(match(make(body), honest, boards=1, options={"illegal_move": "lose_game"}), box)
    strict = play_match(match(make(body), honest, boards=1), box)

    assert strict.parties[0].fault == "illegal_action"
    assert result.parties[0].faults == []
    assert result.boards[0].scores[0] < result.boards[0].scores[1]


def test_missing_files_are_ours_and_cost_nobody(box: Sandbox, honest: BotSpec, tmp_path: Path) -> None:
    from engine.runner import Infrastructure

    gone = BotSpec("gone", tmp_path / "gone", "python", "bot.py")

    with pytest.raises(Infrastructure, match="m1 of partnership was broken off"):
        play_match(match(gone, honest), box)


def test_limits_of_these_tests_are_tight() -> None:
    assert SHORT.wall_s(SHORT.move_s + SHORT.bank_s) < 1.0
