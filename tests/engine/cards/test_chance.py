"""Deals are fair, and the same on every Python."""

from __future__ import annotations

import hmac
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path

import pytest

import engine
from engine.cards import chance
from tests.support import chance_report

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "engine" / "golden" / "chance.json"
VERSIONS = ("3.11", "3.12", "3.13")
BYTECODE = ROOT / "var" / "test" / "bytecode"  # Of each version, so that none compiles the engine in every run.


def interpreter(version: str) -> str | None:
    """Return a working interpreter of this version: on PATH (a pyenv shim may stand there without one behind it) or under pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))]
    if sys.version.startswith(version + "."):
        candidates.insert(0, sys.executable)
    for candidate in candidates:
        if candidate is None:
            continue
        process = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if process.returncode == 0 and version in process.stdout:
            return candidate
    return None


def test_golden_deals() -> None:
    """Written once with `python -m tests.support.chance_report > tests/engine/golden/chance.json`; a game that came later is not in it."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    now = json.loads(json.dumps(chance_report.report()))
    now["matches"] = {key: now["matches"].get(key) for key in golden["matches"]}
    for part, values in golden.items():
        assert now[part] == values, part


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_deals_alike(version: str, missing: list[str]) -> None:
    python = interpreter(version)
    if python is None:
        missing.append(version)
        pytest.skip(f"no Python {version} on PATH or under pyenv")
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPYCACHEPREFIX": str(BYTECODE), "PYTHONHASHSEED": "77"}
    run = subprocess.run(
        [python, "-s", "-m", "tests.support.chance_report"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == json.loads(json.dumps(chance_report.report()))


# ---- fairness: chi-square with fixed seeds, so that the outcome is settled once and for all


def chi_square(counts: Counter[object], cells: int) -> float:
    """Return the distance of counts from equality, in standard deviations of chi-square (normal approximation)."""
    total = sum(counts.values())
    expected = total / cells
    missing = cells - len(counts)
    value = sum((count - expected) ** 2 for count in counts.values()) / expected + missing * expected
    freedom = cells - 1
    return (value - freedom) / math.sqrt(2 * freedom)


@cache
def decks() -> list[list[int]]:
    return [chance.shuffle(chance.as_seed("fair"), deal, range(40)) for deal in range(1, 6001)]


def test_every_card_comes_to_every_place() -> None:
    counts: Counter[object] = Counter((place, card) for deck in decks() for place, card in enumerate(deck))
    assert abs(chi_square(counts, 1600)) < 4


def test_every_order_of_four_cards_comes_up() -> None:
    counts: Counter[object] = Counter(
        tuple(chance.shuffle(chance.as_seed("four"), deal, "abcd")) for deal in range(1, 12001)
    )
    assert set(counts) == set(permutations("abcd"))
    assert abs(chi_square(counts, 24)) < 4


def test_neighbours_are_unrelated() -> None:
    counts: Counter[object] = Counter((a, b) for deck in decks() for a, b in zip(deck[::2], deck[1::2], strict=True))
    assert abs(chi_square(counts, 40 * 39)) < 4


def test_deals_of_neighbouring_boards_are_unrelated() -> None:
    """The same place of the same deal of two boards in a row, and of two deals in a row."""
    seeds = [engine.board_seed(b"secret", "partnership", "table", board) for board in range(3000)]
    firsts = [chance.shuffle(seed, 1, range(40))[0] for seed in seeds]
    assert abs(chi_square(Counter(pairwise(firsts)), 1600)) < 4
    firsts = [deck[0] for deck in decks()]
    assert abs(chi_square(Counter(pairwise(firsts)), 1600)) < 4


def test_picks_are_fair() -> None:
    for n in (2, 3, 4, 5, 6, 7):
        counts: Counter[object] = Counter(chance.pick(chance.as_seed(seed), "dealer", n) for seed in range(3000))
        assert set(counts) == set(range(n))
        assert abs(chi_square(counts, n)) < 4


def test_a_shuffle_holds_every_card_once() -> None:
    assert all(sorted(deck) == list(range(40)) for deck in decks()[:200])
    assert chance.shuffle(chance.as_seed(1), 1, []) == []
    assert chance.shuffle(chance.as_seed(1), 1, ["x"]) == ["x"]


# ---- seeds


def test_seeds_of_different_kinds_are_different() -> None:
    assert len({chance.as_seed(seed) for seed in (7, "7", b"7", 0, "", b"")}) == 6
    key = bytes(range(32))
    assert chance.as_seed(key) == key
    assert engine.load("brisca").new_match(seed=7).events == engine.load("brisca").new_match(seed=7).events


@pytest.mark.parametrize("seed", [None, True, 1.5, [1]])
def test_other_seeds_are_refused(seed: object) -> None:
    with pytest.raises(TypeError, match="seed must be bytes, str or int"):
        chance.as_seed(seed)  # type: ignore[arg-type]


def test_board_seeds_depend_on_everything() -> None:
    questions = [
        (b"a", "brisca", "t", 1),
        (b"b", "brisca", "t", 1),
        (b"a", "bato", "t", 1),
        (b"a", "brisca", "u", 1),
        (b"a", "brisca", "t", 2),
    ]
    assert len({engine.board_seed(*question) for question in questions}) == len(questions)
    assert all(len(engine.board_seed(*question)) == 32 for question in questions)


def test_bot_seeds_are_small_and_tell_the_seats_apart() -> None:
    seeds = [engine.bot_seed(b"s", "m", sitting, seat) for sitting in range(10) for seat in range(4)]
    assert len(set(seeds)) == 40
    assert all(0 <= seed < 1 << 31 for seed in seeds)


def test_the_keyed_hash_is_the_hmac_of_the_standard() -> None:
    for number in range(65):
        key, message = bytes(range(number)), b"deal\n%d" % number
        assert chance.keyed_hash(key, message) == hmac.digest(key, message, "sha256")
