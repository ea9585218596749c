"""What a line of the log is about: each line carries the request, match, attempt, bots and tournament of the work in which it was written."""

from __future__ import annotations

import copy
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from league.service.env import envchoice

PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_subject: ContextVar[Mapping[str, str | int]] = ContextVar("subject", default={})  # noqa: B039 - nobody changes a mapping


@contextmanager
def about(**subject: str | int | None) -> Iterator[None]:
    """Every line that this thread writes within the block carries these, besides those of the blocks around it; what is None or "" it does not."""
    now = {**_subject.get(), **subject}
    token = _subject.set({name: told for name, told in now.items() if told is not None and told != ""})
    try:
        yield
    finally:
        _subject.reset(token)


def asked_by() -> str:
    """The number of the request in whose course this thread works, be it that it is answered now or that it queued this work; "" for none."""
    return str(_subject.get().get("request", ""))


def formatter() -> logging.Formatter:
    """The one that LOG_FORMAT asks for."""
    return Json() if envchoice("LOG_FORMAT", ("plain", "json")) == "json" else Plain(PLAIN)


AWAY = frozenset(
    {None, "57P01", "57P02", "57P03"}
)  # of the server: no answer, it shuts down, it has crashed, it starts


def away(error: BaseException | None) -> str:
    """Why PostgreSQL does not answer, in one line; "" for every other error."""
    psycopg = sys.modules.get("psycopg")  # a league without it has no such error
    while error is not None and psycopg is not None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            if error.sqlstate in AWAY or str(error.sqlstate).startswith("08"):
                return str(error).strip().partition("\n")[0] or type(error).__name__
            return ""
        error = error.__cause__
    return ""


class _Brief(logging.Formatter):
    """Says in one line that PostgreSQL is away: each process would say so in dozens of lines, several times a second, and all know it already."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, without a traceback where the reason is enough."""
        if record.exc_info and (why := away(record.exc_info[1])):
            told = record.getMessage()
            record = copy.copy(record)
            record.msg, record.args = told if why in told else f"{told}: {why}", None
            record.exc_info = record.exc_text = None
        return super().format(record)


class Plain(_Brief):
    """A line for people: what it is about stands in brackets behind it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it so
        """The first lines, before a traceback."""
        line = super().formatMessage(record)
        told = " ".join(f"{name}={value}" for name, value in _subject.get().items())
        return f"{line} [{told}]" if told else line


class Json(_Brief, JsonFormatter):
    """A line as a JSON object: `at`, `level`, `logger`, `message`, and what it is about."""

    def __init__(self) -> None:
        super().__init__(
            "{message}{levelname}{name}",
            style="{",
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="at",
        )

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """What the line is about comes last, and names nothing that the line has itself."""
        super().add_fields(log_data, record, message_dict)
        log_data.update({name: told for name, told in _subject.get().items() if name not in log_data})

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """One line, whatever the message holds."""
        return json.dumps(log_data, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
