"""Sessions that name their account, so that the sessions of one account can be listed and ended without reading all others.

Django's table holds the session; a row beside it names the account. The previous release reads and writes only the former.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare

from league.domain.core import clock
from league.models import SessionOwner

SINCE, BROWSER, PASSKEY, FRESH = "since", "browser", "passkey", "fresh"  # Keys of a session.
MOST_REMOVED = 100
FRESH_FOR = timedelta(minutes=10)  # The time after a sign-in in which nobody has to show again who they are.


@dataclass(frozen=True)
class OpenSession:
    """A session that is signed in. `name`: a digest of its key, which is a secret. `since`: None if it began with an earlier release."""

    name: str
    browser: str
    since: datetime | None
    is_here: bool


class SessionStore(db.SessionStore):
    """Sessions in the database; a signed-in session is stored together with its account, and read with it and its player."""

    _account: User | None = None  # Of the row that `load` has read.

    def _get_session_from_db(self) -> Session | None:
        rows = Session.objects.select_related("owner__account__player")
        row = rows.filter(session_key=self.session_key, expire_date__gt=clock.present()).first()
        if row is None:
            self._session_key = None
        self._account = row.owner.account if row is not None and hasattr(row, "owner") else None
        return row

    def account(self) -> User | None:
        """Return the account that is signed in, with its player, read with the session. None: Django has to look for itself."""
        key = self.get(SESSION_KEY)  # Reads the row.
        account = self._account
        if account is None or key != str(account.pk) or not account.is_active:
            return None
        is_proven = constant_time_compare(self.get(HASH_SESSION_KEY, ""), account.get_session_auth_hash())
        return account if is_proven and self.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS else None

    def save(self, must_create: bool = False) -> None:
        """Save the session, name its account, and delete the account's expired sessions."""
        with transaction.atomic():
            super().save(must_create)
            account = self.get(SESSION_KEY)
            if account is None:
                return
            owner = SessionOwner(session_id=str(self.session_key), account_id=int(account))
            SessionOwner.objects.bulk_create(
                [owner], update_conflicts=True, unique_fields=["session"], update_fields=["account"]
            )
            _of(int(account)).filter(expire_date__lte=clock.present()).delete()


def note(session: MutableMapping[str, Any], browser: str, *, now: datetime) -> None:
    """Note in a session when it was signed in, and with which browser."""
    session[SINCE], session[BROWSER] = now.isoformat(), browser
    refresh(session, now=now)


def refresh(session: MutableMapping[str, Any], *, now: datetime) -> None:
    """Note in a session that its owner has just shown who they are."""
    session[FRESH] = now.isoformat()


def is_fresh(session: Mapping[str, Any], *, now: datetime) -> bool:
    """Return True if the owner has shown lately who they are, so that a browser left open gives nobody a way in."""
    return FRESH in session and now - datetime.fromisoformat(session[FRESH]) < FRESH_FOR


def open_sessions(account: int, here: str | None) -> list[OpenSession]:
    """Return the live sessions of an account, the latest first. `here`: the key of the reader's session. One query."""
    listed = []
    for row in _of(account).filter(expire_date__gt=clock.present()):
        data = row.get_decoded()
        since = datetime.fromisoformat(data[SINCE]) if SINCE in data else None
        is_here = row.session_key == here
        listed.append(OpenSession(_name(row.session_key), str(data.get(BROWSER, "")), since, is_here))
    return sorted(listed, key=lambda row: (row.is_here, row.since is not None and row.since.timestamp()), reverse=True)


def end_one(account: int, name: str) -> bool:
    """End the session of an account with this name. Return False if there is none."""
    keys = [row.session_key for row in _of(account) if _name(row.session_key) == name]
    return bool(Session.objects.filter(session_key__in=keys).delete()[0])


def end_by_passkey(account: int, passkey: int, *, spared: str | None) -> int:
    """End the sessions that a passkey began, but not the session with the key `spared`; return their number."""
    begun = [row.session_key for row in _of(account) if row.get_decoded().get(PASSKEY) == passkey]
    ended = [key for key in begun if key != spared]
    Session.objects.filter(session_key__in=ended).delete()
    return len(ended)


def remove_expired(*, now: datetime | None = None) -> None:
    """Remove some expired sessions of anybody, such as those of visitors who began to log in and left. Two queries."""
    expired = Session.objects.filter(expire_date__lte=clock.now_or(now)).order_by("expire_date")
    Session.objects.filter(session_key__in=list(expired.values_list("session_key", flat=True)[:MOST_REMOVED])).delete()


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:20]


def end(account: int, *, now: datetime | None = None) -> int:
    """End all sessions of an account (the id of its user); return the number of live ones."""
    rows = _of(account)
    live = rows.filter(expire_date__gt=clock.now_or(now)).count()
    rows.delete()
    return live


def _of(account: int) -> QuerySet[Session]:
    return Session.objects.filter(owner__account=account)
