"""Event plans: one document describes the stages with format, parameters, groups, and how many advance.

    name: Spring event
    game: partnership
    stages:
      - {format: swiss, parameters: {rounds: 5}, boards: 8, advance: 8}
      - {format: double_elimination, boards: 16}

The document is JSON or YAML; docs/event.schema.json is its schema. All functions here are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from league.pure.formats import FORMATS, Value
from league.pure.formats.base import MOST_BOARDS
from league.pure.refusal import Message, Refusal

TOP = {"name": str, "game": str, "players": int, "options": dict, "mixed": bool, "sealed": bool, "stages": list}
STAGE = {"format": str, "parameters": dict, "boards": int, "groups": int, "advance": int}
MOST_STAGES = 8
KINDS = {
    str: Message("a text"),
    int: Message("a whole number"),
    bool: Message("true or false"),
    dict: Message("an object"),
    list: Message("a list"),
}


class BadEvent(Refusal):
    """A document that is not a valid event. The message names the place and the allowed values."""


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage. The first `advance` of each group go on to the next stage; None in the last one."""

    format: str
    parameters: Mapping[str, Value]
    boards: int | None
    groups: int
    advance: int | None


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The plan of a whole event."""

    name: str
    game: str
    stages: tuple[PlannedStage, ...]
    players: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    mixed: bool = False
    sealed: bool = False  # True: only bots that can be sealed may enter, and all matches are sealed.


def read_plan(document: object) -> EventPlan:
    """Read the plan of an event. Raise BadEvent for the first error."""
    top = _object(document, "the event", TOP, needs=("name", "game", "stages"))
    if not 1 <= len(top["stages"]) <= MOST_STAGES:
        raise BadEvent(
            "stages: an event has 1 to {most} stages, not {count}", most=MOST_STAGES, count=len(top["stages"])
        )
    count = len(top["stages"])
    stages = tuple(_stage(stage, f"stages[{i}]", last=i + 1 == count) for i, stage in enumerate(top["stages"]))
    kind = {name: top.get(name, False) for name in ("mixed", "sealed")}
    return EventPlan(top["name"], top["game"], stages, top.get("players"), top.get("options", {}), **kind)


def _object(value: object, where: str, fields: Mapping[str, type], needs: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadEvent(
            "{where}: must be an object with {fields}, not {value!r}",
            where=where,
            fields=", ".join(fields),
            value=value,
        )
    for name, item in value.items():
        if name not in fields:
            raise BadEvent(
                "{where}: there is no field {name!r}; the fields are {fields}",
                where=where,
                name=name,
                fields=", ".join(fields),
            )
        kind = fields[name]
        if not isinstance(item, kind) or (kind is int and isinstance(item, bool)):
            raise BadEvent(
                "{where}.{name}: must be {kind}, not {value!r}", where=where, name=name, kind=KINDS[kind], value=item
            )
    for name in needs:
        if name not in value:
            raise BadEvent("{where}: the field {name!r} is missing", where=where, name=name)
    return value


def _stage(value: object, where: str, *, last: bool) -> PlannedStage:
    stage = _object(value, where, STAGE, needs=("format",))
    if stage["format"] not in FORMATS:
        raise BadEvent(
            "{where}.format: there is no format {format!r}; choose one of {formats}",
            where=where,
            format=stage["format"],
            formats=", ".join(FORMATS),
        )
    form = FORMATS[stage["format"]]
    try:
        form.complete(stage.get("parameters", {}))
    except ValueError as error:
        raise BadEvent("{where}.parameters: {error}", where=where, error=error) from error
    if form.grows and not stage.get("parameters", {}).get("budget"):
        raise BadEvent(
            "{where}.parameters: a {format} in an event needs a budget, because it would never end without one",
            where=where,
            format=form.key,
        )
    boards, groups, advance = stage.get("boards"), stage.get("groups", 1), stage.get("advance")
    if boards is not None and not 1 <= boards <= MOST_BOARDS:
        raise BadEvent(
            "{where}.boards: a match has 1 to {most} boards, not {boards}", where=where, most=MOST_BOARDS, boards=boards
        )
    if not 1 <= groups <= 32:
        raise BadEvent("{where}.groups: a stage has 1 to 32 groups, not {groups}", where=where, groups=groups)
    if last and (advance is not None or groups > 1):
        raise BadEvent("{where}: the last stage has one group and nobody advances from it", where=where)
    if not last and (advance is None or not 1 <= advance <= 256):
        raise BadEvent(
            "{where}.advance: must say how many of each group advance to the next stage, from 1 to 256", where=where
        )
    return PlannedStage(form.key, stage.get("parameters", {}), boards, groups, advance)


def advancing_entries(orders: Sequence[Sequence[int]], advance: int) -> list[int]:
    """Return the qualifiers as seeds of the next stage, group winners first."""
    return [order[place] for place in range(advance) for order in orders if place < len(order)]
