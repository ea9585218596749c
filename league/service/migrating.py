"""Migration steps that run while the league plays, and the refusal of a database that is too old for the migrations of this release.

Django's steps for PostgreSQL are imported late: they need its driver, which a league on SQLite does without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddConstraint, AddField, AddIndex, RunPython
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from django.db.models import Field

OLDEST = "215356c0"  # The last commit with all the migrations that release 1.0.0 replaced


class AddIndexMeanwhile(AddIndex):
    """An index that PostgreSQL builds while rows are written. Its migration is not atomic.

    SQLite, which has one writer, builds it like any other index.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Build the index."""
        if schema_editor.connection.vendor == "postgresql":
            self._concurrently().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Drop the index."""
        if schema_editor.connection.vendor == "postgresql":
            self._concurrently().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def _concurrently(self) -> AddIndex:
        from django.contrib.postgres.operations import AddIndexConcurrently

        return AddIndexConcurrently(self.model_name, self.index)


class AddConstraintUnchecked(AddConstraint):
    """A constraint that PostgreSQL adds without checking the existing rows, which would lock the table.

    `CheckOldRows` in the next migration checks them.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Add the constraint."""
        if schema_editor.connection.vendor == "postgresql":
            from django.contrib.postgres.operations import AddConstraintNotValid

            unchecked = AddConstraintNotValid(self.model_name, self.constraint)
            unchecked.database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class CheckOldRows(Operation):
    """The check of the rows that existed before such a constraint. Other processes may read and write them at the same time.

    SQLite has already checked them.
    """

    def __init__(self, model_name: str, name: str) -> None:
        self.model_name = model_name
        self.name = name

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change nothing: the models have the constraint already."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Check the existing rows."""
        if schema_editor.connection.vendor == "postgresql":
            from django.contrib.postgres.operations import ValidateConstraint

            look = ValidateConstraint(self.model_name, self.name)
            look.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing: PostgreSQL cannot undo a check."""

    def describe(self) -> str:
        """Return the constraint that is checked, in words."""
        return f"Validate constraint {self.name} on model {self.model_name}"


class Forget(Operation):
    """The removal from the models of columns and indexes that this release no longer uses.

    The table keeps them for the previous release, which still writes them. Each column is nullable or has a default in the database, so that both
    releases can add rows. A later release drops the columns; SQLite does when it rebuilds the table for another column, so the way back adds them
    again.
    """

    def __init__(self, model_name: str, columns: tuple[str, ...] = (), indexes: tuple[str, ...] = ()) -> None:
        self.model_name = model_name
        self.columns = columns
        self.indexes = indexes

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Remove the columns and indexes from the models, which are rendered once and not after each."""
        state.__dict__.pop("apps", None)
        for name in self.indexes:
            state.remove_index(app_label, self.model_name, name)
        for name in self.columns:
            state.remove_field(app_label, self.model_name, name)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Add the columns and indexes that no longer exist."""
        model = to_state.apps.get_model(app_label, self.model_name)
        table, introspection = model._meta.db_table, schema_editor.connection.introspection
        with schema_editor.connection.cursor() as cursor:
            columns = {column.name for column in introspection.get_table_description(cursor, table)}
            indexes = introspection.get_constraints(cursor, table)
        for field in map(model._meta.get_field, self.columns):
            if field.column not in columns:
                # Not that of SQLite, which would copy the table with all columns of the model.
                BaseDatabaseSchemaEditor.add_field(schema_editor, model, field)
        for index in model._meta.indexes:
            if index.name in self.indexes and index.name not in indexes:
                schema_editor.add_index(model, index)

    def describe(self) -> str:
        """Return the columns and indexes that are no longer used, in words."""
        return f"Use no more of {self.model_name}: {', '.join((*self.columns, *self.indexes))}"


class RenameFieldOnly(Operation):
    """A new name for a field, whose column keeps the old one: the previous release still reads and writes it."""

    def __init__(self, model_name: str, name: str, new_name: str, field: Field[Any, Any]) -> None:
        """field: the field as it was, with the old name as its `db_column`."""
        if field.db_column != name:
            raise ValueError(f"the column of {new_name} is to stay {name}")
        self.model_name = model_name
        self.name = name
        self.new_name = new_name
        self.field = field

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Rename the field in the models."""
        model = state.models[app_label, self.model_name]
        names = [self.new_name if name == self.name else name for name in model.fields]
        state.alter_field(app_label, self.model_name, self.name, self.field, preserve_default=True)
        state.rename_field(app_label, self.model_name, self.name, self.new_name)
        model.fields = {
            name: model.fields[name] for name in names
        }  # A new table has the order of the columns of old ones

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def describe(self) -> str:
        """Return the new name in words."""
        return f"Call {self.name} of {self.model_name} {self.new_name}; its column keeps its name"


