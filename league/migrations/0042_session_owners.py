from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations, models
from django.utils import timezone


def name_owners(apps: Any, editor: Any) -> None:
    """Of the sessions that are there. They know their account only inside."""
    owners = apps.get_model("league", "SessionOwner").objects
    accounts = set(apps.get_model("auth", "User").objects.values_list("pk", flat=True))
    live = apps.get_model("sessions", "Session").objects.filter(expire_date__gt=timezone.now())
    found = ((key, SessionStore().decode(data).get(SESSION_KEY)) for key, data in live.values_list("pk", "session_data"))
    named = [(key, int(account)) for key, account in found if account and int(account) in accounts]
    rows = [owners.model(session_id=key, account_id=account) for key, account in named]
    owners.bulk_create(rows, batch_size=1000, ignore_conflicts=True)


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0041_challenges_of_old_rows'),
        ('sessions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SessionOwner',
            fields=[
                ('session', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='owner', serialize=False, to='sessions.session')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunPython(name_owners, migrations.RunPython.noop),
    ]
