"""The formats of tournaments, one file each, all of one shape (`base`). A file in this folder that declares FORMAT is a format; no list names it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from league.pure.formats.base import BracketPairing, Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.sheet import REVISION, Field, Pairing, Results, Sheet, Slot, Value


def find_formats() -> dict[str, Format]:
    """By key, what the modules of this folder declare as FORMAT, in the order in which formats are offered."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {one.key: one for one in sorted(found, key=lambda one: (one.place, one.key))}


FORMATS = find_formats()


def check_field(form: Format, field: Field) -> None:
    """Refusal where a field cannot be played in a format: such tables, too few entries or too many. It names the formats that can."""
    form.check_tables(field, FORMATS.values())
    form.check(field)


__all__ = [
    "FORMATS",
    "REVISION",
    "BracketPairing",
    "Field",
    "Format",
    "Outcome",
    "Pairing",
    "Parameter",
    "Ranking",
    "Results",
    "Sheet",
    "Size",
    "Slot",
    "Value",
    "check_field",
    "find_formats",
]
