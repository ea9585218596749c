"""Puzzles: their text, their solution, and the attempts of a bot."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import puzzles
from engine.analysis import END, decisions
from engine.cli import main
from engine.runner import Limits
from engine.runner.rebuild import exchanges
from engine.search.solving import camps, judge
from tests.engine.test_analysis import played

DEALS = 3
NODES = 1000  # Enough for the last tricks


def find_puzzles(replay: dict[str, Any], **how: Any) -> list[puzzles.Puzzle]:
    return list(puzzles.find(replay, deals=DEALS, nodes=NODES, **how))


def test_where_everything_is_known_the_puzzle_says_what_the_rules_say() -> None:
    """At the end of a game of two all cards are known, so each choice is worth what the real deal is worth after it."""
    count = 0
    for seed in range(1, 30):
        replay = played("two_player", seed)
        by_step = {puzzle.source["step"]: puzzle for puzzle in find_puzzles(replay, margin=3) if puzzle.phase == END}
        for moment in decisions(replay):
            of_moment = by_step.pop(moment.step, None)
            if of_moment is None:
                continue
            state = moment.state
            sign = 1 if state.turn in camps(state)[0] else -1
            worth = {state.game.action_text(action): sign * worth.low for action, worth in judge(state).items()}
            most = max(worth.values())
            assert of_moment.lost == {text: most - value for text, value in worth.items()}
            assert sorted(of_moment.best) == sorted(text for text, value in worth.items() if value == most)
            assert of_moment.margin == min(most - value for value in worth.values() if value < most) >= 3
            assert of_moment.error == 0
            count += 1
        assert not by_step
        if count >= 3:
            return
    pytest.fail("no puzzle was found")


def test_that_a_false_claim_loses_is_no_puzzle() -> None:
    claims = 0
    for seed in (0, 1, 4):
        for puzzle in find_puzzles(played("corriente", seed)):
            wrong = set(puzzle.legal) - set(puzzle.best) - {"claim"}
            assert wrong
            assert puzzle.margin <= min(puzzle.lost[text] for text in wrong) + 0.01
            claims += "claim" in puzzle.legal
    assert claims, "nobody could claim"


@pytest.mark.slow
def test_hidden_cards_are_weighed_and_the_dice_follow_from_the_replay() -> None:
    replays = (played("partnership", seed) for seed in range(2, 20))
    replay = next(
        candidate for candidate in replays if any(puzzle.error for puzzle in find_puzzles(candidate, margin=4))
    )
    puzzles_of_replay = find_puzzles(replay, margin=4)

    assert puzzles_of_replay == find_puzzles(replay, margin=4)
    for puzzle in puzzles_of_replay:
        assert set(puzzle.lost) == set(puzzle.legal) > set(puzzle.best) != set()
        assert puzzle.margin - puzzles.CERTAIN * puzzle.error >= 4
        assert min(value for text, value in puzzle.lost.items() if text not in puzzle.best) >= 4
        assert puzzles.read(puzzle.line()) == puzzle
    assert not find_puzzles(replay, margin=10_000)


def test_what_three_play_for_themselves_has_no_puzzles() -> None:
    assert find_puzzles(played("gana_pierde_3", 1)) == []


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of a real match."""
    path = tmp_path_factory.mktemp("puzzles") / "games.jsonl"
    assert (
        main(
            [
                "play",
                "greedy",
                "random",
                "-g",
                "two_player",
                "-n",
                "1",
                "--seed",
                "5",
                "--log",
                str(path),
                "--no-sandbox",
            ]
        )
        == 0
    )
    return path


FEW = ["--deals", str(DEALS), "--nodes", str(NODES), "--margin", "1"]


@pytest.fixture(scope="module")
def file(log: Path) -> Path:
    """Return its puzzles, found by the command."""
    path = log.with_name("puzzles.jsonl")
    assert main(["puzzles", "find", str(log), *FEW, "-o", str(path)]) == 0
    return path


@pytest.fixture
def puzzles_of_log(file: Path) -> list[puzzles.Puzzle]:
    lines = [puzzles.read(line) for line in file.read_text().splitlines()]
    assert lines, "no puzzle was found"
    return lines


@pytest.mark.slow
def test_a_puzzle_tells_a_bot_what_its_seat_was_sent_and_nothing_else(
    log: Path, puzzles_of_log: list[puzzles.Puzzle]
) -> None:
    count = 0
    for line in log.read_text().splitlines():
        replay = json.loads(line)
        steps = {
            puzzle.source["step"]: puzzle
            for puzzle in puzzles_of_log
            if puzzle.source["sitting"] == replay["meta"]["sitting"]
        }
        events: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for sent in exchanges([replay]):
            request = json.loads(sent.request)
            events[sent.seat] += request.get("events", [])
            if sent.answer is None or sent.step not in steps:
                continue
            of_step, count = steps[sent.step], count + 1
            hello, again = (json.loads(line.request) for line in puzzles.exchanges(of_step, Limits()))
            assert events[sent.seat] == again["events"] == of_step.events
            assert again["legal"] == request["legal"] == of_step.legal
            assert (hello["game"], hello["seat"], hello["seats"]) == ("two_player", sent.seat, 2)
    assert count == len(puzzles_of_log)


