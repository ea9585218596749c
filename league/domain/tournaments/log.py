"""The public log of a tournament: what its owner, the league and an operator did, newest first."""

from __future__ import annotations

from league.domain.core import journal
from league.domain.tournaments import corrections
from league.models import Circuit, Event, LeagueEvent, Tournament

MOST = 40
# What an owner does to others stays on the page, however many other lines come after it.
LASTING = frozenset({"disqualified", "reinstated", "replaced", "withdrawn", "cancelled", "stopped", "let_go"})
# What everybody reads who may see the tournament. Who opened a link or sent a request is not among it.
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
