"""Every runtime in the sandbox: the kits, built as their first lines say, play matches in every tier that holds here."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.runner import BotSpec, Limits, load_package, runtimes
from engine.runner.match import play_match
from engine.sandbox import Sandbox, check
from tests.support import languages
from tests.support.bots import match
from tests.support.parts import mostly_slow

KITS = Path(__file__).resolve().parents[3] / "bots" / "kits"


def build_c(folder: Path) -> None:
    program = languages.build("cc", "-O2", "-static", source=folder / "bot.c", beside=(folder / "tute.h",))
    shutil.copy(program, folder / "bot")


def build_rust(folder: Path) -> None:
    options = ["-O", "-C", "target-feature=+crt-static", "-C", "panic=abort", "-C", "strip=symbols", "-D", "warnings"]
    program = languages.build("rustc", *options, source=folder / "bot.rs", beside=(folder / "tute.rs",))
    shutil.copy(program, folder / "bot")
    assert (folder / "bot").stat().st_size < 2 << 20  # a language's library inside, and still small


def nothing(folder: Path) -> None:
    """Build nothing: a script needs no building."""


BUILDS: dict[str, tuple[str, str, Callable[[Path], None]]] = {
    "c": ("cc", "binary", build_c),
    "rust": ("rustc", "binary", build_rust),
    "javascript": ("node", "node", nothing),
}


@pytest.fixture(scope="module")
def boxes(state_dir: Path) -> list[Sandbox]:
    tiers = [report.name for report in check(state_dir) if report.holds and report.name != "none"]
    assert tiers
    return [Sandbox(name, state_dir) for name in tiers]


@pytest.mark.parametrize("kit", mostly_slow(sorted(path.name for path in KITS.iterdir() if path.is_dir()), "c".__eq__))
def test_kit_plays_in_the_sandbox(
    kit: str, boxes: list[Sandbox], honest: BotSpec, tmp_path: Path, state_dir: Path
) -> None:
    tool, runtime, build = BUILDS[kit]
    languages.find(tool)
    folder = tmp_path / kit
    shutil.copytree(KITS / kit, folder)
    build(folder)
    bot = load_package(folder, state_dir / "packages")

    for box in boxes:
        result = play_match(match(bot, honest, game="a_dos", boards=2, limits=Limits()), box)

        assert [party.faults for party in result.parties] == [[], []], box.tier
        assert all(board.complete for board in result.boards)
        assert result.parties[0].decisions > 10
        played_by = f"{runtime} {runtimes.get(runtime, state_dir).hash}"
        assert played_by in result.host["runtime_hash"].split(", ")
