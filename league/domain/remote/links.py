"""The author's end: the connection of a remote bot, its open requests, and its answers.

The author's program asks for requests again and again, and so shows that it is there. All state is in rows: if a web process or the connection is
lost, the program asks the next process, and only time has passed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import kinds
from league.enums import MatchStatus
from league.models import Bot, Match, RemoteLine, RemoteLink
from league.service import listening, topics

GONE = timedelta(seconds=30)  # A bot whose program has not asked for this long counts as disconnected.
NOTED = timedelta(seconds=5)  # The time is written this often at most.
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
KEPT = timedelta(minutes=1)  # How long the lines of an ended match stay, so that its bot can read the last one.
HELLO = '{"type":"hello"'


@dataclass(frozen=True)
class RemoteRequest:
    """A line for a remote bot. `before`: the earlier lines of the same conversation with their answers, for a process that has just begun."""

    match: str
    number: int
    line: str
    before: list[tuple[str, str]]


@dataclass(frozen=True)
class RemoteState:
    """The state of a remote bot, for its page. since: None while it is not connected."""

    since: datetime | None
    playing: int
    matches: int


def note_seen(bot: Bot, matches: int, *, now: datetime | None = None) -> None:
    """Note that the author's program is there, and how many matches at a time it plays; 0: it is about to leave. Raise Refused."""
    now = clock.now_or(now)
    if not bot.is_remote:
        raise Refused("{bot} plays on the league’s machines; only a remote bot is asked here", bot=bot.slug)
    fresh = {"since": now, "seen": now, "matches": min(matches, settings.REMOTE_MATCHES)}
    link, is_new = RemoteLink.objects.get_or_create(bot=bot, defaults=fresh)
    if is_new or (now - link.seen < NOTED and link.matches == fresh["matches"]):
        return
    if now - link.seen < GONE:
        del fresh["since"]
    RemoteLink.objects.filter(pk=link.pk).update(**fresh)


def connected(now: datetime) -> QuerySet[RemoteLink]:
    """Select the connections whose program is there."""
    return RemoteLink.objects.filter(seen__gt=now - GONE)


def state(bot: Bot, *, now: datetime | None = None) -> RemoteState:
    """Return the state of a remote bot. Two queries."""
    link = connected(clock.now_or(now)).filter(bot=bot).first()
    return RemoteState(link.since if link else None, len(live_matches(bot)), link.matches if link else 0)


def live_matches(bot: Bot) -> list[str]:
    """Return the ids of the bot's matches that are not over. One query."""
    rows = Match.objects.filter(kinds.REMOTE_ROWS, status__in=LIVE, parties__version__bot=bot)
    return list(rows.order_by("pk").values_list("public_id", flat=True))


def requests(bot: Bot, playing: Collection[str] = ()) -> list[RemoteRequest]:
    """Return the open requests of a bot, the oldest first. playing: the matches in which a process of the author goes on. Two queries at most."""
    rows = RemoteLine.objects.filter(party__version__bot=bot, answer=None).select_related("party__match").order_by("pk")
    lines = list(rows.only("number", "request", "party__match__public_id"))
    fresh = {row.party_id for row in lines if row.party.match.public_id not in playing}
    before: dict[int, list[tuple[str, str]]] = {}
    earlier = RemoteLine.objects.filter(party__in=fresh, answer__isnull=False).order_by("number") if fresh else []
    for row in earlier:
        if row.request.startswith(HELLO):
            before[row.party_id] = []
        before.setdefault(row.party_id, []).append((row.request, row.answer or ""))
    return [
        RemoteRequest(
            row.party.match.public_id,
            row.number,
            row.request,
            [] if row.request.startswith(HELLO) else before.get(row.party_id, []),
        )
        for row in lines
    ]


def answer(bot: Bot, match: str, number: int, line: str) -> bool:
    """Store the bot's answer to a line. Return False if it came too late, or the line has an answer: the first one counts."""
    rows = RemoteLine.objects.filter(party__match__public_id=match, party__version__bot=bot, number=number, answer=None)
    with transaction.atomic():
        pk = rows.values_list("pk", flat=True).first()
        if pk is None or not RemoteLine.objects.filter(pk=pk, answer=None).update(answer=line):
            return False
        listening.notify(subject(pk))
    return True


def subject(line: int) -> str:
    """Return the name under which an answer to a line is announced."""
    return f"remote-line:{line}"


def announce(bot: int) -> None:
    """Announce a new line for a bot to the program that waits for it (`/live`)."""
    listening.notify(topics.of_remote(bot))


def tidy(*, now: datetime | None = None) -> int:
    """Remove the lines of matches that are over; return their number."""
    over = {"party__match__finished__lt": clock.now_or(now) - KEPT}
    return RemoteLine.objects.filter(**over).delete()[0]
