from typing import Any

from django.db import migrations

CONSTRAINTS = (
    ('audit', 'audit_reason_word'),
    ('audit', 'audit_verdict_word'),
    ('bot', 'bot_state_word'),
    ('botversion', 'version_status_word'),
    ('botversion', 'version_fault_word'),
    ('check', 'check_name_word'),
    ('check', 'check_fault_word'),
    ('event', 'event_status_word'),
    ('match', 'match_kind_word'),
    ('match', 'match_status_word'),
    ('party', 'party_fault_word'),
    ('sitting', 'sitting_fault_word'),
    ('tournament', 'tournament_status_word'),
    ('tournament', 'tournament_seeding_word'),
    ('tournament', 'tournament_ending_word'),
)


def look(apps: Any, editor: Any) -> None:
    """The rows that were there before the constraints. Others may read and write them meanwhile."""
    if editor.connection.vendor == "postgresql":
        for model, name in CONSTRAINTS:
            table = apps.get_model("league", model)._meta.db_table
            editor.execute(f"ALTER TABLE {editor.quote_name(table)} VALIDATE CONSTRAINT {editor.quote_name(name)}")


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0026_words'),
    ]

    operations = [migrations.RunPython(look, migrations.RunPython.noop)]
