"""The help of the editor names everything that an author may write, and nothing else."""

from __future__ import annotations

import ast
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
    names = [one.name for one in MEMBERS if one.owner == "view"]
    public = {name for name in dir(view) if not name.startswith("_")} - {"pack", "rules", "sealed"}
    assert len(names) == len(set(names))
    assert set(names) == public


def test_bot_and_functions_are_there_with_what_they_take() -> None:
    found = {(one.owner, one.name): one for one in MEMBERS}
    assert found["self", "act"].signature == "(view, legal)"
    assert found["self", "random"].signature == ""
    assert found["", "plays"].signature == "(legal)"
    assert found["", "announce"].signature == "(view, legal)"
    for owner, name in found:
        where = tute_bot.View if owner == "view" else tute_bot.Bot if owner == "self" else None
        if where is not None and found[owner, name].signature:
            assert callable(getattr(where, name))


def test_each_has_one_line_of_help_of_its_own() -> None:
    assert all(one.help and "\n" not in one.help and "`" not in one.help[:1] for one in MEMBERS)
    found = {one.name: one.help for one in MEMBERS if one.owner == "view"}
    assert found["out"] == "seats not in this deal"
    assert found["dealer"] == "Deal: int"
    assert found["best"] == "(seat, card) that is winning, or None"
    assert found["partner"] == "its holder, once known to you"
    assert found["would_win"].startswith("Return True if the card would be winning")
    ast.parse("\n".join(f"x{one.signature or '()'}" for one in MEMBERS))
