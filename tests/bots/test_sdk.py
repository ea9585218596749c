"""The one-file SDK as a bot author meets it: real processes, real lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bots.harness import SDK, tute_bot

HELLO = {
    "type": "hello", "protocol": 1, "game": "partnership", "revision": 1, "options": {}, "seats": 4, "seat": 2,
    "sides": [[0, 2], [1, 3]], "boards": 1, "limits": {"start_s": 5, "move_s": 0.5, "bank_s": 3}, "seed": 812736,
}  # fmt: skip
HAND = ["1o", "Ro", "Co", "4o", "3c", "5c", "Re", "2e", "7b", "6b"]
DEAL = {
    "e": "deal", "board": 1, "deal": 1, "dealer": 3, "mano": 0, "out": [], "trump": "b", "shown": "Rb", "holder": 3,
    "stock": 0, "hand": HAND, "counts": [10, 10, 10, 10],
}  # fmt: skip
PLAYS = [{"e": "play", "seat": 0, "card": "4c"}, {"e": "play", "seat": 1, "card": "2b"}]
ACT = {"type": "act", "id": 1, "events": [DEAL, *PLAYS], "legal": ["play 3c", "play 5c"], "bank_s": 2.5}
END = {"type": "end", "events": [], "result": {"scores": [1, 2, 1, 2]}}
TEN_LINES = """
from tute_bot import Bot, run

class MyBot(Bot):
    def act(self, view, legal):
        {body}
        return legal[0]

