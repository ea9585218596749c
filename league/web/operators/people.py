"""The page of a person for operators: who they are, and in lists of pages everything that they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from league.domain.core import clock, paging
from league.domain.people import quotas, rights, sessions
from league.enums import MatchKind
from league.models import BotVersion, Comment, LeagueEvent, Match, Player, Table, Tournament
from league.web.common import lists, words

DECISIONS = (
    "player.banned",
    "player.unbanned",
    "quota.set",
    "operator.acted",
    "operator.given",
    "operator.taken",
    "player.password_set",
)

MOST_FACTS = 300  # The most characters of the facts in a line of the journal.


@dataclass(frozen=True)
class Line:
    """A row of a list: what it is, its address if it has one, its state, when it was, and more words about it."""

    what: str
    address: str = ""
    state: str = ""
    at: datetime | None = None
    more: str = ""


@dataclass(frozen=True)
class PersonList:
    """A list about a person: its title, its rows as a query with the newest first, and how to show one."""

    title: Promise
    rows: Callable[[Player], Any]
    line: Callable[[Any], Line]


def event_line(event: LeagueEvent) -> Line:
    """Return a line of the journal."""
    facts = "; ".join(f"{name}: {_fact(value)}" for name, value in event.data.items() if value not in ("", None))
    address = f"{reverse('operators')}?{urlencode({'subject': event.subject})}"
    return Line(event.kind, address, event.subject, event.at, f"{event.actor} {facts}"[:MOST_FACTS])


def _fact(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def lines(events: Iterable[LeagueEvent]) -> list[Line]:
    """Return lines of the journal."""
    return [event_line(event) for event in events]


def _contest(name: str) -> Callable[[Any], Line]:
    return lambda row: Line(row.name, reverse(name, args=[row.slug]), getattr(row, "status", ""), row.created)


def _key(row: Any) -> Line:
    state = _("revoked") if row.revoked else row.scope
    return Line(f"tute_{row.prefix}…", "", str(state), row.created, row.label)


def _comment(row: Comment, state: str = "", at: datetime | None = None) -> Line:
    own_state = _("hidden") if row.hidden else _("deleted") if row.deleted else ""
    title = _("Comment %(number)s of %(name)s") % {"number": row.pk, "name": row.author.name}
    return Line(title, reverse("comment", args=[row.pk]), state or str(own_state), at or row.created, row.text)


LISTS: dict[str, PersonList] = {
    "did": PersonList(_("Did"), lambda player: LeagueEvent.objects.filter(actor=player.name), event_line),
    "journal": PersonList(
        _("Journal"), lambda player: LeagueEvent.objects.filter(subject=f"player:{player.name}"), event_line
    ),
    "decisions": PersonList(
        _("Decisions by operators"),
        lambda player: LeagueEvent.objects.filter(subject=f"player:{player.name}", kind__in=DECISIONS),
        event_line,
    ),
    "bots": PersonList(
        _("Bots"),
        lambda player: player.bots.all(),
        lambda row: Line(
            row.slug,
            reverse("bot", args=[row.slug]),
            row.get_state_display(),
            row.created,
            row.paused_for or row.stopped_for,
        ),
    ),
    "versions": PersonList(
        _("Versions"),
        lambda player: BotVersion.objects.filter(bot__owner=player).select_related("bot"),
        lambda row: Line(
            str(row),
            reverse("version", args=[row.bot.slug, row.number]),
            row.get_status_display(),
            row.created,
            row.fault,
        ),
    ),
    "matches": PersonList(
        _("Challenges"),
        lambda player: Match.objects.filter(owner=player, kind=MatchKind.CHALLENGE),
        lambda row: Line(
            row.public_id, reverse("match", args=[row.public_id]), row.get_status_display(), row.created, row.reason
        ),
    ),
    "tries": PersonList(
        _("Tries"),
        lambda player: player.tries.select_related("work").defer("source", "result", "work__secret"),
        lambda row: Line(row.name or row.work.public_id, "", row.language, row.created),
    ),
    "tournaments": PersonList(
        _("Tournaments"),
        lambda player: Tournament.objects.filter(owner=player, event=None, season=None).defer("secret"),
        _contest("tournament"),
    ),
    "events": PersonList(_("Events"), lambda player: player.events.defer("secret"), _contest("event")),
    "circuits": PersonList(_("Recurring leagues"), lambda player: player.circuits.all(), _contest("circuit")),
    "tables": PersonList(
        _("Tables"),
        lambda player: Table.objects.filter(people__player=player).defer("secret", "records"),
        lambda row: Line(
            row.public_id, reverse("table", args=[row.public_id]), row.get_status_display(), row.created, row.reason
        ),
    ),
    "comments": PersonList(_("Comments"), lambda player: player.comments.select_related("author"), _comment),
    "reports": PersonList(
        _("Reports"),
        lambda player: player.reports.select_related("comment__author"),
        lambda row: _comment(row.comment, row.get_outcome_display() or row.get_reason_display(), row.created),
    ),
    "passkeys": PersonList(
        _("Passkeys"), lambda player: player.passkeys.all(), lambda row: Line(row.name, at=row.last_used or row.created)
    ),
    "keys": PersonList(_("API keys"), lambda player: player.tokens.all(), _key),
}


def person(request: HttpRequest, player: Player) -> dict[str, Any]:
    """Return the facts about a person and the list that `?list=` names. At most 12 queries, and those of the limits if they are shown."""
    name = request.GET.get("list", "did")
    name = name if name in LISTS or name in ("limits", "sessions") else "did"
    context: dict[str, Any] = {
        "player": player,
        "words": rights.words_of(player),
        "sessions_open": len(sessions.open_sessions(player.user_id, None)),
        "list": name,
        "lists": [
            *((key, part.title) for key, part in LISTS.items()),
            ("sessions", _("Sessions")),
            ("limits", _("Limits")),
        ],
        "now": clock.present(),
    }
    if name == "limits":
        context["limits"] = [(limit, words.limit_name(limit.name)) for limit in quotas.limits(player)]
        return context
    if name == "sessions":
        cursor = lists.cursor_of(request, paging.NEWEST)
        page: paging.Page[Any] = paging.cut_page(sessions.open_sessions(player.user_id, None), cursor)
        rows = [Line(session.browser or "?", "", "", session.since) for session in page]
        return context | {"page": page, "lines": rows}
    part = LISTS[name]
    page = lists.page_of(request, part.rows(player))
    return context | {"page": page, "lines": [part.line(row) for row in page]}
