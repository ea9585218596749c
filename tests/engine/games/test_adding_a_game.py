"""docs/adding-a-game.md does what it says: its example, put into a copy of the engine as one new file, is a game."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DRIVER = """
import json, random
import engine
assert "pobre" in engine.games()
rng = random.Random(7)
wins = [0, 0, 0]
for seed in range(20):
    game = engine.load("pobre", match_games=2)
    state = game.new_match(seed=seed)
    while not state.is_over:
        state.apply(rng.choice(state.legal_actions()))
    engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))
    for event in state.events:
        if event["e"] == "score":
            points = event["points"]
            assert points[event["winner"]] == min(points) and sum(points) == 130
            wins[event["winner"]] += 1
try:
    engine.load("pobre", match_games=0)
except engine.OptionError as error:
    print(json.dumps([wins, str(error)]))
"""


def test_the_example_of_the_page_is_a_game_in_one_file(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
    [source] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    [promised] = re.findall(r"OptionError: (.*)", page)
    shutil.copytree(
        ROOT / "engine",
        tmp_path / "engine",
        ignore=shutil.ignore_patterns("runner", "packages", "sandbox", "cli", "__pycache__"),
    )
    (tmp_path / "engine" / "games" / "pobre.py").write_text(source, encoding="utf-8")

    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{DRIVER}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    wins, refusal = json.loads(ran.stdout)
    assert all(wins) and sum(wins) >= 40
    assert refusal == promised
