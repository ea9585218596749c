"""A league that can be set back to its first moment, with processes that get into trouble."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from tests.chaos.forked import Loaded
from tests.chaos.table import LIMITS
from tests.support import compose, migrated
from tests.support.processes import Process, wait_for
from tests.support.redis import RedisServer
from tests.support.stack import Stack

LONG = 400  # seconds for what takes some eight on an idle machine
SOON = "4"  # seconds of a lease whose worker is going to die; that of others is long: a busy machine must not take it for dead
OVER = (
    "SELECT count(*) FROM (SELECT status FROM league_tournament UNION ALL SELECT status FROM league_event) s"
    " WHERE status NOT IN ('finished', 'cancelled')"
)
# Give later tournaments the limits of a busy machine, too; no option sets them from outside
PATIENT = """
    CREATE FUNCTION chaos_limits() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.limits = {}::jsonb; RETURN NEW; END $$;
    CREATE TRIGGER chaos_limits BEFORE INSERT ON league_tournament FOR EACH ROW EXECUTE FUNCTION chaos_limits()
"""
UNCOUNTED = (
    "SELECT count(*) FROM league_match WHERE kind = 'tournament' AND status = 'finished' AND rated AND counted IS NULL"
)


class Troubled:
    """A production league (commands, roles and variables of the compose file) on servers of its own, ready to start two tournaments."""

    def __init__(self, like: Troubled | None = None) -> None:
        """like: a league that a new, empty place is made for, with nothing of its own yet."""
        self.postgres = migrated.server(durable=True)
        self.redis = RedisServer()
        # an empty one takes what a backup holds
        self.url = self.postgres.create_database() if like else migrated.create_database(self.postgres)
        settings = {"LEASE_S": "30", "MAX_ATTEMPTS": "1000", "RECONCILE_S": "1"}
        self.stack = Stack(database_url=self.url, broker_urls=self.redis.urls, **settings)
        self._reader: subprocess.Popen[str] | None = None  # The process that reads tables
        self._loaded: dict[
            tuple[str, str], Loaded
        ] = {}  # Key: service and lease, because the environment is read when the league is loaded
        self.undisturbed = like.undisturbed if like else ""
        self.tokens: dict[str, str] = like.tokens if like else {}  # Player -> token
        if like is None:
            self.stack.grant()
            self.tokens = json.loads(self._program("make"))
            with self.database() as connection:
                connection.execute(sql.SQL(PATIENT).format(json.dumps(LIMITS)))
            self._admin("CREATE DATABASE first_moment TEMPLATE {}", self._name)

    @property
    def _name(self) -> str:
        return urlsplit(self.url).path[1:]

    def _admin(self, statement: str, name: str) -> None:
        with psycopg.connect(self.postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def database(self) -> psycopg.Connection:
        """Yield the database itself, without the league's code; it commits at the end of a `with`."""
        return psycopg.connect(self.url)

    def reset(self) -> None:
        """End all processes; database and broker as they were before the first card."""
        for process in self.stack.processes:
            process.kill()
        self.stack.processes.clear()
        self.redis.empty()
        self._admin("DROP DATABASE IF EXISTS {} WITH (FORCE)", self._name)
        self._admin("CREATE DATABASE {} TEMPLATE first_moment", self._name)
        # A copied sequence takes its next values without a word in the log of PostgreSQL until there is a checkpoint: a crash would give them again
        with psycopg.connect(self.postgres.url("postgres"), autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    def documented(self, command: str, folder: Path) -> None:
        """Run a line of docs/operations/backup.md on these servers: `docker compose exec -T postgres ...` or `run --rm migrate ...`, in a folder."""
        match = re.fullmatch(r"docker compose (?:exec -T postgres|run --rm (migrate) python) ((\S+) .*)", command)
        assert match is not None, command
        service, words, program = match.groups()
        parts = urlsplit(self.url)
        if service:
            words, environment = f"{sys.executable} {words}", self.stack.environment(compose.service(service))
            words = words.replace(program, str(compose.TOP / program))
        else:
            words = re.sub(r"(?<= )(--dbname=|)tute(?= |$)", rf"\g<1>{self._name}", f"{self.postgres.bin}/{words}")
            environment = {"PGHOST": "127.0.0.1", "PGPORT": str(parts.port), "PGPASSWORD": str(parts.password)}
        process = subprocess.run(words, shell=True, env=environment, cwd=folder, capture_output=True, text=True)
        assert (process.returncode, process.stderr) == (0, ""), f"{command}\n{process.stderr}"

    def start(self, name: str, **trouble: str) -> Process:
        """Start a worker ("worker"), a scheduler or the web; `die_at`, `skew_s`, `messages`, `rules`, `commit`: see tests/chaos/trouble.py."""
        service = compose.service(name)
        words = self.stack.command(service)
        first = next((place for place, word in enumerate(words) if word.endswith("manage.py")), -1) + 1
        environment = self.stack.environment(service)
        arranged = trouble | {"cores": self.stack.folder / "cores"}
        variables = {f"CHAOS_{key.upper()}": str(value) for key, value in arranged.items()}
        if "die_at" in trouble and "by" not in trouble:  # Other signals let it end in good order, which takes time
            environment["LEASE_S"] = SOON
        log = self.stack.folder / f"{name}-{len(self.stack.processes)}.log"
        title = f"{name} {trouble or ''}"
        if name == "web":  # its processes are forked from one already
            command = [sys.executable, "-m", "tests.chaos.trouble", *words[first:]]
            process = Process(title, command, log, env=environment | variables, cwd=compose.TOP)
        else:
            like = (name, environment["LEASE_S"])
            if like not in self._loaded:
                self._loaded[like] = Loaded(environment, self.stack.folder / f"loaded-{'-'.join(like)}.log")
            process = self._loaded[like].start(title, words[first:], variables, log)
        self.stack.processes.append(process)
        return process

    def dead(self, process: Process) -> None:
        """Wait until a process has met its end, by SIGKILL."""
        self.until(lambda: process.popen.poll() is not None, f"the end of {process.name}")
        assert process.popen.returncode == -9, f"{process.name}: {process.popen.returncode}\n{process.tail()}"

    def until(self, fact: Callable[[], object], what: str, seconds: float = LONG, every: float = 0.1) -> None:
        """Wait for a fact; on a timeout, show the output of the processes."""
        try:
            wait_for(fact, what, seconds, every)
        except TimeoutError as late:
            raise AssertionError(f"{late}\n{self.stack.logs()}") from None

    def finish(self, seconds: float = LONG) -> None:
        """Wait for the end of the tournaments and of the counting."""
        # each look is a new connection, and there is nothing that could be missed
        self.until(lambda: self.stack.rows(OVER) == self.stack.rows(UNCOUNTED) == [(0,)], "the end", seconds, every=0.4)

    def table(self) -> str:
        """Return the final table as text. Of several states that look alike, only the true one has the same bytes."""
        return self._program("print")

    def findings(self) -> list[str]:
        """Return the findings of the league's checks, once it is at rest."""
        return list(json.loads(self._program("check")))

    def _program(self, name: str) -> str:
        log_file = self.stack.folder / "table.log"
        if self._reader is None:
            with log_file.open("wb") as log:
                self._reader = subprocess.Popen(
                    [sys.executable, "-m", "tests.chaos.table"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    env=self.stack.environment(compose.service("web")),
                    cwd=compose.TOP,
                )
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._reader.stdin.write(f"{name}\n")
        self._reader.stdin.flush()
        answer = self._reader.stdout.readline()
        if not answer:
            raise RuntimeError(f"{name} failed:\n{log_file.read_text()}")
        return answer

    def check(self) -> None:
        """Check that the final table is that of the undisturbed run; report the place of a difference."""
        assert self.redis.denied() == []
        table = self.table()
        if table != self.undisturbed:
            assert json.loads(table) == json.loads(self.undisturbed), self.stack.logs()
        assert table == self.undisturbed

    def unfinished(self) -> list[tuple[Any, ...]]:
        """Return the number of unfinished matches."""
        return self.stack.rows("SELECT key FROM league_match WHERE kind = 'tournament' AND status <> 'finished'")

    def attempts(self) -> list[tuple[Any, ...]]:
        """Return the attempts of each match, without those that the journal says were broken off because the machine was too busy."""
        return self.stack.rows(
            "SELECT m.attempts - count(e.id) FROM league_match m LEFT JOIN league_leagueevent e ON e.kind = 'match.moved'"
            " AND e.subject = 'match:' || m.public_id AND e.data ->> 'to' = 'queued'"
            " AND e.data ->> 'why' LIKE '%%this machine is overloaded%%'"
            " WHERE m.kind = 'tournament' GROUP BY m.id ORDER BY m.key"
        )

    def close(self) -> None:
        """End everything."""
        if self._reader is not None:
            self._reader.communicate()
        for process in self.stack.processes:
            process.kill()
        for loaded in self._loaded.values():
            loaded.close()
        self.stack.close()
        self.redis.close()
        self.postgres.close()


@pytest.fixture(scope="session")
def first_moment() -> Iterator[Troubled]:
    """Yield the league with the table of an undisturbed run."""
    league = Troubled()
    try:
        league.start("scheduler")
        league.start("worker")
        league.finish()
        league.undisturbed = league.table()
        yield league
    finally:
        league.close()


@pytest.fixture
def league(first_moment: Troubled) -> Troubled:
    """Return the league before its first card."""
    first_moment.reset()
    return first_moment
