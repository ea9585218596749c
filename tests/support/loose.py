"""Matches as releases without logs stored them: each replay in the row of its sitting."""

from __future__ import annotations

from league.domain.matches import replays
from league.models import Match, MatchLog, Sitting


def loosen(*matches: Match) -> None:
    """Store the replays of matches in that way, and delete their logs."""
    for match in matches:
        rows = list(Sitting.objects.filter(board__match=match).select_related("board"))
        for row in rows:
            row.board.match = match
            packed = replays.pack(replays.unpack(row))
            row.replay, row.digest = packed, replays.digest(match.public_id, row.board.number, row.number, packed)
        Sitting.objects.bulk_update(rows, ["replay", "digest"])
        MatchLog.objects.filter(match=match).delete()
