"""A check of values by JSON Schema: only the words that our schemas use. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": Mapping,
    "null": type(None),
}


def find_problem(
    value: Any, schema: Mapping[str, Any], schemas: Mapping[str, Any] | None = None, place: str = ""
) -> str | None:
    """Return the first place where a value breaks a schema, with the reason, or None. `schemas`: those that "$ref" names."""
    return next(_problems(value, schema, schemas or {}, place), None)


def resolve(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with what "$ref" and "allOf" name in its place."""
    merged = dict(schema)
    if "$ref" in schema:
        merged |= resolve(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for part in schema.get("allOf", ()):
        merged |= resolve(part, schemas)
    return merged


def _problems(value: Any, schema: Mapping[str, Any], schemas: Mapping[str, Any], place: str) -> Iterator[str]:
    schema = resolve(schema, schemas)
    for word in ("oneOf", "anyOf"):
        problems = [find_problem(value, other, schemas, place) for other in schema.get(word, ())]
        if problems and all(problems):
            yield str(problems[0])
    yield from (f"{place or 'the whole'} {text}" for text in _own_problems(value, schema))
    inner = f"{place}." if place else ""
    if isinstance(value, Mapping):
        yield from (f"{inner}{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, other in schema.get("properties", {}).items():
            if name in value:
                yield from _problems(value[name], other, schemas, f"{inner}{name}")
    elif isinstance(value, list | tuple) and "items" in schema:
        for number, item in enumerate(value):
            yield from _problems(item, schema["items"], schemas, f"{place}[{number}]")


def _own_problems(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the value itself, without its parts, breaks a schema."""
    if "const" in schema and value != schema["const"]:
        yield f"is not {schema['const']!r}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"is no {' or '.join(kinds)}"
    elif isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"has not the form {schema['pattern']}"
    elif _is(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"is not from {schema.get('minimum', '...')} to {schema.get('maximum', '...')}"
    if value is not None and "enum" in schema and value not in schema["enum"]:
        yield f"is none of {', '.join(map(repr, schema['enum']))}"


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
