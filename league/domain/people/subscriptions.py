"""Subscriptions: the digest by mail, confirmed addresses, and links that need no login.

A link contains the number of the account and a proof that only this league can make, but no address. Until an address is confirmed, only the
confirmation link is sent to it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import players
from league.enums import NoticeKind, Period
from league.models import Player, Subscription

CONFIRM_WITHIN = timedelta(days=3)
ASK_AGAIN = timedelta(minutes=10)
CONFIRM, STOP = "confirm", "stop"


def find(player: Player) -> Subscription:
    """Return the player's subscription, or an unsaved one. One query."""
    return Subscription.objects.filter(player=player).first() or Subscription(player=player)


def is_confirmed(row: Subscription, address: str) -> bool:
    """Return True if the current address of the account is confirmed."""
    return bool(address) and row.address == address and row.confirmed is not None


def reachable(now: datetime) -> QuerySet[Subscription]:
    """Select the subscriptions whose players may get mail: the address is confirmed, and the account is open."""
    rows = Subscription.objects.filter(confirmed__isnull=False, player__user__is_active=True)
    banned = Q(player__banned__isnull=False) & (Q(player__banned_until=None) | Q(player__banned_until__gt=now))
    return rows.filter(address=F("player__user__email")).exclude(banned)


def may_be_written_to(player: Player) -> bool:
    """Return True if a password link may be sent to the address: it is confirmed, or was stored by a release without confirmation. One query."""
    row = Subscription.objects.filter(player=player).first()
    return row is None or row.address != player.user.email or row.confirmed is not None


def take_address(player: Player, address: str) -> None:
    """Store another address, or none, as not confirmed. Call it in the transaction that changes the address of the account."""
    row, _created = Subscription.objects.get_or_create(player=player, defaults={"address": address})
    if row.address != address:
        # `asked` stays, or somebody could send letters to one stranger after the other.
        Subscription.objects.filter(player=player).update(
            address=address, confirmed=None, told=None, doubt=None, due=None
        )


def ask(player: Player, *, language: str, site: str, now: datetime | None = None) -> str:
    """Note that the address has to be confirmed, and return the token of the link in the letter."""
    now = clock.now_or(now)
    address = player.user.email
    if not address:
        raise Refused("your account has no mail address; add one first")
    with transaction.atomic():
        players.lock(player.pk)
        row, _created = Subscription.objects.get_or_create(player=player, defaults={"address": address})
        if is_confirmed(row, address):
            raise Refused("this address is already confirmed")
        if row.asked is not None and now < row.asked + ASK_AGAIN:
            raise Refused("a link was sent a moment ago; look in your mail, or ask again in ten minutes")
        row.address, row.asked, row.confirmed, row.language, row.site = address, now, None, language, site
        row.save(update_fields=["address", "asked", "confirmed", "language", "site"])
    return _word(row, CONFIRM)


def to_confirm(word: str, *, now: datetime | None = None) -> Subscription | None:
    """Return the subscription of a confirmation link; None if the link is invalid or too old."""
    row = _find_linked(word, CONFIRM)
    if row is None or row.asked is None or clock.now_or(now) > row.asked + CONFIRM_WITHIN:
        return None
    return row


def confirm(word: str, *, now: datetime | None = None) -> Subscription | None:
    """Confirm the address and return its subscription; None if the link is invalid. Repeatable."""
    now = clock.now_or(now)
    row = to_confirm(word, now=now)
    if row is None:
        return None
    with transaction.atomic():
        row_now = Subscription.objects.filter(pk=row.pk, address=row.address, asked=row.asked, confirmed=None)
        if row_now.update(confirmed=now, told=None, due=now, tries=0):
            journal.append("player.mail_confirmed", _subject(row), now=now, actor=row.player.name)
    return row


def choose(player: Player, period: str, *, language: str, site: str, now: datetime | None = None) -> None:
    """Set how often the digest is sent ("" for never), beginning with the current period. Raise Refused without an address."""
    now = clock.now_or(now)
    if period and not player.user.email:
        raise Refused("your account has no mail address; add one first")
    with transaction.atomic():
        players.lock(player.pk)
        row, _created = Subscription.objects.get_or_create(player=player, defaults={"address": player.user.email})
        changed = row.period != period
        row.period, row.language, row.site = Period(period).value if period else "", language, site
        if changed:
            row.told, row.doubt, row.due, row.tries = None, None, now if period else None, 0
            journal.append("player.digest_chosen", _subject(row), now=now, actor=player.name, period=period)
        row.save(update_fields=["period", "language", "site", "told", "doubt", "due", "tries"])


def late(now: datetime) -> QuerySet[Subscription]:
    """Select the subscriptions whose last letter the mail server did not take, and that wait for the next attempt."""
    return reachable(now).filter(tries__gt=0)


def retry(player: Player, *, now: datetime) -> bool:
    """Try a letter that could not be sent again at once. Return False if none waits."""
    return bool(late(now).filter(player=player, due__gt=now).update(due=now))


def stop_word(row: Subscription, kind: str = "") -> str:
    """Return the token of the link in each letter that ends the digest, or letters about one kind of notices."""
    return _word(row, STOP, kind)


def to_stop(word: str) -> Subscription | None:
    """Return the subscription that a link would end; None if the link is invalid or the account has another address now."""
    return _find_linked(word, STOP)


def kind_in(word: str) -> str:
    """Return the kind of notices that a token names; "" for the digest."""
    parts = word.split("-")
    return parts[1] if len(parts) == 3 else ""


def stop(word: str, *, now: datetime | None = None) -> Subscription | None:
    """End the digest and return its subscription; None if the link is invalid. Repeatable."""
    row = to_stop(word)
    if row is None:
        return None
    with transaction.atomic():
        if Subscription.objects.filter(pk=row.pk).exclude(period="").update(period="", told=None, due=None, tries=0):
            journal.append("player.digest_chosen", _subject(row), now=clock.now_or(now), actor="link", period="")
    return row


def _word(row: Subscription, purpose: str, kind: str = "") -> str:
    # Each confirmation link has another proof.
    moment = row.asked.isoformat() if purpose == CONFIRM and row.asked else kind
    proof = salted_hmac(f"league.subscription.{purpose}", f"{row.pk}:{row.address}:{moment}", algorithm="sha256")
    return "-".join(filter(None, (str(row.pk), kind, proof.hexdigest()[:40])))


def _find_linked(word: str, purpose: str) -> Subscription | None:
    number = word.partition("-")[0]
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    row = Subscription.objects.filter(pk=int(number)).select_related("player__user").first()
    if row is None or not row.address or row.address != row.player.user.email:
        return None
    kind = kind_in(word)
    if kind and (purpose != STOP or kind not in NoticeKind.values):
        return None
    return row if constant_time_compare(word, _word(row, purpose, kind)) else None


def _subject(row: Subscription) -> str:
    return f"player:{row.player.name}"
