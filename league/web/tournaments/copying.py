"""A copy of an organiser's tournament: its settings as the first values of the form, and whom they invited, but no entries of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from league.domain.core import clock
from league.domain.ratings import pools
from league.domain.tournaments import formats
from league.enums import RequestStatus
from league.models import EntryRequest, Event, Player, Tournament
from league.pure.calendar import event_plan
from league.web.tournaments.forms import GROUPS, LATER_STAGES

WEEK = timedelta(days=7)


@dataclass(frozen=True)
class ContestCopy:
    """The first values of a form: the game, the fields, the fields of its options, the bots, and the guests of a private event by id."""

    name: str
    game: dict[str, str]
    values: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    bots: list[str] = field(default_factory=list)
    guests: list[int] = field(default_factory=list)


def copy_of(name: str, owner: Player) -> ContestCopy | None:
    """Return a copy of the tournament that a link names ("event:spring"); None if it is not the player's own. Five queries at most."""
    kind, _colon, slug = name.replace("\0", "").partition(":")
    if kind == "event":
        event = Event.objects.filter(owner=owner, slug=slug).first()
        return _copy_event(event) if event else None
    if kind == "tournament":
        rows = Tournament.objects.filter(owner=owner, slug=slug, event=None, season=None).select_related("pool")
        row = rows.first()
        return _copy_tournament(row) if row else None
    return None


def _copy_event(event: Event) -> ContestCopy | None:
    try:
        plan = event_plan.read_plan(event.document)
    except event_plan.BadEvent:  # An older release wrote it.
        return None
    if len(plan.stages) > 1 + len(LATER_STAGES):
        return None
    first = plan.stages[0]
    values: dict[str, Any] = {
        **_common(event),
        "format": GROUPS if first.groups > 1 and first.format == "round_robin" else first.format,
        "mixed": plan.mixed,
        "sealed": plan.sealed,
        "private": event.private,
        "audience": event.audience,
        "pace_s": event.pace_s,
        "due": _next(event.due),
        "release": _next(event.release, event.due),
        "entries_from": _next(event.entries_from, event.due),
        "invite": True,
    }
    for part, stage in zip(("", *(f"stage{number}_" for number in LATER_STAGES)), plan.stages, strict=False):
        sizes = {"boards": stage.boards, "groups": stage.groups if stage.groups > 1 else None, "advance": stage.advance}
        values |= {f"{part}{name}": value for name, value in sizes.items() if value is not None}
        if part:
            values[f"{part}format"] = stage.format
        values |= _parameters(stage.format, stage.parameters)
    entered = EntryRequest.objects.filter(event=event, asker=event.owner).exclude(status=RequestStatus.REMOVED)
    guests = event.guests.exclude(player=event.owner).values_list("player", flat=True) if event.private else []
    return ContestCopy(
        event.name,
        _game(plan.game, plan.players),
        values,
        _options(plan.options),
        list(entered.order_by("pk").values_list("bot__slug", flat=True)),
        list(guests),
    )


def _copy_tournament(row: Tournament) -> ContestCopy:
    values = {
        **_common(row),
        "format": row.format,
        "boards": row.boards,
        "seeding": row.seeding,
        "mixed": row.pool.team == pools.MIXED,
        "sealed": row.sealed,
        **_parameters(row.format, row.parameters),
    }
    house = row.entries.filter(version__bot__is_house=True).order_by("pk").values_list("version__bot__slug", flat=True)
    return ContestCopy(
        row.name, _game(row.pool.game, row.pool.players), values, _options(row.pool.options), list(house)
    )


def _common(row: Event | Tournament) -> dict[str, Any]:
    return {
        "name": row.name[:60],
        "description": row.description,
        "entrance": row.entrance,
        "per_player": row.per_player,
    }


def _game(key: str, players: int | None) -> dict[str, str]:
    return {"game": key} if players is None else {"game": key, "players": str(players)}


def _options(options: Any) -> dict[str, Any]:
    """Return the fields of options that differ from the usual rules; None in a rule is a box to tick."""
    return {
        f"no_{name}" if value is None else f"option_{name}": True if value is None else value
        for name, value in options.items()
    }


def _parameters(key: str, chosen: Any) -> dict[str, Any]:
    return {f"{key}__{name}": value for name, value in formats.format_named(key).complete(chosen).items()}


def _next(at: datetime | None, due: datetime | None = None) -> datetime | None:
    """Move a time by the weeks after which `due` (by default the time itself) lies ahead."""
    if at is None:
        return None
    late = clock.present() - (due or at)
    return at + WEEK * max(1, late // WEEK + 1)
