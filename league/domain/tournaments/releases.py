"""When an event begins, when and to whom it is shown, and who is let into a private one by its link.

`league.domain.matches.sight` reads what is written here.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.crypto import constant_time_compare

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.enums import Audience, MatchStatus, TournamentStatus
from league.models import Board, Event, Guest, Player

MOST_AHEAD = timedelta(days=365)
PACE_S = (15, 3600)  # seconds of one board, least and most
LINK_BYTES = 18  # of chance in the link of a private event
WIDER = (Audience.HIDDEN, Audience.ENTRANTS, Audience.PUBLIC)


@dataclass(frozen=True)
class Terms:
    """To whom an event is shown. release: when to everybody who may know of it (None: when its owner says so), in `pace_s` seconds each board.

    A pace of 0 shows all of it at once. Where the audience is everybody there is nothing to release. due: when entries close and it begins
    by itself (None: when its owner starts it).
    """

    audience: str = Audience.PUBLIC
    private: bool = False
    release: datetime | None = None
    pace_s: int = 0
    due: datetime | None = None


OPEN = Terms()


def check(terms: Terms, *, now: datetime) -> Terms:
    """The terms, without what means nothing. Refused for a word, a moment or a pace that cannot be."""
    if terms.audience not in Audience.values:
        raise Refused(
            "who sees results before they are shown is one of {allowed}, not {to!r}",
            allowed=", ".join(Audience.values),
            to=terms.audience,
        )
    if terms.due is not None and not now < terms.due <= now + MOST_AHEAD:
        raise Refused(
            "an event begins at a moment that lies ahead, at most {days} days; {at} does not",
            days=MOST_AHEAD.days,
            at=terms.due.isoformat(),
        )
    if terms.audience == Audience.PUBLIC:
        if terms.release is not None or terms.pace_s:
            raise Refused(
                "what everybody sees from the first card on is not shown at a moment; choose who sees it before, or no moment"
            )
        return terms
    if terms.release is not None and not now < terms.release <= now + MOST_AHEAD:
        raise Refused(
            "results are shown at a moment that lies ahead, at most {days} days; {at} does not",
            days=MOST_AHEAD.days,
            at=terms.release.isoformat(),
        )
    least, most = PACE_S
    if terms.pace_s and not least <= terms.pace_s <= most:
        raise Refused(
            "a board is shown for {least} to {most} seconds, or all at once (0); not for {pace}",
            least=least,
            most=most,
            pace=terms.pace_s,
        )
    return terms


def change(event: Event, terms: Terms, *, actor: str, now: datetime | None = None) -> None:
    """Show an event to more people, or at another moment, or let it begin at another one.

    Refused where more has been shown already: what was seen is seen. Before the event begins, anything may be chosen but
    whether it is private. The same again changes nothing.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update().get(pk=event.pk)
        begun = row.status != TournamentStatus.OPEN
        if begun and terms.due is not None:
            raise Refused("{event!r} has begun; its entries are fixed", event=row.name)
        if begun and row.opens is None:
            raise Refused("everybody who may know of {event!r} sees it since it has begun", event=row.name)
        if begun and sight.is_open(row, now=now):
            raise Refused("{event!r} has been shown", event=row.name)
        if begun and WIDER.index(Audience(row.audience)) > WIDER.index(Audience(terms.audience)):
            raise Refused(
                "{event!r} has been shown to more people already; it can only be opened further", event=row.name
            )
        if begun and terms.audience == Audience.PUBLIC:
            check(terms, now=now)
            # As it was kept from somebody, it stays unrated: `opens` stays a moment
            row.release, row.pace_s, row.shown_from, row.opens = now, 0, None, now
        elif row.shown_from is not None and row.shown_from <= now:
            raise Refused("the boards of {event!r} are being shown; all can be shown at once now", event=row.name)
        else:
            wanted = check(terms, now=now)
            row.audience, row.release, row.pace_s, row.due = wanted.audience, wanted.release, wanted.pace_s, wanted.due
            row.shown_from, row.opens = moments(row)
        _write(row)
        told = {"audience": row.audience, "opens": row.opens.isoformat() if row.opens else ""}
        if row.due is not None:
            told["due"] = row.due.isoformat()
        journal.append("event.shown_to", f"event:{row.slug}", now=now, actor=actor, **told)
    event.refresh_from_db()


def moments(event: Event) -> tuple[datetime | None, datetime | None]:
    """When its first board is shown, and from when on all of it is, as its columns say now. One query of what is shown board by board."""
    if event.audience == Audience.PUBLIC:
        return None, None
    if event.release is None:
        return None, sight.NEVER
    if not event.pace_s:
        return None, event.release
    if event.finished is None:
        return None, sight.NEVER
    begin = max(event.release, event.finished)
    return begin, begin + timedelta(seconds=event.pace_s * boards_of(event))


def boards_of(event: Event) -> int:
    """How many boards of it have been played. One query."""
    return Board.objects.filter(match__tournament__event=event, match__status=MatchStatus.FINISHED).count()


def follow_end(event: Event) -> None:
    """Write when its boards are shown, now that all are played. In the transaction that ends it."""
    row = Event.objects.get(pk=event.pk)
    row.shown_from, row.opens = moments(row) if row.opens == sight.NEVER else (row.shown_from, row.opens)
    _write(row)


def of_tournaments(event: Event) -> datetime | None:
    """From when on everybody sees the tournaments of an event."""
    return sight.NEVER if event.private else event.opens


def _write(row: Event) -> None:
    row.save(update_fields=["audience", "release", "pace_s", "due", "shown_from", "opens"])
    row.tournaments.update(opens=of_tournaments(row))


# ---- who is in


def add(event: Event, players: Iterable[int], *, now: datetime) -> None:
    """Let these players (by id) take part. Again changes nothing."""
    rows = [Guest(event=event, player_id=pk, created=now) for pk in sorted(set(players))]
    Guest.objects.bulk_create(rows, ignore_conflicts=True)


def new_link() -> str:
    """What the link of a private event ends with."""
    return secrets.token_urlsafe(LINK_BYTES)


def renew(event: Event, *, actor: str, close: bool = False, now: datetime | None = None) -> str:
    """Another link for a private event, or with `close` none: the one before lets nobody in any more. Who is in stays. The new one."""
    if not event.private:
        raise Refused("{event!r} is not private, so that nobody needs a link to it", event=event.name)
    link = "" if close else new_link()
    with transaction.atomic():
        Event.objects.filter(pk=event.pk).update(invitation=link)
        journal.append("event.link", f"event:{event.slug}", now=clock.now_or(now), actor=actor, closed=close)
    event.invitation = link
    return link


def invited(slug: str, link: str) -> Event | None:
    """The private event to which this link leads; None where it leads nowhere, or not any more. One query."""
    found = Event.objects.select_related("owner").filter(slug=slug, private=True).first()
    if found is None or not found.invitation:
        return None
    return found if constant_time_compare(found.invitation, link) else None


def join(slug: str, link: str, player: Player, *, now: datetime | None = None) -> Event | None:
    """Let a player in who holds the link. Joining again changes nothing; None where the link does not hold any more."""
    now = clock.now_or(now)
    with transaction.atomic():
        # Who renews the link does so before this or after it
        Event.objects.select_for_update().filter(slug=slug).first()
        event = invited(slug, link)
        if event is not None and not event.guests.filter(player=player).exists():
            add(event, [player.pk], now=now)
            journal.append("event.joined", f"event:{event.slug}", now=now, actor=player.name)
    return event
