"""Indexes for the overview, the search and the pages of operators; passkeys of players."""

import django.db.models.deletion
from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0023_notices'),
    ]

    operations = [
        AddIndexMeanwhile("leagueevent", models.Index(fields=["actor", "id"], name="event_actor")),
        AddIndexMeanwhile(
            "match", models.Index(fields=["-finished"], condition=models.Q(status="void"), name="match_void")
        ),
        AddIndexMeanwhile(
            "match",
            models.Index(fields=["owner", "-id"], condition=models.Q(kind="challenge"), name="match_challenged"),
        ),
        AddIndexMeanwhile("apitoken", models.Index(fields=["prefix"], name="token_prefix")),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("credential", models.CharField(max_length=1400, unique=True)),
                ("public_key", models.BinaryField()),
                ("sign_count", models.PositiveBigIntegerField(default=0)),
                ("created", models.DateTimeField()),
                ("last_used", models.DateTimeField(null=True)),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="passkeys", to="league.player"
                    ),
                ),
            ],
        ),
    ]
