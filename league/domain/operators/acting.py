"""Acting as an operator: check right and reason, carry out the action (or only try it), and write a line in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock, journal
from league.domain.core.errors import Forbidden, Refused
from league.domain.operators import subjects
from league.domain.operators.actions import ACTIONS, Action, ActionCall
from league.domain.people import rights
from league.models import LeagueEvent, Player
from league.pure.refusal import Message

ACTED = "operator.acted"  # The kind of the journal's lines.
MACHINE = "operator"  # The actor's name for somebody at the machine who gave none.
MOST_SUBJECTS = 100
MOST_REASON = 300  # The most characters of a reason.


@dataclass(frozen=True)
class ActionOutcome:
    """The result of an action, carried out or tried. There are no effects if everything was already as requested."""

    subjects: tuple[str, ...]
    effects: tuple[Message, ...]


def act(
    name: str,
    texts: Sequence[str],
    fields: Mapping[str, str],
    *,
    why: str,
    operator: Player | None,
    dry_run: bool = False,
    now: datetime | None = None,
) -> ActionOutcome:
    """Carry out an action of the table on the subjects named by `texts`. Repeatable.

    1. The right is checked first. `operator=None` means access to the machine, which allows everything.
    2. In one transaction the subjects are read and changed, and each gets a line in the journal.
    3. A dry run does the same and rolls it back, so it reports what would have happened at that time.

    Raise Forbidden or Refused.
    """
    now = clock.now_or(now)
    action = ACTIONS[name]
    check(action, operator)
    values = _read(action, fields)
    why = _reason(why)
    if not texts or len(texts) > (MOST_SUBJECTS if action.many else 1):
        most = MOST_SUBJECTS if action.many else 1
        raise Refused("name between 1 and {most} of these: {kinds}", kinds=", ".join(action.kinds), most=most)
    with transaction.atomic():
        found_subjects = {}
        for text in texts:
            kind, subject = subjects.find(text, action.kinds)
            _check_matter(kind, subject, operator)
            found_subjects[subject.name] = subject
        deed = ActionCall(tuple(found_subjects.values()), values, why, operator.name if operator else MACHINE, now)
        undo = action.undo(deed) if action.undo else None
        effects = tuple(action.do(deed))
        if dry_run:
            transaction.set_rollback(True)
        elif effects:
            back = {"undo": asdict(undo)} if undo else {}
            for subject in deed.subjects:
                data = {"action": action.name, "why": why, "effects": [str(effect) for effect in effects], **back}
                journal.append(ACTED, subject.name, now=now, actor=deed.actor, **data)
    return ActionOutcome(tuple(found_subjects), effects)


def check(action: Action, operator: Player | None) -> None:
    """Raise Forbidden if the operator lacks the right for the action."""
    if operator is not None and not rights.may(operator, action.right):
        raise Forbidden(
            "this needs the right {right!r}, which {name} does not have; an administrator can grant it: manage.py permit {name} staff {right}",
            right=action.right.value,
            name=operator.name,
        )


def _check_matter(kind: subjects.SubjectKind, subject: subjects.Subject, operator: Player | None) -> None:
    """Raise Forbidden if the operator's own bot could gain or lose, or if the subject is the operator.

    Superusers may do both; the journal shows it.
    """
    if operator is not None and not operator.user.is_superuser and operator.pk in kind.concerned(subject.row):
        raise Forbidden(
            "{name} would be acting in their own matter: {subject} concerns you or one of your bots. Ask another operator",
            subject=subject.name,
            name=operator.name,
        )


def _reason(text: str) -> str:
    why = " ".join(text.split())
    if not why or len(why) > MOST_REASON or not why.isprintable():
        raise Refused(
            "give a reason of 1 to {most} characters: the journal keeps it, and those concerned read it",
            most=MOST_REASON,
        )
    return why


def _read(action: Action, texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the values of an action's fields; None for an omitted field."""
    known_fields = {field.name for field in action.fields}
    for name, text in texts.items():
        if text and name not in known_fields:
            raise Refused("{action} has no field {field}", action=action.name, field=name)
    values = {}
    for field in action.fields:
        text = (texts.get(field.name) or "").strip()
        if not text and field.required:
            raise Refused(
                "{action} needs {field}: {help}", action=action.name, field=field.name, help=Message(field.help)
            )
        values[field.name] = field.read(text) if text else None
    return values


def latest() -> QuerySet[LeagueEvent]:
    """Select the journal's lines about actions of operators, newest first."""
    return LeagueEvent.objects.filter(kind=ACTED).order_by("-id")
