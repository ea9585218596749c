"""The digest of a player's bots by mail: one letter for each whole day or week in which something was played, none for the others.

A letter is claimed, sent, then marked. The claim moves the moment of the next try, so that two schedulers never send the same one at once, and a
mail server that refuses is asked again after pauses that grow. Between the server's yes and the mark nothing can be done at once: who is killed there
sends this letter once more, minutes later, under the same Message-ID, by which mailboxes know that they have it. So none is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from urllib.parse import urlsplit

from django.conf import settings

from league.domain.bots import digests
from league.domain.bots.digests import LENGTHS, Digest
from league.domain.core import clock
from league.domain.people import subscriptions
from league.enums import Period
from league.models import Subscription
from league.service import mail

log = logging.getLogger("league.letters")
BATCH = 20  # letters of a pass
AFTER = timedelta(minutes=15)  # the end of a period: by then what finished in it has been counted
BACK = {Period.DAY: timedelta(days=7), Period.WEEK: timedelta(weeks=4)}  # what is older is not told any more
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class Letter:
    """What is written of a digest. stop: the address by which it was the last one."""

    subject: str
    text: str
    stop: str


Write = Callable[[Subscription, Digest], Letter]


def send_due(write: Write, *, most: int = BATCH, now: datetime | None = None) -> int:
    """Send the letters that are due, so many at most; how many were sent. At any time, by any number of processes.

    Where the mail server fails, the pass ends: the others are tried by the next one. Three queries where nothing is due, at most.
    """
    now = clock.now_or(now)
    if not settings.MAIL:
        return 0
    due = subscriptions.open_rows(now).filter(due__lte=now).select_related("player__user").order_by("due", "pk")
    sent = 0
    for row in list(due[:most]):
        if not _claim(row, now):
            continue
        try:
            sent += _send(row, write, now)
        except SMTPRecipientsRefused as error:
            log.error("the digest of player %s was refused: %s", row.player_id, _codes(error))
        except (OSError, SMTPException) as error:
            log.error("the mail server fails: %s; the next try is after a pause", type(error).__name__)
            break
    return sent


def _codes(error: SMTPRecipientsRefused) -> list[int]:
    """What the server answered, without the address."""
    return [code for code, _text in error.recipients.values()]


def _claim(row: Subscription, now: datetime) -> bool:
    """Nobody else tries this row before the pause is over, whatever becomes of this process."""
    due = now + min(FIRST_PAUSE * 2 ** min(row.tries, 20), LONGEST_PAUSE)
    mine = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period, address=row.address)
    if not mine.update(due=due, tries=row.tries + 1):
        return False
    row.due, row.tries = due, row.tries + 1
    return True


def _send(row: Subscription, write: Write, now: datetime) -> bool:
    """The oldest period that is to be told, if something was played in one; whether a letter was sent."""
    period = Period(row.period)
    latest = digests.last_whole(period, now)[1]
    since = max(row.told or latest, latest - BACK[period])
    while since < latest:
        until = since + LENGTHS[period]
        told = digests.build_digest(row.player, since, until, now=now)
        if told.lines:
            letter = write(row, told)
            mail.deliver(row.address, letter.subject, letter.text, headers=_headers(row, letter, until))
            _mark(row, until, now if until < latest else latest + LENGTHS[period] + AFTER)
            return True
        since = until
    _mark(row, latest, latest + LENGTHS[period] + AFTER)
    return False


def _mark(row: Subscription, told: datetime, due: datetime) -> None:
    """It is told, unless its player has chosen otherwise meanwhile."""
    mine = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period)
    mine.update(told=told, due=due, tries=0)


def _headers(row: Subscription, letter: Letter, until: datetime) -> dict[str, str]:
    host = urlsplit(row.site).hostname or "localhost"
    return {
        # The same at each try of the same digest
        "Message-ID": f"<digest.{row.pk}.{row.period}.{until:%Y%m%d}@{host}>",
        # RFC 8058: the reader's mail program offers a button
        "List-Unsubscribe": f"<{letter.stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
