"""manage.py pack_replays."""

from __future__ import annotations

from typing import Any

from league.domain.upkeep import moving
from league.management.base import LeagueCommand

EVERY = 1000  # matches between two lines


class Command(LeagueCommand):
    """Once after the upgrade from a release before the logs."""

    help = (
        "Move the replays of releases before the logs into the log of each match, while the league plays. Each log is read back and compared "
        "before the old replays are dropped. It may be stopped, or killed, at any moment; run again it goes on where it was. A match whose "
        "replays are damaged is named and left as it is; `manage.py repair --replays`, and then this again."
    )
    example = "manage.py pack_replays"

    def run(self, **options: Any) -> None:
        """Move all that there are, and tell."""
        matches = sittings = before = after = left = 0
        for told in moving.move_all():
            if told.why:
                left += 1
                self.say(f"left as it is: {told.match}: {told.why}")
                continue
            matches, sittings = matches + 1, sittings + told.sittings
            before, after = before + told.before, after + told.after
            if matches % EVERY == 0:
                self.say(f"{matches} matches so far")
        if not matches and not left:
            self.say("nothing: all replays are in logs")
            return
        each = f": {before / sittings:.0f} bytes a sitting before, {after / sittings:.0f} now" if sittings else ""
        self.say(f"moved: {matches} matches, {sittings} sittings{each}")
        if left:
            self.say(
                f"left as they are: {left} matches; manage.py repair --replays restores what it can, then run this again"
            )
