"""`tute audit`: a logged match compared with what the bot plays among stand-ins."""

import json
from pathlib import Path

import pytest

from tests.engine.cli.conftest import Tute
from tests.support.bots import FRAME, HONEST


@pytest.mark.slow
def test_a_bot_that_plays_by_itself_passes_and_another_in_its_place_does_not(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HONEST)
    body = "def act(m): return json.dumps({'id': m['id'], 'do': m['legal'][-1]}) + '\\n'"
    (tmp_path / "new.py").write_text(FRAME.format(body=body))
    tute("play", "mine.py", "random", "-g", "partnership", "-n", 2, "--seed", 3, "--log", "games.jsonl")

    lines = tute("audit", "games.jsonl", "mine.py").stdout.splitlines()
    other = json.loads(tute("audit", "games.jsonl", "new.py", "--party", 0, "--json", code=1).stdout)

    assert [line.split(" (")[0] for line in lines] == [
        f"seats {letter}, seat {seat}: all three gave the same answers"
        for letter, seat in (("A", 1), ("A", 3), ("B", 2), ("B", 4))
    ]
    assert other["good"] is False
    first = other["seats"][0]["first"]
    assert (first["logged"], first["runs"]) == (first["legal"][0], [first["legal"][-1]] * 2)


def test_a_log_that_is_none_and_a_party_that_is_none_are_refused(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("nonsense\n")

    assert "is not a log" in tute("audit", "bad.jsonl", "random", code=2).stderr
