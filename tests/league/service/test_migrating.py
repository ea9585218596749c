"""The steps of migrations that let others work meanwhile do on SQLite what they do on PostgreSQL."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, migrations, models
from django.db.migrations.state import ProjectState

from league.service.migrating import AddConstraintUnchecked, AddIndexMeanwhile, CheckOldRows

pytestmark = pytest.mark.rows
INDEX = models.Index(fields=["weight"], name="thing_by_weight")
POSITIVE = models.CheckConstraint(condition=models.Q(weight__gt=0), name="thing_has_weight")


@pytest.mark.django_db(transaction=True)
def test_each_step_goes_both_ways() -> None:
    first = [
        migrations.CreateModel("Thing", [("id", models.AutoField(primary_key=True)), ("weight", models.IntegerField())])
    ]  # fmt: skip
    steps = [
        AddIndexMeanwhile("thing", INDEX),
        AddConstraintUnchecked("thing", POSITIVE),
        CheckOldRows("thing", POSITIVE.name),
    ]
    state = ProjectState()
    states = [state]
    for step in [*first, *steps]:
        state = state.clone()
        step.state_forwards("trial", state)
        states.append(state)
        with connection.schema_editor(atomic=False) as editor:
            step.database_forwards("trial", editor, states[-2], state)
    try:
        assert {"thing_by_weight", "thing_has_weight"} <= constraints().keys()
        with pytest.raises(IntegrityError):
            state.apps.get_model("trial", "Thing").objects.create(weight=0)
        for number in (3, 2, 1):
            with connection.schema_editor(atomic=False) as editor:
                steps[number - 1].database_backwards("trial", editor, states[number + 1], states[number])
        assert not {"thing_by_weight", "thing_has_weight"} & constraints().keys()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE trial_thing")


def constraints() -> dict[str, dict[str, object]]:
    """Return the indexes and constraints of the table, by name."""
    with connection.cursor() as cursor:
        return dict(connection.introspection.get_constraints(cursor, "trial_thing"))
