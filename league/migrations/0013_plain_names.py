"""Models are called what the glossary calls them. Their tables keep the names that the previous release uses."""

import django.db.models.deletion
from django.db import migrations, models

NAMES = {"Succession": "VersionTest", "Lots": "LadderDraw", "Outlook": "StoredSnapshot"}


class Migration(migrations.Migration):
    dependencies = [("league", "0012_look_at_old_tries")]

    operations = [
        migrations.AlterField(
            "Succession",
            "version",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="version_tests", to="league.botversion"
            ),
        ),
        *(
            operation
            for old, new in NAMES.items()
            for operation in (
                migrations.AlterModelTable(old, f"league_{old.lower()}"),
                migrations.RenameModel(old, new),
            )
        ),
    ]
