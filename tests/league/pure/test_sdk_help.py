"""The help of the editor names everything that an author may write, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from bots.sdk import tute_bot
from league.pure import sdk_help

SDK = Path(tute_bot.__file__).parent
MEMBERS = sdk_help.members(
    (SDK / "tute_bot.py").read_text(encoding="utf-8"), (SDK / "tute_sense.py").read_text(encoding="utf-8")
)
HELLO = {"type": "hello", "game": "partnership", "seats": 4, "seat": 0, "sides": [[0, 2], [1, 3]]}


def test_every_public_name_of_a_view_is_there_once() -> None:
    view = tute_bot.View(HELLO)
    names = [member.name for member in MEMBERS if member.owner == "view"]
    public = {name for name in dir(view) if not name.startswith("_")} - {"pack", "rules", "sealed"}
    assert len(names) == len(set(names))
    assert set(names) == public


def test_what_is_needed_first_stands_first() -> None:
    assert tuple(member.name for member in MEMBERS[: len(sdk_help.FIRST)]) == sdk_help.FIRST


def test_bot_and_functions_are_there_with_what_they_take() -> None:
    by_name = {(member.owner, member.name): member for member in MEMBERS}
    assert by_name["self", "act"].signature == "(view, legal)"
    assert by_name["self", "random"].signature == ""
    assert by_name["", "plays"].signature == "(legal)"
    assert by_name["", "announce"].signature == "(view, legal)"
    for owner, name in by_name:
        where = tute_bot.View if owner == "view" else tute_bot.Bot if owner == "self" else None
        if where is not None and by_name[owner, name].signature:
            assert callable(getattr(where, name))


def test_each_has_one_line_of_help_of_its_own() -> None:
    assert all(member.help and "\n" not in member.help and "`" not in member.help for member in MEMBERS)
    by_name = {member.name: member.help for member in MEMBERS if member.owner == "view"}
    assert by_name["out"] == "seats not in this deal"
    assert by_name["dealer"] == "seat"
    assert by_name["best"] == "(seat, card) that is winning, or None"
    assert by_name["partner"] == "its holder, once known to you"
    assert by_name["would_win"].startswith("Return True if the card would be winning")
    ast.parse("\n".join(f"x{member.signature or '()'}" for member in MEMBERS))


def test_the_help_for_javascript_names_what_the_kit_has() -> None:
    source = (SDK.parent / "kits" / "javascript" / "tute.mjs").read_text(encoding="utf-8")
    members = sdk_help.members_of_javascript(source)
    by_name = {(member.owner, member.name): member for member in members}
    assert len(by_name) == len(members) > 30
    assert by_name["view", "beats"].signature == "(card, other)"
    assert by_name["view", "legal"] == sdk_help.Member("view", "legal", "", "the actions to choose from, as texts")
    assert by_name["", "run"].signature == "(name, choose)"
    assert all(member.help and "\n" not in member.help for member in members)
    for member in members:
        assert re.search(rf"\b{member.name}\b[(:]|this\.{member.name}\b|[{{,] {member.name}\b", source), member.name