class RunOnPostgres(RunPython):
    """A step for what only PostgreSQL has. A new database needs it, unlike steps that change rows."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Run the code on PostgreSQL."""
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Run the reverse code on PostgreSQL."""
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)


class FormerMigration(Operation):
    """A migration within the one that replaced it and others. It runs unless its name is recorded, in a transaction of its own.

    So a database that has taken any number of them goes on with the next; with Django's `replaces` it must have taken all or none. The previous
    release waits for the names, and finds them.
    """

    reduces_to_sql = False

    def __init__(self, name: str, *operations: Operation, atomic: bool = True) -> None:
        """atomic: False if it holds steps that PostgreSQL runs outside of transactions."""
        self.name = name
        self.operations = operations
        self.is_atomic = atomic

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change the models; they are rendered once when they are needed, and not after each operation."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Run the operations unless they have run, and record the name."""
        connection = schema_editor.connection
        recorder, atomic = MigrationRecorder(connection), self.is_atomic or connection.vendor == "sqlite"
        if (app_label, self.name) not in recorder.applied_migrations():
            with connection.schema_editor(atomic=atomic) as editor:
                self.as_migration(app_label).apply(_rendered(from_state), editor)
                if atomic:
                    recorder.record_applied(app_label, self.name)
            if not atomic:  # The last statements have run only now
                recorder.record_applied(app_label, self.name)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Undo the operations unless that has been done, and forget the name."""
        connection = schema_editor.connection
        recorder = MigrationRecorder(connection)
        if (app_label, self.name) in recorder.applied_migrations():
            with connection.schema_editor(atomic=self.is_atomic or connection.vendor == "sqlite") as editor:
                self.as_migration(app_label).unapply(_rendered(to_state), editor)
                recorder.record_unapplied(app_label, self.name)

    def describe(self) -> str:
        """Return the name of the former migration."""
        return f"Former migration {self.name}"

    def as_migration(self, app_label: str) -> Migration:
        """Return it as a migration of its own."""
        kind = type("Migration", (Migration,), {"operations": self.operations, "atomic": self.is_atomic})
        migration: Migration = kind(self.name, app_label)
        return migration


def _rendered(state: ProjectState) -> ProjectState:
    """Return a copy whose models are rendered, so that each operation renders only what it changes."""
    copy = state.clone()
    copy.apps  # noqa: B018 - a cached property
    return copy


class FirstMigration(Migration):
    """The first migration. In an empty database it creates the tables as the later migrations of the same run would leave them, and records those.

    So that a new league does not wait while tables are created, and then changed dozens of times.
    """

    later: tuple[Migration, ...] = ()

    def apply(self, project_state: Any, schema_editor: Any, collect_sql: bool = False) -> Any:
        """Create the tables in one step."""
        if collect_sql:
            return super().apply(project_state, schema_editor, collect_sql)
        operations = [step for migration in (self, *self.later) for step in _steps(migration)]
        latest = self._latest(project_state, operations, rebuilds=schema_editor.connection.vendor == "sqlite")
        for model in latest.apps.get_models():
            if model._meta.app_label == self.app_label:
                schema_editor.create_model(model)
        for operation in operations:
            if isinstance(operation, RunOnPostgres):
                operation.database_forwards(self.app_label, schema_editor, latest, latest)
        # Now, and not after this transaction: a run that is killed leaves all tables and names, or none.
        while schema_editor.deferred_sql:
            schema_editor.execute(schema_editor.deferred_sql.pop(0))
        for migration in self.later:
            for name in (*(former.name for former in _former(migration)), migration.name):
                MigrationRecorder(schema_editor.connection).record_applied(self.app_label, name)
        project_state.__dict__.pop("apps", None)
        for migration in (self, *self.later):
            project_state = migration.mutate_state(project_state, preserve=False)
        return project_state

    def _latest(self, before: ProjectState, operations: list[Operation], *, rebuilds: bool) -> ProjectState:
        """Return the models of the tables at the end. rebuilds: a table loses what its model forgot when it gets another column, as in SQLite."""
        latest = ProjectState({key: model.clone() for key, model in before.models.items()}, before.real_apps)
        forgotten: list[Forget] = []
        for operation in operations:
            if isinstance(operation, Forget):
                forgotten.append(operation)
                continue
            if isinstance(operation, AddField) and rebuilds:
                for step in [step for step in forgotten if step.model_name == operation.model_name]:
                    step.state_forwards(self.app_label, latest)
                    forgotten.remove(step)
            operation.state_forwards(self.app_label, latest)
        return latest


def _former(migration: Migration) -> list[FormerMigration]:
    return [step for step in migration.operations if isinstance(step, FormerMigration)]


def _steps(migration: Migration) -> Sequence[Operation]:
    """Return the operations of a migration, or of those that make it up."""
    former = _former(migration)
    return [step for part in former for step in part.operations] if former else [*migration.operations]


def take_along(plan: list[tuple[Migration, bool]], **_signal: Any) -> None:
    """Let the first migration of a plan do what the plan would do with its tables later. A receiver of the signal `pre_migrate`."""
    for first in [
        migration for migration, backwards in plan if isinstance(migration, FirstMigration) and not backwards
    ]:
        first.later = tuple(
            migration for migration, _ in plan if migration is not first and migration.app_label == first.app_label
        )
        plan[:] = [step for step in plan if step[0] not in first.later]


def why_too_old(connection: Any) -> str:
    """Return why the migrations of this code cannot upgrade a database; "" if they can.

    A migration that replaces others fits a database in which either all or none of those have run.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    for migration in MigrationLoader(None, ignore_no_migrations=True).disk_migrations.values():
        lacking = [name for app, name in migration.replaces if (app, name) not in applied]
        if migration.app_label == "league" and 0 < len(lacking) < len(migration.replaces):
            return (
                f"This database is older than release 1.0.0 can upgrade: it lacks {len(lacking)} of {len(migration.replaces)} migrations, "
                f"the first is {lacking[0]}. Check out commit {OLDEST}, run its manage.py migrate, then this one again. Nothing was changed."
            )
    return ""
