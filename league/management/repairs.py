"""What a repair did, in words."""

from __future__ import annotations

from league.domain.upkeep.repair import RepairReport
from league.management.base import LeagueCommand


def print_report(command: LeagueCommand, found: RepairReport, *, dry_run: bool) -> None:
    """Print a report: the matches, the tournaments, and each rating before and after."""
    command.say("nothing was changed; this would be done:" if dry_run else "done:")
    for what, names in (
        ("struck out", found.struck),
        ("taken out of the ratings", found.unrated),
        ("to be played again", found.again),
        ("tournaments running again", found.reopened),
    ):
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            command.say(f"  {what}: {len(names)} ({', '.join(names[:20])}{more})")
    for change in found.changes:
        was, becomes = ("none" if elo is None else f"{elo:.1f}" for elo in (change.before, change.after))
        command.say(f"  {change.pool}: {change.version}: {was} -> {becomes}")
    if found.is_empty and not found.changes:
        command.say("  nothing: there is nothing to repair")
