"""docs/glossary.md against models, statuses, API schema and class names; the files that it and docs/architecture.md name exist."""

from __future__ import annotations

import enum
import inspect
import re
from collections import defaultdict
from functools import cache

import pytest
from django.apps import apps

from league import enums
from league.api.http.schema import document
from tests.support.compose import TOP

GLOSSARY = (TOP / "docs" / "glossary.md").read_text(encoding="utf-8")
MAP = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = set(re.findall(r"`([^`]+)`", GLOSSARY))
PLACEHOLDERS = {"KEY", "NAME", "SUBJECT"}
LISTS = re.compile(r"Paginated(\w+)List")  # schemas of lists; the group is the listed resource


def rows(title: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its head."""
    section = GLOSSARY.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


@cache
def classes() -> dict[str, list[str]]:
    """Map the name of each class of engine, service and bots to the files that define it."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in [path for top in ("engine", "league", "bots") for path in (TOP / top).rglob("*.py")]:
        for name in set(re.findall(r"^ *class (\w+)[(:]", path.read_text(encoding="utf-8"), flags=re.MULTILINE)):
            places[name].append(str(path.relative_to(TOP)))
    return places


def words(name: str) -> set[str]:
    """Return the lower-case words of a CamelCase or snake_case name."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def path_parts(path: str) -> set[str]:
    """Return the parts of a path, without suffixes."""
    return set(re.split(r"[/.]", path))


def fields() -> set[str]:
    """Return the names of the fields of all answers and requests of the API."""
    return {name for schema in document()["components"]["schemas"].values() for name in schema.get("properties", {})}


def test_every_model_and_status_has_a_line() -> None:
    models = {model.__name__ for model in apps.get_app_config("league").get_models()}
    members = vars(enums).values()
    statuses = {
        member.__name__ for member in members if inspect.isclass(member) and member.__module__ == enums.__name__
    }
    assert all(issubclass(getattr(enums, name), enum.Enum) for name in statuses)
    assert sorted((models | statuses) - NAMES) == []


def test_every_resource_of_the_api_has_a_line() -> None:
    api = document()
    collections = {"/" + path.split("/")[3] for path in api["paths"]}
    listed = {name for schema in api["components"]["schemas"] for name in LISTS.findall(schema)}
    assert {"/bots", "/matches"} <= collections
    assert {"Bot", "Match"} <= listed
    assert sorted((collections | listed) - NAMES) == []


@pytest.mark.parametrize("title", ["The league", "The rules and their program"])
def test_terms_are_unique_and_in_alphabetical_order(title: str) -> None:
    terms = [cells[0].casefold() for cells in rows(title)]
    assert len(terms) > 30
    assert terms == sorted(set(terms))


def test_no_word_to_avoid_is_in_a_name_that_is_not_listed() -> None:
    avoided = {word for cells in rows("Words to avoid") for word in cells[0].split(", ") if " " not in word}
    assert {"judgement", "told"} <= avoided
    public = {name for name in classes() if not name.startswith("_")}
    assert sorted(name for name in public | fields() if words(name) & avoided and name not in NAMES) == []


def test_every_class_that_the_glossary_names_exists() -> None:
    class_names = {name for name in NAMES if re.fullmatch(r"[A-Z][a-z]\w*", name)}
    present = classes().keys() | set(document()["components"]["schemas"])
    assert sorted(class_names - present) == []


def test_each_class_name_stands_for_one_class() -> None:
    # Django fixes the names Command and Migration, and forms and models have a Meta; a house bot is one folder that brings its own copies; the SDK's
    # names are those of authors.
    fixed = {"Command", "Migration", "Meta", "Media"}
    places = {
        name: [path for path in paths if not path.startswith(("bots/house/", "bots/sdk/"))]
        for name, paths in classes().items()
        if name not in fixed
    }
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_every_name_that_waits_for_a_better_one_exists() -> None:
    waiting = {name for cells in rows("Words to avoid") for name in re.findall(r"`(\w+)`", cells[2])}
    assert sorted(waiting - classes().keys() - fields()) == []


@pytest.mark.parametrize("text", [GLOSSARY, MAP], ids=["glossary", "architecture"])
def test_every_file_that_is_named_exists(text: str) -> None:
    spans = [word for span in re.findall(r"`([^`\n]+)`", text) for word in re.split(r"[\s\"]", span)]
    paths = {
        span for span in spans if re.fullmatch(r"[a-z][\w.-]*(/[\w.-]+)*(/|\.(py|yaml|md))|(tests|docs|bots)/\S+", span)
    }
    homes = (TOP, TOP / "league", TOP / "engine", TOP / "engine" / "sandbox")
    assert len(paths) > 20
    assert (
        sorted(
            path
            for path in paths
            if not PLACEHOLDERS & path_parts(path) and not any((home / path).exists() for home in homes)
        )
        == []
    )
