"""Migration steps that run while the league plays, and the refusal of a database that is too old for the migrations of this release.

Django's steps for PostgreSQL are imported late: they need its driver, which a league on SQLite does without.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddConstraint, AddIndex
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
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
        """Remove the columns and indexes from the models."""
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
        state.alter_field(app_label, self.model_name, self.name, self.field, preserve_default=True)
        state.rename_field(app_label, self.model_name, self.name, self.new_name)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def describe(self) -> str:
        """Return the new name in words."""
        return f"Call {self.name} of {self.model_name} {self.new_name}; its column keeps its name"


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
