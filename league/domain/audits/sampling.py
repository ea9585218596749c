"""Which conversations are audited: lots that nobody outside can foresee, more of bots that rise, and every one of a final.

A lot follows from the server's secret key and what is drawn, so drawing again gives the same, and a row is inserted once by its key.
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

PRIORITY = -100  # shown; `leases.claim` takes audits only where no match waits
AUDITED = (MatchKind.TOURNAMENT, MatchKind.LADDER)
RISING = 5  # times the share of a bot that rises
RISE_ELO = 50.0  # in its last RECENT rated matches of a pool
RECENT = 20
FINALS = timedelta(days=1)  # so long after a tournament its final is looked for
BATCH = 50  # matches of one transaction
MOST = 20 * BATCH  # that one call draws from
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def draw(*, now: datetime | None = None) -> int:
    """Queue the audits of what has finished since the last call; their number. Harmless to repeat, and to run twice at once.

    With AUDIT_PERCENT 0 nothing is drawn, of finals neither.
    """
    now = clock.now_or(now)
    waiting = Match.objects.filter(status=MatchStatus.FINISHED, drawn=None).order_by("finished")
    undrawn = list(waiting.values_list("pk", flat=True)[:MOST])
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
    """A number from 0 to 1 that only the holder of the server's secret key can work out."""
    told = salted_hmac("league.audits", f"{match.public_id} {sitting} {seat}", algorithm="sha256").digest()
    return int.from_bytes(told[:8], "big") / (1 << 64)


Place = tuple[int, int, int]  # pass, seat, version


def conversations(match: Match) -> list[Place]:
    """Every seat of every pass of a match, with the version that sat there. Two queries."""
    versions = dict(match.parties.values_list("number", "version_id"))
    first = Sitting.objects.filter(board__match=match, board__number=match.first_board).order_by("number")
    return [
        (number, seat, versions[party])
        for number, seating in first.values_list("number", "seating")
        for seat, party in enumerate(seating)
    ]


def _rising(match: Match) -> set[int]:
    """The versions at the table whose rating in this pool has risen by RISE_ELO of late. One query for each."""
    found = set()
    for version in match.parties.values_list("version_id", flat=True).distinct().order_by("version_id"):
        points = RatingPoint.objects.filter(version=version, pool=match.pool_id).order_by("-at", "-pk")
        if comparable(add_up(points.values_list("change", flat=True)[:RECENT]), ELO_DIGITS) >= RISE_ELO:
            found.add(version)
    return found


def _finals(now: datetime) -> Iterator[tuple[Match, list[Place]]]:
    """The matches of the last round of each elimination that has ended of late and was not looked at."""
    keys = [key for key, form in FORMATS.items() if key.endswith("_elimination") and form.eliminates]
    over = Tournament.objects.filter(status=TournamentStatus.FINISHED, format__in=keys, finished__gte=now - FINALS)
    over = over.exclude(matches__audits__reason=AuditReason.FINAL)
    for cup in over.annotate(last=Max("matches__round__number")).filter(last__gt=0):
        for match in cup.matches.filter(round__number=cup.last, status=MatchStatus.FINISHED):
            yield match, conversations(match)


def _queue(match: Match, places: list[Place], reason: str, now: datetime) -> int:
    """Insert the audits of these conversations, or say why those that were drawn before are there; the number of new ones."""
    added = 0
    with transaction.atomic():
        for sitting, seat, version in places:
            found, made = Match.work.get_or_create(
                key=f"a:{match.pk}:{sitting}:{seat}",
                defaults={
                    "public_id": "".join(secrets.choice(ALPHABET) for _ in range(10)),
                    "kind": MatchKind.AUDIT,
                    "pool_id": match.pool_id,
                    "table": f"audit of {match.public_id}",
                    "secret": b"",
                    "boards_planned": match.boards_planned,
                    "rated": False,
                    "priority": PRIORITY,
                    "avoid": match.worker,  # else one that reports what was never played would say that it was
                    "created": now,
                },
            )
            if made:
                Audit.objects.create(
                    work=found, match=match, sitting=sitting, seat=seat, version_id=version, reason=reason, created=now
                )
            elif reason == AuditReason.FINAL:
                Audit.objects.filter(work=found).update(reason=reason)
            added += made
    return added
