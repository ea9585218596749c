"""Classes and their members. Only members and operators learn that a class exists.

Students join by a link. If the class has a roster, only people on it can join, each under the name that the roster has; nobody who has the link can
read the roster. Teachers see these names, everybody else the names of the accounts.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.crypto import constant_time_compare

from league.domain.core import clock, journal, names
from league.domain.core.errors import Forbidden, Refused
from league.domain.people import players
from league.domain.tournaments import releases
from league.enums import ClassRole, MatchKind, MatchStatus, TournamentStatus
from league.models import ClassMember, EntryRequest, Event, HandIn, Match, Player, SchoolClass

MOST_CLASSES = 20  # The most classes of a teacher that are not archived.
MOST_PLACES = 200
MOST_TEACHERS = 8
MOST_NAME, MOST_NUMBER = 80, 40
LINK_BYTES = 12  # Random bytes in a join link.


@dataclass(frozen=True)
class ClassTerms:
    """The terms of a class, chosen by a teacher. roster: (name, student number) of everybody who may join; empty: everybody with the link."""

    name: str
    places: int = 40
    closes: datetime | None = None
    roster: Sequence[tuple[str, str]] = ()


def read_roster(text: str) -> list[tuple[str, str]]:
    """Read a pasted roster: a name on each line, and after a tab or semicolon the student number. Raise Refused for a name that stands twice."""
    rows: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        name, _gap, number = line.replace("\t", ";").partition(";")
        if not name.strip():
            continue
        clean = _checked_name(name)
        if _key(clean) in rows:
            raise Refused("The roster has {name} twice. Add something that tells the two apart.", name=clean)
        rows[_key(clean)] = (clean, number.strip().strip(";").strip()[:MOST_NUMBER])
    if len(rows) > MOST_PLACES:
        raise Refused("A class has at most {most} students; the roster has {count}.", most=MOST_PLACES, count=len(rows))
    return list(rows.values())


def _checked_name(name: str) -> str:
    """Return a person's name with single spaces. Raise Refused if it is empty, too long, or has a character that no name has."""
    clean = " ".join(unicodedata.normalize("NFC", name).split())
    if not clean or len(clean) > MOST_NAME or any(unicodedata.category(letter)[0] == "C" for letter in clean):
        raise Refused("Write the name as it stands on the list: 1 to {most} letters.", most=MOST_NAME)
    return clean


def _key(name: str) -> str:
    """Return a name in the form that is compared: the words in order of the alphabet, without case, accents and commas."""
    plain = "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))
    return " ".join(sorted(plain.casefold().replace(",", " ").split()))


def create(teacher: Player, terms: ClassTerms, *, now: datetime | None = None) -> SchoolClass:
    """Create a class with its first teacher and a join link."""
    now = clock.now_or(now)
    with transaction.atomic():
        players.lock(teacher.pk)
        players.refuse_banned(teacher)
        own = ClassMember.objects.filter(player=teacher, role=ClassRole.TEACHER, school_class__archived=None)
        if own.count() >= MOST_CLASSES:
            raise Refused("You teach {most} classes. Archive one first.", most=MOST_CLASSES)
        row = SchoolClass.objects.create(
            slug=secrets.token_hex(6), link=_new_link(), created=now, **_columns(terms, now, None)
        )
        ClassMember.objects.create(
            school_class=row, player=teacher, role=ClassRole.TEACHER, name=teacher.name, joined=now
        )
        _note(row, "created", teacher.name, now)
    return row


def change(member: ClassMember, terms: ClassTerms, *, now: datetime | None = None) -> SchoolClass:
    """Change name, places, closing time and roster."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = lock(member)
        SchoolClass.objects.filter(pk=row.pk).update(**_columns(terms, now, row))
        _note(row, "changed", member.player.name, now)
    row.refresh_from_db()
    return row


def _columns(terms: ClassTerms, now: datetime, row: SchoolClass | None) -> dict[str, object]:
    if not 1 <= terms.places <= MOST_PLACES:
        raise Refused("A class has 1 to {most} students, not {count}.", most=MOST_PLACES, count=terms.places)
    if len(terms.roster) > terms.places:
        raise Refused(
            "The roster has {count} names, but the class only {places} places.",
            count=len(terms.roster),
            places=terms.places,
        )
    if terms.closes is not None and terms.closes <= now and (row is None or row.closes != terms.closes):
        raise Refused("The closing time lies in the past. Choose a later one, or leave it empty.")
    roster = [list(entry) for entry in terms.roster]
    return {"name": checked_title(terms.name), "places": terms.places, "closes": terms.closes, "roster": roster}


def checked_title(text: str) -> str:
    """Return the name of a class, or the title of an assignment, in its stored form. Raise Refused if it is empty or cannot be shown."""
    title = names.checked(text).strip()
    if not title:
        raise Refused("Write a name.")
    return title


def find(slug: str, viewer: User | None) -> tuple[SchoolClass, ClassMember | None] | None:
    """Return a class and the viewer's seat in it, which an operator lacks; return None if the viewer may not know of it. Two queries."""
    if viewer is None:
        return None
    member = ClassMember.objects.select_related("school_class", "player__user").filter(
        school_class__slug=slug, player__user=viewer
    )
    if (own := member.first()) is not None:
        return own.school_class, own
    row = SchoolClass.objects.filter(slug=slug).first() if viewer.is_staff else None
    return (row, None) if row is not None else None


