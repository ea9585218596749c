"""Holds: reasons why a queued match may not be played now, whatever its position.

A match is on hold if its tournament or a bot at its table is paused, if a bot has to be tested first, or if its tournament has ended (such matches
are about to be cancelled). A bot that an operator stopped plays nothing, not even validations and audits. The bots of a banned player play only the
matches of tournaments that have begun, so that nobody waits for them, and nobody gains or loses points by a ban.

A pause by the owner delays no match that counts, and none of an event: the owner knows the opponent, and could hold the match as long as it suits
them, and the opponent's place at the tables with it; a few friends who pause one bot after the other could hold up an organiser for good. A running match is always finished: a pause takes nobody from a table.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from league.enums import BotState, MatchKind, TournamentStatus
from league.models import Audit, Match, Party

# The bot waits for the first test of its pause (league.domain.matches.health)
TEST = Q(version__bot__state=BotState.PAUSED, version__bot__retests=0) & ~Q(version__bot__paused_for="")
# Paused by its owner (league.domain.bots.bots)
HELD = Q(version__bot__held_until__isnull=False, match__rated=False) & ~Q(match__kind=MatchKind.TOURNAMENT)
BANNED = Q(version__bot__owner_banned=True)
STOPPED = Q(version__bot__stopped__isnull=False) | BANNED & ~Q(match__kind=MatchKind.TOURNAMENT)  # By an operator
PLAYED = (MatchKind.TOURNAMENT, MatchKind.CHALLENGE, MatchKind.LADDER)
HALTED = Q(tournament__paused__isnull=False) | Q(tournament__stopped__isnull=False)
OVER_STATUSES = (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
OVER = Q(tournament__status__in=OVER_STATUSES)


def matches_on_hold(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return the matches with a bot that waits for the first test of its pause."""
    return matches.filter(_sits(TEST), kind__in=PLAYED)


def paused_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return the matches whose tournament is paused, or a bot at the table, by the owner or an operator."""
    return matches.filter(Q(HALTED | _sits(HELD), kind__in=PLAYED) | _sits(STOPPED))


def playable_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return the matches without a hold whose tournament has not ended: the process that ended it may have died before it cancelled them."""
    stays = Q(_sits(TEST | HELD), kind__in=PLAYED)
    return matches.exclude(stays).exclude(_sits(STOPPED)).exclude(HALTED).exclude(OVER)


def is_playable(match: Match) -> bool:
    """Return True if a match has no hold. No query: `match` must have been read with its tournament, parties and bots."""
    bots = [party.version.bot for party in match.parties.all()]
    begun = match.kind == MatchKind.TOURNAMENT
    if any(bot.stopped is not None or (bot.owner_banned and not begun) for bot in bots):
        return False
    cup = match.tournament
    if cup is not None and (cup.paused or cup.stopped or cup.status in OVER_STATUSES):
        return False
    tested = (bot.state == BotState.PAUSED and bot.retests == 0 and bot.paused_for != "" for bot in bots)
    is_held = not match.rated and not begun and any(bot.held_until is not None for bot in bots)
    return match.kind not in PLAYED or not (any(tested) or is_held)


def blocked_matches(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return the matches that may not be played now."""
    return matches.filter(Q(_sits(TEST | HELD), kind__in=PLAYED) | _sits(STOPPED) | HALTED | OVER)


def ready_matches(matches: QuerySet[Match], *, now: datetime) -> QuerySet[Match]:
    """Return the matches that may be played now, except those whose hold has ended since the scheduler last marked them."""
    return playable_matches(matches.filter(held_back=False)).filter(due(now))


def due(now: datetime) -> Q:
    """Select the matches that do not wait for a later time."""
    return Q(not_before=None) | Q(not_before__lte=now)


def playable_audits(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return the audits whose bot no operator has stopped, and whose owner is not banned."""
    stopped = BANNED | Q(version__bot__stopped__isnull=False)
    return matches.exclude(Exists(Audit.objects.filter(stopped, work=OuterRef("pk"))))


def _sits(which: Q) -> Exists:
    return Exists(Party.objects.filter(which, match=OuterRef("pk")))
