"""The bots' messages follow from the log alone, byte for byte."""

import json
from typing import Any

import pytest

from engine.runner import BotSpec, Limits, MatchResult
from engine.runner.match import play_match
from engine.runner.rebuild import Exchange, exchanges, passes
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import match
from tests.support.parts import mostly_slow

Sent = tuple[int, bytes, str | None]  # seat, request, answer


def log_of(result: MatchResult) -> list[dict[str, Any]]:
    """Return the log as it comes back from a file."""
    return [json.loads(json.dumps(sitting.replay)) for board in result.boards for sitting in board.sittings]


def played(box: Sandbox, *parties: BotSpec, **how: Any) -> tuple[MatchResult, list[list[Sent]]]:
    sent: list[list[Sent]] = []

    def tap(number: int, seat: int, request: bytes, answer: bytes) -> None:
        while len(sent) <= number:
            sent.append([])
        reply = json.loads(answer or b"null")
        sent[number].append((seat, request, reply.get("do", "ready") if reply else None))

    return play_match(match(*parties, **how), box, tap=tap), sent


def rebuilt(result: MatchResult) -> list[list[Exchange]]:
    return [list(exchanges(group)) for group in passes(log_of(result))]


SLOW = "def act(m):\n    until = time.process_time() + 0.12\n    while time.process_time() < until: pass\n    return good(m)"
DICE = (
    "import random\n"
    "def hello(m):\n    random.seed(m['seed'])\n    return '{\"type\":\"ready\"}\\n'\n"
    "def act(m): return json.dumps({'id': m['id'], 'do': random.choice(m['legal'])}) + '\\n'"
)


@pytest.mark.parametrize(
    ("game", "parties", "how"),
    mostly_slow(
        [
            ("partnership", 2, {"boards": 2}),
            ("two_player", 2, {}),
            ("brisca", 2, {"players": 2}),
            ("subastado", 3, {"boards": 1}),
            ("bato", 4, {"boards": 1}),
            ("codillo", 4, {"boards": 1}),
            ("podrida", 4, {"boards": 1}),
            ("cabrero", 4, {"boards": 1, "options": {"trump_source": "rotating"}}),
            ("partnership", 2, {"boards": 1, "options": {"illegal_move": "lose_game"}}),
        ],
        lambda case: case[0] in ("partnership", "bato"),
    ),
)
def test_every_line_follows_from_the_log(
    game: str, parties: int, how: dict[str, Any], box: Sandbox, make: Maker
) -> None:
    result, sent = played(box, *[make(DICE)] * parties, game=game, limits=Limits(), **how)

    assert all(report.faults == [] for report in result.parties)
    assert [[(line.seat, line.request, line.answer) for line in group] for group in rebuilt(result)] == sent


@pytest.mark.slow
def test_the_bank_follows_from_the_log(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    limits = Limits(move_s=0.1, bank_s=30.0)
    result, sent = played(box, make(SLOW, name="slow"), honest, boards=1, limits=limits)

    banks = {json.loads(request).get("bank_s") for _, request, _ in sent[0]}
    assert len(banks) > 10
    assert [[(line.seat, line.request, line.answer) for line in group] for group in rebuilt(result)] == sent


FAULTY = {
    "at a decision of the second board": (
        "n = 0\ndef act(m):\n    global n\n    n += any(e['e'] == 'deal' for e in m['events'])\n    return good(m) if n < 2 else sys.exit(1)",
        "crash",
    ),
    "at once": ("def act(m): return json.dumps({'id': m['id'], 'do': 'nothing'}) + '\\n'", "illegal_action"),
    "at the start": ("sys.exit(1)", "crash"),
}


@pytest.mark.parametrize("case", mostly_slow(FAULTY, "at a decision of the second board".__eq__))
def test_a_fault_and_what_it_is_told_of_follow_from_the_log(
    case: str, box: Sandbox, make: Maker, honest: BotSpec
) -> None:
    body, kind = FAULTY[case]
    result, sent = played(box, make(body, name="faulty"), honest, boards=3)
    groups = rebuilt(result)

    failed = [line for group in groups for line in group if line.fault]
    assert [(line.seat, line.board, line.step, line.fault) for line in failed] == [
        (fault.seat, fault.board, fault.step, fault.kind) for fault in result.parties[0].faults
    ]
    assert {line.fault for line in failed} == {kind}
    for line, fault in zip(failed, result.parties[0].faults, strict=True):
        assert line.request.decode().startswith(fault.request)
    # Unanswered requests passed no tap, except an answer that was read and then refused
    of_log = [[(line.seat, line.request) for line in group if not line.fault] for group in groups]
    refused = {line.request for line in failed}
    assert of_log == [[(seat, request) for seat, request, _ in part if request not in refused] for part in sent]


def test_the_beginning_of_a_pass_is_enough_for_its_beginning(box: Sandbox, honest: BotSpec) -> None:
    result, sent = played(box, honest, honest, boards=2)
    log = [replay for replay in log_of(result) if replay["meta"]["board"] < 2]

    for group, part in zip(passes(log), sent, strict=True):
        lines = [(line.seat, line.request, line.answer) for line in exchanges(group)]
        assert lines == part[: len(lines)]
        assert len(part) - len(lines) > 20


def test_a_log_with_a_gap_is_refused(box: Sandbox, honest: BotSpec) -> None:
    result, _ = played(box, honest, honest, boards=2)

    with pytest.raises(ValueError, match="the log lacks board 1 of pass 0"):
        passes([replay for replay in log_of(result) if replay["meta"]["board"] == 2])
    with pytest.raises(ValueError, match="replay 1 of the log does not say in which pass"):
        passes([{"format": "tute-replay/1"}])
