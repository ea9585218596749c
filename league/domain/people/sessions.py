"""Sessions that know whose they are, so that those of one account are found and ended without a look at anybody else's.

Django's own table keeps what is in a session; beside it a row names the account. The release before reads and writes the former.
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
    """Sessions in the database; one in which somebody is signed in is kept together with who it is."""

    def save(self, must_create: bool = False) -> None:
        """Keep it, name its account, and forget what of that account has expired."""
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
    """End all sessions of an account (the id of its user); how many of them were live."""
    mine = _of(account)
    live = mine.filter(expire_date__gt=clock.now_or(now)).count()
    mine.delete()
    return live


def _of(account: int) -> QuerySet[Session]:
    return Session.objects.filter(owner__account=account)
