"""The public log of a tournament: what its owner, the league and an operator did, newest first."""

from __future__ import annotations

from league.domain.core import journal
from league.domain.tournaments import corrections
from league.models import Circuit, Event, LeagueEvent, Tournament

MOST = 40  # Lines of each kind, so that many of one kind push out none of another.
# What an owner does to others.
LASTING = frozenset({"disqualified", "reinstated", "replaced", "renamed", "cancelled", "stopped", "let_go"})
ENTRIES = frozenset({"entered", "withdrawn", "joined", "left"})
# What else everybody reads who may see the tournament. Who opened a link or sent a request is not among it.
STEPS = frozenset({
    "created", "started", "moved", "described", "shared", "entries_opened", "entries_closed", "extended", "active", "paused", "resumed", "left_out",
    "not_started", "finished",
})  # fmt: skip


def public_log(row: Tournament | Event | Circuit) -> list[LeagueEvent]:
    """Return the latest lines of the journal about a tournament, event or league that everybody may read. Three queries."""
    kind, subject = type(row).__name__.lower(), corrections.subject(row)
    lines: list[LeagueEvent] = []
    for words in (LASTING, ENTRIES, STEPS):
        lines += journal.latest(subject, [f"{kind}.{word}" for word in sorted(words)], MOST)
    return sorted(lines, key=lambda line: -line.pk)
