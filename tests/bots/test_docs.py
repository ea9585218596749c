"""The bots of docs/first-bot.md play as printed, and get better from step to step."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from engine.game import load
from engine.packages import manifest
from tests.bots.harness import ROOT, SDK, Duel, tute_bot
from tests.bots.test_kits import play_seat

STEPS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "first-bot.md").read_text(encoding="utf-8"), re.DOTALL)


def bot_class(source: str) -> type[tute_bot.Bot]:
    """Return the bot class of a step, without starting it."""
    names: dict[str, object] = {}
    exec(source.replace("run(MyBot())", ""), names)
    return names["MyBot"]


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("key", ["partnership", "corriente", "subastado"])
def test_step_plays(step: int, key: str, tmp_path: Path) -> None:
    file = tmp_path / "step.py"
    file.write_text(STEPS[step])

    assert play_seat([sys.executable, str(file)], key, {"PYTHONPATH": str(SDK)}) > 0


def test_first_step_is_ten_lines() -> None:
    assert len(STEPS) == 4
    assert len(STEPS[0].splitlines()) == 9


def test_last_step_beats_the_first() -> None:
    duel = Duel(load("partnership"), bot_class(STEPS[3]), bot_class(STEPS[0]), range(60))

    assert duel.mean - duel.mean_half_width > 0, str(duel)


def test_example_of_bot_toml_is_accepted() -> None:
    text = (ROOT / "docs" / "bot-package.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]

    result = manifest.parse(example.encode(), ["bot.py", "bot.toml"], ["partnership"])

    assert result.name == tomllib.loads(example)["name"]
