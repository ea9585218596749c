"""Sessions that name their account, so that the sessions of one account can be ended without reading all others.

Django's table holds the session; a row beside it names the account. The previous release reads and writes only the former.
"""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock
from league.models import SessionOwner


class SessionStore(db.SessionStore):
    """Sessions in the database; a signed-in session is stored together with its account."""

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


def end(account: int, *, now: datetime | None = None) -> int:
    """End all sessions of an account (the id of its user); return the number of live ones."""
    rows = _of(account)
    live = rows.filter(expire_date__gt=clock.now_or(now)).count()
    rows.delete()
    return live


def _of(account: int) -> QuerySet[Session]:
    return Session.objects.filter(owner__account=account)
