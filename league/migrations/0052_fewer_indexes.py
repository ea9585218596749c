from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import DropIndexOfKey

# Of the status the planner is told nothing here: where many matches have been leased since it counted them last, it would take them for none, and read all
# that are leased, running or finished in place of the one by its id.
FUNCTION = """
CREATE OR REPLACE FUNCTION league_secret_of_lease(held bigint, lease integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT secret FROM league_match WHERE id = held AND token = lease AND status || '' IN ('leased', 'running')
$$;
"""
TENDED = "ALTER TABLE league_match SET (autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000)"
UNTENDED = "ALTER TABLE league_match RESET (autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)"


def tend(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(FUNCTION, None)
        editor.execute(TENDED, None)


def leave(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(UNTENDED, None)


class Migration(migrations.Migration):
    # A match that changes its status writes an entry into each index: these are begun by others, or by nobody read (addresses are whole words)

    atomic = False

    dependencies = [
        ('league', '0051_changes'),
    ]

    operations = [
        migrations.RunPython(tend, leave),
        DropIndexOfKey(
            model_name='match',
            name='tournament',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='league.tournament'),
        ),
        DropIndexOfKey(
            model_name='match',
            name='public_id',
            field=models.CharField(max_length=12, unique=True),
        ),
        DropIndexOfKey(
            model_name='party',
            name='match',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='parties', to='league.match'),
        ),
        DropIndexOfKey(
            model_name='party',
            name='version',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='parties', to='league.botversion'),
        ),
    ]