run(MyBot({arguments}){options})
"""


def talk(
    folder: Path, body: str, *requests: dict, options: str = "", arguments: list[str] | None = None
) -> subprocess.CompletedProcess:
    """Run a ten-line bot on some request lines."""
    file = folder / "my_bot.py"
    file.write_text(TEN_LINES.format(body=body, options=options, arguments=""))
    text = "".join(json.dumps(request) + "\n" for request in requests)
    environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONUNBUFFERED": ""}
    return subprocess.run(
        [sys.executable, str(file), *(arguments or [])],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )


def test_ten_lines_make_a_bot(tmp_path: Path) -> None:
    process = talk(tmp_path, "pass", HELLO, ACT, END)

    assert [json.loads(line) for line in process.stdout.splitlines()] == [
        {"type": "ready", "name": "MyBot"},
        {"id": 1, "do": "play 3c"},
    ]
    assert (process.returncode, process.stderr) == (0, "")


def test_answer_comes_before_the_next_request(tmp_path: Path) -> None:
    """The SDK flushes though stdout is a pipe: a referee waits for each line."""
    file = tmp_path / "my_bot.py"
    file.write_text(TEN_LINES.format(body="pass", options="", arguments=""))
    environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONUNBUFFERED": ""}
    bot = subprocess.Popen(
        [sys.executable, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )

    answers = []
    for request in (HELLO, ACT):
        bot.stdin.write(json.dumps(request) + "\n")
        bot.stdin.flush()
        answers.append(json.loads(bot.stdout.readline()))
    bot.stdin.close()

    assert [answer.get("do") for answer in answers] == [None, "play 3c"]
    assert bot.wait(timeout=30) == 0
    bot.stdout.close()


def test_print_goes_to_the_log(tmp_path: Path) -> None:
    process = talk(tmp_path, "print('my hand', view.hand[0])", HELLO, ACT)

    assert len(process.stdout.splitlines()) == 2
    assert process.stderr == "my hand 1o\n"


def test_note_goes_with_one_answer(tmp_path: Path) -> None:
    body = "self.note('why not') if len(legal) == 2 else None"
    process = talk(tmp_path, body, HELLO, ACT, {**ACT, "id": 2, "events": [], "legal": ["play 5c", "play 3c", "pass"]})

    assert [json.loads(line) for line in process.stdout.splitlines()][1:] == [
        {"id": 1, "do": "play 3c", "note": "why not"},
        {"id": 2, "do": "play 5c"},
    ]


def test_unknown_events_and_messages_are_passed_over(tmp_path: Path) -> None:
    strange = {**ACT, "events": [DEAL, {"e": "comet", "seat": 9}, {"nothing": 1}, *PLAYS], "news": True}
    process = talk(tmp_path, "assert view.table == [(0, '4c'), (1, '2b')]", HELLO, {"type": "gossip"}, strange)

    assert json.loads(process.stdout.splitlines()[-1]) == {"id": 1, "do": "play 3c"}
    assert "gossip" in process.stderr


def test_exception_is_a_crash_with_a_traceback(tmp_path: Path) -> None:
    process = talk(tmp_path, "view.hand['x']", HELLO, ACT)

    assert process.returncode == 1
    assert "TypeError" in process.stderr


def test_rescue_plays_on_and_says_so(tmp_path: Path) -> None:
    process = talk(tmp_path, "view.hand['x']", HELLO, ACT, options=", rescue=True")

    answer = json.loads(process.stdout.splitlines()[-1])
    assert (answer["do"], process.returncode) == ("play 3c", 0)
    assert "rescued" in answer["note"]
    assert "TypeError" in process.stderr


def test_replay_puts_recorded_lines_to_the_bot(tmp_path: Path) -> None:
    lines = [HELLO, ACT, {"id": 1, "do": "play 5c"}, END]
    recording = tmp_path / "requests.jsonl"
    recording.write_text("".join(f"> {json.dumps(line)}\n" for line in lines) + "# a remark\n")

    process = talk(tmp_path, "pass", arguments=["--replay", str(recording), "--view"])

    assert process.returncode == 0, process.stderr
    assert "play 3c" in process.stdout
    assert "recorded: play 5c" in process.stdout
    assert "hand 1o Ro Co 4o" in process.stdout
    assert process.stdout.endswith("1 decisions, 0 not legal\n")


def test_replay_marks_illegal_answers(tmp_path: Path) -> None:
    recording = tmp_path / "requests.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in (HELLO, ACT)))

    process = talk(tmp_path, "return 'play 9z'", arguments=["--replay", str(recording)])

    assert process.returncode == 1
    assert "NOT LEGAL" in process.stdout


def test_start_up_imports_little() -> None:
    """Start-up counts at every pass of every match, so the SDK imports nothing heavy."""
    code = "import sys, tute_bot, tute_sense; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SDK)},
    )  # fmt: skip

    heavy = {"random", "typing", "dataclasses", "inspect", "pathlib", "argparse", "asyncio", "socket", "engine"}
    assert not heavy.intersection(process.stdout.split())


# --- the view, by hand ------------------------------------------------------------------------------------------------


@pytest.fixture
def view() -> tute_bot.View:
    view = tute_bot.View(HELLO)
    for event in (DEAL, *PLAYS):
        view.see(event)
    return view


def test_view_of_a_trick(view: tute_bot.View) -> None:
    assert view.hand == ["1o", "Ro", "Co", "4o", "3c", "5c", "Re", "2e", "7b", "6b"]
    assert (view.led, view.leader, view.best, view.trick_points) == ("c", 0, (1, "2b"), 0)
    assert view.to_follow() == [3]
    assert view.partners == [0]
    assert not view.would_win("3c")
    assert view.would_win("6b")


def test_view_knows_what_play_proves(view: tute_bot.View) -> None:
    """Seat 1 trumped a cup: it holds no cups. Seat 3 showed the king of batons when dealing."""
    assert view.voids(1) == "c"
    assert view.is_void(1, "c")
    assert not view.may_hold(1, "1c")
    assert view.may_hold(3, "Rb")
    assert not view.may_hold(0, "Rb")
    assert view.known[3] == {"Rb"}
    assert not view.is_safe("6b")
    assert not view.is_master("3c")
    assert view.is_master("1o")


def test_view_of_a_taken_trick(view: tute_bot.View) -> None:
    for event in (
        {"e": "play", "seat": 2, "card": "5c"},
        {"e": "play", "seat": 3, "card": "1c"},
        {"e": "trick", "seat": 1, "points": 11, "cards": ["4c", "2b", "5c", "1c"]},
        {"e": "song", "seat": 1, "suit": "e", "points": 20, "cards": ["Re", "Ce"]},
    ):
        view.see(event)

    assert "5c" not in view.hand
    assert (view.tricks, view.taken, view.points(1), view.side_points(1)) == ([0, 1, 0, 0], [0, 11, 0, 0], 31, 31)
    assert view.known[1] == {"Re", "Ce"}
    assert view.counts == [9, 9, 9, 9]
    assert (view.table, view.led, view.best) == ([], None, None)


def test_guinote_ranks_the_jack_above_the_horse() -> None:
    view = tute_bot.View({**HELLO, "game": "guinote"})

    assert view.strength("So") > view.strength("Co")
    assert (view.value("So"), view.value("Co")) == (3, 2)


def test_unknown_game_counts_as_ordinary_tute() -> None:
    view = tute_bot.View({**HELLO, "game": "tomorrow", "options": {"undertrump": True, "unheard": [1]}})

    assert view.rule("undertrump") is True
    assert view.rule("unheard") == [1]
    assert len(view.pack) == 40


def test_cards_and_actions() -> None:
    assert (tute_bot.rank("Ro"), tute_bot.suit("Ro")) == ("R", "o")
    assert tute_bot.parse("discard 4o 2c") == ("discard", "4o 2c")
    assert tute_bot.parse("pass") == ("pass", "")
    assert tute_bot.plays(["sing o", "play 1o", "play", "pass"]) == ["1o"]
