"""The one way in which an operator acts: who may, with which reason, tried first, in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock, journal
from league.domain.core.errors import Forbidden, Refused
from league.domain.operators import subjects
from league.domain.operators.actions import ACTIONS, Action, Deed
from league.domain.people import rights
from league.models import LeagueEvent, Player
from league.pure.refusal import Message

ACTED = "operator.acted"  # in the journal
MACHINE = "operator"  # whoever has the machine, and gave no name
MOST_SUBJECTS = 100
MOST_REASON = 300  # characters


@dataclass(frozen=True)
class Outcome:
    """What was done, or would be; nothing where all is so already."""

    subjects: tuple[str, ...]
    effects: tuple[Message, ...]


def act(
    name: str,
    texts: Sequence[str],
    given: Mapping[str, str],
    *,
    why: str,
    by: Player | None,
    dry_run: bool = False,
    now: datetime | None = None,
) -> Outcome:
    """Carry out an action of the table on what `texts` name. Doing it again changes nothing.

    1. Who may do it is looked at first. `by` None: whoever has the machine, who may everything.
    2. In one transaction the subjects are read, done to, and written to the journal, a line each.
    3. A dry run does the same and takes all of it back: what it tells is what would have happened at that moment.

    Raises Forbidden, Refused.
    """
    now = clock.now_or(now)
    action = ACTIONS[name]
    check(action, by)
    values = _read(action, given)
    why = _reason(why)
    if not texts or len(texts) > (MOST_SUBJECTS if action.many else 1):
        most = MOST_SUBJECTS if action.many else 1
        raise Refused("name at least one of {kinds}, and {most} at most", kinds=", ".join(action.kinds), most=most)
    with transaction.atomic():
        found = {}
        for text in texts:
            kind, subject = subjects.find(text, action.kinds)
            _check_matter(kind, subject, by)
            found[subject.name] = subject
        deed = Deed(tuple(found.values()), values, why, by.name if by else MACHINE, now)
        effects = tuple(action.do(deed))
        if dry_run:
            transaction.set_rollback(True)
        elif effects:
            for subject in deed.subjects:
                data = {"action": action.name, "why": why, "effects": [str(effect) for effect in effects]}
                journal.append(ACTED, subject.name, now=now, actor=deed.actor, **data)
    return Outcome(tuple(found), effects)


def check(action: Action, by: Player | None) -> None:
    """Forbidden for who has not the right."""
    if by is not None and not rights.may(by, action.right):
        raise Forbidden(
            "this takes the right {right!r}, which {name} does not have; who has the machine gives it: manage.py permit {name} staff {right}",
            right=action.right.value,
            name=by.name,
        )


def _check_matter(kind: subjects.Kind, subject: subjects.Subject, by: Player | None) -> None:
    """Nobody acts where a bot of theirs gains or loses by it, or on themselves; a superuser may, in everybody's sight."""
    if by is not None and not by.user.is_superuser and by.pk in kind.concerned(subject.row):
        raise Forbidden(
            "{subject} is a matter of {name}'s own: you or a bot of yours would gain or lose by it. Ask another operator",
            subject=subject.name,
            name=by.name,
        )


def _reason(text: str) -> str:
    why = " ".join(text.split())
    if not why or len(why) > MOST_REASON or not why.isprintable():
        raise Refused(
            "say why, in 1 to {most} characters: the journal keeps it, and those whom it concerns read it",
            most=MOST_REASON,
        )
    return why


def _read(action: Action, given: Mapping[str, str]) -> dict[str, Any]:
    """The values of the fields of an action; None for one that is left out."""
    there = {field.name for field in action.fields}
    for name, text in given.items():
        if text and name not in there:
            raise Refused("{action} takes no {field}", action=action.name, field=name)
    values = {}
    for field in action.fields:
        text = (given.get(field.name) or "").strip()
        if not text and field.required:
            raise Refused(
                "{action} needs {field}: {help}", action=action.name, field=field.name, help=Message(field.help)
            )
        values[field.name] = field.read(text) if text else None
    return values


def latest() -> QuerySet[LeagueEvent]:
    """What operators have done, the newest first."""
    return LeagueEvent.objects.filter(kind=ACTED).order_by("-id")
