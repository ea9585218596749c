"""Requests for consultations, and the existing ones. Consultations show cards, so only people who may see the replays see them."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from league.domain.bots import tries
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.judgements import asking as judging
from league.domain.matches import replays
from league.domain.people import players, quotas
from league.domain.ratings import pools
from league.models import BotVersion, Consultation, Match, Player, Sitting

JOB = "consultation"  # The kind of a consultation's job


def bots(game: str) -> list[BotVersion]:
    """Return the house bots that play a game, each in its newest version, by name. One query."""
    return [version for version in tries.rivals() if version.plays(game)]


def ask(
    match: Match, board: int, sitting: int, seat: int, bot: str, player: Player, *, now: datetime | None = None
) -> tuple[Consultation, bool]:
    """Return the consultation of a house bot about one seat of a sitting, and True if it is new. Only a new one counts towards a quota.

    Raise Refused while the cards are hidden, if the replays are no longer stored, or for an unknown seat or bot; TooMany at the quota. `match` must
    have been read with its pool and tournament.
    """
    now = clock.now_or(now)
    if reason := reason_not(match):
        raise reason
    version = _version(bot, match)
    played = Sitting.objects.filter(board__match=match, board__number=board, number=sitting).first()
    if played is None or not 0 <= seat < len(played.seating):
        raise Refused("nobody sat at this seat in match {match}", match=match.public_id)
    key = {"match": match, "board": board, "sitting": sitting, "seat": seat, "version": version}
    with transaction.atomic():
        players.lock(player.pk)
        existing = Consultation.objects.filter(**key).select_related("version__bot").first()
        if existing is not None:
            return existing, False
        quotas.ask(player, quotas.JUDGEMENTS, now=now)
        row, is_new = Consultation.objects.get_or_create(**key, defaults={"asked_by": player, "created": now})
        if is_new:
            judging.enqueue(row, now=now)
            subject = transitions.subject(match)
            journal.append(
                "consultation.asked", subject, now=now, actor=player.name, version=str(version), **_place(row)
            )
    return row, is_new


def reason_not(match: Match) -> Refused | None:
    """Return why no bot can be asked about a match, or None. `match` must have been read with its pool and tournament."""
    if reason := judging.reason_not(match):
        return reason
    if not pools.is_known(match.pool):
        return Refused("match {match} was played by other rules than the current ones", match=match.public_id)
    return None


def _version(bot: str, match: Match) -> BotVersion:
    versions = {version.bot.slug: version for version in bots(match.pool.game)}
    if bot not in versions:
        raise Refused(
            "{bot!r} is not a house bot that plays {game}; choose one of: {there}",
            game=match.pool.game,
            there=", ".join(versions) or "-",
            bot=bot,
        )
    return versions[bot]


def _place(row: Consultation) -> dict[str, int]:
    return {"board": row.board, "sitting": row.sitting, "seat": row.seat}


def of_sitting(match: Match, board: int, sitting: int) -> list[Consultation]:
    """Return the consultations about one sitting, the latest last; none while its cards are hidden. One query."""
    if replays.reason_closed(match):
        return []
    rows = Consultation.objects.filter(match=match, board=board, sitting=sitting)
    return list(rows.select_related("version__bot").order_by("id"))


def find(match: Match, board: int, sitting: int, seat: int, bot: str) -> Consultation | None:
    """Return the latest consultation of a bot about one seat; None if there is none or the cards are hidden. One query."""
    if replays.reason_closed(match):
        return None
    rows = Consultation.objects.filter(match=match, board=board, sitting=sitting, seat=seat, version__bot__slug=bot)
    return rows.select_related("version__bot").order_by("version__number").last()
