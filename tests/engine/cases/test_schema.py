"""The case runner puts every question that the schema of the rules book (README, section 6) allows, and reports what it cannot ask."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine import cases
from engine.cases.schema import FIELDS

BOOK = Path(__file__).resolve().parents[3] / "docs" / "rules" / "README.md"
FOLDER = Path(__file__).resolve().parents[2] / "cases"


@cache
def all_cases() -> list[tuple[str, dict[str, Any]]]:
    return [pair for file in sorted(FOLDER.glob("*.yaml")) for pair in cases.read(file)]


def problem_of(game: str, kind: str, data: dict[str, Any], expect: dict[str, Any], **options: Any) -> str:
    return cases.problem(game, {"kind": kind, "given": data, "expect": expect, "options": options})


def test_the_fields_are_those_of_the_rules_book() -> None:
    section = BOOK.read_text(encoding="utf-8").split("\n## 6.")[1]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", section, re.MULTILINE)
    assert {kind: (before.strip(), expect.strip()) for kind, before, expect in rows} == FIELDS


def test_every_field_of_the_rules_book_is_used_by_a_case_and_left_out_by_another_where_it_may_be() -> None:
    for kind, parts in FIELDS.items():
        cases_of_kind = [case for _, case in all_cases() if case["kind"] == kind]
        for part, fields in zip(("given", "expect"), parts, strict=True):
            for field in fields.split():
                name = field.rstrip("?")
                assert any(name in case[part] for case in cases_of_kind), (kind, part, name)
                assert not field.endswith("?") or any(name not in case[part] for case in cases_of_kind), (
                    kind,
                    part,
                    name,
                )


def without_an_optional_field() -> Iterator[tuple[str, dict[str, Any], str]]:
    for game, case in all_cases():
        for field in FIELDS[case["kind"]][0].split():
            name = field.rstrip("?")
            if field.endswith("?") and name in case["given"]:
                less = copy.deepcopy(case)
                del less["given"][name]
                yield game, less, name


def test_a_case_without_an_optional_field_is_asked_or_told_what_it_needs() -> None:
    """If a game needs the field (no payment of a bid without the bid), the problem names it."""
    for game, case, name in without_an_optional_field():
        problem = cases.problem(game, case)
        if problem.startswith("this case cannot run"):
            assert re.match(r"this case cannot run: \w+ in \w+ needs '\w+'$", problem), (case["id"], name, problem)


# ---- fields that may be left out


def test_a_setup_without_the_previous_mano_says_what_follows_from_the_number_of_the_deal() -> None:
    data = {"players": 4, "deal_no": 3}
    assert problem_of("cabrero", "setup", data, {"trump": "e"}, trump_source="rotating") == ""
    assert (
        problem_of("cabrero", "setup", data, {"mano": 1}, trump_source="rotating")
        == "mano: expected 1, the engine says nothing"
    )


def test_the_last_draw_needs_no_cards_of_the_stock() -> None:
    data = {
        "players": 2, "seat": 0, "step": "last_draw", "trick_winner": 1, "pending": "0:7o", "shown_card": "3o", "stock": 2,
        "hand": ["1c", "2c"],
    }  # fmt: skip
    problem = problem_of("corriente", "exchange_step", data, {"after": {"pending": None}})
    assert problem == ""


def test_a_capote_is_asked_with_what_it_needs() -> None:
    assert (
        problem_of(
            "habanero", "capote", {"players": 2, "question": "may_announce", "announced": None}, {"allowed": True}
        )
        == ""
    )
    data = {"players": 2, "question": "result", "announced": 0}
    assert problem_of("habanero", "capote", data, {"winner": None, "ends_after": None}) == ""


def test_a_scoring_with_a_capote_does_not_look_at_points() -> None:
    data = {"players": 2, "card_points": {0: 70, 1: 50}, "songs": [], "last_trick": 0, "announced": 1}
    assert problem_of("habanero", "scoring", data | {"swept_final_phase": 1}, {"winner": 1}) == ""
    assert problem_of("habanero", "scoring", data | {"swept_final_phase": None}, {"winner": 0}) == ""
    swept = data | {"announced": None, "swept_final_phase": 1, "card_points": {0: 101, 1: 19}}
    # All tricks have no effect for a side that announced nothing.
    assert problem_of("habanero", "scoring", swept, {"winner": 0}) == ""


def test_a_scoring_of_predictions_counts_missing_tricks_as_none() -> None:
    data = {"players": 3, "deal_no": 2, "predictions": {0: 0, 1: 1, 2: 2}}
    assert problem_of("podrida", "scoring", data, {"deal_points": {0: 10, 1: -3, 2: -6}}) == ""


# ---- results by name, claims, what is compared


def test_the_last_trick_choice_has_winners_too() -> None:
    data = {"players": 4, "points_before_bonus": {0: 95, 1: 30, 2: 5, 3: 0}, "last_trick": 0}
    expect = {
        "if_taken": {"winner": 0, "losers": [1, 2, 3]},
        "if_declined": {"winner": None, "losers": [0]},
    }
    assert problem_of("gana_pierde_4_5", "last_trick_choice", data, expect) == ""
    assert (
        problem_of("gana_pierde_4_5", "last_trick_choice", data, {"if_taken": {"winner": 0}, "if_declined": {}}) == ""
    )
    wrong = problem_of("gana_pierde_4_5", "last_trick_choice", data, {"if_taken": {"winner": 1}})
    assert wrong.startswith("if_taken: expected {'winner': 1}")


def test_a_claim_that_is_not_allowed_is_not_carried_out() -> None:
    data = {
        "players": 2, "seat": 0, "deal_no": 1, "carried": {0: 0, 1: 0}, "card_points": {0: 110, 1: 0}, "songs": [],
        "last_trick_played": False,
    }  # fmt: skip
    assert problem_of("havanian", "claim", data, {"allowed": False, "winner": None}) == ""
    over = data | {"deal_no": 2, "last_trick_played": True}
    assert problem_of("havanian", "claim", over, {"allowed": False, "winner": None}) == ""


# ---- what seats see, in words


@pytest.mark.parametrize(
    ("game", "event", "public", "private"),
    [
        ("americano", "seat 0 lays 7o", ["7o lies before seat 0"], []),
        ("americano", "seat 1 draws 4c", ["seat 1 has drawn a card"], ["4c"]),
        ("americano", "seat 1 draws the shown card 4c", ["4c is in seat 1's hand until played"], []),
        (
            "americano",
            "seat 0 sings 20c",
            ["seat 0 has sung 20c", "Rc is in seat 0's hand until played", "Cc is in seat 0's hand until played"],
            [],
        ),
        ("americano", "seat 0 leads 1o, seat 1 plays 4c", ["seat 0 has played 1o", "seat 1 has played 4c"], []),
        ("americano", "seat 0 leads trump 1o, seat 1 plays 4c", ["seat 0 has played 1o", "seat 1 has played 4c", "seat 1 has no o"], []),
        ("americano", "7o is turned up", ["trump is o", "7o is the shown card"], []),
        ("habanero", "seat 0 exchanges 7o for 3o", ["7o is the shown card", "3o is in seat 0's hand until played"], []),
        ("habanero", "seat 1 announces capote", ["seat 1 has announced capote"], []),
        ("guinote", "seat 0 sings 20c", ["seat 0 has sung 20c", "Rc is in seat 0's hand until played", "Sc is in seat 0's hand until played"], []),
        ("podrida", "seat 1 predicts 2", ["seat 1 has predicted 2"], []),
    ],
)  # fmt: skip
def test_an_event_in_words_is_told_as_seats_see_it(
    game: str, event: str, public: list[str], private: list[str]
) -> None:
    players = {"guinote": 4, "podrida": 4}.get(game, 2)
    data = {"players": players, "event": event}
    assert problem_of(game, "observation", data, {"public": public, "private": private}) == ""


def test_a_song_that_the_rules_hide_is_private() -> None:
    expect = {"public": ["seat 0 has sung 20"], "private": ["Rc", "Sc"]}
    data = {"players": 4, "event": "seat 0 sings 20c"}
    assert problem_of("guinote", "observation", data, expect, hide_arrastre_twenty=True) == ""


def test_words_that_the_runner_does_not_know_are_told_with_those_that_it_does() -> None:
    problem = problem_of(
        "americano", "observation", {"players": 2, "event": "seat 0 coughs"}, {"public": [], "private": []}
    )
    assert problem.startswith("this case cannot run: unknown event 'seat 0 coughs'; events are: ")
    assert "seat N draws CARD" in problem


# ---- bad cases


def test_a_field_that_the_schema_does_not_have_is_named() -> None:
    data = {"players": 4, "seat": 0, "trumps": "o", "trump": "o", "stock": 0, "trick": [], "hand": ["1o"]}
    problem = problem_of("partnership", "legal_move", data, {"legal": ["1o"]})
    assert (
        problem
        == "this case cannot run: legal_move has no field 'trumps' in given; its fields are: players seat lead? trump stock trick hand pending?"
    )
    assert "has no field 'winner' in expect" in problem_of("partnership", "legal_move", {}, {"winner": 1})


def test_a_field_that_is_missing_is_named() -> None:
    problem = problem_of(
        "partnership", "legal_move", {"players": 4, "seat": 0, "trump": "o", "stock": 0, "trick": []}, {"legal": []}
    )
    assert problem == "this case cannot run: legal_move needs 'hand' in given"


SHAPE = "a case is a mapping with kind, given and expect"


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("words", f"{SHAPE}, not 'words'"),
        ({"kind": "deal", "expect": {}}, f"{SHAPE}; 'given' is missing or not a mapping"),
        ({"kind": "deal", "given": [], "expect": {}}, f"{SHAPE}; 'given' is missing or not a mapping"),
        ({"kind": "deal", "given": {}, "expect": {}, "options": 1}, "'options' is not a mapping"),
    ],
)
def test_what_is_no_case_is_told(case: Any, problem: str) -> None:
    assert cases.problem("partnership", case) == f"this case cannot run: {problem}"
