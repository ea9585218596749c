"""Audits: who plays by himself answers alone as in the match, and partners who talk do not."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from engine.runner import BotSpec, FaultReport, MatchResult, load_package
from engine.runner.audit import ALIKE, DIFFERS, FAILED, SAME, AuditResult, Difference, audit, compare, odds
from engine.runner.match import play_match
from engine.runner.rebuild import Exchange, passes
from engine.runner.rerun import RepeatedDecision, Rerun
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import HONEST, match

LEGAL = ["play 1o", "play 2o", "play 4o"]
# Partners tell each other what they hold, each by the name of an empty file; the other's is what its cards are chosen by.
TALKING = """
where, mine = {where!r}, 0
def hello(m):
    global mine
    mine = m["seat"]
    return '{{"type":"ready"}}\\n'
def said(seat): return [name for name in os.listdir(where) if name.startswith(f"{{seat}}-")]
def act(m):
    told = sum(int(name[2:]) for name in said((mine + 2) % 4))
    for name in said(mine): os.unlink(f"{{where}}/{{name}}")
    open(f"{{where}}/{{mine}}-{{sum(map(ord, str(m['events'])))}}", "w").close()
    return json.dumps({{"id": m["id"], "do": m["legal"][told % len(m["legal"])]}}) + "\\n"
"""
UNSTEADY = (
    "def act(m): return json.dumps({'id': m['id'], 'do': m['legal'][os.urandom(1)[0] % len(m['legal'])]}) + '\\n'"
)
# An honest searcher: it takes the best mean of noisy values until its time is over
SEARCHING = """
import random
dice = random.Random(7)
def act(m):
    until, sums = time.process_time() + 0.002, [0.0] * len(m["legal"])
    while time.process_time() < until:
        for i in range(len(sums)): sums[i] += dice.gauss(i * 0.01, 1)
    return json.dumps({"id": m["id"], "do": m["legal"][max(range(len(sums)), key=sums.__getitem__)]}) + "\\n"
