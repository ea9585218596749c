"""Steps of migrations that a league takes while it plays, and the refusal of a database that is too old for the migrations that are left.

Django's own steps for PostgreSQL are imported where they are taken: they need its driver, which a league on SQLite does without.
"""

from __future__ import annotations

from typing import Any

from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddConstraint, AddIndex, AlterField
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder

OLDEST = "215356c0"  # the last commit with all the migrations that release 1.0.0 replaced


class AddIndexMeanwhile(AddIndex):
    """An index that PostgreSQL builds while rows are written; its migration is not atomic. SQLite, which has one writer, builds it as any other."""

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


class DropIndexOfKey(AlterField):
    """A foreign key loses the index of its own, where another one begins with it. PostgreSQL drops it while rows are written, and keeps the key.

    Its migration is not atomic. Django would make the key again, which looks at every row.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Drop the index."""
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        column = model._meta.get_field(self.name).column
        for name in schema_editor._constraint_names(model, [column], index=True, unique=False, primary_key=False):
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}")

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Build the index again."""
        if schema_editor.connection.vendor != "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(schema_editor._create_index_sql(model, fields=[model._meta.get_field(self.name)]))


class AddConstraintUnchecked(AddConstraint):
    """A constraint that PostgreSQL adds without a look at the rows that are there, which would hold the table.

    `CheckOldRows` in the next migration looks.
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
    """The look at the rows that were there before such a constraint. Others may read and write them meanwhile. SQLite has looked already."""

    def __init__(self, model_name: str, name: str) -> None:
        self.model_name = model_name
        self.name = name

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change nothing: the models have the constraint already."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Look."""
        if schema_editor.connection.vendor == "postgresql":
            from django.contrib.postgres.operations import ValidateConstraint

            look = ValidateConstraint(self.model_name, self.name)
            look.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing: PostgreSQL cannot forget that it has looked."""

    def describe(self) -> str:
        """Say what is looked at."""
        return f"Validate constraint {self.name} on model {self.model_name}"


class Forget(Operation):
    """Columns and indexes that this release uses no more. The models lose them; the table keeps them for the release before, which still writes them.

    Each column is nullable or has a default of the database, so that both releases can add rows. A later release drops them.
    """

    def __init__(self, model_name: str, columns: tuple[str, ...] = (), indexes: tuple[str, ...] = ()) -> None:
        self.model_name = model_name
        self.columns = columns
        self.indexes = indexes

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Take them from the models."""
        for name in self.indexes:
            state.remove_index(app_label, self.model_name, name)
        for name in self.columns:
            state.remove_field(app_label, self.model_name, name)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing."""

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change nothing: the columns are there."""

    def describe(self) -> str:
        """Say what is no longer used."""
        return f"Use no more of {self.model_name}: {', '.join((*self.columns, *self.indexes))}"


def why_too_old(connection: Any) -> str:
    """Return why the migrations of this code cannot upgrade a database, "" if they can.

    A migration that replaces others fits a database that has taken all of them, or none.
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
