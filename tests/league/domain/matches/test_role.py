"""The role of the workers can report a match that pauses a bot (docker/grant_roles.py)."""

from __future__ import annotations

import pytest
from django.db import ProgrammingError, connection

from league.domain.matches import health, leases
from league.enums import BotState
from league.models import Bot
from tests.league.domain.matches.test_health import crash
from tests.support.league import accepted, later, started
from tests.support.roles import NEEDS_ROLES, become, granted

pytestmark = NEEDS_ROLES


def test_the_role_of_the_workers_pauses_a_bot_that_fails_repeatedly(ana, berto) -> None:
    versions = [accepted(ana, "rufo"), *(accepted(berto, f"good-{i}") for i in range(health.FAULTS))]
    cup = started(berto, versions, boards=1)
    matches = list(cup.matches.filter(parties__version__bot__slug="rufo").order_by("id"))
    with granted():
        become("tute_runner")
        for second, match in enumerate(matches):
            crash(match, "rufo", now=later(second), worker="host:1")
        assert Bot.objects.get(slug="rufo").state == BotState.PAUSED
        assert leases.claim("host:1", now=later(9)) is not None, "the others play on"


CREATIONS = [
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'bytes')",
    "SELECT lo_import('/etc/hostname')",
    "CREATE TABLE mine (id int)",
    "CREATE TEMPORARY TABLE mine (id int)",
    "SELECT 1 AS id INTO TEMPORARY mine",
    "CREATE SCHEMA mine",
    "CREATE TYPE mine AS (id int)",
    "CREATE SEQUENCE mine",
    "CREATE TEMPORARY SEQUENCE mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE ROLE mine",
    "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION pg_sleep()",
    "CREATE PUBLICATION mine",
]


@pytest.mark.parametrize("role", ["tute_runner", "tute_web"])
def test_no_role_creates_anything_that_it_would_own(db: None, role: str) -> None:
    with granted():
        become(role)
        for statement in CREATIONS:
            with pytest.raises(ProgrammingError, match=r"permission denied|[Mm]ust be"), connection.cursor() as cursor:
                cursor.execute(statement)