def of_player(player: Player) -> list[ClassMember]:
    """Return the classes of a player, present ones first. One query."""
    rows = player.classes.select_related("school_class").order_by("school_class__archived", "-school_class__created")
    return sorted(rows, key=lambda member: member.school_class.archived is not None)


# ---- the join link


def invited(slug: str, link: str, *, now: datetime | None = None) -> SchoolClass | None:
    """Return the class of a join link; None if nobody can join by it."""
    row = SchoolClass.objects.filter(slug=slug, archived=None).exclude(link="").first()
    if row is None or not constant_time_compare(row.link, link):
        return None
    return row if row.closes is None or row.closes > clock.now_or(now) else None


def join(
    slug: str, link: str, player: Player, name: str, *, helped: bool = False, now: datetime | None = None
) -> ClassMember | None:
    """Add a student; return None if the link is not valid. Whoever is a member already stays as they are.

    Raise Refused if the class is full, or the roster lacks the name or somebody else has it. `helped`: the student agrees that the teachers may set
    a new password.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        SchoolClass.objects.select_for_update().filter(slug=slug).first()
        row = invited(slug, link, now=now)
        if row is None:
            return None
        present = row.members.filter(player=player).first()
        if present is not None:
            return present
        students = row.members.filter(role=ClassRole.STUDENT)
        if students.count() >= row.places:
            raise Refused("This class is full. Ask your teacher for a place.")
        name, number = _place_on_roster(row, _checked_name(name))
        if _key(name) in {_key(other) for other in students.values_list("name", flat=True)}:
            raise Refused("Somebody has joined as {name}. If that is your name, ask your teacher.", name=name)
        student = ClassMember.objects.create(
            school_class=row,
            player=player,
            role=ClassRole.STUDENT,
            name=name,
            number=number,
            helped=helped,
            joined=now,
        )
        if row.event is not None and row.event.status == TournamentStatus.OPEN:
            releases.add(row.event, [player.pk], now=now)
        _note(row, "joined", player.name, now)
    return student


def _place_on_roster(row: SchoolClass, name: str) -> tuple[str, str]:
    if not row.roster:
        return name, ""
    for listed, number in row.roster:
        if _key(listed) == _key(name):
            return listed, number
    raise Refused("{name} is not on the list of this class. Write your name as your teacher does.", name=name)


def renew_link(member: ClassMember, *, close: bool = False, now: datetime | None = None) -> None:
    """Replace the join link, or remove it. The old one stops working; students stay."""
    with transaction.atomic():
        row = lock(member)
        SchoolClass.objects.filter(pk=row.pk).update(link="" if close else _new_link())
        _note(row, "link", member.player.name, clock.now_or(now))


def _new_link() -> str:
    return secrets.token_urlsafe(LINK_BYTES)


# ---- members


def leave(member: ClassMember, *, now: datetime | None = None) -> None:
    """Leave a class: name, hand-ins and marks of the member go. The last teacher cannot leave while there are students."""
    now = clock.now_or(now)
    with transaction.atomic():
        SchoolClass.objects.select_for_update().get(pk=member.school_class_id)
        others = member.school_class.members.exclude(pk=member.pk)
        if member.role == ClassRole.TEACHER and not others.filter(role=ClassRole.TEACHER).exists() and others.exists():
            raise Refused("You are the only teacher. Make somebody else a teacher first, or delete the class.")
        _remove(member, actor=member.player.name, now=now)


def remove(teacher: ClassMember, student: ClassMember, *, now: datetime | None = None) -> None:
    """Remove a student from a class. Whoever has the link can join again, so a teacher renews it if needed."""
    with transaction.atomic():
        row = lock(teacher)
        if student.school_class_id != row.pk or student.role != ClassRole.STUDENT:
            raise Forbidden("only students can be removed; a teacher leaves by themselves")
        _remove(student, actor=teacher.player.name, now=clock.now_or(now))


def _remove(member: ClassMember, *, actor: str, now: datetime) -> None:
    row = member.school_class
    if row.event is not None and not _plays_in(row.event, member.player):
        row.event.guests.filter(player=member.player).delete()
    _drop_matches(HandIn.objects.filter(member=member))
    member.delete()
    if not row.members.filter(role=ClassRole.TEACHER).exists():
        _drop_matches(HandIn.objects.filter(assignment__school_class=row))
        row.delete()
        _note(row, "deleted", actor, now)
    else:
        _note(row, "left", actor, now)


def _plays_in(event: Event, player: Player) -> bool:
    return EntryRequest.objects.filter(event=event, bot__owner=player).exists()


def rename(teacher: ClassMember, student: ClassMember, name: str, *, now: datetime | None = None) -> None:
    """Change the name that the teachers see."""
    with transaction.atomic():
        row = lock(teacher)
        clean = _checked_name(name)
        twins = row.members.exclude(pk=student.pk).values_list("name", flat=True)
        if _key(clean) in map(_key, twins):
            raise Refused("Somebody else in this class is called {name}.", name=clean)
        row.members.filter(pk=student.pk).update(name=clean)
        _note(row, "renamed", teacher.player.name, clock.now_or(now))


def make_teacher(teacher: ClassMember, student: ClassMember, *, now: datetime | None = None) -> None:
    """Make a member who has joined by the link a teacher of the class, who may then do all that the first teacher may."""
    with transaction.atomic():
        row = lock(teacher)
        if row.members.filter(role=ClassRole.TEACHER).count() >= MOST_TEACHERS:
            raise Refused("A class has at most {most} teachers.", most=MOST_TEACHERS)
        if HandIn.objects.filter(member=student).exists():
            raise Refused("This student has handed in bots, and so cannot become a teacher of the class.")
        row.members.filter(pk=student.pk).update(role=ClassRole.TEACHER, helped=False)
        _note(row, "teacher", teacher.player.name, clock.now_or(now), who=student.player.name)


# ---- the end of a class


def set_archived(teacher: ClassMember, *, archived: bool, now: datetime | None = None) -> None:
    """Archive a class, which then only can be read, or open it again."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = lock(teacher, also_archived=True)
        SchoolClass.objects.filter(pk=row.pk).update(archived=now if archived else None)
        _note(row, "archived" if archived else "reopened", teacher.player.name, now)


