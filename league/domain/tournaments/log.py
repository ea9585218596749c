"""The public log of a tournament: what its owner, the league and an operator did, newest first."""

from __future__ import annotations

from league.domain.core import journal
from league.domain.tournaments import corrections
from league.models import Circuit, Event, LeagueEvent, Tournament

MOST = 40
# Actions of the owner that affect others stay on the page, however many lines follow.
LASTING = frozenset({"disqualified", "reinstated", "replaced", "withdrawn", "cancelled", "stopped", "let_go"})
# Lines for everybody who may see the tournament; links and requests are not among them.
WORDS = frozenset({
    "created", "started", "moved", "entered", "withdrawn", "described", "renamed", "entries_opened", "entries_closed", "disqualified",
    "reinstated", "replaced", "extended", "paused", "resumed", "stopped", "let_go", "left_out", "not_started", "cancelled", "finished",
})  # fmt: skip


def public_log(row: Tournament | Event | Circuit) -> list[LeagueEvent]:
    """Return the latest lines of the journal about a tournament, event or league that everybody may read. Two queries."""
    kind, subject = type(row).__name__.lower(), corrections.subject(row)
    lines: list[LeagueEvent] = []
    for words in (LASTING, WORDS - LASTING):
        lines += journal.latest(subject, [f"{kind}.{word}" for word in sorted(words)], MOST)
    return sorted(lines, key=lambda line: -line.pk)
