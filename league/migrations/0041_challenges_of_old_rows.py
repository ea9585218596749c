from typing import Any

from django.db import migrations

CONSTRAINTS = (
    ('match', 'match_kind_word'),
)


def look(apps: Any, editor: Any) -> None:
    """The rows that were there before the constraints. Others may read and write them meanwhile."""
    if editor.connection.vendor == "postgresql":
        for model, name in CONSTRAINTS:
            table = apps.get_model("league", model)._meta.db_table
            editor.execute(f"ALTER TABLE {editor.quote_name(table)} VALIDATE CONSTRAINT {editor.quote_name(name)}")


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0040_challenges'),
    ]

    operations = [migrations.RunPython(look, migrations.RunPython.noop)]
