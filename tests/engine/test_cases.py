"""The worked cases of the rules book, ours and the given ones, one test each."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import cases
from engine.errors import EngineError

FOLDER = Path(__file__).resolve().parents[1] / "cases"
BOOK = Path(__file__).resolve().parents[2] / "docs" / "rules"
CASES = [
    pytest.param(game, case, id=case["id"]) for file in sorted(FOLDER.glob("*.yaml")) for game, case in cases.read(file)
]


@pytest.mark.parametrize(("game", "case"), CASES)
def test_case(game: str, case: dict[str, Any]) -> None:
    assert cases.problem(game, case) == ""


@pytest.mark.parametrize(("game", "case"), CASES)
def test_a_wrong_expectation_is_found(game: str, case: dict[str, Any]) -> None:
    """Each single part of what a case expects is compared: none of it could be changed unnoticed."""
    for name in case["expect"]:
        wrong = copy.deepcopy(case)
        wrong["expect"][name] = other(case["expect"][name])
        if name == "illegal_bids":  # a list of some that are: a legal one among them must be found
            lowest = case["expect"].get("lowest_bid")
            if lowest is None:
                continue
            wrong["expect"][name] = [*case["expect"][name], lowest]
        problem = cases.problem(game, wrong)
        assert problem.startswith((f"{name}: expected", "this case cannot run")), (name, problem)


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
    ids = Counter(param.values[1]["id"] for param in CASES)  # type: ignore[index]
    assert [name for name, number in ids.items() if number > 1] == []


@pytest.mark.parametrize("key", engine.games())
def test_every_game_has_cases_that_cite_their_source(key: str) -> None:
    """Each game has cases of legal cards and of the winner; a game of the rules book has many."""
    cases_of_game = [param.values[1] for param in CASES if param.values[0] == key]
    kinds = {case["kind"] for case in cases_of_game}  # type: ignore[index]
    assert "legal_move" in kinds
    assert kinds & {"result", "scoring", "payment"}
    assert all(case["source"] and case["reason"] for case in cases_of_game)  # type: ignore[index]
    assert len(cases_of_game) >= 15 or not (BOOK / f"{key}.md").exists()


def test_every_kind_is_used() -> None:
    assert {param.values[1]["kind"] for param in CASES} == set(cases.ANSWERS)  # type: ignore[index]


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
