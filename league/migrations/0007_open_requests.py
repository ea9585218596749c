"""Indexes of the requests that wait or are being done."""

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile

OPEN = models.Q(status__in=["asked", "working"])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "0006_job_rows")]

    operations = [
        AddIndexMeanwhile("judgement", models.Index(fields=["id"], condition=OPEN, name="judgement_open")),
        AddIndexMeanwhile("consultation", models.Index(fields=["id"], condition=OPEN, name="consultation_open")),
    ]
