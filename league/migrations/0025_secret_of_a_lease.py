from typing import Any

from django.db import migrations

# The secret of a match for who holds its lease: the role of the workers may call this, and not read the column (docker/grant_roles.py).
FUNCTION = """
CREATE OR REPLACE FUNCTION league_secret_of_lease(held bigint, lease integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT secret FROM league_match WHERE id = held AND token = lease AND status IN ('leased', 'running')
$$;
REVOKE ALL ON FUNCTION league_secret_of_lease(bigint, integer) FROM PUBLIC;
"""


def make(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(FUNCTION, None)


def unmake(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP FUNCTION league_secret_of_lease(bigint, integer)", None)


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0024_worker_disk'),
    ]

    operations = [migrations.RunPython(make, unmake)]
