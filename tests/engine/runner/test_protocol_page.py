"""docs/protocol.md against the program: its exchange, its faults, its events.

After a wanted change of the lines, UPDATE_PAGES=1 writes the new ones into the page.
"""

import os
import re
from pathlib import Path

from engine.runner import BotSpec, Limits
from engine.runner.faults import KINDS
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.support.bots import match

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_column(title: str) -> list[str]:
    cells = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_exchange_is_what_goes_over_the_pipes(box: Sandbox, honest: BotSpec) -> None:
    real = []

    def tap(number: int, seat: int, request: bytes, answer: bytes) -> None:
        if (number, seat) == (0, 1):
            real.extend(["> " + request.decode().rstrip("\n"), "< " + answer.decode()])

    play_match(match(honest, honest, boards=1, limits=Limits()), box, tap=tap)

    lines_of_page = re.findall(r"^[<>] .*$", section("An exchange"), re.MULTILINE)
    lines = [*real[:8], real[-2]]
    if os.environ.get("UPDATE_PAGES"):
        page = PAGE
        for old, new in zip(lines_of_page, lines, strict=True):
            page = page.replace(old, new)
        (ROOT / "docs" / "protocol.md").write_text(page, encoding="utf-8")
        lines_of_page = lines
    assert lines_of_page == lines


def test_faults_are_all_there() -> None:
    assert first_column("Faults") == list(KINDS)


def test_events_of_the_engine_are_all_there() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "engine").rglob("*.py")))
    emitted = set(re.findall(r'\bemit\(\s*"(\w+)"|\{\s*"e": "(\w+)"', source))
    emitted = {name for names in emitted for name in names if name}

    assert set(first_column("Events")) == emitted
