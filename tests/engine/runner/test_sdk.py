"""The SDK in the sandbox: what a bot prints, and files of the bot that are called like modules of Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.runner import BotSpec, Limits, load_package
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import match
from tests.support.parts import mostly_slow

LOUD = """
import logging, os, subprocess, sys
from tute_bot import Bot, run
print("printed while importing")
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
logging.info("logged while importing")
os.write(1, b"written by compiled code\\n")
class MyBot(Bot):
    def __init__(self):
        print("printed in __init__")
    def act(self, view, legal):
        print("printed in act")
        logging.info("logged in act")
        os.write(1, b"written in act\\n")
        return legal[0]
if __name__ == "__main__":
    run(MyBot())
"""
QUIET = """
import random, json, enum, types
from tute_bot import Bot, run
class MyBot(Bot):
    def act(self, view, legal):
        assert random.choice([types.SimpleNamespace(a=1)]).a == 1 and enum.Enum and json.loads("1") == 1
        return legal[0]
if __name__ == "__main__":
    run(MyBot())
"""


def test_what_a_bot_prints_goes_to_its_log(make: Maker, honest: BotSpec, box: Sandbox) -> None:
    result = play_match(match(make(source=LOUD), honest, boards=1), box)

    loud = result.parties[0]
    assert loud.faults == []
    for words in ("printed while importing", "logged while importing", "written by compiled", "printed in __init__"):
        assert words in loud.stderr
    for words in ("printed in act", "logged in act", "written in act"):
        assert words in loud.stderr


@pytest.mark.parametrize(
    "name", mostly_slow(["random", "json", "enum", "types", "posix", "traceback"], ("json", "posix").__contains__)
)
def test_a_bot_may_be_called_like_a_module(name: str, make: Maker, honest: BotSpec, box: Sandbox) -> None:
    result = play_match(match(make(name=name, source=QUIET), honest, boards=1), box)

    assert result.parties[0].faults == []


def test_a_helper_of_a_package_keeps_its_name(tmp_path: Path, state_dir: Path, honest: BotSpec, box: Sandbox) -> None:
    """Look into the folder first, as for a program at home."""
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "packed"\nruntime = "python"\nentry = "bot.py"\ngames = ["partnership"]\n')
    (folder / "queue.py").write_text("OWN = 1\n")
    (folder / "bot.py").write_text("import queue\nassert queue.OWN\n" + QUIET)
    result = play_match(match(load_package(folder, state_dir / "packages"), honest, boards=1), box)

    assert result.parties[0].faults == []


def test_an_answer_that_was_not_flushed_is_named(make: Maker, honest: BotSpec, box: Sandbox) -> None:
    faults = play_match(match(make("def act(m): time.sleep(60)"), honest, boards=1), box).parties[0].faults
    assert "it wrote nothing: stdout is not flushed" in faults[0].detail

    # One that reads on can answer no more, so it is not waited for until its time is up.
    reads_on = match(make("def act(m): return sys.stdin.readline()"), honest, boards=1, limits=Limits())
    (fault, *_) = play_match(reads_on, box).parties[0].faults
    assert "no answer: it waits for its next line" in fault.detail
    assert "it wrote nothing: stdout is not flushed" in fault.detail

    faults = (
        play_match(match(make("def act(m): os.write(1, b'{'); time.sleep(60)"), honest, boards=1), box)
        .parties[0]
        .faults
    )
    assert "it wrote 1 bytes without a newline" in faults[0].detail