def delete(teacher: ClassMember, *, now: datetime | None = None) -> None:
    """Delete a class with all names, hand-ins and marks. The students' accounts and bots stay."""
    with transaction.atomic():
        row = lock(teacher, also_archived=True)
        _drop_matches(HandIn.objects.filter(assignment__school_class=row))
        row.delete()
        _note(row, "deleted", teacher.player.name, clock.now_or(now))


def _drop_matches(rows: object) -> None:
    """Delete the matches of these hand-ins, except one that a worker is playing: nobody sees it any more."""
    keys = [f"{match_prefix(pk)}" for pk in rows.values_list("pk", flat=True)]  # type: ignore[attr-defined]
    for key in keys:
        matches = Match.work.filter(kind=MatchKind.ASSIGNMENT, key__startswith=key)
        matches.exclude(status__in=(MatchStatus.LEASED, MatchStatus.RUNNING)).delete()


def match_prefix(hand_in: int) -> str:
    """Return the beginning of the keys of the matches that measure a hand-in."""
    return f"h:{hand_in}:"


# ---- rights


def lock(teacher: ClassMember, *, also_archived: bool = False) -> SchoolClass:
    """Lock the class of a teacher. Raise Forbidden for anybody else, Refused if it is archived."""
    row = SchoolClass.objects.select_for_update().filter(pk=teacher.school_class_id).first()
    if row is None or not row.members.filter(pk=teacher.pk, role=ClassRole.TEACHER).exists():
        raise Forbidden("only the teachers of this class can do that")
    if row.archived is not None and not also_archived:
        raise Refused("This class is archived. Open it again first.")
    return row


def _note(row: SchoolClass, what: str, actor: str, now: datetime, **data: str) -> None:
    journal.append(f"class.{what}", f"class:{row.slug}", now=now, actor=actor, **data)
