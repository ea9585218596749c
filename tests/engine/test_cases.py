"""The worked cases of the rules book, ours and the given ones. A test for each would cost more in pytest than in the engine."""

from __future__ import annotations

import copy
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import cases
from engine.errors import EngineError

FOLDER = Path(__file__).resolve().parents[1] / "cases"
BOOK = Path(__file__).resolve().parents[2] / "docs" / "rules"
FILES = sorted(FOLDER.glob("*.yaml"))
ON_FILES = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@cache
def read(file: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the cases of a file, each with its game. Nobody changes them."""
    return list(cases.read(file))


def all_cases() -> list[tuple[str, dict[str, Any]]]:
    return [pair for file in FILES for pair in read(file)]


@ON_FILES
def test_the_engine_answers_as_the_cases_expect(file: Path) -> None:
    problems = {case["id"]: cases.problem(game, case) for game, case in read(file)}
    assert {name: problem for name, problem in problems.items() if problem} == {}


@ON_FILES
def test_a_wrong_expectation_is_found(file: Path) -> None:
    """Each single part of what a case expects is compared: none of it could be changed unnoticed."""
    for game, case in read(file):
        check_wrong_expectations(game, case)


def check_wrong_expectations(game: str, case: dict[str, Any]) -> None:
    for name in case["expect"]:
        wrong = copy.deepcopy(case)
        wrong["expect"][name] = other(case["expect"][name])
        if name == "illegal_bids":  # a list of some that are: a legal one among them must be found
            lowest = case["expect"].get("lowest_bid")
            if lowest is None:
                continue
            wrong["expect"][name] = [*case["expect"][name], lowest]
        problem = cases.problem(game, wrong)
        assert problem.startswith((f"{name}: expected", "this case cannot run")), (case["id"], name, problem)


def other(value: Any) -> Any:
    """Something else of the same kind."""
    if value is None:
        return 99
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "!"
    if isinstance(value, dict):
        name = next(iter(value))
        return value | {name: other(value[name])}
    return [*value, 999]


def test_ids_are_unique() -> None:
    ids = Counter(case["id"] for _, case in all_cases())
    assert [name for name, number in ids.items() if number > 1] == []


@pytest.mark.parametrize("key", engine.games())
def test_every_game_has_cases_that_cite_their_source(key: str) -> None:
    """Each game has cases of legal cards and of the winner; a game of the rules book has many."""
    cases_of_game = [case for game, case in all_cases() if game == key]
    kinds = {case["kind"] for case in cases_of_game}
    assert "legal_move" in kinds
    assert kinds & {"result", "scoring", "payment"}
    assert all(case["source"] and case["reason"] for case in cases_of_game)
    assert len(cases_of_game) >= 15 or not (BOOK / f"{key}.md").exists()


def test_every_kind_is_used() -> None:
    assert {case["kind"] for _, case in all_cases()} == set(cases.ANSWERS)


# ---- the loader


def test_a_case_that_cannot_be_asked_says_why() -> None:
    case = {
        "kind": "legal_move",
        "given": {"players": 4, "seat": 1, "trump": "b", "stock": 0, "trick": ["0:9o"], "hand": ["1o"]},
        "expect": {},
    }
    assert "unknown card '9o'" in cases.problem("partnership", case)
    assert "does not know cases of kind 'juggle'" in cases.problem(
        "partnership", {"kind": "juggle", "given": {}, "expect": {}}
    )
    assert "no option 'no_such'" in cases.problem("partnership", case | {"options": {"no_such": 1}})
    wrong = copy.deepcopy(case) | {"expect": {"legal": []}}
    wrong["given"]["trick"] = ["0:4o"]
    assert cases.problem("partnership", wrong) == "legal: expected [], the engine says ['1o']"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a file of worked cases"),
        ("- 1", "not a file of worked cases"),
        ("schema: tute-cases/1\ncases: []", "it needs 'schema: tute-cases/2'"),
        ("schema: tute-cases/2\nvariant: brisca", "a list 'cases'"),
        (": : :", "is not YAML"),
        ("\udcff", "is not YAML"),
        ("schema: tute-cases/2\nvariant: poker\ncases: [1]", "variant 'poker' is not a game; games are: a_dos, "),
        ("schema: tute-cases/2\ncases: [1]", "variant None is not a game"),
        ("schema: tute-cases/2\nvariant: brisca\ncases: []", "contains no case"),
        (
            "schema: tute-cases/2\nvariant: brisca\ncases: [1]",
            "case 1 is not a mapping with id, kind, given and expect",
        ),
        ("schema: tute-cases/2\nvariant: brisca\ncases: [{kind: deal}]", "case 1 is not a mapping with id"),
    ],
)
def test_what_is_no_file_of_cases_is_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(EngineError) as refused:
        list(cases.read(file))
    assert str(refused.value).startswith(f"{file}: ")
    assert why in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"none\.yaml: cannot be read: No such file or directory"):
        list(cases.read(tmp_path / "none.yaml"))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"no \.yaml file"):
        list(cases.run(tmp_path))
