"""Queued matches that may not be played now, whoever's turn it is.

Those of a paused tournament or bot, of a bot that is to be tested first, and of a tournament that is over, whose matches are about to be taken back.

What an operator holds back is not played at all, validations and audits included; what an owner pauses, in tournaments and challenges.

A match that has begun is played to its end: nobody leaves a table by a pause.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from league.enums import BotState, MatchKind, TournamentStatus
from league.models import Audit, Match, Party

# Of a seat: its bot waits for the first test of its pause (league.domain.matches.health)
TEST = Q(version__bot__state=BotState.PAUSED, version__bot__retests=0) & ~Q(version__bot__paused_for="")
HELD = Q(version__bot__held_until__isnull=False)  # its owner has paused it (league.domain.bots.bots)
STOPPED = Q(version__bot__stopped__isnull=False) | Q(version__bot__owner_banned=True)  # an operator holds it back
PLAYED = (MatchKind.TOURNAMENT, MatchKind.CHALLENGE, MatchKind.LADDER)
HALTED = Q(tournament__paused__isnull=False) | Q(tournament__stopped__isnull=False)
OVER_STATUSES = (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
OVER = Q(tournament__status__in=OVER_STATUSES)


def matches_on_hold(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of `matches` at whose table a bot sits that waits for the first test of its pause."""
    return matches.filter(_sits(TEST), kind__in=PLAYED)


def paused_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of `matches` whose tournament is paused or a bot at the table, by the owner or an operator."""
    return matches.filter(Q(HALTED | _sits(HELD), kind__in=PLAYED) | _sits(STOPPED))


def playable_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of `matches` of which neither holds, and whose tournament is not over: who ended it may have died before taking them back."""
    stays = Q(_sits(TEST | HELD), kind__in=PLAYED)
    return matches.exclude(stays).exclude(_sits(STOPPED)).exclude(HALTED).exclude(OVER)


def is_playable(match: Match) -> bool:
    """The same of one match at hand, read with its tournament and its parties with their bots. No query."""
    bots = [party.version.bot for party in match.parties.all()]
    if any(bot.stopped is not None or bot.owner_banned for bot in bots):
        return False
    cup = match.tournament
    if cup is not None and (cup.paused or cup.stopped or cup.status in OVER_STATUSES):
        return False
    tested = (bot.state == BotState.PAUSED and bot.retests == 0 and bot.paused_for != "" for bot in bots)
    return match.kind not in PLAYED or not (any(tested) or any(bot.held_until is not None for bot in bots))


def blocked_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """The others: those of `matches` that may not be played now."""
    return matches.filter(Q(_sits(TEST | HELD), kind__in=PLAYED) | _sits(STOPPED) | HALTED | OVER)


def ready_matches(matches: QuerySet[Match], *, now: datetime) -> QuerySet[Match]:
    """Those of `matches` that may be played now, but for what the scheduler has not looked at since it was let go."""
    return playable_matches(matches.filter(held_back=False)).filter(due(now))


def due(now: datetime) -> Q:
    """Which matches do not wait for a moment to come."""
    return Q(not_before=None) | Q(not_before__lte=now)


def playable_audits(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Those of the audits `matches` whose bot nobody holds back."""
    return matches.exclude(Exists(Audit.objects.filter(STOPPED, work=OuterRef("pk"))))


def _sits(which: Q) -> Exists:
    return Exists(Party.objects.filter(which, match=OuterRef("pk")))
