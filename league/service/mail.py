"""Letters, sent by a thread of their own: no page waits for a mail server, and response times do not reveal whose address is known."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore

from django.core.mail import EmailMessage

log = logging.getLogger("league.mail")
MOST = 100  # The most letters that wait; further ones are not sent.
_thread = ThreadPoolExecutor(1, thread_name_prefix="mail")
_room = BoundedSemaphore(MOST)


def send(to: str, subject: str, text: str) -> Future[None] | None:
    """Queue one letter for the thread. Return None if too many wait."""
    if not _room.acquire(blocking=False):
        log.error("a letter was not sent: %d others wait for the mail server", MOST)
        return None
    return _thread.submit(_send, EmailMessage(subject, text, to=[to]))


def deliver(to: str, subject: str, text: str, *, headers: Mapping[str, str]) -> None:
    """Send one letter now, in this thread. Raise OSError (or its subclasses in smtplib) if the mail server does not accept it."""
    EmailMessage(subject, text, to=[to], headers=dict(headers)).send()


def _send(letter: EmailMessage) -> None:
    try:
        letter.send()
    except OSError as error:  # Includes the errors of smtplib.
        log.error("a letter was not sent: %s: %s", type(error).__name__, error)
    finally:
        _room.release()
