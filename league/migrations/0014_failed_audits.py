"""An audit in which a bot failed is a case, too; the index holds the open cases."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("league", "0013_plain_names")]

    operations = [
        migrations.RemoveIndex("audit", "audit_cases"),
        migrations.AddIndex(
            "audit",
            models.Index(
                fields=["-finished"],
                condition=models.Q(("closed", None), ("verdict__in", ("differs", "failed"))),
                name="audit_cases",
            ),
        ),
    ]
