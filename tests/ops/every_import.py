"""Imports of every module of ours and of everything that our source imports anywhere.

A part of every_command.py: it runs in the interpreter of tests.support.production, with the settings of a league on PostgreSQL and Redis. Modules
that the settings name by strings count as well (middleware, backends, formatters).
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TOP = Path(__file__).resolve().parents[2]
OURS = ("engine", "league", "bots/sdk", "docker", "manage.py")
PROGRAMS = ("__main__", "canary_bot", "sealed_bot")


def sources() -> Iterator[Path]:
    """Yield every Python file that production runs."""
    for name in OURS:
        place = TOP / name
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def own_name(path: Path) -> str:
    """Return the name by which a file of ours is imported; "" for a program, which acts when it is imported."""
    if path.is_relative_to(TOP / "bots" / "sdk"):
        return path.stem if path.parent.name == "sdk" else ""
    words = path.relative_to(TOP).with_suffix("").parts
    if words[0] in ("docker", "manage") or words[-1] in PROGRAMS or "gates" in words:
        return ""
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def imported(path: Path) -> Iterator[str]:
    """Yield each absolute module name in the import statements of a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def dotted_paths(value: object) -> Iterator[str]:
    """Yield each dotted path in a value of the settings: a module, or a thing in one."""
    if isinstance(value, str):
        if value.replace(".", "").replace("_", "").isalnum() and "." in value and not value[0].isdigit():
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from dotted_paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from dotted_paths(item)


def of_settings(settings: ModuleType) -> Iterator[str]:
    """Yield the module of each dotted path whose first word is a package here; others are host names and the like."""
    for key in dir(settings):
        for path in dotted_paths(getattr(settings, key)) if key.isupper() else ():
            if importlib.util.find_spec(path.partition(".")[0]) is None:
                continue
            try:
                importlib.import_module(path)
            except ModuleNotFoundError as error:
                # The last word names a thing in the module, or one in a class of it.
                yield path.rpartition(".")[0] if error.name == path else path
            else:
                yield path


def failures(*more: str) -> dict[str, str]:
    """Import everything, and these names too. Return what fails: name -> error."""
    sys.path[:0] = [str(TOP / "bots" / "sdk")]
    from django.conf import settings

    from league import celery
    from league import settings as ours

    names = {name for path in sources() for name in (own_name(path), *imported(path)) if name}
    names |= {*of_settings(ours), *more}
    failed: dict[str, str] = {}
    for name in sorted(names):
        try:
            importlib.import_module(name)
        except ImportError as error:
            failed[name] = str(error.name or error)
    # What libraries choose by an address, they import only when it is used.
    import kombu
    from django.core.cache import cache
    from django.db import connection

    for url in (settings.BROKER_URL, "filesystem://localhost//", "rediss://localhost/0"):
        assert kombu.Connection(url).transport
    assert celery.app.connection_for_read().transport
    cache.get("nothing")
    connection.ensure_connection()
    return failed
