"""Indexes for the overview, the search and the pages of operators."""

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0016_cases'),
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
    ]
