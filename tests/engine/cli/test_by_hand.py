"""docs/fairness.md: the check by hand, run as it stands there."""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cards import chance
from tests.engine.cli.conftest import Tute
from tests.support.parts import mostly_slow

ROOT = Path(__file__).resolve().parents[3]
BOTS = ROOT / "bots" / "house"


@pytest.mark.parametrize("game", mostly_slow(["partnership", "guinote", "corriente"], "partnership".__eq__))
def test_the_program_of_the_page_deals_the_same_cards(tute: Tute, tmp_path: Path, game: str) -> None:
    source = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "fairness.md").read_text(encoding="utf-8"), re.DOTALL)
    assert source
    assert "import engine" not in source[1]
    tute(
        "play",
        BOTS / "random",
        BOTS / "greedy",
        "-g",
        game,
        "-n",
        2,
        "--seed",
        "by hand",
        "--log",
        "log.jsonl",
        "--no-sandbox",
    )
    log = tmp_path / "log.jsonl"

    def check(secret: bytes) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-I", "-c", source[1], secret.hex(), log]
        return subprocess.run(words, capture_output=True, text=True, timeout=400, check=False)

    right = check(chance.as_seed("by hand"))
    assert right.returncode == 0, right.stderr
    assert right.stdout.count("dealt as promised") == 4
    assert "another secret" in check(chance.as_seed("by foot")).stderr
    card = log.read_text(encoding="utf-8")
    hands = re.search(r'"hands":\[\["(\w+)".*?\],\["(\w+)"', card)
    assert hands
    swapped = card.replace(hands[1], "?").replace(hands[2], hands[1]).replace("?", hands[2])
    log.write_text(swapped, encoding="utf-8")
    assert "was dealt other cards" in check(chance.as_seed("by hand")).stderr


def test_the_commands_of_the_page_give_commitment_and_key() -> None:
    page = (ROOT / "docs" / "fairness.md").read_text(encoding="utf-8")
    secret = chance.as_seed("by hand")
    commitment, key = [
        subprocess.run(
            ["sh", "-c", line.strip().replace("python3", shlex.quote(sys.executable))],
            env={"SECRET": secret.hex()}, capture_output=True, text=True, timeout=400, check=True,
        ).stdout.strip()
        for line in page.splitlines()
        if line.startswith("    python3 -c")
    ]  # fmt: skip
    assert commitment == hashlib.sha256(secret).hexdigest()
    assert key == chance.board_seed(secret, "partnership", "1-2", 1).hex()
