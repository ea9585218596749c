"""README.md keeps its promises: the bot in it plays, and every file and target that it names exists."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.cgroups import reservations
from tests.support.compose import TOP

README = (TOP / "README.md").read_text(encoding="utf-8")


def first_bot() -> str:
    match = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert match
    return match.group(1)


def played(command: str) -> dict:
    """Return the report of a `tute play`."""
    tute = [sys.executable, "-m", "engine.cli"]
    process = subprocess.run(
        [*tute, *command.split(), "--seed=readme", "--json"], cwd=TOP, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads(process.stdout)


def test_the_first_bot_has_ten_lines_and_plays_a_match(tmp_path: Path) -> None:
    code = first_bot()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    bot = tmp_path / "rufo.py"
    bot.write_text(code, encoding="utf-8")
    command = re.search(r"^ +\.venv/bin/tute (play rufo\.py .*)$", README, flags=re.MULTILINE)
    assert command
    report = played(command.group(1).replace("rufo.py", str(bot)))
    assert [party["faults"] for party in report["parties"]] == [[], []]
    assert report["parties"][0]["clear"], "for certain, as README says"
    assert report["parties"][0]["difference"] > 0


@pytest.mark.slow
def test_the_first_bot_is_no_fool_at_a_game_of_claims_and_exchanges_either(tmp_path: Path) -> None:
    bot = tmp_path / "rufo.py"
    bot.write_text(first_bot(), encoding="utf-8")
    for game in ("corriente", "havanian"):
        report = played(f"play {bot} random -g {game} -n 10")
        assert report["parties"][0]["won"] > report["parties"][0]["lost"], game


def test_every_file_that_the_documents_link_to_is_there() -> None:
    missing = []
    for document in [TOP / "README.md", TOP / "CHANGELOG.md", *(TOP / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
            target = link.split("#")[0]
            elsewhere = not target or "://" in target or target.startswith("mailto:")
            if not elsewhere and not (document.parent / target).exists():
                missing.append(f"{document.relative_to(TOP)} -> {link}")
    assert missing == []


def test_every_make_target_and_management_command_that_it_names_exists() -> None:
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    names = set(re.findall(r"`make ([a-z]+)", README)) | set(
        re.findall(r"^ +make ([a-z]+)", README, flags=re.MULTILINE)
    )
    assert {"demo", "test", "serve", "help"} <= names <= targets


def test_the_picture_is_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures
    assert all((TOP / picture).stat().st_size < 150_000 for picture in pictures)


def test_the_reference_for_operators_lists_every_setting() -> None:
    text = (TOP / "docs" / "operations" / "reference.md").read_text(encoding="utf-8")
    read = set()
    for source in (TOP / "league").rglob("*.py"):
        read |= set(
            re.findall(
                r"""env(?:str|int|bool|choice|list|proxies|secret)\(\s*"([A-Z_]+)\"""",
                source.read_text(encoding="utf-8"),
            )
        )
    read.add(reservations.SETTING)  # the engine's only one
    assert {"DATABASE_URL", "SANDBOX_MIN_TIER"} <= read
    assert sorted(name for name in read if f"`{name}`" not in text) == []
    table = re.findall(
        r"^\| (`[A-Z][^|]+) \|", text.partition("## Settings")[2].partition("## Commands")[0], flags=re.MULTILINE
    )
    names = set(re.findall(r"`([A-Z_]+)`", " ".join(table)))
    assert len(names) > 15
    assert sorted(names - read) == [], "documented, but read nowhere"


def test_the_pages_for_operators_name_only_commands_that_exist() -> None:
    text = README + "".join(page.read_text(encoding="utf-8") for page in (TOP / "docs" / "operations").glob("*.md"))
    present = {path.stem for path in (TOP / "league" / "management" / "commands").glob("[a-z]*.py")}
    names = set(re.findall(r"manage\.py ([a-z_]+)", text))
    assert sorted(names - present - {"migrate", "collectstatic", "check", "help"}) == []
