"""The subject of log lines: each line carries the request, match, attempt, bots and tournament of the work that wrote it."""

from __future__ import annotations

import copy
import json
import logging
import re
import sys
import threading
import time
from collections import Counter
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
    """Add these names and values, except None and "", to every line that this thread writes within the block, besides those of outer blocks."""
    now = {**_subject.get(), **subject}
    token = _subject.set({name: value for name, value in now.items() if value is not None and value != ""})
    try:
        yield
    finally:
        _subject.reset(token)


def asked_by() -> str:
    """Return the id of the request that this thread answers, or that queued its work; "" if there is none."""
    return str(_subject.get().get("request", ""))


def formatter() -> logging.Formatter:
    """Return the formatter that LOG_FORMAT chooses."""
    return Json() if envchoice("LOG_FORMAT", ("plain", "json")) == "json" else Plain(PLAIN)


# SQLSTATEs of a server that does not answer, shuts down, has crashed or starts.
AWAY = frozenset({None, "57P01", "57P02", "57P03"})


TOO_FEW = re.compile("too many (clients|connections)|connection slots are reserved")
NEEDED = (
    "set max_connections of PostgreSQL to at least 25 and 4 for each worker after the first (6 for a web process of 4 threads, 4 for the scheduler, "
    "5 in reserve), or put PgBouncer before it (docs/scaling.md)"
)
AGAIN_S = 10.0  # Seconds until a process repeats the same reason.


def away(error: BaseException | None) -> str:
    """Return in one line why PostgreSQL does not answer; "" for every other error."""
    psycopg = sys.modules.get("psycopg")  # A league on SQLite has not imported it, and cannot have such an error
    while error is not None and psycopg is not None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            text = str(error).strip().partition("\n")[0] or type(error).__name__
            if TOO_FEW.search(text):
                return f"{text}; {NEEDED}"
            return text if error.sqlstate in AWAY or str(error.sqlstate).startswith("08") else ""
        error = error.__cause__
    return ""


class AwayOnce(logging.Filter):
    """A filter that lets a process write the same reason only every AGAIN_S while PostgreSQL is down, not for each request and loop."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._written: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True for a line that is to be written. It gets the number of lines that were left out before it."""
        why = away(record.exc_info[1]) if record.exc_info else ""
        if not why:
            return True
        now = time.monotonic()
        with self._lock:
            if now - self._written.get(why, -AGAIN_S) < AGAIN_S:
                self._left_out[why] += 1
                return False
            self._written = {text: at for text, at in self._written.items() if now - at < AGAIN_S} | {why: now}
            record.left_out = self._left_out.pop(why, 0)
        return True


class _Brief(logging.Formatter):
    """A formatter that shortens to one line what would come all day or several times a second: PostgreSQL is down, a scanner asks by address."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record, without a traceback if PostgreSQL is down or the host of the request is none of ours."""
        why = away(record.exc_info[1]) if record.exc_info else ""
        if why or record.name == "django.security.DisallowedHost":
            text = record.getMessage()
            record = copy.copy(record)
            record.msg, record.args = text if why in text else f"{text}: {why}", None
            record.exc_info = record.exc_text = None
            if count := getattr(record, "left_out", 0):
                record.msg = f"{record.msg} ({count} more such lines were left out)"
        return super().format(record)


class Plain(_Brief):
    """Lines for people, each ending with its subject in brackets."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it so
        """Format the first lines, before a traceback."""
        line = super().formatMessage(record)
        subject = " ".join(f"{name}={value}" for name, value in _subject.get().items())
        return f"{line} [{subject}]" if subject else line


class Json(_Brief, JsonFormatter):
    """Lines as JSON objects: `at`, `level`, `logger`, `message`, and the subject."""

    def __init__(self) -> None:
        super().__init__(
            "{message}{levelname}{name}",
            style="{",
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="at",
        )

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """Add the subject at the end, without fields that the line already has."""
        super().add_fields(log_data, record, message_dict)
        log_data.update({name: value for name, value in _subject.get().items() if name not in log_data})

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """Return a single line, whatever the message contains."""
        return json.dumps(log_data, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
