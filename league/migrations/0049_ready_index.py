from typing import Any

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile

# A heartbeat changes no indexed column. With room on its page the new row stays there, and no index is written. The queue's dead rows are
# taken away before claims have many to pass over: a fifth of a table of millions, the default, is too late.
TENDED = {
    "league_match": "fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000",
    "league_worker": "fillfactor = 30, autovacuum_vacuum_scale_factor = 0.2",
}
UNTENDED = "fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold"


def tend(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for table, words in TENDED.items():
            editor.execute(f"ALTER TABLE {table} SET ({words})", None)


def leave(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for table in TENDED:
            editor.execute(f"ALTER TABLE {table} RESET ({UNTENDED})", None)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0048_ready_matches'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('held_back', False), ('status', 'queued')), fields=['-priority', 'virtual_s', 'id'], name='match_ready'),
        ),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('slow', True), ('status', 'queued')), fields=['id'], name='match_slow'),
        ),
        migrations.RunPython(tend, leave),
    ]
