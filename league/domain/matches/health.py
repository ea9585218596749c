"""Bots that fail repeatedly: the league pauses them with one notice, tests them, and resumes them after a test without faults.

A bot is paused if in each of its last FAULTS matches it made a fault or broke the match off; then it is entered in nothing new. Its scheduled
matches wait for a first test, which comes soon. If the bot fails this test, the matches are played all the same, because the opponents wait for the
results, and the next test comes later. A bot that passes its test and then fails in matches again gets a longer pause each time, and its matches do
not wait for the test.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from league.domain.core import clock, hints, journal
from league.domain.matches import matches, validation
from league.enums import BotState, MatchKind, MatchStatus
from league.models import Bot, BotVersion, Match, Party, Tournament

FAULTS = 3  # Number of faulty matches in a row after which a bot is paused
# The pauses before each test; the last one repeats
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 10, 60, 360, 1440))
MEMORY = timedelta(days=7)  # A version that was resumed within this time has the next longer pause
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
DRAWN = (MatchKind.TOURNAMENT, MatchKind.LADDER)  # The kinds of matches whose opponents no player chose
TEST = "h:"  # The prefix of the keys of test matches


def judge_report(match: Match, parties: Iterable[Party], *, now: datetime) -> None:
    """Pause a bot that fails repeatedly, or end its test, in the transaction that stores the report of a match."""
    if match.key.startswith(TEST):
        _judge(match, next(iter(parties)), now=now)
    elif match.kind in DRAWN:  # Challenges do not count, or somebody could get another player's bot paused with them
        for party in parties:
            if failure := _failed(party.fault, party.broken_off):
                version = party.version
                facts = {"match": match.public_id, "version": version.number, "fault": failure}
                journal.append("bot.failed", f"bot:{version.bot.slug}", now=now, actor=match.worker, **facts)
                _count_fault(match, party, now=now)


def _failed(fault: str, broken_off: list[Any]) -> str:
    """Return how a bot failed in a match: its fault, or that an attempt broke off because of it."""
    return fault or ("broken off" if broken_off else "")


def _count_fault(match: Match, party: Party, *, now: datetime) -> None:
    recent = Party.objects.filter(version=party.version_id, match__status=MatchStatus.FINISHED)
    recent = recent.filter(match__kind__in=DRAWN).exclude(match=match).order_by("-match__finished", "-match_id")
    before = recent.values_list("fault", "broken_off")[: FAULTS - 1]
    faults = [_failed(party.fault, party.broken_off), *(_failed(*row) for row in before)]
    if len(faults) == FAULTS and all(faults):
        # Everybody sees the reason on the page of the bot, but this match may be hidden from some
        is_hidden = Tournament.objects.filter(matches=match, opens__isnull=False).exists()
        where = "" if is_hidden else f" (match {match.public_id})"
        why = f"{party.version} made a fault in each of its last {FAULTS} matches, in the last one: {faults[0]}{where}"
        _pause(party.version, why, actor=match.worker, now=now)


def _pause(version: BotVersion, why: str, *, actor: str, now: datetime) -> None:
    bot, in_vain = version.bot, _resumed_in_vain(version, now)
    active = Bot.objects.filter(pk=bot.pk, state=BotState.ACTIVE)
    if active.update(state=BotState.PAUSED, paused_for=why, retests=in_vain, retest_at=now + PAUSES[in_vain]):
        journal.append("bot.paused", f"bot:{bot.slug}", now=now, actor=actor, why=why)  # The single notice


def _resumed_in_vain(version: BotVersion, now: datetime) -> int:
    """Return how often the version has lately passed its test and then failed in matches. Its next pause is longer by as many steps.

    The tests say it, because a worker may not read the journal.
    """
    tests = Party.objects.filter(number=0, version=version, match__key__startswith=f"{TEST}{version.bot_id}:")
    passed = tests.filter(match__finished__gt=now - MEMORY, match__status=MatchStatus.FINISHED, fault="", broken_off=[])
    return min(passed.count(), len(PAUSES) - 1)


def retest(*, now: datetime | None = None) -> int:
    """Queue a test for every paused bot that is due and has none, and return their number."""
    now = clock.now_or(now)
    paused = Bot.objects.filter(state=BotState.PAUSED).exclude(paused_for="")
    for bot in paused.filter(retest_at=None):
        if not Match.objects.filter(key__startswith=f"{TEST}{bot.pk}:", status__in=LIVE).exists():
            paused.filter(pk=bot.pk).update(retest_at=now)  # Its last test became void
    return sum(_test(bot, now=now) for bot in paused.filter(retest_at__lte=now).order_by("pk"))


def _test(bot: Bot, *, now: datetime) -> bool:
    """Queue a test in the pool in which the bot failed last."""
    with transaction.atomic():
        if not Bot.objects.filter(pk=bot.pk, retest_at=bot.retest_at).update(retest_at=None):
            return False  # Another process has queued it
        failed = Party.objects.filter(version__bot=bot).filter(match__kind__in=DRAWN)
        failed = failed.exclude(fault="", broken_off=[])
        party = failed.select_related("match__pool", "version__bot").latest("match_id")
        name = f"{bot.pk}:{now.timestamp():.0f}"
        secret = secrets.token_bytes(32)
        plan = validation.plan_against_house(party.version, TEST + name, f"test-{name}", secret, pool=party.match.pool)
        matches.insert([plan], now=now)
        hints.matches_wait()
    return True


def _judge(match: Match, party: Party, *, now: datetime) -> None:
    paused = Bot.objects.filter(pk=party.version.bot_id, state=BotState.PAUSED).exclude(paused_for="")
    bot = paused.select_for_update().first()
    if bot is None:
        return  # The owner has changed the state first
    if _failed(party.fault, party.broken_off):
        tests = bot.retests + 1
        pause = PAUSES[min(tests, len(PAUSES) - 1)]
        Bot.objects.filter(pk=bot.pk).update(retests=tests, retest_at=now + pause)
        return
    Bot.objects.filter(pk=bot.pk).update(state=BotState.ACTIVE, paused_for="", retest_at=None, retests=0)
    journal.append("bot.resumed", f"bot:{bot.slug}", now=now, actor=match.worker, match=match.public_id)
