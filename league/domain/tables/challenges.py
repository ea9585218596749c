"""Challenges: somebody who waits at a shared table asks a player by name to sit down there.

A challenge ends by itself when the table starts or closes, and after `OPEN_FOR`. Nobody is pestered: see the limits below, the block list and the
switch `Player.challengeable`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused, TooMany
from league.domain.notices import notifying
from league.domain.people import players
from league.domain.tables import lobby, people, seating
from league.enums import ChallengeAnswer
from league.models import Block, Notice, Player, Table, TableChallenge
from league.models.tables import LIVE
from league.service import listening

OPEN_FOR = timedelta(minutes=10)
DAY = timedelta(days=1)
A_DAY = 20  # The most challenges of one player on a day,
SAME_A_DAY = 3  # and to the same player.
SAME_AFTER = timedelta(hours=1)  # After a refusal the same player cannot challenge again for this time.
MOST_OPEN = 5  # The most open challenges to one player.
SHOWN = 10


def challenge(challenger: Player, public_id: str, name: str, *, now: datetime | None = None) -> TableChallenge:
    """Challenge a player to a table at which the challenger waits. Raise Refused, or TooMany at a limit."""
    now = clock.now_or(now)
    rival = find(challenger, name, now=now)
    with transaction.atomic():
        players.lock(challenger.pk)
        _check_limits(challenger, rival, now)
        row, _person = seating.locked(challenger, public_id)
        if not row.shared or not row.gathering:
            raise Refused("this table has started")
        if row.people.count() >= row.pool.players:
            raise Refused("all seats of this table are taken")
        if row.people.filter(player=rival).exists():
            raise Refused("{name} already sits here", name=rival.name)
        if lobby.sitter_mark(rival) in row.barred:
            raise Refused("the host has asked {name} to leave this table", name=rival.name)
        created, is_new = TableChallenge.objects.get_or_create(
            table=row, player=rival, defaults={"challenger": challenger, "created": now}
        )
        if not is_new:
            raise Refused("{name} has been challenged to this table already", name=rival.name)
        words: dict[str, Any] = {"player": challenger.name, "game": row.pool.game, "table": row.public_id}
        notifying.notify([rival], "table_challenge", _about(created), now=now, actor=challenger, **words)
        subject = transitions.subject(row)
        journal.append("table.challenged", subject, now=now, actor=challenger.name, player=rival.name)
        people.tell(row)
        listening.notify(subject)
    return created


def find(challenger: Player, name: str, *, now: datetime) -> Player:
    """Return the player to challenge. Raise Refused if there is none, or this player may not challenge them. Three queries at most."""
    rival = Player.objects.filter(name=name, user__is_active=True).exclude(name=players.HOUSE).first()
    if rival is None:
        raise Refused("there is no player {name!r}", name=name)
    if challenger.pk == rival.pk:
        raise Refused("you cannot challenge yourself; name another player")
    if not rival.challengeable or Block.objects.filter(owner=rival, blocked=challenger).exists():
        # The same words, because nobody learns who has blocked them.
        raise Refused("{name} does not take challenges from you", name=rival.name)
    wait = timedelta(hours=settings.TALK_AFTER_HOURS)
    if now - challenger.created < wait and not challenger.user.is_staff:
        raise Refused(
            "new accounts may challenge players by name after {hours} hours; send them the link of the table",
            hours=settings.TALK_AFTER_HOURS,
        )
    return rival


def _check_limits(challenger: Player, rival: Player, now: datetime) -> None:
    sent = TableChallenge.objects.filter(challenger=challenger, created__gt=now - DAY)
    if sent.count() >= A_DAY:
        raise TooMany("you have sent {most} challenges today, the limit", retry_after=3600, most=A_DAY)
    to_rival = sent.filter(player=rival)
    refused = to_rival.filter(answer=ChallengeAnswer.DECLINED, created__gt=now - SAME_AFTER).exists()
    if refused or to_rival.count() >= SAME_A_DAY:
        raise TooMany("you have challenged {name} already; wait for a while", retry_after=3600, name=rival.name)
    if open_challenges(now).filter(player=rival).count() >= MOST_OPEN:
        raise TooMany("{name} has many challenges already; try again later", retry_after=600, name=rival.name)


def open_challenges(now: datetime) -> QuerySet[TableChallenge]:
    """Select the challenges that wait for an answer."""
    rows = TableChallenge.objects.filter(answer="", created__gt=now - OPEN_FOR)
    return rows.filter(table__gathering=True, table__status__in=LIVE)


def received(player: Player, *, now: datetime | None = None) -> list[TableChallenge]:
    """Return the open challenges to a player, newest first. One query."""
    return list(_shown(now).filter(player=player).order_by("-created", "-pk")[:SHOWN])


def at_table(row: Table, *, now: datetime | None = None) -> list[TableChallenge]:
    """Return the open challenges to a table, oldest first. One query."""
    return list(_shown(now).filter(table=row).order_by("created", "pk")[:SHOWN])


def _shown(now: datetime | None) -> QuerySet[TableChallenge]:
    """Select the open challenges with all that lists of them show."""
    rows = open_challenges(clock.now_or(now)).select_related("challenger", "player", "table__pool")
    return rows.defer("table__secret", "table__records", "table__spectated")


def accept(player: Player, row: Table, now: datetime) -> None:
    """Mark the challenge to a table as accepted, because the player has just sat down there."""
    _answer(row.challenges.filter(player=player, answer=""), ChallengeAnswer.ACCEPTED, now)


def decline(player: Player, public_id: str, *, now: datetime | None = None) -> None:
    """Decline the challenge to a table. Raise Refused if it is not open any more."""
    now = clock.now_or(now)
    rows = open_challenges(now).filter(table__public_id=public_id, player=player)
    _end(rows, ChallengeAnswer.DECLINED, now)


def withdraw(challenger: Player, public_id: str, name: str, *, now: datetime | None = None) -> None:
    """Withdraw one's challenge of a player to a table. Raise Refused if it is not open any more."""
    now = clock.now_or(now)
    rows = open_challenges(now).filter(table__public_id=public_id, challenger=challenger)
    _end(rows.filter(player__name=name), ChallengeAnswer.WITHDRAWN, now)


def choose(player: Player, *, takes: bool, now: datetime | None = None) -> None:
    """Let others challenge the player by name, or nobody; then the open challenges are declined."""
    now = clock.now_or(now)
    with transaction.atomic():
        Player.objects.filter(pk=player.pk).update(challengeable=takes)
        if not takes:
            _answer(open_challenges(now).filter(player=player), ChallengeAnswer.DECLINED, now)


def _about(row: TableChallenge) -> str:
    return f"table_challenge:{row.pk}"


def _end(rows: QuerySet[TableChallenge], answer: ChallengeAnswer, now: datetime) -> None:
    with transaction.atomic():
        if not _answer(rows, answer, now):
            raise Refused("this challenge is not open any more")


def _answer(rows: QuerySet[TableChallenge], answer: ChallengeAnswer, now: datetime) -> int:
    """Answer challenges, and read the notices about them; return their number."""
    answered = list(rows.select_related("table").defer("table__secret"))
    for row in answered:
        TableChallenge.objects.filter(pk=row.pk).update(answer=answer)
        Notice.objects.filter(player=row.player_id, about=_about(row), read=None).update(read=now, due=None)
        people.tell(row.table)
        listening.notify(transitions.subject(row.table))
    return len(answered)
