"""Lines of the log say what they are about, for people and for programs."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from django.db.utils import OperationalError

from league.service import logs
from tests.support.processes import free_port


@pytest.fixture
def written() -> Iterator[tuple[logging.Logger, io.StringIO, logging.StreamHandler]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    log = logging.getLogger("tests.logs")
    log.addHandler(handler)
    log.propagate = False
    yield log, stream, handler
    log.removeHandler(handler)


def test_a_line_carries_what_the_blocks_around_it_are_about(written) -> None:
    log, stream, handler = written
    handler.setFormatter(logs.Plain("%(levelname)s %(message)s"))

    with logs.about(match="abc", attempt=1, tournament="cup"):
        with logs.about(match="xyz", tournament=None, bots=""):
            log.warning("within")
        log.warning("after")
    log.warning("outside")

    assert stream.getvalue().splitlines() == [
        "WARNING within [match=xyz attempt=1]",
        "WARNING after [match=abc attempt=1 tournament=cup]",
        "WARNING outside",
    ]


def test_json_is_an_object_a_line_and_nothing_takes_the_place_of_the_message(written) -> None:
    log, stream, handler = written
    handler.setFormatter(logs.Json())

    with logs.about(match="abc", message="not this"):
        log.warning("two\nlines, %s", "señor")
        try:
            raise ValueError("why")
        except ValueError as error:
            log.error("it failed", exc_info=error)

    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["message"], first["level"], first["logger"], first["match"]) == (
        "two\nlines, señor",
        "WARNING",
        "tests.logs",
        "abc",
    )
    assert "ValueError: why" in second["exc_info"]
    assert first["at"].startswith("20")


def test_too_few_connections_are_one_line_that_says_how_many_are_needed(written) -> None:
    log, stream, handler = written
    handler.setFormatter(logs.Plain("%(message)s"))
    handler.addFilter(logs.AwayOnce())
    slots = "remaining connection slots are reserved for roles with the SUPERUSER attribute"
    for _ in range(1000):
        for reason in ("sorry, too many clients already", slots, 'too many connections for role "tute_web"'):
            log.error(
                "the loop failed", exc_info=psycopg.OperationalError(f"connection failed: FATAL:  {reason}\nmore")
            )

    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    for line in lines:
        assert "set max_connections of PostgreSQL to at least 25 and 4 for each worker after the first" in line


def test_a_command_says_in_one_line_that_the_database_is_away() -> None:
    address = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    environment = {**os.environ, "DATABASE_URL": address, "SECRET_KEY": "x" * 60}
    command = [sys.executable, "-W", "ignore", "manage.py", "check_invariants"]
    process = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True)
    assert process.returncode == 1
    [line] = process.stderr.splitlines()
    assert "Connection refused" in line


def test_a_database_that_is_away_is_one_line_and_every_other_error_has_its_traceback(written) -> None:
    log, stream, handler = written
    port = free_port()

    def noted() -> list[str]:
        stream.seek(0)
        stream.truncate()
        try:
            try:
                psycopg.connect(f"postgresql://nobody@127.0.0.1:{port}/none", connect_timeout=5)
            except psycopg.OperationalError as error:
                raise OperationalError("no") from error  # Django does the same
        except OperationalError as error:
            log.error("it failed", exc_info=error)
        log.error("a fault of ours", exc_info=psycopg.errors.UndefinedTable("no such table"))
        return stream.getvalue().splitlines()

    handler.setFormatter(logs.Plain("%(levelname)s %(message)s"))
    first, *rest = noted()
    assert first.startswith("ERROR it failed: connection failed: ")
    assert rest == ["ERROR a fault of ours", "psycopg.errors.UndefinedTable: no such table"]
    handler.setFormatter(logs.Json())
    away, ours = map(json.loads, noted())
    assert ("exc_info" in away, "exc_info" in ours) == (False, True)
    assert away["message"] == first.removeprefix("ERROR ")
