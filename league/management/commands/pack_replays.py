"""manage.py pack_replays."""

from __future__ import annotations

from typing import Any

from league.domain.upkeep import moving
from league.management.base import LeagueCommand

EVERY = 1000  # Matches between two lines of progress.


class Command(LeagueCommand):
    """Move old replays into match logs, once after the upgrade from a release without logs."""

    help = (
        "Move the replays of older releases into the log of each match, while the league plays. Each log is read back and compared before the "
        "old replays are deleted. You can stop or kill the command at any time and run it again to continue. Matches with damaged replays are "
        "listed and left unchanged: run `manage.py repair --replays`, then this command again."
    )
    example = "manage.py pack_replays"

    def run(self, **options: Any) -> None:
        """Move all old replays and print the progress."""
        matches = sittings = before = after = skipped = 0
        for result in moving.move_all():
            if result.why:
                skipped += 1
                self.say(f"not moved: {result.match}: {result.why}")
                continue
            matches, sittings = matches + 1, sittings + result.sittings
            before, after = before + result.before, after + result.after
            if matches % EVERY == 0:
                self.say(f"{matches} matches so far")
        if not matches and not skipped:
            self.say("nothing: all replays are in logs")
            return
        each = f": {before / sittings:.0f} bytes a sitting before, {after / sittings:.0f} now" if sittings else ""
        self.say(f"moved: {matches} matches, {sittings} sittings{each}")
        if skipped:
            self.say(
                f"left as they are: {skipped} matches; manage.py repair --replays restores what it can, then run this again"
            )
