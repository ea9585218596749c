"""Matches of remote bots: the house bots play in the sandbox, the others on their authors' machines."""

from __future__ import annotations

from engine.runner import Limits, MatchResult, MatchSpec
from engine.runner.match import play_match
from engine.runner.spec import POSSIBLE
from league.domain.bots import packages
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.matches import MatchHandler, MatchTask, note_progress
from league.domain.jobs.handlers.queued import MatchLease
from league.domain.remote import asking
from league.enums import MatchKind


class RemoteHandler(MatchHandler):
    """The work on a match of remote bots."""

    kinds = (MatchKind.REMOTE,)

    def read(self, job: MatchLease, site: Site) -> MatchTask:
        """Unpack the house bots, and put the authors' programs at the other seats."""
        match = job.match
        parties = list(match.parties.select_related("version__bot", "version__package").order_by("number"))
        spec = MatchSpec(
            match_id=match.public_id,
            game=match.pool.game,
            players=match.pool.players,
            options=match.pool.options,
            secret=bytes(match.secret),
            table=match.table,
            boards=range(match.first_board, match.first_board + match.boards_planned),
            parties=tuple(
                asking.remote_spec(party) if party.version.bot.is_remote else packages.spec(party.version, site.folder)
                for party in parties
            ),
            limits=Limits(**match.limits),
            sealing=POSSIBLE,
            once=True,
        )
        return MatchTask(spec)

    def run(self, job: MatchLease, task: MatchTask, site: Site, signals: Signals) -> MatchResult | None:
        """Play all boards. Raise the errors of `play_match`."""
        progress = note_progress(job)
        box = site.proven_sandbox()
        result = play_match(task.spec, box, progress=progress, stop=signals.stop, pin=False, ahead=False)
        return result if all(board.complete for board in result.boards) else None
