"""Releases: when an event starts, when its boards are shown and to whom, and the link of a private event.

`league.domain.matches.sight` reads the columns that this module writes.
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
PACE_S = (15, 3600)  # Seconds per board: minimum and maximum.
LINK_BYTES = 18  # Random bytes in the link of a private event.
WIDER = (Audience.HIDDEN, Audience.ENTRANTS, Audience.PUBLIC)


@dataclass(frozen=True)
class ReleaseTerms:
    """The terms of an event: to whom it is shown, and when. An event whose audience is everybody needs no release.

    release: when everybody who may know of the event sees the boards (None: when its owner decides). pace_s: seconds per board; 0 shows all boards
    at once. due: when entries close and the event starts by itself (None: its owner starts it).
    """

    audience: str = Audience.PUBLIC
    private: bool = False
    release: datetime | None = None
    pace_s: int = 0
    due: datetime | None = None


OPEN = ReleaseTerms()


def check(terms: ReleaseTerms, *, now: datetime) -> ReleaseTerms:
    """Normalise the terms. Raise Refused for an audience, time or pace that is not allowed."""
    if terms.audience not in Audience.values:
        raise Refused(
            "choose who sees results before the release: one of {allowed}, not {to!r}",
            allowed=", ".join(Audience.values),
            to=terms.audience,
        )
    if terms.due is not None and not now < terms.due <= now + MOST_AHEAD:
        raise Refused(
            "Choose a start within the next {days} days ({at} is outside).",
            days=MOST_AHEAD.days,
            at=terms.due.isoformat(),
        )
    if terms.audience == Audience.PUBLIC:
        if terms.release is not None or terms.pace_s:
            raise Refused(
                "everybody sees this event from the first card on, so it needs no release time; choose a smaller "
                "audience, or remove the time"
            )
        return terms
    if terms.release is not None and not now < terms.release <= now + MOST_AHEAD:
        raise Refused(
            "Choose a release time within the next {days} days ({at} is outside).",
            days=MOST_AHEAD.days,
            at=terms.release.isoformat(),
        )
    least, most = PACE_S
    if terms.pace_s and not least <= terms.pace_s <= most:
        raise Refused(
            "show each board for {least} to {most} seconds, or all at once (0); {pace} is outside",
            least=least,
            most=most,
            pace=terms.pace_s,
        )
    return terms


def change(event: Event, terms: ReleaseTerms, *, actor: str, now: datetime | None = None) -> None:
    """Show an event to more people, release it at another time, or let it start at another time.

    Raise Refused if more has been shown already, since that cannot be undone. Before the start everything may change, but a public event cannot
    become private, nor the reverse. Repeatable.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Event.objects.select_for_update().get(pk=event.pk)
        has_started = row.status != TournamentStatus.OPEN
        if has_started and terms.due is not None:
            raise Refused("{event!r} has started, so its entries are fixed", event=row.name)
        if has_started and row.opens is None:
            raise Refused("everybody who may know of {event!r} has seen it since its start", event=row.name)
        if has_started and sight.is_open(row, now=now):
            raise Refused("{event!r} has been released already", event=row.name)
        if has_started and WIDER.index(Audience(row.audience)) > WIDER.index(Audience(terms.audience)):
            raise Refused(
                "{event!r} has been shown to more people already; you can only widen its audience", event=row.name
            )
        if has_started and terms.audience == Audience.PUBLIC:
            check(terms, now=now)
            # It was once hidden from somebody, so its matches stay unrated; a time in `opens` shows that.
            row.release, row.pace_s, row.shown_from, row.opens = now, 0, None, now
        elif row.shown_from is not None and row.shown_from <= now:
            raise Refused("the boards of {event!r} are being shown; now you can only show all at once", event=row.name)
        else:
            new_terms = check(terms, now=now)
            row.missed = row.due if row.due is not None and new_terms.due is None else row.missed
            row.audience, row.release, row.pace_s, row.due = (
                new_terms.audience,
                new_terms.release,
                new_terms.pace_s,
                new_terms.due,
            )
            row.shown_from, row.opens = moments(row)
        _write(row)
        facts = {"audience": row.audience, "opens": row.opens.isoformat() if row.opens else ""}
        if row.due is not None:
            facts["due"] = row.due.isoformat()
        journal.append("event.shown_to", f"event:{row.slug}", now=now, actor=actor, **facts)
    event.refresh_from_db()


def moments(event: Event) -> tuple[datetime | None, datetime | None]:
    """Return when the first board of an event is shown, and from when everything is visible. One query if boards are shown one by one."""
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
    """Count the finished boards of an event. One query."""
    return Board.objects.filter(match__tournament__event=event, match__status=MatchStatus.FINISHED).count()


def follow_end(event: Event) -> None:
    """Set the times at which the boards of a finished event are shown. Call it in the transaction that ends the event."""
    row = Event.objects.get(pk=event.pk)
    row.shown_from, row.opens = moments(row) if row.opens == sight.NEVER else (row.shown_from, row.opens)
    _write(row)


def opening_of_tournaments(event: Event) -> datetime | None:
    """Return the time from which everybody sees the tournaments of an event."""
    return sight.NEVER if event.private else event.opens


def _write(row: Event) -> None:
    row.save(update_fields=["audience", "release", "pace_s", "due", "missed", "shown_from", "opens"])
    row.tournaments.update(opens=opening_of_tournaments(row))


# ---- guests


def add(event: Event, players: Iterable[int], *, now: datetime) -> None:
    """Add these players (by id) as guests. Repeatable."""
    rows = [Guest(event=event, player_id=pk, created=now) for pk in sorted(set(players))]
    Guest.objects.bulk_create(rows, ignore_conflicts=True)


def new_link() -> str:
    """Return a random end for the link of a private event."""
    return secrets.token_urlsafe(LINK_BYTES)


def renew(event: Event, *, actor: str, close: bool = False, now: datetime | None = None) -> str:
    """Replace the link of a private event (with `close`: remove it), and return the new one. The old link stops working; guests stay."""
    if not event.private:
        raise Refused("{event!r} is not private, so nobody needs a link to it", event=event.name)
    link = "" if close else new_link()
    with transaction.atomic():
        Event.objects.filter(pk=event.pk).update(invitation=link)
        journal.append("event.link", f"event:{event.slug}", now=clock.now_or(now), actor=actor, closed=close)
    event.invitation = link
    return link


def invited(slug: str, link: str) -> Event | None:
    """Return the private event of a link; None if the link is invalid. One query."""
    event = Event.objects.select_related("owner").filter(slug=slug, private=True).first()
    if event is None or not event.invitation:
        return None
    return event if constant_time_compare(event.invitation, link) else None


def join(slug: str, link: str, player: Player, *, now: datetime | None = None) -> Event | None:
    """Add a player with the link as a guest. Repeatable; return None if the link is no longer valid."""
    now = clock.now_or(now)
    with transaction.atomic():
        # Locked, so that nobody replaces the link at the same time.
        Event.objects.select_for_update().filter(slug=slug).first()
        event = invited(slug, link)
        if event is not None and not event.guests.filter(player=player).exists():
            add(event, [player.pk], now=now)
            journal.append("event.joined", f"event:{event.slug}", now=now, actor=player.name)
    return event
