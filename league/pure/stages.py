"""Events of several stages, described in one document: stages with format, parameters, groups, and how many go on.

    name: Spring event
    game: partnership
    stages:
      - {format: swiss, parameters: {rounds: 5}, boards: 8, advance: 8}
      - {format: double_elimination, boards: 16}

The document is JSON or YAML; docs/event.schema.json is its schema. Everything here is a pure function of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from league.pure.formats import FORMATS, Value
from league.pure.formats.base import MOST_BOARDS

TOP = {"name": str, "game": str, "players": int, "options": dict, "mixed": bool, "stages": list}
STAGE = {"format": str, "parameters": dict, "boards": int, "groups": int, "advance": int}
MOST_STAGES = 8
KINDS = {str: "a text", int: "a whole number", bool: "true or false", dict: "an object", list: "a list"}


class BadEvent(ValueError):
    """A document that cannot be an event; the message names the place and what is allowed there."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. `advance` of each group go on; None in the last one."""

    format: str
    parameters: Mapping[str, Value]
    boards: int | None
    groups: int
    advance: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole event."""

    name: str
    game: str
    stages: tuple[Stage, ...]
    players: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    mixed: bool = False


def read(document: object) -> Plan:
    """The event of a document. BadEvent with the first thing that is wrong."""
    top = _object(document, "the event", TOP, needs=("name", "game", "stages"))
    if not 1 <= len(top["stages"]) <= MOST_STAGES:
        raise BadEvent(f"stages: an event has 1 to {MOST_STAGES} stages, not {len(top['stages'])}")
    count = len(top["stages"])
    stages = tuple(_stage(one, f"stages[{i}]", last=i + 1 == count) for i, one in enumerate(top["stages"]))
    mixed = top.get("mixed", False)
    return Plan(top["name"], top["game"], stages, top.get("players"), top.get("options", {}), mixed)


def _object(given: object, where: str, fields: Mapping[str, type], needs: Sequence[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadEvent(f"{where}: must be an object with {', '.join(fields)}, not {given!r}")
    for name, value in given.items():
        if name not in fields:
            raise BadEvent(f"{where}: there is no field {name!r}; the fields are {', '.join(fields)}")
        kind = fields[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise BadEvent(f"{where}.{name}: must be {KINDS[kind]}, not {value!r}")
    for name in needs:
        if name not in given:
            raise BadEvent(f"{where}: the field {name!r} is missing")
    return given


def _stage(given: object, where: str, *, last: bool) -> Stage:
    found = _object(given, where, STAGE, needs=("format",))
    if found["format"] not in FORMATS:
        raise BadEvent(f"{where}.format: there is no format {found['format']!r}; the formats are {', '.join(FORMATS)}")
    form = FORMATS[found["format"]]
    try:
        form.complete(found.get("parameters", {}))
    except ValueError as error:
        raise BadEvent(f"{where}.parameters: {error}") from error
    if form.grows and not found.get("parameters", {}).get("budget"):
        raise BadEvent(f"{where}.parameters: a {form.key} in an event needs a budget, since without one it never ends")
    boards, groups, advance = found.get("boards"), found.get("groups", 1), found.get("advance")
    if boards is not None and not 1 <= boards <= MOST_BOARDS:
        raise BadEvent(f"{where}.boards: a match has 1 to {MOST_BOARDS} boards, not {boards}")
    if not 1 <= groups <= 32:
        raise BadEvent(f"{where}.groups: a stage has 1 to 32 groups, not {groups}")
    if last and (advance is not None or groups > 1):
        raise BadEvent(f"{where}: the last stage has one group and nobody advances from it")
    if not last and (advance is None or not 1 <= advance <= 256):
        raise BadEvent(f"{where}.advance: says how many of each group go on to the next stage, 1 to 256")
    return Stage(form.key, found.get("parameters", {}), boards, groups, advance)


def going_on(orders: Sequence[Sequence[int]], advance: int) -> list[int]:
    """Who goes on, as the seeds of the next stage: the first of every group, then the second of every group, ..."""
    return [order[place] for place in range(advance) for order in orders if place < len(order)]
