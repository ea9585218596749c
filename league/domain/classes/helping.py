"""A new password for a student who has forgotten theirs.

A teacher who can set a password can take over an account. So it needs all of this: the student agreed when joining, and can take that back at any
time; the account has no mail address, by which its owner could get in alone, and is no operator's; the student is still in the class, which is not
archived. The league draws the password and shows it once. All sessions and keys of the account end, its owner reads who did it, and the journal
keeps it.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import transaction

from league.domain.classes import classes
from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.matches.matches import ALPHABET
from league.domain.people import passwords
from league.enums import ClassRole
from league.models import ClassMember
from league.pure.refusal import translatable

LENGTH = 12


def why_not(student: ClassMember) -> str:
    """Return the reason why the teachers may not set a password, in English; "" if they may. `student` must have been read with the account."""
    user = student.player.user
    if student.role != ClassRole.STUDENT or user.is_staff or user.is_superuser or not user.is_active:
        return translatable("only a student's account can get a new password here")
    if user.email:
        return translatable("this account has a mail address; the student can ask for a link on the log-in page")
    if not student.helped:
        return translatable("the student has not agreed to it; they can do that on the page of the class")
    return ""


def new_password(teacher: ClassMember, student: ClassMember, *, now: datetime | None = None) -> str:
    """Give a student's account a new password, and return it. Raise Refused or Forbidden."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = classes.lock(teacher)
        fresh = row.members.select_related("player__user").filter(pk=student.pk).first()
        why = translatable("this person is not in the class") if fresh is None else why_not(fresh)
        if why or fresh is None:
            raise Refused(why)
        word = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        passwords.set_password(fresh.player, word, actor=teacher.player.name, now=now)
        journal.append("class.password", f"class:{row.slug}", now=now, actor=teacher.player.name, who=fresh.player.name)
    return word


def agree(student: ClassMember, *, helped: bool) -> None:
    """Let a student agree that the teachers may set a new password, or take that back."""
    ClassMember.objects.filter(pk=student.pk, role=ClassRole.STUDENT).update(helped=helped)
