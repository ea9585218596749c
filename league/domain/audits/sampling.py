"""The choice of conversations to audit: at random, more often for rising bots, and every conversation of a final.

Nobody outside can foresee the choice. It follows from the server's secret key and the conversation, so a second draw chooses the same, and the
audit's key keeps its row unique.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.crypto import salted_hmac

from engine.portable import add_up
from league.domain.core import clock
from league.enums import AuditReason, MatchKind, MatchStatus, TournamentStatus
from league.models import Audit, Match, RatingPoint, Sitting, Tournament
from league.pure.formats import FORMATS
from league.pure.portable import ELO_DIGITS, comparable

PRIORITY = -100  # For display only: `leases.claim` takes audits only while no match is queued
AUDITED = (MatchKind.TOURNAMENT, MatchKind.LADDER)
RISING = 5  # A rising bot is audited this many times as often as others.
RISE_ELO = 50.0  # A bot is rising if it gained this in its last RECENT rated matches of a pool.
RECENT = 20
FINALS = timedelta(days=1)  # Finals are looked for until this long after the end of the tournament.
BATCH = 50  # Matches in one transaction.
MOST = 20 * BATCH  # The most matches of one call.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def draw(*, now: datetime | None = None) -> int:
    """Queue audits of the matches that have finished since the last call, and return their number. Repeatable, also by several processes at once.

    With AUDIT_PERCENT 0 nothing is drawn, not even from finals.
    """
    now = clock.now_or(now)
    finished = Match.objects.filter(status=MatchStatus.FINISHED, drawn=None).order_by("finished")
    undrawn = list(finished.values_list("pk", flat=True)[:MOST])
    drawn = sum(_draw_all(undrawn[start : start + BATCH], now) for start in range(0, len(undrawn), BATCH))
    finals = list(_finals(now)) if settings.AUDIT_PERCENT else []
    return drawn + sum(_queue(match, seats, AuditReason.FINAL, now) for match, seats in finals)


def _draw_all(pks: list[int], now: datetime) -> int:
    """Draw from these matches in one transaction."""
    with transaction.atomic():
        rows = list(Match.objects.filter(pk__in=pks, drawn=None).select_for_update(skip_locked=True, of=("self",)))
        drawn = sum(_draw_match(match, now) for match in rows if match.kind in AUDITED)
        Match.objects.filter(pk__in=[match.pk for match in rows]).update(drawn=now)
    return drawn


def _draw_match(match: Match, now: datetime) -> int:
    drawn, rising = 0, _rising(match)
    for place in conversations(match):
        rises = place[2] in rising
        share = settings.AUDIT_PERCENT / 100 * (RISING if rises else 1)
        if lot(match, *place[:2]) < share:
            drawn += _queue(match, [place], AuditReason.RISE if rises else AuditReason.SAMPLE, now)
    return drawn


def lot(match: Match, sitting: int, seat: int) -> float:
    """Return a number from 0 to 1 that only the holder of the server's secret key can compute."""
    digest = salted_hmac("league.audits", f"{match.public_id} {sitting} {seat}", algorithm="sha256").digest()
    return int.from_bytes(digest[:8], "big") / (1 << 64)


Place = tuple[int, int, int]  # Pass, seat, version.


def conversations(match: Match) -> list[Place]:
    """Return every seat of every pass of a match, with its version. Two queries."""
    versions = dict(match.parties.values_list("number", "version_id"))
    first = Sitting.objects.filter(board__match=match, board__number=match.first_board).order_by("number")
    return [
        (number, seat, versions[party])
        for number, seating in first.values_list("number", "seating")
        for seat, party in enumerate(seating)
    ]


def _rising(match: Match) -> set[int]:
    """Return the versions at the table whose rating in this pool has recently risen by RISE_ELO. One query for each."""
    rising = set()
    for version in match.parties.values_list("version_id", flat=True).distinct().order_by("version_id"):
        points = RatingPoint.objects.filter(version=version, pool=match.pool_id).order_by("-at", "-pk")
        if comparable(add_up(points.values_list("change", flat=True)[:RECENT]), ELO_DIGITS) >= RISE_ELO:
            rising.add(version)
    return rising


def _finals(now: datetime) -> Iterator[tuple[Match, list[Place]]]:
    """Yield the matches of the last round of each recently finished elimination tournament that have no audits yet."""
    keys = [key for key, form in FORMATS.items() if key.endswith("_elimination") and form.eliminates]
    recent = Tournament.objects.filter(status=TournamentStatus.FINISHED, format__in=keys, finished__gte=now - FINALS)
    recent = recent.exclude(matches__audits__reason=AuditReason.FINAL)
    for cup in recent.annotate(last=Max("matches__round__number")).filter(last__gt=0):
        for match in cup.matches.filter(round__number=cup.last, status=MatchStatus.FINISHED):
            yield match, conversations(match)


def _queue(match: Match, places: list[Place], reason: str, now: datetime) -> int:
    """Insert the audits of these conversations, and set the reason of those that exist. Return the number of new ones."""
    added = 0
    with transaction.atomic():
        for sitting, seat, version in places:
            work, is_new = Match.work.get_or_create(
                key=f"a:{match.pk}:{sitting}:{seat}",
                defaults={
                    "public_id": "".join(secrets.choice(ALPHABET) for _ in range(10)),
                    "kind": MatchKind.AUDIT,
                    "pool_id": match.pool_id,
                    "table": f"audit of {match.public_id}",
                    "secret": b"",
                    "boards_planned": match.boards_planned,
                    "limits": match.limits,
                    "rated": False,
                    "priority": PRIORITY,
                    "avoid": match.worker,  # Otherwise a worker could confirm a match that it never played
                    "created": now,
                },
            )
            if is_new:
                Audit.objects.create(
                    work=work, match=match, sitting=sitting, seat=seat, version_id=version, reason=reason, created=now
                )
            elif reason == AuditReason.FINAL:
                Audit.objects.filter(work=work).update(reason=reason)
            added += is_new
    return added
