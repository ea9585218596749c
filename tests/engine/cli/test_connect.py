"""`tute remote`: a bot at home hears what it would hear in the sandbox."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from engine.cli import connect

HELLO = (
    '{"type":"hello","protocol":1,"game":"a_dos","options":{},"seats":2,"seat":0,"sides":[[0],[1]],'
    '"boards":1,"limits":{"start_s":5,"move_s":1,"bank_s":3},"seed":7}'
)
BOT = """
import json
line = input()
print(json.dumps({"type": "ready", "name": line}) if line[0] == "{" else "ready " + line, flush=True)
"""


@pytest.mark.parametrize(
    ("protocol", "says"), [("json", '"parameters":{"care":0.5}}'), ("line", "parameters care=0.5")]
)
def test_a_bot_at_home_gets_its_parameters(protocol: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "bot.toml").write_text(
        f'name = "x"\nruntime = "python"\nentry = "bot.py"\nprotocol = "{protocol}"\n'
        "[parameters]\ncare = { start = 0.5, least = 0, most = 1, step = 0.1 }\n"
    )
    bot = connect._bot(argparse.Namespace(path=tmp_path, run=None, games=None, name=None, protocol=None))
    process = connect._HomeProcess(bot)
    try:
        assert json.loads(process.ask(HELLO))["name"].endswith(says)
    finally:
        process.close()
    assert b"care" not in bot.manifest()
