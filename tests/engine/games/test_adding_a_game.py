"""docs/adding-a-game.md does what it says: its two examples, put into a copy of the project, are a game that passes what every game is asked."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import migrated

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
COPIED = ("CHANGELOG.md", "bots", "docs", "engine", "league", "tests", "Makefile", "manage.py", "pyproject.toml")
BY_HAND = {"engine/games/pobre.py": "python", "tests/cases/pobre.yaml": "yaml"}
WRITTEN = {
    "bots/kits/c/tute.h",
    "bots/kits/go/tute.go",
    "bots/kits/java/Tute.java",
    "bots/kits/javascript/tute.mjs",
    "bots/kits/rust/tute.rs",
    "bots/sdk/tute_bot.py",
    "engine/runner/rare_decisions.json",
    "docs/games.md",
    "tests/engine/golden/pobre.json",
}
# Tests here go over all games: engine, SDK and house bots, runner with sandbox, playouts, adapters, pages
FOLDERS = (
    *("cards", "match", "rules", "rulebook", "search", "adapters"),
    *("test_cases.py", "test_conformance.py", "test_golden.py", "test_replays.py", "test_symmetry.py", "runner/test_games.py"),
)  # fmt: skip
ASKED = (
    *(f"tests/engine/{place}" for place in FOLDERS),
    *("tests/bots/test_house.py", "tests/bots/test_tables.py", "tests/bots/test_view.py"),
    *(
        "tests/league/web/test_parts.py",
        "tests/league/web/matches/test_replay.py",
        "tests/league/web/games/test_rules_pages.py",
    ),
)
# Tests that compare all games with each other
WHOLE = (
    "tests/bots/test_tables.py::test_the_tables_of_the_sdk_are_fresh",
    "tests/engine/cards/test_chance.py::test_golden_deals",
    "tests/engine/rulebook/test_rulebook.py::test_the_index_is_fresh",
    "tests/engine/rulebook/test_rulebook.py::test_ordinary_tute_is_what_the_rules_book_says",
    "tests/engine/search/test_playouts.py::test_functions_of_the_rules_are_known_by_names_of_their_own",
    "tests/engine/test_golden.py::test_no_golden_replay_is_left_over",
    "tests/league/web/test_pages.py::test_pages_keep_the_house_rules",
    "tests/league/web/test_pages.py::test_links_lead_somewhere",
)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", "var"} & set(path.parts)
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_example_of_the_page_is_a_game_by_one_file_and_its_cases(tmp_path: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "var" / "test").mkdir(parents=True)
    database = migrated.sqlite_file().parent  # a game changes no table
    shutil.copytree(database, tmp_path / database.relative_to(ROOT))
    before = contents(tmp_path)
    for name, language in BY_HAND.items():
        [source] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
        (tmp_path / name).write_text(source, encoding="utf-8")

    pytest_in(tmp_path, "-k", "pobre", "tests/bots/test_house.py")  # bots with the SDK of before sit down to it
    for command in commands("texts"):
        run(tmp_path, command)
    after = contents(tmp_path)
    changed = {name for name, content in after.items() if content != before.get(name)}
    output = pytest_in(tmp_path, "-k", "pobre", *ASKED)
    pytest_in(tmp_path, *WHOLE)

    assert changed == {*BY_HAND, *WRITTEN}
    assert int(re.findall(r"(\d+) passed", output)[0]) > 50
    assert "skipped" not in output
    print({name: len(after[name].splitlines()) for name in BY_HAND})


def test_a_refusal_is_as_the_page_shows_it(tmp_path: Path) -> None:
    [source] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    [promised] = re.findall(r"(OptionError: .*)", PAGE)
    program = f"{source}\nimport engine\nengine.Game(GAME, {{'match_games': 0}}, 3)\n"

    process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)

    assert process.stderr.splitlines()[-1].endswith(promised)


def commands(target: str) -> list[str]:
    """Return the commands of a target of the Makefile, with the Python of these tests and the code of the folder they run in."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe
    python = shlex.quote(sys.executable)
    lines = [line.strip().removeprefix("@") for line in recipe[1].splitlines()]
    return [line.replace("$(BIN)/python", python).replace("$(BIN)/tute", f"{python} -m engine.cli") for line in lines]


def pytest_in(folder: Path, *arguments: str) -> str:
    return run(folder, shlex.join([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]))


def run(folder: Path, command: str) -> str:
    process = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=800, check=False)
    assert process.returncode == 0, f"{command}\n{process.stdout[-6000:]}\n{process.stderr[-2000:]}"
    return process.stdout
