"""The public log of a tournament in words."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from league.domain.bots import closing
from league.domain.tournaments import log
from league.models import Circuit, Event, Tournament


class LogLine(NamedTuple):
    """A line of the log."""

    at: datetime
    actor: str
    text: str


TEXTS = {
    "created": gettext_noop("created it"),
    "started": gettext_noop("started it"),
    "entered": gettext_noop("entered %(version)s"),
    "withdrawn": gettext_noop("withdrew %(version)s"),
    "described": gettext_noop("changed the description"),
    "shared": gettext_noop("set how many bots of each player may enter: %(most)s"),
    "joined": gettext_noop("entered %(version)s"),
    "guest": gettext_noop("joined"),
    "left": gettext_noop("withdrew %(version)s"),
    "renamed": gettext_noop("renamed it from “%(old)s” to “%(new)s”"),
    "entries_opened": gettext_noop("opened the entries"),
    "entries_closed": gettext_noop("closed the entries to others"),
    "talk_opened": gettext_noop("allowed comments"),
    "talk_closed": gettext_noop("closed the comments"),
    "disqualified": gettext_noop("disqualified %(version)s: %(why)s"),
    "reinstated": gettext_noop("undid the disqualification of %(version)s"),
    "replaced": gettext_noop("replaced %(old)s by %(new)s"),
    "extended": gettext_noop("added matches"),
    "paused": gettext_noop("paused it"),
    "resumed": gettext_noop("continued it"),
    "stopped": gettext_noop("suspended it: %(why)s"),
    "let_go": gettext_noop("ended the suspension: %(why)s"),
    "left_out": gettext_noop("left out %(bot)s, which cannot play now"),
    "not_started": gettext_noop("could not start it on time"),
    "cancelled": gettext_noop("cancelled it"),
    "finished": gettext_noop("finished it"),
}
MOVES = {"running": "started", "finished": "finished", "cancelled": "cancelled"}


def public_lines(row: Tournament | Event | Circuit) -> list[LogLine]:
    """Return the latest log lines of a tournament, event or league in the reader's language, newest first. Four queries."""
    lines = []
    journal_lines = log.public_log(row)
    others = {line.actor for line in journal_lines} - {"", row.owner.name}
    gone = closing.former(others) if others else set()
    for line in journal_lines:
        word = line.kind.partition(".")[2]
        if word == "moved":
            word = MOVES.get(str(line.data.get("to", "")), "")
        if word == "active":
            word = "resumed" if line.data.get("active") else "paused"
        if word == "joined" and "bot" not in line.data:  # Somebody followed the link of a private event.
            word = "guest"
        if word in TEXTS:
            actor = _("A former player") if line.actor in gone else line.actor or _("The league")
            lines.append(LogLine(line.at, actor, _fill(_(TEXTS[word]), line.data)))
    return lines


def _fill(text: str, data: dict[str, Any]) -> str:
    """Fill in the data of a line; for an entry of an event, the bot stands for its version."""
    empty = {"version": data.get("bot", ""), "bot": "", "old": "", "new": "", "why": "", "most": ""}
    return text % {**empty, **data}
