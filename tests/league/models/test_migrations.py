"""An upgrade stops nothing: the release before goes on reading and writing while a migration runs, and after it.

So columns and tables are only added, by steps that hold no table for long; what is no longer used is taken away a release later, by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations import operations as steps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED
from django.utils import translation

import league.migrations
from league.service.migrating import AddIndexMeanwhile, CheckOldRows, Forget, FormerMigration, RenameFieldOnly

SMALL = {
    "apitoken",
    "draft",
    "follow",
    "job",
    "player",
    "quota",
}  # tables that are read through in no time, so that a constraint may look at their rows
# Changes of a column that neither rewrite its table nor refuse a value that the release before writes
WORDS = {"choices", "help_text", "default", "db_default", "validators", "verbose_name", "blank", "related_name"}
NAMES = sorted(path.stem for path in Path(league.migrations.__path__[0]).glob("0*.py"))


def kind(field: models.Field) -> tuple[str, dict[str, object]]:
    """Return the part of a column that the database knows."""
    _, path, _, arguments = field.deconstruct()
    return path, {name: value for name, value in arguments.items() if name not in WORDS}


def needed(field: models.Field) -> tuple[str, dict[str, object]]:
    """Return the column as it was before it might be null: PostgreSQL allows that without a look at a row."""
    path, arguments = kind(field)
    return path, {name: value for name, value in arguments.items() if name != "null"}


def why_not_forgotten(columns: list[models.Field]) -> str:
    """Return which columns keep this release, which writes them no more, from adding rows, or ""."""
    needed = [str(field) for field in columns if not field.null and field.db_default is NOT_PROVIDED]
    return f"this release writes no such column: give it a db_default first: {', '.join(needed)}" if needed else ""


def why_not_added(field: models.Field) -> str:
    """Return why the release before could not add rows without a new column, or ""."""
    optional = field.null or field.many_to_many or field.db_default is not NOT_PROVIDED
    return "" if optional else "the release before writes no such column: give it null or db_default"


def why_not_altered(step: steps.AlterField, model: str, before: Callable[[str, str], models.Field] | None) -> str:
    """Return why a column would be written again, or ""."""
    is_same = before is not None and kind(before(model, step.name)) in (kind(step.field), needed(step.field))
    return "" if is_same else "the table would be written anew"


def why_not_removed(step: steps.RemoveConstraint, migration: type[migrations.Migration] | migrations.Migration) -> str:
    """Return why the release before could miss a constraint, or ""."""
    added = [other for other in migration.operations if isinstance(other, steps.AddConstraint)]
    is_widened = (step.model_name, step.name) in [(other.model_name, other.constraint.name) for other in added]
    return "" if is_widened else "not additive: the release before relies on it"


def why_not_named(step: steps.base.Operation, migration: type[migrations.Migration] | migrations.Migration) -> str:
    """Return why the release before could not find the table of a renamed model, or ""."""
    if isinstance(step, steps.AlterModelTable):
        return (
            "" if step.table == f"league_{step.name.lower()}" else "the release before knows the table by its old name"
        )
    fixed = {other.name for other in migration.operations if isinstance(other, steps.AlterModelTable)}
    return "" if step.old_name in fixed else "keep the name of the table first: AlterModelTable"


def why_not_meanwhile(step: steps.base.Operation, migration: type[migrations.Migration] | migrations.Migration) -> str:
    """Return why others could not write while an index comes or goes, or ""."""
    if not isinstance(step, AddIndexMeanwhile):
        return "use league.service.migrating.AddIndexMeanwhile: it lets others write"
    return "" if not migration.atomic else "an index comes or goes meanwhile only where atomic = False"


def why_not(
    step: steps.base.Operation,
    migration: type[migrations.Migration] | migrations.Migration,
    fresh: set[str],
    before: Callable[[str, str], models.Field] | None = None,
) -> str:
    """Return what is wrong with a step, or "". fresh: the models that this migration creates, which nobody writes yet. before: a column as it was."""
    name = getattr(step, "model_name", getattr(step, "name", "")).lower()
    if isinstance(step, steps.CreateModel | steps.AlterModelOptions | CheckOldRows | RenameFieldOnly) or (
        name in fresh and isinstance(step, steps.AddIndex | steps.AddConstraint)
    ):
        return ""
    if isinstance(step, steps.AddField):
        return why_not_added(step.field)
    if isinstance(step, steps.AddIndex):
        return why_not_meanwhile(step, migration)
    if isinstance(step, steps.RunPython):
        return (
            ""
            if step.reverse_code is not None
            else "say what is done on the way back, migrations.RunPython.noop at least"
        )
    if isinstance(step, steps.AlterField):
        return why_not_altered(step, name, before)
    if isinstance(step, steps.RemoveConstraint):
        return why_not_removed(step, migration)
    if isinstance(step, steps.AddConstraint):
        light = type(step) is not steps.AddConstraint or name in SMALL
        return (
            ""
            if light
            else "it holds the table while it reads every row: add it NOT VALID, and validate it in a migration of its own"
        )
    if isinstance(step, Forget):
        return why_not_forgotten([before(name, column) for column in step.columns] if before is not None else [])
    if isinstance(step, steps.AlterModelTable | steps.RenameModel):
        return why_not_named(step, migration)
    return "not additive: the release before still uses it"


def test_the_migrations_make_the_tables_of_the_models() -> None:
    loader = MigrationLoader(None)

    # In no language, as manage.py makemigrations reads the words of the models
    with translation.override(None):
        from_migrations, from_models = loader.project_state(), ProjectState.from_apps(apps)
        changes = MigrationAutodetector(from_migrations, from_models).changes(graph=loader.graph)

    assert {app: list(map(str, steps)) for app, steps in changes.items()} == {}, "make them: manage.py makemigrations"


def parts(migration: type[migrations.Migration]) -> list[migrations.Migration]:
    """Return the former migrations that make up a migration, or itself."""
    former = [step.as_migration("league") for step in migration.operations if isinstance(step, FormerMigration)]
    return former or [migration("", "league")]


@pytest.mark.parametrize("name", NAMES)
def test_every_step_leaves_the_release_before_alone(name: str) -> None:
    migration = import_module(f"league.migrations.{name}").Migration
    state, faults = MigrationLoader(None).project_state(migration.dependencies[0]), {}
    for part in parts(migration):
        fresh = {step.name.lower() for step in part.operations if isinstance(step, steps.CreateModel)}

        def before(model: str, field: str, state: ProjectState = state) -> models.Field:
            return state.models["league", model].fields[field]

        faults |= {step.describe(): why for step in part.operations if (why := why_not(step, part, fresh, before))}
        state = part.mutate_state(state)

    assert faults == {}


@pytest.mark.parametrize(
    "step",
    [
        steps.RemoveField("match", "slow"),
        steps.RenameField("match", "slow", "late"),
        steps.DeleteModel("match"),
        steps.RenameModel("match", "Game"),
        steps.AlterModelTable("match", "games"),
        steps.AddField("match", "late", models.BooleanField(default=False)),
        steps.AddIndex("match", models.Index(fields=["slow"], name="late")),
        steps.AddConstraint("match", models.CheckConstraint(condition=models.Q(slow=True), name="late")),
        steps.RunPython(print),
        AddIndexMeanwhile("match", models.Index(fields=["slow"], name="late")),
    ],
)
def test_the_rule_refuses_what_stops_the_release_before(step: steps.base.Operation) -> None:
    assert why_not(step, migrations.Migration, set())


def test_what_is_forgotten_has_a_default() -> None:
    columns: dict[str, models.Field] = {
        "a": models.TextField(null=True),
        "b": models.TextField(db_default=""),
        "c": models.TextField(),
    }

    def before(model: str, field: str) -> models.Field:
        return columns[field]

    assert not why_not(Forget("match", ("a", "b")), migrations.Migration, set(), before)
    assert why_not(Forget("match", ("a", "c")), migrations.Migration, set(), before)


def test_numbers_are_given_once() -> None:
    numbers = [name[:4] for name in NAMES]

    assert sorted(set(numbers)) == numbers


def test_a_column_may_get_words_and_no_other_type() -> None:
    was = {"worker": models.CharField(max_length=80, blank=True)}

    def before(model: str, field: str) -> models.Field:
        return was[field]

    words = steps.AlterField("match", "worker", models.CharField(max_length=80, choices=[("a", "A")]))
    null = steps.AlterField("match", "worker", models.CharField(max_length=80, null=True))
    other = steps.AlterField("match", "worker", models.TextField())
    assert [bool(why_not(step, migrations.Migration, set(), before)) for step in (words, null, other)] == [
        False,
        False,
        True,
    ]
