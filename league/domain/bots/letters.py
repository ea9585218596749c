"""The digest of a player's bots by mail: one letter for each whole day or week with matches.

A process claims a letter, sends it, then marks it as sent. The claim postpones the next attempt, so that two schedulers never send the same letter
at once, and so that a failing mail server is tried again after growing pauses. If a process dies between sending and marking, another one sends the
letter again minutes later, with the same Message-ID, by which mailboxes recognise it. So no letter is lost.
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
BATCH = 20  # The most letters of one pass.
# A period's letter is due this long after the period ended, when its matches have been counted.
AFTER = timedelta(minutes=15)
BACK = {Period.DAY: timedelta(days=7), Period.WEEK: timedelta(weeks=4)}  # Older periods are skipped.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class Letter:
    """The text of a digest. stop: the address that ends the subscription."""

    subject: str
    text: str
    stop: str


Write = Callable[[Subscription, Digest], Letter]


def send_due(write: Write, *, most: int = BATCH, now: datetime | None = None) -> int:
    """Send at most `most` of the due letters; return the number of sent ones. Repeatable, also by several processes at once.

    If the mail server fails, the pass ends and the next one tries the rest. At most three queries if nothing is due.
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
            log.error("the mail server failed (%s); trying again after a pause", type(error).__name__)
            break
    return sent


def _codes(error: SMTPRecipientsRefused) -> list[int]:
    """Return the status codes of the mail server, without the address."""
    return [code for code, _text in error.recipients.values()]


def _claim(row: Subscription, now: datetime) -> bool:
    """Claim a row, so that nobody else tries to send it before the pause ends, even if this process dies."""
    due = now + min(FIRST_PAUSE * 2 ** min(row.tries, 20), LONGEST_PAUSE)
    rows = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period, address=row.address)
    if not rows.update(due=due, tries=row.tries + 1):
        return False
    row.due, row.tries = due, row.tries + 1
    return True


def _send(row: Subscription, write: Write, now: datetime) -> bool:
    """Send the letter of the oldest due period with matches; return True if one was sent."""
    period = Period(row.period)
    latest = digests.last_whole(period, now)[1]
    since = max(row.told or latest, latest - BACK[period])
    while since < latest:
        until = since + LENGTHS[period]
        digest = digests.build_digest(row.player, since, until, now=now)
        if digest.lines:
            letter = write(row, digest)
            mail.deliver(row.address, letter.subject, letter.text, headers=_headers(row, letter, until))
            _mark(row, until, now if until < latest else latest + LENGTHS[period] + AFTER)
            return True
        since = until
    _mark(row, latest, latest + LENGTHS[period] + AFTER)
    return False


def _mark(row: Subscription, until: datetime, due: datetime) -> None:
    """Mark everything before `until` as sent, unless the player has changed the subscription in the meantime."""
    rows = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period)
    rows.update(told=until, due=due, tries=0)


def _headers(row: Subscription, letter: Letter, until: datetime) -> dict[str, str]:
    host = urlsplit(row.site).hostname or "localhost"
    return {
        # The same for each attempt to send this digest.
        "Message-ID": f"<digest.{row.pk}.{row.period}.{until:%Y%m%d}@{host}>",
        # RFC 8058: the reader's mail program shows a button for it.
        "List-Unsubscribe": f"<{letter.stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
