"""Letters: notices by mail, at once by kind or in a digest of a whole day or week, which also has the results of the player's bots.

No mail server can promise "exactly once", so a letter is sent at least once, and twice at most. A process claims the letter, gives it to the server,
and marks it as sent when the server has answered. If the server certainly did not accept it, it is tried again after growing pauses. If the process
dies in between, or the line breaks after the text was sent, nobody knows whether the letter arrived: it is sent once more, marked as sent before, so
that no crash makes a third copy. The copy has the same Message-ID, by which mail servers and programs recognise it. Claims and marks are conditional
updates, so of two schedulers only one sends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from league.domain.bots import digests
from league.domain.bots.digests import LENGTHS, Digest
from league.domain.core import clock
from league.domain.notices import ways
from league.domain.people import subscriptions
from league.enums import NoticeKind, NoticeWay, Period
from league.models import Notice, Player, Subscription
from league.service import mail

log = logging.getLogger("league.letters")
BATCH = 20  # The most letters of one pass.
# A period's digest is due this long after the period ended, when its matches have been counted.
AFTER = timedelta(minutes=15)
BACK = {Period.DAY: timedelta(days=7), Period.WEEK: timedelta(weeks=4)}  # Older periods are skipped.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=12)
DOUBT = timedelta(minutes=10)  # An immediate letter whose arrival nobody knows is sent again after this pause.
GIVE_UP = timedelta(days=3)  # An immediate letter that has failed for longer is not tried again.
MOST_NOTICES = 100  # The most notices of one letter.
MOST_A_DAY = 20  # The most letters at once that a player gets on a day (UTC).


@dataclass(frozen=True, slots=True)
class Mailing:
    """The contents of a letter: unread notices, all of one `kind` or for a digest. more: there are more than `notices`."""

    kind: NoticeKind | None
    notices: Sequence[Notice]
    more: bool = False
    digest: Digest | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """The text of a letter. stop: the address that ends letters like it."""

    subject: str
    text: str
    stop: str


Write = Callable[[Subscription, Mailing], Letter]


@dataclass(slots=True)
class _Pass:
    """One pass over the due letters. down: the mail server has failed, and the rest waits for the next pass."""

    write: Write
    now: datetime
    sent: int = 0
    down: bool = False


def send_due(write: Write, *, most: int = BATCH, now: datetime | None = None) -> int:
    """Send at most `most` of the due letters at once, and as many digests; return the number of sent ones.

    Repeatable, also by several processes at once. If the mail server fails, the pass ends and the next one tries the rest. At most two queries if
    nothing is due.
    """
    now = clock.now_or(now)
    if not settings.MAIL:
        return 0
    run = _Pass(write, now)
    due = Notice.objects.filter(due__lte=now).order_by("due", "id").values_list("player", "kind", "mailed")
    for player, kind, mailed in list(dict.fromkeys(due[: most * MOST_NOTICES]))[:most]:
        if not run.down:
            _send_at_once(run, player, NoticeKind(kind), mailed)
    rows = subscriptions.reachable(now).exclude(period="").filter(due__lte=now)
    for row in list(rows.select_related("player__user").order_by("due", "pk")[:most]):
        if not run.down and _claim(row, now):
            _send_digest(run, row)
    return run.sent


def late(now: datetime) -> QuerySet[Player]:
    """Select the players with a letter that the mail server did not take, or of which nobody knows whether it did. By indexes."""
    paused = Notice.objects.filter(Q(due__gt=now) | Q(due__lt=now - DOUBT))
    digest = Q(pk__in=subscriptions.late(now).values("player"))
    return Player.objects.filter(digest | Q(pk__in=paused.values("player"))).order_by("pk")


def retry(player: Player, *, now: datetime) -> bool:
    """Try the letters that could not be sent again at once. Return False if none waits."""
    paused = Notice.objects.filter(player=player, due__gt=now).update(due=now)
    return subscriptions.retry(player, now=now) or bool(paused)


def _send_at_once(run: _Pass, player: int, kind: NoticeKind, mailed: datetime | None) -> None:
    """Send one letter about all due notices of a kind. mailed: it has them since then, but nobody knows whether it arrived."""
    now = run.now
    row = subscriptions.reachable(now).filter(player=player).select_related("player__user").first()
    rows = Notice.objects.filter(player=player, kind=kind, mailed=mailed, due__lte=now)
    due = list(rows.order_by("id")[: MOST_NOTICES + 1])
    if row is None or not due:
        rows.update(due=None)
        return
    ids = [notice.pk for notice in due]
    name = mailed or now
    with transaction.atomic():
        if not _count_letter(row, now):
            log.warning("player %s got %d letters today; other notices wait on the site", player, MOST_A_DAY)
            rows.update(due=None)
            return
        claimed = rows.filter(pk__in=ids).update(due=None if mailed else now + DOUBT, mailed=name)
        if claimed < len(ids):  # Another process sends it.
            transaction.set_rollback(True)
            return
    letter = Notice.objects.filter(pk__in=ids, mailed=name)

    def accepted() -> None:
        letter.update(due=None)

    def refused() -> None:
        age = now - due[0].created  # Each pause is as long as all earlier ones together.
        again = now + min(max(FIRST_PAUSE, age), LONGEST_PAUSE) if age < GIVE_UP else None
        letter.update(due=again, mailed=mailed)
        Subscription.objects.filter(pk=row.pk, letters__gt=0).update(letters=F("letters") - 1)

    mailing = Mailing(kind, due[:MOST_NOTICES], len(due) > MOST_NOTICES)
    _hand_over(run, row, mailing, f"notice.{kind}.{name:%Y%m%d%H%M%S%f}", accepted, refused)


def _count_letter(row: Subscription, now: datetime) -> bool:
    """Count a letter of this day; return False if the player had MOST_A_DAY."""
    day, rows = now.astimezone(UTC).date(), Subscription.objects.filter(pk=row.pk)
    if rows.filter(Q(letters_on=None) | Q(letters_on__lt=day)).update(letters_on=day, letters=1):
        return True
    return bool(rows.filter(letters__lt=MOST_A_DAY).update(letters=F("letters") + 1))


def _claim(row: Subscription, now: datetime) -> bool:
    """Claim a digest, so that nobody else tries to send it before the pause ends."""
    due = now + min(FIRST_PAUSE * 2 ** min(row.tries, 20), LONGEST_PAUSE)
    rows = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period, address=row.address)
    if not rows.update(due=due, tries=row.tries + 1):
        return False
    row.due, row.tries = due, row.tries + 1
    return True


def _send_digest(run: _Pass, row: Subscription) -> None:
    """Send the digest of the oldest due period with notices or matches."""
    period, now = Period(row.period), run.now
    latest = digests.last_whole(period, now)[1]
    since = max(row.told or latest, latest - BACK[period])
    following = latest + LENGTHS[period] + AFTER
    while since < latest:
        until = since + LENGTHS[period]
        notices = _unread(row, until)
        digest = digests.build_digest(row.player, since, until, now=now)
        if digest.lines or notices:
            _send_period(run, row, notices, digest, now if until < latest else following)
            return
        since = until
    _mark(row, latest, following)


def _unread(row: Subscription, until: datetime) -> list[Notice]:
    """Return the unread notices before `until` that are in no letter yet, and one more than a letter has room for."""
    kinds = [kind for kind, way in ways.ways_of(row.player).items() if way == NoticeWay.DIGEST]
    rows = Notice.objects.filter(player=row.player_id, read=None, mailed=None, kind__in=kinds, created__lt=until)
    return list(rows.order_by("id")[: MOST_NOTICES + 1])


def _send_period(run: _Pass, row: Subscription, notices: list[Notice], digest: Digest, due: datetime) -> None:
    until, before, paused, tries = digest.until, row.told, row.due, row.tries
    is_copy = row.doubt == until
    letter = Notice.objects.filter(pk__in=[notice.pk for notice in notices])

    def accepted() -> None:
        with transaction.atomic():
            _mark(row, until, due)
            letter.filter(mailed=None).update(mailed=run.now)

    def refused() -> None:
        with transaction.atomic():
            _mark(row, before, paused, tries, until if is_copy else None)
            letter.filter(mailed=run.now).update(mailed=None)

    if not _mark(row, before, paused, tries, until):
        return  # The player has changed the subscription in the meantime.
    if is_copy:
        accepted()
    mailing = Mailing(None, notices[:MOST_NOTICES], len(notices) > MOST_NOTICES, digest)
    _hand_over(run, row, mailing, f"digest.{row.period}.{until:%Y%m%d}", accepted, refused)


def _mark(
    row: Subscription, end: datetime | None, due: datetime | None, tries: int = 0, doubt: datetime | None = None
) -> bool:
    """Write the state of a digest, unless the player or another process has changed it since it was read."""
    rows = Subscription.objects.filter(pk=row.pk, due=row.due, tries=row.tries, period=row.period)
    changed = bool(rows.update(told=end, due=due, tries=tries, doubt=doubt))
    row.told, row.due, row.tries, row.doubt = end, due, tries, doubt
    return changed


def _hand_over(
    run: _Pass,
    row: Subscription,
    mailing: Mailing,
    name: str,
    accepted: Callable[[], object],
    refused: Callable[[], object],
) -> None:
    """Give a claimed letter to the mail server, and note its answer. Without an answer the claim stays, and ends by itself."""
    letter = run.write(row, mailing)
    try:
        mail.deliver(row.address, letter.subject, letter.text, headers=_headers(row, letter, name))
    except mail.Unsure as error:
        log.error(
            "nobody knows whether a letter to player %s arrived (%s); at most one copy follows", row.player_id, error
        )
        run.down = True
    except SMTPRecipientsRefused as error:
        refused()
        log.error("a letter to player %s was refused: %s", row.player_id, _codes(error))
    except (OSError, SMTPException) as error:
        refused()
        log.error("the mail server failed (%s); trying again after a pause", type(error).__name__)
        run.down = True
    else:
        accepted()
        run.sent += 1


def _codes(error: SMTPRecipientsRefused) -> list[int]:
    """Return the status codes of the mail server, without the address."""
    return [code for code, _text in error.recipients.values()]


def _headers(row: Subscription, letter: Letter, name: str) -> dict[str, str]:
    host = urlsplit(row.site).hostname or "localhost"
    return {
        # All tries of a letter have the same.
        "Message-ID": f"<{name}.{row.pk}@{host}>",
        # RFC 8058: the reader's mail program shows a button for it.
        "List-Unsubscribe": f"<{letter.stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
