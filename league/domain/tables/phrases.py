"""The set phrases that people say at a shared table instead of free chat."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from league.domain.core import clock, transitions
from league.domain.core.errors import Refused, TooMany
from league.domain.tables import people, seating
from league.domain.tables.people import Sitter
from league.models import TablePerson
from league.service import listening

EVERY = timedelta(seconds=4)  # One phrase a person in this time.
SHOWN = timedelta(seconds=30)  # How long a phrase stands at the seat.


class Phrase(models.TextChoices):
    """A phrase. Its value is the word in forms."""

    WELL_PLAYED = "well-played", _("Well played")
    THANKS = "thanks", _("Thanks")
    SORRY = "sorry", _("Sorry")
    MOMENT = "moment", _("One moment")
    LUCK = "luck", _("Good luck")


def say(sitter: Sitter, public_id: str, phrase: str, *, now: datetime | None = None) -> None:
    """Say a phrase at a shared table. Raise Refused, or TooMany if the last one was a moment ago."""
    now = clock.now_or(now)
    if phrase not in Phrase.values:
        raise Refused("choose one of the phrases")
    with transaction.atomic():
        row, person = seating.locked(sitter, public_id)
        if not row.shared:
            raise Refused("nobody is here to hear you")
        if person.phrase_at is not None and now < person.phrase_at + EVERY:
            raise TooMany("say it again in a few seconds", retry_after=int(EVERY.total_seconds()))
        TablePerson.objects.filter(pk=person.pk).update(phrase=phrase, phrase_at=now)
        people.tell(row)
        listening.notify(transitions.subject(row))


def spoken(person: TablePerson, now: datetime) -> str:
    """Return what a person has just said, in words; "" if nothing."""
    if person.phrase_at is None or now > person.phrase_at + SHOWN or person.phrase not in Phrase.values:
        return ""
    return str(Phrase(person.phrase).label)
