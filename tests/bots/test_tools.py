"""From a replay back to the requests that a seat was sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import engine
from bots.tools import requests
from tests.bots.harness import house, play, tute_bot


@pytest.mark.parametrize("key", ["partnership", "corriente"])
def test_requests_repeat_the_sitting(key: str, tmp_path: Path) -> None:
    """A bot without chance answers the rebuilt requests as it answered the referee."""
    game = engine.load(key)
    state, _ = play(game, [house("greedy")] * game.players, 3, deals=2)
    replay = json.loads(json.dumps(engine.replay.make(state, {"board": 7})))

    lines = list(requests.requests(replay, 1))

    session = tute_bot.Session(house("greedy")())
    answers = [session.answer(line) for line in lines if "type" in line]
    assert [a for a in answers if a and "do" in a] == [line for line in lines if "do" in line]
    assert session.view.board == 7
    assert len(answers) > 10


def test_requests_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = engine.load("partnership")
    replays = [engine.replay.make(play(game, [house("random")] * 4, seed)[0], {}) for seed in (1, 2)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(replay) + "\n" for replay in replays))

    assert requests.main([str(log), "--seat", "2", "--number", "2"]) == 0
    hello, first, *_ = capsys.readouterr().out.splitlines()
    assert json.loads(hello)["seat"] == 2
    told = next(event for event in json.loads(first)["events"] if event["e"] == "deal")
    truth = next(event for event in replays[1]["events"] if event["e"] == "deal")
    assert told["hand"] == truth["hands"][2]


@pytest.mark.parametrize(("text", "arguments"), [("{}", []), ("nonsense", []), ("[1]", []), ("{}", ["--number", "3"])])
def test_requests_of_something_else(
    text: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)

    assert requests.main([str(file), "--seat", "0", *arguments]) == 2
    assert "cannot be turned into requests" in capsys.readouterr().err
