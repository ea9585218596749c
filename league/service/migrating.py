"""Steps of migrations that a league takes while it plays."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint
from django.db.migrations.operations import AddConstraint, AddIndex


class AddIndexMeanwhile(AddIndexConcurrently):
    """An index that PostgreSQL builds while rows are written; its migration is not atomic. SQLite, which has one writer, builds it as any other."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Build it."""
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Take it away."""
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


class AddConstraintUnchecked(AddConstraint):
    """A constraint that PostgreSQL adds without a look at the rows that are there, which would hold the table.

    `CheckOldRows` in the next migration looks.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Add it."""
        if schema_editor.connection.vendor == "postgresql":
            unchecked = AddConstraintNotValid(self.model_name, self.constraint)
            unchecked.database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class CheckOldRows(ValidateConstraint):
    """The look at the rows that were there before such a constraint. Others may read and write them meanwhile. SQLite has looked already."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Look."""
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
