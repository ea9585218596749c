"""The base of all serializers of responses, which plans its fields once for each class.

A serializer of the framework copies its fields for each response and looks up every value again, which is two thirds of the cost of a list. Here
each class has one list of getters and writers, through which every row passes. Less simple cases (a default, a missing value, another kind of
field) are left to the field itself, so the declarations stay the only source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from operator import attrgetter
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

from django.core.exceptions import ObjectDoesNotExist
from django.db.models.manager import BaseManager
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

Writer: TypeAlias = Callable[[Any], Any]
CALLABLE = (MethodType, FunctionType, partial)  # The field knows if it has to call the value


class Column(NamedTuple):
    """One field of a response: a getter and a writer of its value."""

    name: str
    read: Callable[[Any], Any]
    key: str | None  # The key of the value in a dict; None if the value is nested deeper
    field: serializers.Field[Any, Any, Any, Any]
    write: Writer | None  # None if the response's own serializer writes the value, because it has the context


class Out(serializers.Serializer[Any]):
    """The response about one thing."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return the values by name, as the framework would."""
        values: dict[str, Any] = {}
        is_dict = type(instance) is dict
        for name, read, key, field, write in plan(type(self)):
            try:
                if write is None and isinstance(field, serializers.SerializerMethodField):
                    values[name] = getattr(self, field.method_name or "")(instance)
                    continue
                if is_dict:
                    value = instance[key] if key else field.get_attribute(instance)
                else:
                    value = read(instance)
                if type(value) in CALLABLE:
                    value = field.get_attribute(instance)
            except (AttributeError, KeyError, ObjectDoesNotExist):
                try:
                    value = field.get_attribute(instance)
                except SkipField:
                    continue
            if value is not None:
                value = (write or self.fields[name].to_representation)(value)
            values[name] = value
        return values


@cache
def plan(kind: type[Out]) -> tuple[Column, ...]:
    """Return the fields of a class, in their order."""
    columns = []
    for name, field in kind().fields.items():
        if field.write_only:
            continue
        attrs = field.source_attrs
        columns.append(Column(name, _reader(field), attrs[0] if len(attrs) == 1 else None, field, _writer(field)))
    return tuple(columns)


def _reader(field: serializers.Field[Any, Any, Any, Any]) -> Callable[[Any], Any]:
    """Return a getter of a field's value. An error at each row without a team, say, would take longer than all its other values."""
    *way, last = field.source_attrs or [""]
    missing = None if field.default is empty and field.allow_null else field.default
    if way and not callable(missing):  # `empty` is a class.
        return partial(_look, way, last, missing)
    return attrgetter(".".join(field.source_attrs)) if last else _itself


def _look(way: list[str], last: str, missing: Any, row: Any) -> Any:
    for name in way:
        row = getattr(row, name)
        if row is None:
            return missing
    return getattr(row, last)


def column_names(kind: type[Out]) -> list[str]:
    """Return the columns that a response of this class reads, for `values` and `only`. Lists in the response are left out."""
    names: list[str] = []
    for column in plan(kind):
        path = "__".join(column.field.source_attrs)
        if isinstance(column.field, Out):
            names += [f"{path}__{name}" for name in column_names(type(column.field))]
        elif not isinstance(column.field, serializers.ListSerializer):
            names.append(path)
    return names


def describe(kind: type[Out], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response about a row of `values(*column_names(kind))`. No models are built, which halves the cost of a list.

    If a field is a list, the row must have the list of finished responses, under the name of the field's source.
    """
    return _describe(_flat_plan(kind, ""), row)


# Name, key, writer, and the plan of a nested response
Flat: TypeAlias = tuple[tuple[str, str, Writer | None, Any], ...]


@cache
def _flat_plan(kind: type[Out], prefix: str) -> Flat:
    steps: list[tuple[str, str, Writer | None, Any]] = []
    for column in plan(kind):
        key = prefix + "__".join(column.field.source_attrs)
        if isinstance(column.field, Out):
            steps.append((column.name, "", None, _flat_plan(type(column.field), f"{key}__")))
        elif isinstance(column.field, serializers.ListSerializer):
            steps.append((column.name, key, None, None))
        elif column.write is None:
            raise TypeError(f"{kind.__name__}.{column.name} is worked out of a whole row")
        else:
            steps.append((column.name, key, column.write, None))
    return tuple(steps)


def _describe(steps: Flat, row: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, key, write, nested in steps:
        if nested is not None:
            values[name] = _describe(nested, row)
            continue
        value = row[key]
        values[name] = value if value is None or write is None else write(value)
    return values


def _itself(instance: Any) -> Any:
    return instance


def _writer(field: serializers.Field[Any, Any, Any, Any]) -> Writer | None:
    if isinstance(field, serializers.SerializerMethodField):
        return None
    if isinstance(field, serializers.ListSerializer):
        each = _nested(field.child)
        return None if each is None else partial(_each, each)
    if isinstance(field, serializers.BaseSerializer):
        return _nested(field)
    own: Any = type(field).to_representation
    if own is serializers.IntegerField.to_representation:
        return int
    if own is serializers.FloatField.to_representation:
        return float
    if own is serializers.CharField.to_representation:
        return str
    if own is serializers.BooleanField.to_representation:
        return partial(_truth, field)
    if own is serializers.DateTimeField.to_representation:
        return partial(_moment, field)
    if own is serializers.ChoiceField.to_representation:
        return partial(_word, field, field.choice_strings_to_values)  # type: ignore[attr-defined]
    return field.to_representation


def _nested(serializer: Any) -> Writer | None:
    """Return the writer of a nested serializer; None if its response depends on the viewer."""
    kind: type[Out] = type(serializer)
    if not isinstance(serializer, Out) or kind.to_representation is not Out.to_representation:
        return None
    return None if any(column.write is None for column in plan(kind)) else partial(Out.to_representation, serializer)


def _each(write: Writer, rows: Any) -> list[Any]:
    return [write(row) for row in (rows.all() if isinstance(rows, BaseManager) else rows)]


def _truth(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    return value if value is True or value is False else field.to_representation(value)


def _moment(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    if type(value) is datetime and value.tzinfo is UTC:
        return f"{value.isoformat()[:-6]}Z"
    return field.to_representation(value)


def _word(field: serializers.Field[Any, Any, Any, Any], words: dict[Any, Any], value: Any) -> Any:
    word = words.get(value) if type(value) is str else None
    return field.to_representation(value) if word is None else word
