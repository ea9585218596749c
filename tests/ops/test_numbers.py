"""Each table of numbers in the documents can be made again: by a command that stands in the same document, or a test tries its rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine
from engine.runner import Limits, bounds
from tests.support.compose import TOP

DOCS = TOP / "docs"
NUMBER = re.compile(r"[~<>≈±+−-]?\s*\d")
# Tables whose numbers are settings or rules, which other tests compare with the code (test_claims, test_words, tests of the rules book).
SETTINGS = {"bot-package.md", "games.md", "play.md", "protocol.md", "sandbox.md"}
# Rules, a translation, settings, decisions of their day, and pages whose tables tests/engine/lab/test_studies.py makes again.
FOLDERS = {"rules", "es", "operations", "adr", "studies"}
# Document, beginning of the table's head, and the command or test that makes or tries it.
MADE_BY = {
    ("boss-leagues.md", "| stronger by | first attempt"): "tests/league/pure/test_bosses.py",
    ("builds.md", "| language | start"): "benchmarks/kits.py",
    ("builds.md", "| language | new"): "benchmarks/languages.py",
    ("collusion.md", "| what | share of ladders"): "benchmarks/collusion.py",
    ("collusion.md", "| boards together | by results"): "benchmarks/collusion.py",
    ("collusion.md", "| boards together | a quarter thrown"): "benchmarks/collusion.py",
    ("fairness.md", "| order | days"): "benchmarks/places.py",
    ("house-bots-strength.md", "| game | boards | share"): "benchmarks/house.py",
    ("house-bots-strength.md", "| game | bots | boards"): "benchmarks/house.py",
    ("house-bots-strength.md", "| game | deals of `deep` | result"): "benchmarks/house.py",
    ("house-bots.md", "| game | deals | how"): "benchmarks/house.py",
    ("house-bots.md", "| game | boards | unit"): "benchmarks/house.py",
    ("luck.md", "| table | boards of a match"): "benchmarks/studies.py",
    ("luck.md", "| seats | orders"): "tests/league/pure/pairing/test_neighbours.py",
    ("page-costs.md", "| page | visitor"): "benchmarks/paint.py",
    ("page-costs.md", "| page | kB gzip"): "benchmarks/site.py",
    ("page-costs.md", "| list of the API"): "benchmarks/site.py",
    ("performance.md", "| game | driven"): "benchmarks/engine.py",
    ("performance.md", "| | aim | reached"): "benchmarks/engine.py",
    ("performance.md", "| Python source, 16 boards"): "tute bench runner",
    ("performance.md", "| tables | answers a second"): "benchmarks/tables.py",
    ("performance.md", "| | answers a second"): "benchmarks/tables.py",
    ("performance.md", "| step with the default limits"): "tests/ops/test_numbers.py",
    ("ratings.md", "| pool | leagues"): "tests/league/pure/rating/test_pools.py",
    ("ratings.md", "| what | 2,000 bots"): "benchmarks/ratings.py",
    ("ratings.md", "| what | CPU seconds"): "benchmarks/league.py",
    ("research.md", "| game | batch"): "benchmarks/environments.py",
    ("sandbox-evidence.md", "| channel | tried"): "tute sandbox channels",
    ("sandbox-evidence.md", "| | |"): "make soak",
    ("sandbox-evidence.md", "| tier | best, ms"): "tute bench sandbox",
    ("scaling.md", "| workers | matches a second"): "benchmarks/league.py",
    ("scaling.md", "| part | a match"): "benchmarks/league.py",
    ("scaling.md", "| act | times a second"): "benchmarks/league.py",
    ("scaling.md", "| load | | one at a time"): "benchmarks/league.py",
    ("search.md", "| | random | greedy"): "tute analyse",
    ("search.md", "| partnership | deals"): "benchmarks/search.py",
    ("search.md", "| a second, from the middle"): "benchmarks/search.py",
    ("tuning.md", "| boards |"): "tests/engine/test_spsa.py",
    ("tuning.md", "| limit | value"): "tests/ops/test_claims.py",
    ("tables.md", "| load of the two cores"): "benchmarks/tables.py",
}


def tables(path: Path) -> list[str]:
    """Return the heads of the tables of a document that are mostly numbers."""
    heads = []
    for table in re.findall(r"(?:^\|.*\n)+", path.read_text(encoding="utf-8") + "\n", re.MULTILINE):
        head, _, *rows = table.splitlines()
        cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")[1:]]
        numbers = [cell for cell in cells if NUMBER.match(cell)]
        if len(numbers) >= 4 and len(numbers) > 0.3 * len(cells):
            heads.append(head)
    return heads


def test_every_table_of_numbers_says_how_it_is_made_again() -> None:
    present = {
        (path.name, head)
        for path in DOCS.rglob("*.md")
        if path.name not in SETTINGS and path.relative_to(DOCS).parts[0] not in FOLDERS
        for head in tables(path)
    }
    rows_of = {
        (name, head): [row for row in present if row[0] == name and row[1].startswith(head)] for name, head in MADE_BY
    }
    assert [key for key, rows in rows_of.items() if not rows] == []
    assert sorted(present - {row for rows in rows_of.values() for row in rows}) == []


@pytest.mark.parametrize(("name", "how"), sorted({(name, how) for (name, _), how in MADE_BY.items()}))
def test_what_makes_a_table_exists(name: str, how: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    if how.startswith("tests/"):
        tried = (TOP / how).read_text(encoding="utf-8")
        assert name in tried or how in text
        return
    assert how in text, "the command stands in the document"
    if how.startswith("benchmarks/"):
        assert (TOP / how).is_file()
    elif how.startswith("make "):
        assert re.search(rf"^{how[5:]}:", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    else:
        commands = "".join(path.read_text(encoding="utf-8") for path in (TOP / "engine" / "cli").rglob("*.py"))
        assert all(f'"{word}"' in commands for word in how.split()[1:2])


@pytest.mark.parametrize(
    ("key", "title"),
    [("two_player", "Tute for two"), ("corriente", "Tute corriente"), ("partnership", "Tute in pairs")],
)
def test_the_steps_of_the_grid_in_performance_md_follow_from_the_limits(key: str, title: str) -> None:
    steps = [f"{bounds.grid_s(Limits(), engine.load(key), boards):,.0f} s" for boards in (2, 4, 16)]
    assert f"| {title} | {' | '.join(steps)} |" in (DOCS / "performance.md").read_text(encoding="utf-8")
