"""The printed report of a repair."""

from __future__ import annotations

from league.domain.upkeep.repair import RepairReport
from league.management.base import LeagueCommand


def print_report(command: LeagueCommand, report: RepairReport, *, dry_run: bool) -> None:
    """Print a report: the matches, the tournaments, and each rating before and after."""
    command.say("nothing was changed; without --dry-run this would happen:" if dry_run else "done:")
    for what, names in (
        ("voided", report.struck),
        ("taken out of the ratings", report.unrated),
        ("to be played again", report.again),
        ("tournaments running again", report.reopened),
    ):
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            command.say(f"  {what}: {len(names)} ({', '.join(names[:20])}{more})")
    for change in report.changes:
        was, becomes = ("none" if elo is None else f"{elo:.1f}" for elo in (change.before, change.after))
        command.say(f"  {change.pool}: {change.version}: {was} -> {becomes}")
    if report.is_empty and not report.changes:
        command.say("  nothing: there is nothing to repair")
