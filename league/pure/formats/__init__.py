"""Tournament formats, one module each, all with the interface in `base`.

Every module here that declares FORMAT is a format; there is no list of names.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from league.pure.formats.base import BracketPairing, Format, Outcome, Parameter, Ranking, Size
from league.pure.formats.sheet import REVISION, Field, Pairing, Results, Sheet, Slot, Value


def find_formats() -> dict[str, Format]:
    """Return the FORMAT of each module of this folder by key, in the order in which formats are offered."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    forms: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {form.key: form for form in sorted(forms, key=lambda form: (form.place, form.key))}


FORMATS = find_formats()


def check_field(form: Format, field: Field) -> None:
    """Raise Refusal if a format cannot be played with this field: wrong tables, or too few or too many entries.

    The message names the formats that can.
    """
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
