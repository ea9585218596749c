"""Lines of the log say what they are about, for people and for programs."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from league.service import logs


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