def test_the_commands_find_puzzles_and_put_them_to_bots(
    log: Path, file: Path, puzzles_of_log: list[puzzles.Puzzle], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["puzzles", "find", str(log), *FEW, "-o", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert [puzzles.read(line) for line in file.read_text().splitlines()] == puzzles_of_log

    def try_a_bot(answers: list[str], *words: str) -> str:
        bot = tmp_path / "knowing.py"
        bot.write_text(
            KNOWING.format([(puzzle.legal, answer) for puzzle, answer in zip(puzzles_of_log, answers, strict=True)])
        )
        assert main(["puzzles", "try", str(bot), str(file), "--no-sandbox", *words]) == 0
        return capsys.readouterr().out

    right = [puzzle.best[0] for puzzle in puzzles_of_log]
    result = json.loads(try_a_bot(right, "--json"))
    assert [row["answer"] for row in result["answers"]] == right
    assert result["sums"]["all"]["solved"] == 1
    assert result["sums"]["two_player"]["lost"] == 0

    text = try_a_bot([max(puzzle.lost, key=lambda text, item=puzzle: item.lost[text]) for puzzle in puzzles_of_log])
    worst = max(puzzles_of_log, key=lambda puzzle: max(puzzle.lost.values()))
    assert f"{worst.id}: " in text
    assert "0% (0% to" in text

    dead = tmp_path / "dead.py"
    dead.write_text("raise SystemExit(3)\n")
    assert main(["puzzles", "try", str(dead), str(file), "--json", "--no-sandbox"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert all(row["answer"] is None and row["fault"] for row in result["answers"])
    assert result["sums"]["all"]["lost"] == pytest.approx(
        sum(max(puzzle.lost.values()) for puzzle in puzzles_of_log) / len(puzzles_of_log)
    )


KNOWING = """
import json, sys
KNOWN = {!r}
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "hello":
        print(json.dumps({{"type": "ready"}}), flush=True)
    elif told["type"] == "act":
        do = next(do for legal, do in KNOWN if legal == told["legal"])
        print(json.dumps({{"id": told["id"], "do": do}}), flush=True)
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "tute-puzzle/2"}, "its format is not"),
        ({"best": ["play 9x"]}, "contradict"),
        ({"events": []}, "its id does not match its position"),
        ({"game": "poker"}, "it is not a puzzle"),
        ({"legal": 3}, "it is not a puzzle"),
        ({"best": [["play 1o"]]}, "wrong type"),
        ({"lost": {"play 1o": "much"}}, "wrong type"),
        ({"margin": float("nan")}, "not finite"),
        ({"more": 1}, "it is not a puzzle"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    change: dict[str, Any],
    message: str,
    puzzles_of_log: list[puzzles.Puzzle],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    puzzle = puzzles_of_log[0]
    file = tmp_path / "puzzles.jsonl"
    file.write_text(puzzle.line() + "\n" + json.dumps(json.loads(puzzle.line()) | change) + "\n")

    assert main(["puzzles", "try", "random", str(file)]) == 2
    error = capsys.readouterr().err
    assert "line 2" in error
    assert message in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["find", "{log}", "--deals", "1"], "--deals 1 is too small; give at least 2"),
        (["find", "{log}", "other"], "takes one log"),
        (["try", "random"], "the file of the puzzles is missing"),
        (["try", "random", "{empty}"], "is empty"),
        (["try", "random", "{blank}"], "is empty"),
        (["try", "random", "{binary}"], "is not a file of puzzles"),
    ],
)
def test_wrong_input_is_told(
    words: list[str], message: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, blank, binary = (tmp_path / f"{name}.jsonl" for name in ("empty", "blank", "binary"))
    empty.touch()
    blank.write_text("\n\n")
    binary.write_bytes(b"PK\x03\x04\xff")
    files = {"log": log, "empty": empty, "blank": blank, "binary": binary}

    assert main(["puzzles", *(word.format(**files) for word in words)]) == 2
    assert message in capsys.readouterr().err


def test_a_score_has_its_intervals(puzzles_of_log: list[puzzles.Puzzle]) -> None:
    puzzle = puzzles_of_log[0]
    score = puzzles.Score([], [])
    for _ in range(2):
        score.add(puzzle, puzzle.best[0])
        score.add(puzzle, None)

    assert score.share == (0.5, *engine.intervals.wilson(0.5, 4))
    assert score.mean[0] == max(puzzle.lost.values()) / 2
    assert score.mean[1] > score.mean[0]


@pytest.mark.slow
def test_a_log_that_cannot_be_read_leaves_no_file_and_takes_none(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    broken, out, existing = tmp_path / "broken.jsonl", tmp_path / "out.jsonl", tmp_path / "mine.jsonl"
    broken.write_text("".join(json.dumps(line | {"meta": None}) + "\n" for line in lines))
    existing.write_text("mine")

    for place in (out, existing):
        assert main(["puzzles", "find", str(broken), *FEW, "-o", str(place)]) == 2
        assert str(broken) in capsys.readouterr().err or place == existing
    assert not out.exists()
    assert existing.read_text() == "mine"
