"""`tute repro`: a logged match put to a bot again."""

import json
import shutil
from pathlib import Path

import pytest

from tests.chaos.forked import Loaded
from tests.engine.cli.conftest import Tute, tute_in
from tests.support.bots import FRAME, HONEST, damaged

OPEN = "--no-sandbox"


@pytest.fixture(scope="module")
def played(state_dir: Path, loaded: Loaded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a match of the honest bot `mine` against a house bot, two boards: played once for all tests."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "mine.py").write_text(HONEST)
    tute_in(folder, state_dir, loaded)(
        "play", "mine.py", "random", "-g", "partnership", "-n", 2, "--seed", 3, "--log", "games.jsonl", OPEN
    )
    return folder


@pytest.fixture
def log(played: Path, tmp_path: Path) -> Path:
    """Return its log, beside the bot, in the folder of the test."""
    for name in ("mine.py", "games.jsonl"):
        shutil.copy(played / name, tmp_path)
    return tmp_path / "games.jsonl"


def test_the_same_bot_answers_the_same(tute: Tute, log: Path) -> None:
    text = tute("repro", log, "--bot", "mine.py", OPEN).stdout
    data = json.loads(tute("repro", log, "--bot", "mine.py", "--json", OPEN).stdout)

    assert [line.split(":")[0] for line in text.splitlines()[:4]] == [
        "seats A, seat 1",
        "seats A, seat 3",
        "seats B, seat 2",
        "seats B, seat 4",
    ]
    assert "it failed in 0 of 4 conversations" in text
    assert data["same"] is True
    assert all(seat["decisions"] > 5 for seat in data["seats"])
    random = json.loads(tute("repro", log, "--bot", "random", "--json", OPEN).stdout)
    assert random["same"] is True, "its chance follows from the seed in the hello line"


def test_answers_that_differ_are_shown(tute: Tute, log: Path, tmp_path: Path) -> None:
    body = "def act(m): return json.dumps({'id': m['id'], 'do': m['legal'][-1]}) + '\\n'"
    (tmp_path / "new.py").write_text(FRAME.format(body=body))

    text = tute("repro", log, "--bot", "new.py", "--party", 0, OPEN, code=1).stdout
    data = json.loads(tute("repro", log, "--bot", "new.py", "--party", 0, "--pass", "B", "--json", OPEN, code=1).stdout)

    assert "after 0 actions: now " in text or "in the log play" in text
    assert {seat["pass"] for seat in data["seats"]} == {1}
    first = data["seats"][0]["differences"][0]
    assert (first["logged"], first["now"]) == (first["legal"][0], first["legal"][-1])
    assert data["seats"][0]["fault"] is None


def test_it_stops_at_a_fault_with_the_exact_request_and_answer(tute: Tute, log: Path, tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(FRAME.format(body="def act(m): return good(m) if m['id'] < 3 else 'I pass\\n'"))
    lines = tute("repro", log, "--lines", "--pass", "A", "--seat", 3).stdout.splitlines()

    text = tute("repro", log, "--bot", "new.py", "--party", 0, "--pass", "A", "--seat", 3, OPEN, code=1).stdout

    requests = [line for line in lines if line.startswith('{"type":"act"')]
    assert f"  request: {requests[2]}" in text.splitlines()[-4]
    assert "answer:  I pass" in text
    assert "new failed by protocol (board 1, seats A, seat 3, after" in " ".join(text.split())
    assert "2 of 2 answers of new match the log; it failed in 1 of 1 conversations" in text


def test_a_fault_in_the_log_is_met_again(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "weak.py").write_text(FRAME.format(body="def act(m): return good(m) if m['id'] < 4 else sys.exit(7)"))
    tute("play", "weak.py", "random", "-g", "partnership", "-n", 2, "--log", "weak.jsonl", OPEN, code=1)

    again = json.loads(tute("repro", "weak.jsonl", "--bot", "weak.py", "--json", OPEN, code=1).stdout)
    better = json.loads(
        tute("repro", "weak.jsonl", "--bot", "random", "--party", 0, "--pass", "A", "--json", OPEN, code=1).stdout
    )

    assert "crash" in {seat["fault"]["kind"] for seat in again["seats"] if seat["fault"]}
    logged = [difference["logged"] for seat in better["seats"] for difference in seat["differences"]]
    assert "(failed by crash)" in logged


def test_a_program_that_cannot_be_executed_is_told_in_words(tute: Tute, tmp_path: Path) -> None:
    damaged(tmp_path / "broken")
    tute("play", "broken", "random", "-g", "partnership", "-n", 1, "--log", "broken.jsonl", code=1)

    again = json.loads(tute("repro", "broken.jsonl", "--bot", "broken", "--json", code=1).stdout)
    checked = tute("bot", "check", "broken", code=1).stdout

    why = "while starting: bot cannot be executed by the kernel"
    assert [seat["fault"] and seat["fault"]["detail"] for seat in again["seats"]] == [why] * 4
    why = "bot cannot be sealed: it has no loadable segment"  # Partners sit there.
    assert f"damaged does not start: {why}" in " ".join(checked.split())


def test_a_log_that_is_none_is_refused(tute: Tute, log: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("nonsense\n")
    (tmp_path / "half.jsonl").write_text("".join(log.read_text().splitlines(keepends=True)[2:]))

    assert "is not a log" in tute("repro", "bad.jsonl", "--bot", "mine.py", code=2).stderr
    assert "lacks board 1 of pass 0" in tute("repro", "half.jsonl", "--bot", "mine.py", code=2).stderr
    assert "choose with --party" in tute("repro", log, "--bot", "greedy", code=2).stderr
    assert "has no seats H" in tute("repro", log, "--bot", "mine.py", "--pass", "H", code=2).stderr
    assert "give --seat 1 to 4" in tute("repro", log, "--lines", code=2).stderr
    assert "parties 0 to 1" in tute("repro", log, "--bot", "mine.py", "--party", 5, code=2).stderr
