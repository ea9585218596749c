"""The base of what answers are made of: what a serializer declares, worked out once for its class.

A serializer of the framework copies its fields for each answer and asks each of them, row by row, where its value is and what may be wrong with
it: two thirds of what a list cost. Here the fields of a class are made once, and a row goes through a list of getters and writers. Whatever is not as
plain as that (a default, a value that is missing, a field of another kind) is asked of the field itself, so there is one truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from operator import attrgetter
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from django.core.exceptions import ObjectDoesNotExist
from django.db.models.manager import BaseManager
from rest_framework import serializers
from rest_framework.fields import SkipField

Writer: TypeAlias = Callable[[Any], Any]
CALLED = (MethodType, FunctionType, partial)  # the field knows whether and how


@dataclass(frozen=True)
class Told:
    """One field of an answer: where its value is, and how it is written."""

    name: str
    read: Callable[[Any], Any]
    key: str | None  # of a row that is a dict; None: the value lies deeper
    field: serializers.Field[Any, Any, Any, Any]
    write: Writer | None  # None: by the serializer of this answer, which has its context


class Out(serializers.Serializer[Any]):
    """What an answer tells of one thing."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The values by name, as the framework has them."""
        found: dict[str, Any] = {}
        is_dict = type(instance) is dict
        for told in plan(type(self)):
            try:
                if told.write is None and isinstance(told.field, serializers.SerializerMethodField):
                    found[told.name] = getattr(self, told.field.method_name or "")(instance)
                    continue
                if is_dict:
                    value = instance[told.key] if told.key else told.field.get_attribute(instance)
                else:
                    value = told.read(instance)
                if type(value) in CALLED:
                    value = told.field.get_attribute(instance)
            except (AttributeError, KeyError, ObjectDoesNotExist):
                try:
                    value = told.field.get_attribute(instance)
                except SkipField:
                    continue
            if value is None:
                found[told.name] = None
            else:
                found[told.name] = (told.write or self.fields[told.name].to_representation)(value)
        return found


@cache
def plan(kind: type[Out]) -> tuple[Told, ...]:
    """The fields of a class, in their order."""
    bound = kind()
    found = []
    for name, field in bound.fields.items():
        if field.write_only:
            continue
        attrs = field.source_attrs
        read = attrgetter(".".join(attrs)) if attrs else _itself
        found.append(Told(name, read, attrs[0] if len(attrs) == 1 else None, field, _writer(field)))
    return tuple(found)


def columns(kind: type[Out]) -> list[str]:
    """Return the columns that an answer of this class reads, as `only` takes them: those of lists and of methods are not among them."""
    names: list[str] = []
    for told in plan(kind):
        path = "__".join(told.field.source_attrs)
        if isinstance(told.field, Out):
            names += [f"{path}__{name}" for name in columns(type(told.field))]
        elif not isinstance(told.field, serializers.ListSerializer | serializers.SerializerMethodField):
            names.append(path)
    return names


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


def _nested(one: Any) -> Writer | None:
    """How a part is written that is a serializer; None where its answer depends on who asks."""
    kind: type[Out] = type(one)
    if not isinstance(one, Out) or kind.to_representation is not Out.to_representation:
        return None
    return None if any(told.write is None for told in plan(kind)) else partial(Out.to_representation, one)


def _each(write: Writer, rows: Any) -> list[Any]:
    return [write(row) for row in (rows.all() if isinstance(rows, BaseManager) else rows)]


def _truth(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    return value if value is True or value is False else field.to_representation(value)


def _moment(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    if type(value) is datetime and value.tzinfo is UTC:
        return f"{value.isoformat()[:-6]}Z"
    return field.to_representation(value)


def _word(field: serializers.Field[Any, Any, Any, Any], words: dict[Any, Any], value: Any) -> Any:
    found = words.get(value) if type(value) is str else None
    return field.to_representation(value) if found is None else found
