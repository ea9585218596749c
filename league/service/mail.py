"""Letters, sent by a thread of their own: no page waits for a mail server, and the time that a page takes does not show who has an address."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore

from django.core.mail import EmailMessage

log = logging.getLogger("league.mail")
MOST = 100  # letters that wait; what comes on top is not sent
_thread = ThreadPoolExecutor(1, thread_name_prefix="mail")
_room = BoundedSemaphore(MOST)


def send(to: str, subject: str, text: str) -> Future[None] | None:
    """Send one letter, soon. None where too many wait."""
    if not _room.acquire(blocking=False):
        log.error("a letter was not sent: %d wait for the mail server", MOST)
        return None
    return _thread.submit(_send, EmailMessage(subject, text, to=[to]))


def deliver(to: str, subject: str, text: str, *, headers: Mapping[str, str]) -> None:
    """Send one letter, now, in this thread. Raises OSError, those of smtplib among them, where the mail server does not take it."""
    EmailMessage(subject, text, to=[to], headers=dict(headers)).send()


def _send(letter: EmailMessage) -> None:
    try:
        letter.send()
    except OSError as error:  # those of smtplib are some of these
        log.error("a letter was not sent: %s: %s", type(error).__name__, error)
    finally:
        _room.release()