"""


def log_of(result: MatchResult) -> list[list[dict[str, Any]]]:
    """Return the passes of a match, as they come back from a file."""
    return passes([json.loads(json.dumps(sitting.replay)) for board in result.boards for sitting in board.sittings])


@pytest.fixture(scope="module")
def open_box(state_dir: Path) -> Sandbox:
    """No isolation: the channel that these partners use is open on purpose."""
    return Sandbox(tier="none", state_dir=state_dir)


@pytest.fixture(scope="module")
def fair(box: Sandbox, state_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> MatchResult:
    """Return a board between two bots that play by themselves."""
    program = tmp_path_factory.mktemp("fair") / "honest.py"
    program.write_text(HONEST)
    bot = load_package(program, state_dir / "packages")
    return play_match(match(bot, bot, boards=1), box)


@pytest.fixture
def room(state_dir: Path) -> Path:
    """Create a folder in which all users may write."""
    folder = state_dir / "room"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def audits(
    bot: BotSpec, box: Sandbox, result: MatchResult, party: int, *, deterministic: bool = False
) -> Iterator[AuditResult]:
    for group in log_of(result):
        for seat, who in enumerate(group[0]["meta"]["seating"]):
            if who == party:
                verdict = audit(bot, box, group, seat, deterministic=deterministic, seed="x")
                assert verdict is not None
                yield verdict


def test_partners_who_talk_are_pointed_at_and_their_opponents_are_not(
    open_box: Sandbox, room: Path, make: Maker, honest: BotSpec
) -> None:
    talking = make(TALKING.format(where=str(room)), name="talking")
    result = play_match(match(talking, honest, boards=6), open_box)
    assert [party.fault for party in result.parties] == [None, None], result.parties[0].stderr

    guilty = [*islice(audits(talking, open_box, result, 0), 2)]
    sound = [*islice(audits(honest, open_box, result, 1), 2)]

    assert [result.verdict for result in guilty] == [DIFFERS] * 2
    assert all(result.chance < 1e-6 and result.log_odd > 13 for result in guilty)
    assert all(result.first is not None and result.first.logged not in result.first.runs for result in guilty)
    assert [result.verdict for result in sound] == [SAME] * 2
    assert all(result.decisions > 20 and result.first is None for result in sound)


@pytest.mark.slow
def test_the_bots_of_the_house_answer_alone_as_in_the_match(box: Sandbox, state_dir: Path) -> None:
    house = [
        load_package(Path(f"bots/house/{name}"), state_dir / "packages") for name in ("random", "greedy", "counting")
    ]
    assert all(bot.deterministic for bot in house)

    for bot in house:
        result = play_match(match(bot, house[1], boards=1), box)
        assert [audited.verdict for audited in audits(bot, box, result, 0, deterministic=True)] == [SAME] * 4, bot.name


@pytest.mark.slow
def test_an_honest_bot_that_changes_its_mind_is_not_pointed_at(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    for body in (UNSTEADY, SEARCHING):
        bot = make(body, name="changes")
        result = play_match(match(bot, honest, boards=2), box)

        results = [*audits(bot, box, result, 0)]

        assert [result.verdict for result in results] == [ALIKE] * 4
        assert all(result.run_odd + result.all_differ for result in results)


def test_a_bot_that_calls_itself_deterministic_is_held_to_it(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    bot = make(UNSTEADY, name="unsteady")
    result = play_match(match(bot, honest, boards=1), box)

    first = next(audits(bot, box, result, 0, deterministic=True))

    assert first.verdict == DIFFERS
    assert first.first is not None
    assert len({first.first.logged, *first.first.runs}) > 1


@pytest.mark.parametrize(
    ("body", "request_number", "run"),
    [
        ("def act(m): sys.exit(3)", 1, "(crash)"),
        ("def act(m): return good(m) if m['id'] < 3 else sys.exit(3)", 3, "(crash)"),
        ("def act(m): return good(m) if m['id'] < 3 else 'no\\n'", 3, "(protocol)"),
        ("def act(m): return good({**m, 'legal': ['play 13z']})", 1, "(illegal_action)"),
        ("def hello(m): sys.exit(3)", 0, "(crash)"),
    ],
)
def test_a_bot_that_fails_and_did_not_in_the_match_is_a_case_with_evidence(
    body: str, request_number: int, run: str, box: Sandbox, fair: MatchResult, make: Maker
) -> None:
    """A bot that sees where it is could otherwise silence an audit by leaving."""
    leaving = make(body, name="leaving")

    first = next(audits(leaving, box, fair, 0))

    assert (first.verdict, first.fault) == (FAILED, run.strip("()"))
    assert first.first is not None
    assert (first.first.board, first.first.request, first.first.runs) == (1, request_number, [run, run])
    assert first.first.logged == "ready" if request_number == 0 else first.first.logged in first.first.legal


def test_what_a_bot_failed_at_in_the_match_is_not_compared(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    weak = make("def act(m): return good(m) if m['id'] < 4 else sys.exit(7)", name="weak")
    result = play_match(match(weak, honest, boards=1), box)
    late = make("def hello(m): sys.exit(7)", name="late")
    never = play_match(match(late, honest, boards=1), box)

    results = [*islice(audits(weak, box, result, 0), 2)]

    assert {result.verdict for result in results} == {SAME}
    assert sorted(result.decisions for result in results)[-1] == 3
    unheard = next(audits(late, box, never, 0))
    assert (unheard.verdict, unheard.decisions) == (SAME, 0)


def test_an_audit_that_is_told_to_stop_says_nothing(box: Sandbox, honest: BotSpec, fair: MatchResult) -> None:
    assert audit(honest, box, log_of(fair)[0], 0, stop=lambda: True) is None


# ---- the verdict


def run(logged: str, answers: str) -> Rerun:
    """Return one run: for each decision the number of the answer, in the log and now."""
    request = json.dumps({"id": 1, "legal": LEGAL}).encode()
    return Rerun(
        [
            RepeatedDecision(Exchange(0, 1, step, request, LEGAL[int(then)]), LEGAL[int(now)], step + 1)
            for step, (then, now) in enumerate(zip(logged, answers, strict=True))
        ]
    )


@pytest.mark.parametrize(
    ("logged", "first_run", "other", "odd"),
    [
        ("000", "000", "000", (0, 0, 0)),
        ("000", "010", "010", (1, 0, 0)),
        ("000", "010", "000", (0, 1, 0)),
        ("000", "000", "100", (0, 1, 0)),
        ("000", "012", "021", (0, 0, 2)),
    ],
)
def test_the_odd_one_out_is_counted(logged: str, first_run: str, other: str, odd: tuple[int, int, int]) -> None:
    result = compare([run(logged, first_run), run(logged, other)], deterministic=False)

    assert (result.log_odd, result.run_odd, result.all_differ) == odd
    assert result.decisions == 3
    assert result.verdict == (ALIKE if any(odd) else SAME)


def test_a_log_that_is_odd_too_often_is_a_case_and_once_is_none() -> None:
    seldom = compare([run("0" * 40, "1" * 12 + "0" * 28)] * 2, deterministic=False)
    often = compare([run("0" * 40, "1" * 13 + "0" * 27)] * 2, deterministic=False)
    declared = compare([run("00", "01")] * 2, deterministic=True)

    assert (seldom.verdict, often.verdict, declared.verdict) == (ALIKE, DIFFERS, DIFFERS)
    assert math.isclose(often.chance, 3**-13)
    assert declared.first is not None
    assert (declared.first.step, declared.first.request, declared.first.logged) == (1, 2, LEGAL[0])
    assert (declared.first.runs, declared.first.legal) == ([LEGAL[1]] * 2, LEGAL)


def failing(replies: Rerun, at: int) -> Rerun:
    """Let a run fail at a request."""
    replies.fault = FaultReport(0, 0, 1, 0, at, "timeout", "too late")
    replies.failed_at = Exchange(0, 1, at, json.dumps({"id": at + 1, "legal": LEGAL}).encode(), LEGAL[0])
    return replies


def test_a_run_that_failed_is_compared_as_far_as_it_got_and_shown_where_it_failed() -> None:
    result = compare([run("00", "00"), failing(run("0", "0"), 1)], deterministic=True)
    early = compare([run("000", "111"), failing(run("0", "1"), 1)], deterministic=True)

    assert (result.verdict, result.decisions, result.fault, result.detail) == (FAILED, 1, "timeout", "too late")
    assert result.first == Difference(1, 1, 2, LEGAL, LEGAL[0], [LEGAL[0], "(timeout)"])
    assert (early.verdict, early.fault) == (DIFFERS, "timeout")
    assert early.first == Difference(1, 0, 1, LEGAL, LEGAL[0], [LEGAL[1]] * 2)


def test_the_chance_is_that_of_a_binomial_tail() -> None:
    assert odds(0, 0) == odds(0, 9) == 1.0
    assert math.isclose(odds(1, 1), 1 / 3)
    assert math.isclose(odds(2, 3), 7 / 27)
    assert math.isclose(sum(odds(k, 8) - odds(k + 1, 8) for k in range(9)), 1.0)
    assert odds(900, 1000) < 1e-200
