"""An audit in which a bot failed is a case, too; the index holds the open cases."""

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile, Forget


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("league", "0013_plain_names")]

    operations = [
        Forget("audit", indexes=("audit_cases",)),
        AddIndexMeanwhile(
            "audit",
            models.Index(
                fields=["-finished"],
                condition=models.Q(("closed", None), ("verdict__in", ("differs", "failed"))),
                name="audit_open",
            ),
        ),
    ]
