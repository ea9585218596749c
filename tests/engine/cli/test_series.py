"""`tute play` in many matches: on several cores, killed half way, ended by a test."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.cli import table
from engine.cli.problem import Problem
from engine.cli.series import Sequential
from engine.studying import BOARDS
from tests.engine.cli.conftest import ROOT, Tute
from tests.support.bots import FRAME, HONEST

PLAY = ("play", "random", "random", "-g", "a_dos", "-n", BOARDS + 4, "--seed", 5, "--sandbox", "none")
DEADLINE_S = 120


def cards(log: Path) -> list[object]:
    """Return the actions of each sitting, without their times."""
    replays = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        (replay["meta"]["match"], replay["meta"]["board"], replay["meta"]["sitting"], replay["actions"])
        for replay in replays
    ]


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_jobs(tute: Tute, tmp_path: Path) -> None:
    single = json.loads(tute(*PLAY, "--jobs", 1, "--log", "one.jsonl", "--json").stdout)
    two = json.loads(tute(*PLAY, "--jobs", 2, "--log", "two.jsonl", "--json").stdout)

    assert single["boards"] == two["boards"]
    assert [board["number"] for board in single["boards"]] == list(range(1, BOARDS + 5))
    scores = [board["scores"] for board in single["boards"]]
    assert scores[:4] != scores[BOARDS:], "each match has cards and seeds of its own"
    assert cards(tmp_path / "one.jsonl") == cards(tmp_path / "two.jsonl")


def descendants(pid: int) -> set[int]:
    """Return the processes that a process and its children have started."""
    tasks = Path(f"/proc/{pid}/task")
    children = {int(child) for file in tasks.glob("*/children") for child in file.read_text().split()}
    return children.union(*map(descendants, children))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [(*PLAY, "-n", 400, "--jobs", 2), ("probe", "random", "-g", "a_dos", "--jobs", 2, "--sandbox", "none")]
)
def test_nothing_survives_a_killed_command(command: tuple[object, ...], state_dir: Path, tmp_path: Path) -> None:
    env = {**os.environ, "STATE_DIR": str(state_dir), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "engine.cli", *map(str, command)]
    main = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + DEADLINE_S
    while len(started := descendants(main.pid)) < 6:  # Two players, their forkservers and bots.
        assert main.poll() is None
        assert time.monotonic() < until, started
        time.sleep(0.05)
    main.kill()
    main.wait()

    while alive := [pid for pid in started if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < until, alive
        time.sleep(0.05)


@pytest.mark.slow
def test_a_series_killed_half_way_goes_on_and_ends_the_same(tute: Tute, state_dir: Path, tmp_path: Path) -> None:
    words = (*PLAY, "--jobs", 1, "--log", "games.jsonl", "--resume", "series.jsonl")
    env = {**os.environ, "STATE_DIR": str(state_dir), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "engine.cli", *map(str, words)]
    first = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal, log = tmp_path / "series.jsonl", tmp_path / "games.jsonl"
    until = time.monotonic() + DEADLINE_S
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < until, "no match was finished"
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    lines = journal.read_bytes().splitlines(keepends=True)[:2]
    journal.write_bytes(b"".join(lines) + b'{"boards":[{"num')  # killed while it wrote
    with log.open("a") as file:
        file.write('{"format":')

    result = json.loads(tute(*words, "--json").stdout)
    fresh = json.loads(tute(*PLAY, "--jobs", 1, "--log", "fresh.jsonl", "--json").stdout)

    assert result["boards"] == fresh["boards"]
    assert [party["decisions"] for party in result["parties"]] == [party["decisions"] for party in fresh["parties"]]
    assert cards(log) == cards(tmp_path / "fresh.jsonl")
    assert journal.read_bytes().splitlines(keepends=True)[:2] == lines, "what was finished is not played again"
    again = json.loads(tute(*words, "--json").stdout)
    assert again["boards"] == result["boards"], "with all finished, nothing is left to do"
    other = tute("play", "random", "greedy", *words[3:], code=2).stderr
    assert "belongs to another series: its bots is" in other
    log.write_text("")
    assert "has 0 bytes, but its series had written" in tute(*words, code=2).stderr
    journal.write_text("hello\n")
    assert "is not the journal of a series" in tute(*words, code=2).stderr


@pytest.mark.slow
def test_a_test_ends_the_series(tute: Tute) -> None:
    words = ("play", "greedy", "random", "-g", "partnership", "--seed", 1, "--sandbox", "none", "--sprt", 0, 100)

    result = json.loads(tute(*words, "--json").stdout)
    short = tute(*words, "-n", 2).stdout

    test = result["sprt"]
    assert test["accepted"] == "elo1"
    assert test["llr"] >= test["upper"] > 2.9
    assert test["won"] + test["drawn"] + test["lost"] == len(result["boards"])
    assert len(result["boards"]) % BOARDS == 0
    assert len(result["boards"]) < 10 * BOARDS
    assert "Undecided between 0 and 100 Elo" in " ".join(short.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sprt", 20, 0), "the first bound must be less"),
        (("--jobs", 0), "give at least 1"),
    ],
)
def test_bad_input_says_what_to_do(words: tuple[object, ...], message: str, tute: Tute) -> None:
    assert message in tute("play", "random", "random", "-g", "a_dos", *words, code=2).stderr


def test_the_test_needs_two_bots(tute: Tute) -> None:
    output = tute("play", "random", "random", "random", "-g", "cabrero", "--sprt", 0, 20, code=2).stderr

    assert "--sprt compares two bots, not 3" in output


def test_the_test_counts_boards_of_the_first_bot() -> None:
    test = Sequential(0, 20).result([(3, 1)] * 5 + [(1, 1)] * 2 + [(0, 1)])

    assert (test["won"], test["drawn"], test["lost"], test["accepted"]) == (5, 2, 1, None)


def test_a_bot_that_fails_makes_the_exit_code_1(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(HONEST)
    (tmp_path / "wrong.py").write_text("def (:\n")
    (tmp_path / "late.py").write_text(FRAME.format(body="def act(m): return good(m) if m['id'] < 9 else sys.exit(3)"))

    assert "SyntaxError" in tute("play", "wrong.py", "right.py", "-g", "a_dos", "-n", 1, "--no-sandbox", code=1).stdout
    failed = json.loads(
        tute("play", "late.py", "right.py", "-g", "a_dos", "-n", 1, "--no-sandbox", "--json", code=1).stdout
    )
    assert {fault["kind"] for fault in failed["parties"][0]["faults"]} == {"crash"}
    assert failed["parties"][1]["faults"] == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("guinote", "guinote"),
        ("Guiñote", "guinote"),
        ("tute por parejas", "partnership"),
        ("PAREJAS", "partnership"),
        ("two-player", "two_player"),
        ("Tute a dos", "two_player"),
        ("tute  de a dos", "a_dos"),
    ],
)
def test_a_game_is_found_by_its_names(text: str, key: str) -> None:
    assert table.find_game(text) == key


def test_a_mistyped_name_gets_the_nearest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "champion.py").write_text(HONEST)

    with pytest.raises(Problem, match=r"did you mean 'guinote'\?"):
        table.find_game("guiñot")
    with pytest.raises(Problem, match=r"did you mean 'greedy'\?"):
        table.find_bot("gredy")
    with pytest.raises(Problem, match=r"did you mean 'champion.py'\?"):
        table.find_bot("champoin.py")
