"""The public log of a tournament: what its owner, the league and an operator did, newest first."""

from __future__ import annotations

from league.domain.core import journal
from league.domain.tournaments import corrections
from league.models import Circuit, Event, LeagueEvent, Tournament

MOST = 40  # The most lines of each kind, so that many lines of one kind do not push out the others.
# Actions of the owner that affect others.
LASTING = frozenset({"disqualified", "reinstated", "replaced", "renamed", "cancelled", "stopped", "let_go"})
ENTRIES = frozenset({"entered", "withdrawn", "joined", "left"})
# Further lines for everybody who may see the tournament; links and requests are not among them.
STEPS = frozenset({
    "created", "started", "moved", "described", "shared", "entries_opened", "entries_closed", "extended", "active", "paused", "resumed", "left_out",
    "not_started", "finished", "talk_opened", "talk_closed",
})  # fmt: skip


def public_log(row: Tournament | Event | Circuit) -> list[LeagueEvent]:
    """Return the latest lines of the journal about a tournament, event or league that everybody may read. Three queries."""
    kind, subject = type(row).__name__.lower(), corrections.subject(row)
    lines: list[LeagueEvent] = []
    for words in (LASTING, ENTRIES, STEPS):
        lines += journal.latest(subject, [f"{kind}.{word}" for word in sorted(words)], MOST)
    return sorted(lines, key=lambda line: -line.pk)
