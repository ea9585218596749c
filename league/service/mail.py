"""Letters, sent by a thread of their own: no page waits for a mail server, and response times do not reveal whose address is known."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from threading import BoundedSemaphore

from django.core.mail import EmailMessage, get_connection
from django.db import connection

log = logging.getLogger("league.mail")
MOST = 100  # The most letters that wait; further ones are not sent.
_thread = ThreadPoolExecutor(1, thread_name_prefix="mail")
_room = BoundedSemaphore(MOST)


def send(to: str, subject: str, text: str, *, failed: Callable[[], object]) -> Future[None] | None:
    """Queue one letter for the thread, which calls `failed` if the server does not take it. Return None if too many wait."""
    if not _room.acquire(blocking=False):
        log.error("a letter was not sent: %d others wait for the mail server", MOST)
        failed()
        return None
    return _thread.submit(_send, EmailMessage(subject, text, to=[to]), failed)


class Unsure(OSError):
    """The error for a line that broke after the text of a letter was sent: nobody knows whether the server took it."""


def deliver(to: str, subject: str, text: str, *, headers: Mapping[str, str]) -> None:
    """Send one letter now, in this thread.

    Raise Unsure if the server may have accepted it, another OSError (or its subclasses in smtplib) if it certainly has not.
    """
    line = get_connection()
    letter = EmailMessage(" ".join(subject.split()), text, to=[to], headers=dict(headers), connection=line)
    line.open()
    try:
        letter.send()
    except (SMTPResponseException, SMTPRecipientsRefused):
        raise
    except OSError as error:  # Includes the other errors of smtplib.
        raise Unsure(type(error).__name__) from error
    finally:
        with suppress(OSError):
            line.close()


def _send(letter: EmailMessage, failed: Callable[[], object]) -> None:
    try:
        letter.send()
    except OSError as error:  # Includes the errors of smtplib.
        log.error("a letter was not sent: %s: %s", type(error).__name__, error)
        try:
            failed()
        finally:
            connection.close()  # This thread needs the database only then.
    finally:
        _room.release()
