"""Gives the role of the workers what it needs in the database, and nothing else. Run after each migration; twice does no harm.

A worker plays matches. It never needs accounts, sessions, keys of the API or the admin's log; so that uploaded code which broke out
of its sandbox would find no password hash, its role cannot read them.

Reads DATABASE_URL (the owner of the tables) and RUNNER_PASSWORD, each directly or as a file named by NAME_FILE.
"""

from __future__ import annotations

import sys

import psycopg
from psycopg import sql

from league.service.env import envstr

ROLE = "tute_runner"
# Tables of the league that hold what only the web needs.
WITHHELD = frozenset({"league_apitoken", "league_idempotencykey"})


def grant(url: str, password: str) -> list[str]:
    """Make the role where it is missing, set its password, and grant it the league's tables. Their names."""
    with psycopg.connect(url) as connection:
        role = sql.Identifier(ROLE)
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        connection.execute(
            sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}").format(
                role, sql.Literal(password)
            )
        )
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
        ).fetchall()
        tables = [str(name) for (name,) in names if name.startswith("league_") and name not in WITHHELD]
        connection.execute(sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(role))
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(role))
        for table in tables:
            connection.execute(
                sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}").format(sql.Identifier(table), role)
            )
        connection.execute(sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}").format(role))
    return tables


if __name__ == "__main__":
    owner, secret = envstr("DATABASE_URL"), envstr("RUNNER_PASSWORD")
    if not owner or not secret:
        sys.exit("error: DATABASE_URL and RUNNER_PASSWORD must be set, or DATABASE_URL_FILE and RUNNER_PASSWORD_FILE")
    print(f"{ROLE} may use {len(grant(owner, secret))} tables")
