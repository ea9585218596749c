"""The fields of an action, besides its subject and the reason. A value always comes as text: from a form, a request or a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import quotas
from league.enums import AuditConclusion

DEFAULT = "default"  # In place of a number: the limit that everybody has.


@dataclass(frozen=True)
class ActionField:
    """A field. `read` turns its text into a value, or raises Refused. `form`: "time", "choice" or "text"."""

    name: str
    label: str
    help: str
    read: Callable[[str], Any]
    form: str = "text"
    required: bool = True
    choices: tuple[str, ...] = ()


def _limit(text: str) -> str:
    if text not in quotas.KINDS:
        raise Refused(
            "there is no limit {name!r}; choose one of {names}", name=text[:40], names=", ".join(quotas.KINDS)
        )
    return text


def _value(text: str) -> int | None:
    if text == DEFAULT:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused("a limit is a whole number, 0 or more, not {value}", value=text[:40])
    return int(text)


def _conclusion(text: str) -> str:
    if text not in AuditConclusion.values:
        words = ", ".join(AuditConclusion.values)
        raise Refused("there is no conclusion {conclusion!r}; choose one of {words}", conclusion=text[:40], words=words)
    return text


UNTIL = ActionField("until", gettext_noop("Until (UTC)"), gettext_noop("such as 2026-11-21T12:00Z"), clock.read, "time")
UNTIL_OR_NEVER = ActionField(
    "until",
    gettext_noop("Until (UTC)"),
    gettext_noop("such as 2026-11-21T12:00Z; empty: permanently"),
    clock.read,
    "time",
    required=False,
)
LIMIT = ActionField(
    "limit", gettext_noop("Limit"), gettext_noop("which one"), _limit, "choice", choices=tuple(quotas.KINDS)
)
VALUE = ActionField("value", gettext_noop("At most"), gettext_noop("a whole number, or: default"), _value)
CONCLUSION = ActionField(
    "conclusion",
    gettext_noop("Conclusion"),
    gettext_noop("honest: the bot itself varies; bent: outside help suspected; unclear: not explained"),
    _conclusion,
    "choice",
    choices=tuple(AuditConclusion.values),
)
