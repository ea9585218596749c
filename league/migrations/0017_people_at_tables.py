"""Several people at a table: what belongs to a person moves from the row of the table to a row of their own."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import Forget

OWN = ("legal", "hand", "seen", "advice_asked", "advice")
LIVE = ("waiting", "held", "resting")
CHUNK = 200


def to_people(apps: Any, _: Any) -> None:
    """Give each table a row for its person."""
    person_model, rows = apps.get_model("league", "TablePerson"), []
    keys = ("pk", "seat", "player_id", "guest", "guest_from", "status", *OWN)
    for table in apps.get_model("league", "Table").objects.order_by("pk").values(*keys).iterator(CHUNK):
        row = {"table_id": table.pop("pk"), "number": table.pop("seat"), "seated": table.pop("status") in LIVE, **table}
        rows.append(person_model(**row))
        if len(rows) == CHUNK:
            person_model.objects.bulk_create(rows)
            rows = []
    person_model.objects.bulk_create(rows)


def to_tables(apps: Any, _: Any) -> None:
    """Write the person's part into the table again, and remove the tables of several people, which the previous release cannot show."""
    tables = apps.get_model("league", "Table").objects
    tables.filter(shared=True).delete()
    for row in apps.get_model("league", "TablePerson").objects.order_by("pk").values("table_id", "number", *OWN).iterator(CHUNK):
        tables.filter(pk=row.pop("table_id")).update(seat=row.pop("number"), **row)


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0016_cases'),
    ]

    operations = [
        migrations.AddField(
            model_name='table',
            name='clock_s',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='table',
            name='gathering',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='table',
            name='level',
            field=models.CharField(blank=True, db_default='', default='', max_length=12),
        ),
        migrations.AddField(
            model_name='table',
            name='news',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='table',
            name='rematch',
            field=models.CharField(blank=True, db_default='', default='', max_length=12),
        ),
        migrations.AddField(
            model_name='table',
            name='shared',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='table',
            name='spectated',
            field=models.JSONField(null=True),
        ),
        migrations.AlterField(
            model_name='table',
            name='hand',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AlterField(
            model_name='table',
            name='legal',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AlterField(
            model_name='table',
            name='seat',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='table',
            name='seen',
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.CreateModel(
            name='TablePerson',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('guest', models.CharField(blank=True, default='', max_length=64)),
                ('guest_from', models.CharField(blank=True, default='', max_length=32)),
                ('seated', models.BooleanField(default=True)),
                ('ready', models.BooleanField(default=False)),
                ('away', models.BooleanField(default=False)),
                ('legal', models.JSONField(default=list)),
                ('hand', models.JSONField(default=list)),
                ('seen', models.JSONField(default=list)),
                ('advice_asked', models.PositiveIntegerField(null=True)),
                ('advice', models.CharField(blank=True, default='', max_length=400)),
                ('phrase', models.CharField(blank=True, default='', max_length=12)),
                ('said', models.DateTimeField(null=True)),
                ('player', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='league.player')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='people', to='league.table')),
            ],
            options={
                'indexes': [models.Index(fields=['player', '-table'], name='table_person_player'), models.Index(condition=models.Q(('guest', ''), _negated=True), fields=['guest'], name='table_person_guest')],
                'constraints': [models.UniqueConstraint(fields=('table', 'number'), name='table_person_once'), models.UniqueConstraint(condition=models.Q(('seated', True)), fields=('player',), name='table_person_player_one'), models.UniqueConstraint(condition=models.Q(('seated', True), models.Q(('guest', ''), _negated=True)), fields=('guest',), name='table_person_guest_one'), models.CheckConstraint(condition=models.Q(models.Q(('player', None), models.Q(('guest', ''), _negated=True)), models.Q(('guest', ''), ('guest_from', ''), ('player__isnull', False)), _connector='OR'), name='table_person_is_one')],
            },
        ),
        migrations.RunPython(to_people, to_tables),
        Forget("table", ("advice_asked", "advice")),
    ]
