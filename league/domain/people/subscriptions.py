"""Who wants the digest of their bots by mail: addresses that were confirmed, and links that need no login.

A link holds the number of the account and a proof that only this league can make; nobody learns an address from it. Nothing but the link that
confirms it is sent to an address before that.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import players
from league.enums import Period
from league.models import Player, Subscription

CONFIRM_WITHIN = timedelta(days=3)
ASK_AGAIN = timedelta(minutes=10)
CONFIRM, STOP = "confirm", "stop"


def of(player: Player) -> Subscription:
    """What is kept of a player, unsaved where there is nothing. One query."""
    return Subscription.objects.filter(player=player).first() or Subscription(player=player)


def is_confirmed(row: Subscription, address: str) -> bool:
    """Whether the address that the account has now was confirmed."""
    return bool(address) and row.address == address and row.confirmed is not None


def open_rows(now: datetime) -> QuerySet[Subscription]:
    """Those to whom something may be sent: a period is chosen, the address of the account confirmed, and the account open."""
    rows = Subscription.objects.exclude(period="").filter(confirmed__isnull=False, player__user__is_active=True)
    banned = Q(player__banned__isnull=False) & (Q(player__banned_until=None) | Q(player__banned_until__gt=now))
    return rows.filter(address=F("player__user__email")).exclude(banned)


def may_be_written_to(player: Player) -> bool:
    """Whether a link for another password may go to the address: it was confirmed, or kept by a release that did not ask. One query."""
    row = Subscription.objects.filter(player=player).first()
    return row is None or row.address != player.user.email or row.confirmed is not None


def take_address(player: Player, address: str) -> None:
    """Another address, or none: it is not confirmed. For who keeps addresses, in their transaction."""
    row, _made = Subscription.objects.get_or_create(player=player, defaults={"address": address})
    if row.address != address:
        # That it was asked lately stays: links to one address after the other would be letters to strangers
        Subscription.objects.filter(player=player).update(address=address, confirmed=None, told=None, due=None)


def ask(player: Player, *, language: str, site: str, now: datetime | None = None) -> str:
    """Note that the address of an account is to be confirmed, and give the word of the link that is to be sent there.

    Raises Refused where there is no address, it was confirmed, or a link was sent in the last minutes.
    """
    now = clock.now_or(now)
    address = player.user.email
    if not address:
        raise Refused("no address is kept; keep one first")
    with transaction.atomic():
        players.lock(player.pk)
        row, _made = Subscription.objects.get_or_create(player=player, defaults={"address": address})
        if is_confirmed(row, address):
            raise Refused("this address is confirmed already")
        if row.asked is not None and now < row.asked + ASK_AGAIN:
            raise Refused("a link was sent a moment ago; look for it, or ask again in ten minutes")
        row.address, row.asked, row.confirmed, row.language, row.site = address, now, None, language, site
        row.save(update_fields=["address", "asked", "confirmed", "language", "site"])
    return _word(row, CONFIRM)


def to_confirm(word: str, *, now: datetime | None = None) -> Subscription | None:
    """Whose address a link confirms; None where it is of no use (any more)."""
    row = _found(word, CONFIRM)
    if row is None or row.asked is None or clock.now_or(now) > row.asked + CONFIRM_WITHIN:
        return None
    return row


def confirm(word: str, *, now: datetime | None = None) -> Subscription | None:
    """The address is confirmed; of whom. None where the link is of no use. Twice does no harm."""
    now = clock.now_or(now)
    row = to_confirm(word, now=now)
    if row is None:
        return None
    with transaction.atomic():
        mine = Subscription.objects.filter(pk=row.pk, address=row.address, asked=row.asked, confirmed=None)
        if mine.update(confirmed=now, told=None, due=now, tries=0):
            journal.append("player.mail_confirmed", _subject(row), now=now, actor=row.player.name)
    return row


def choose(player: Player, period: str, *, language: str, site: str, now: datetime | None = None) -> None:
    """How often the digest is sent, "" for never. It begins with the period that runs. Raises Refused where no address is kept."""
    now = clock.now_or(now)
    if period and not player.user.email:
        raise Refused("no address is kept; keep one first")
    with transaction.atomic():
        players.lock(player.pk)
        row, _made = Subscription.objects.get_or_create(player=player, defaults={"address": player.user.email})
        changed = row.period != period
        row.period, row.language, row.site = Period(period).value if period else "", language, site
        if changed:
            row.told, row.due, row.tries = None, now if period else None, 0
            journal.append("player.digest_chosen", _subject(row), now=now, actor=player.name, period=period)
        row.save(update_fields=["period", "language", "site", "told", "due", "tries"])


def stop_word(row: Subscription) -> str:
    """The word of the link in each digest by which it is the last one."""
    return _word(row, STOP)


def to_stop(word: str) -> Subscription | None:
    """Whose digest a link ends; None where it is of no use, since the account has another address."""
    return _found(word, STOP)


def stop(word: str, *, now: datetime | None = None) -> Subscription | None:
    """No digest is sent any more; to whom. None where the link is of no use. Twice does no harm."""
    row = to_stop(word)
    if row is None:
        return None
    with transaction.atomic():
        if Subscription.objects.filter(pk=row.pk).exclude(period="").update(period="", told=None, due=None, tries=0):
            journal.append("player.digest_chosen", _subject(row), now=clock.now_or(now), actor="link", period="")
    return row


def _word(row: Subscription, what: str) -> str:
    # A link to confirm is one of its own each time
    moment = row.asked.isoformat() if what == CONFIRM and row.asked else ""
    proof = salted_hmac(f"league.subscription.{what}", f"{row.pk}:{row.address}:{moment}", algorithm="sha256")
    return f"{row.pk}-{proof.hexdigest()[:40]}"


def _found(word: str, what: str) -> Subscription | None:
    number = word.partition("-")[0]
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    row = Subscription.objects.filter(pk=int(number)).select_related("player__user").first()
    if row is None or not row.address or row.address != row.player.user.email:
        return None
    return row if constant_time_compare(word, _word(row, what)) else None


def _subject(row: Subscription) -> str:
    return f"player:{row.player.name}"
