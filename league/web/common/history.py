"""The history of a bot or team in words: who did what."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from league.domain.bots import closing
from league.domain.matches import sight
from league.enums import BotState, EntryPolicy, TeamRole
from league.models import Circuit, Event, LeagueEvent, Player, Tournament


class HistoryLine(NamedTuple):
    """A line of the history. `address`: the page of the tournament that it names, if there is one."""

    at: datetime
    actor: str
    text: str
    address: str = ""
    name: str = ""


TEXTS = {
    "version.uploaded": gettext_noop("uploaded version %(version)s"),
    "version.opened": gettext_noop("published the source of version %(version)s"),
    "version.opening_planned": gettext_noop("planned to publish the source of version %(version)s"),
    "version.opening_dropped": gettext_noop("dropped the plan to publish the source of version %(version)s"),
    "bot.moved": gettext_noop("set the bot to: %(to)s"),
    "bot.sends": gettext_noop("chose version %(version)s for new tournaments"),
    "bot.entry_policy": gettext_noop("changed who else may enter the bot: %(to)s"),
    "bot.shown": gettext_noop("showed the bot to everybody"),
    "bot.kept_in_class": gettext_noop("kept the bot in class"),
    "bot.on_ladders": gettext_noop("changed if the bot plays on the ladders"),
    "bot.entered": gettext_noop("entered the bot in"),
    "bot.taken_out": gettext_noop("took the bot out of"),
    "bot.paused": gettext_noop("paused the bot after faults"),
    "bot.resumed": gettext_noop("resumed the bot"),
    "bot.stopped": gettext_noop("suspended the bot: %(why)s"),
    "bot.let_go": gettext_noop("ended the suspension: %(why)s"),
    "bot.linked": gettext_noop("linked the Git repository %(url)s"),
    "bot.unlinked": gettext_noop("removed the Git repository"),
    "bot.team_joined": gettext_noop("put the bot in the team %(team)s"),
    "bot.team_left": gettext_noop("took the bot out of the team %(team)s"),
    "bot.offered": gettext_noop("offered the bot to %(to)s"),
    "bot.offer_withdrawn": gettext_noop("withdrew the offer"),
    "bot.offer_declined": gettext_noop("declined the offer"),
    "bot.handed_on": gettext_noop("took over the bot from %(was)s"),
    "team.created": gettext_noop("created the team"),
    "team.invited": gettext_noop("invited %(player)s (%(to)s)"),
    "team.joined": gettext_noop("joined the team"),
    "team.declined": gettext_noop("declined the invitation"),
    "team.role": gettext_noop("made %(player)s %(to)s"),
    "team.left": gettext_noop("left the team"),
    "team.removed": gettext_noop("removed %(player)s from the team"),
    "team.renamed": gettext_noop("renamed the team from %(was)s to %(to)s"),
}
PEOPLE = {"bot.offered": "to", "bot.handed_on": "was"}  # Data that name a player, besides "player".
WORDS = {"bot.moved": BotState, "bot.entry_policy": EntryPolicy, "team.invited": TeamRole, "team.role": TeamRole}


def lines_of(rows: Iterable[LeagueEvent], viewer: Player | None) -> list[HistoryLine]:
    """Return the lines that have words, in the viewer's language. Four queries at most."""
    rows = [row for row in rows if row.kind in TEXTS]
    people = {row.actor for row in rows} | {
        str(row.data.get(word, "")) for row in rows for word in ("player", PEOPLE.get(row.kind, "player"))
    }
    gone = closing.former(people - {""}) if people else set()
    places = _places({str(row.data.get("to") or row.data.get("of")) for row in rows}, viewer)
    lines = []
    for row in rows:
        data = {name: _person(value, gone) if name == "player" else value for name, value in row.data.items()}
        if row.kind in PEOPLE:
            data[PEOPLE[row.kind]] = _person(data.get(PEOPLE[row.kind]), gone)
        if row.kind in WORDS and data.get("to") in WORDS[row.kind].values:
            data["to"] = WORDS[row.kind](data["to"]).label
        if data.get("version", "") is None:
            data["version"] = _("the newest")
        address, name = "", ""
        if row.kind in ("bot.entered", "bot.taken_out"):
            address, name = places.get(str(row.data.get("to") or row.data.get("of")), ("", _("a private tournament")))
        empty = dict.fromkeys(("version", "to", "why", "team", "was", "player"), "")
        # Workers, whose names have a colon, act for the league.
        actor = _person(row.actor, gone) if row.actor and ":" not in row.actor else _("The league")
        lines.append(HistoryLine(row.at, actor, _(TEXTS[row.kind]) % {**empty, **data}, address, name))
    return lines


def _person(name: object, gone: set[str]) -> str:
    return _("A former player") if name in gone else str(name or "")


def _places(words: set[str], viewer: Player | None) -> dict[str, tuple[str, str]]:
    """Return address and name of the tournaments, events and circuits with these names in the journal, as far as the viewer may see them."""
    user = viewer.user if viewer is not None else None
    rows: dict[str, QuerySet[Any]] = {
        "tournament": sight.tournaments(Tournament.objects.all(), user),
        "event": sight.events(Event.objects.all(), user),
        "circuit": Circuit.objects.all(),
    }
    places = {}
    for kind in rows:
        slugs = [word.partition(":")[2] for word in words if word.startswith(f"{kind}:")]
        for slug, name in rows[kind].filter(slug__in=slugs).values_list("slug", "name") if slugs else ():
            places[f"{kind}:{slug}"] = (reverse(kind, args=[slug]), name)
    return places
