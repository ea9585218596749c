"""Runners on other hosts: a worker reaches database and broker over TLS, and nothing that it cannot verify."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from tests.support import migrated
from tests.support.compose import TOP
from tests.support.postgres import PostgresServer
from tests.support.processes import Process
from tests.support.redis import RedisServer
from tests.support.runtimes import lend
from tests.support.stack import base_environment
from tests.support.tls import Front, make_certificate

HERE = "127.0.0.1"
ROLE = "tute_runner"


@dataclass
class Servers:
    """PostgreSQL as docker/compose.remote.yml starts it, and Redis behind TLS."""

    postgres: PostgresServer
    redis: RedisServer
    broker_port: int
    owner: str  # address of the owner of the tables, by the socket
    folder: Path

    def environment(self, ca: Path, *, host: str = HERE, sslmode: str = "verify-full") -> dict[str, str]:
        """Return the environment of a runner that trusts `ca`."""
        database = urlsplit(self.owner).path
        runner = urlsplit(self.redis.urls["runner"])
        return base_environment() | {
            "DATABASE_URL": f"postgresql://{ROLE}:secret@{host}:{self.postgres.port}{database}?sslmode={sslmode}&sslrootcert={ca}",
            "BROKER_URL": f"rediss://{runner.username}:{runner.password}@{host}:{self.broker_port}/0?ssl_cert_reqs=required&ssl_ca_certs={ca}",
            "SECRET_KEY": "of nobody",
            "STATE_DIR": str(self.folder / "state"),
            "RECONCILE_S": "1",
            "SANDBOX_TIER": "none",
            "SANDBOX_MIN_TIER": "none",
        }

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Query as the owner, without TLS."""
        with psycopg.connect(self.owner, autocommit=True) as connection:
            return list(connection.execute(query))


@pytest.fixture
def servers(tmp_path: Path, redis_server: RedisServer) -> Iterator[Servers]:
    certificates = make_certificate(HERE, tmp_path / "tls")
    postgres = migrated.server("tls")
    front = Front(certificates, redis_server.port)
    try:
        url = migrated.create_database(postgres)
        parts = urlsplit(url)
        owner = parts._replace(
            netloc=parts.netloc.partition("@")[0] + "@", query=f"host={postgres.folder}&port={postgres.port}"
        ).geturl()
        password = {"WEB_PASSWORD": "other", "RUNNER_PASSWORD": "secret"}
        grant = [sys.executable, "docker/grant_roles.py"]
        subprocess.run(grant, env=base_environment() | password | {"DATABASE_URL": url}, cwd=TOP, check=True)
        _speak_tls(postgres, certificates, url)
        yield Servers(postgres, redis_server, front.port, owner, tmp_path)
    finally:
        front.close()
        postgres.close()


def _speak_tls(postgres: PostgresServer, certificates: Path, url: str) -> None:
    """Apply docker/pg_hba.conf, with no host counted as one of a service: here all connections come from this host."""
    rules = (TOP / "docker" / "pg_hba.conf").read_text().replace("samenet", "192.0.2.0/24")
    rules = rules.replace("hostssl  tute ", f"hostssl  {urlsplit(url).path[1:]} ")
    (postgres.data / "pg_hba.conf").write_text(rules)
    for name in ("tls_certificate", "tls_key"):
        copy = shutil.copy(certificates / name, postgres.data / name)
        copy.chmod(0o600)
        if postgres.uid is not None:
            os.chown(copy, postgres.uid, postgres.uid)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET ssl_cert_file = 'tls_certificate'")
        connection.execute("ALTER SYSTEM SET ssl_key_file = 'tls_key'")
        connection.execute("ALTER SYSTEM SET ssl = on")
        connection.execute("SELECT pg_reload_conf()")


@pytest.mark.slow
def test_a_worker_of_another_host_works_over_tls_and_trusts_nobody_else(servers: Servers, tmp_path: Path) -> None:
    ours, others = tmp_path / "tls" / "tls_ca", make_certificate(HERE, tmp_path / "others") / "tls_ca"
    query = f"SELECT ssl, s.version FROM pg_stat_ssl s JOIN pg_stat_activity USING (pid) WHERE usename = '{ROLE}'"
    command = [sys.executable, "manage.py", "worker"]
    lend(tmp_path / "state" / "sandbox")

    worker = Process("worker", command, tmp_path / "log", env=servers.environment(ours), cwd=TOP)
    try:
        worker.wait_until(lambda: servers.rows("SELECT name FROM league_worker WHERE tier <> ''"), "it is registered")
        linked = worker.wait_until(lambda: servers.rows(query), "it has a connection")
        assert {(bool(ssl), str(version)) for ssl, version in linked} == {(True, "TLSv1.3")}
        listens = servers.redis.client()
        worker.wait_until(
            lambda: [client for client in listens.client_list() if client["cmd"] == "brpop"], "it waits for hints"
        )
    finally:
        worker.stop()

    def refused(environment: dict[str, str]) -> str:
        process = subprocess.run([*command, "--once"], env=environment, cwd=TOP, capture_output=True, text=True)
        assert process.returncode != 0
        return process.stdout + process.stderr

    assert "certificate verify failed" in refused(servers.environment(others))
    assert 'does not match host name "localhost"' in refused(servers.environment(ours, host="localhost"))
    assert "no encryption" in refused(servers.environment(ours, sslmode="disable"))
    with pytest.raises(redis.ConnectionError, match="certificate verify failed"):
        redis.Redis.from_url(servers.environment(others)["BROKER_URL"]).ping()
    assert redis.Redis.from_url(servers.environment(ours)["BROKER_URL"]).ping()
