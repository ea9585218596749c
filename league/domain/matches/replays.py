"""What was played, for those who may see it."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import engine
from league.domain.core.errors import Refused
from league.enums import MatchStatus
from league.models import Match, Party, Player, Sitting

PUBLIC = "public"  # the view of a spectator who sees no hidden card
WAITING = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
HEADER = ("format", "engine", "game", "revision", "options", "players", "deals", "over", "scores")


def replay(sitting: Sitting, viewer: Player | None = None, seat: int | str | None = None) -> dict[str, Any]:
    """The record of one sitting as `viewer` may see it.

    `seat` None: everything; a finished match is public. A seat number: only what that seat knew; "public": only what everybody at the
    table knew. A restricted view has neither seed nor actions, from which the hidden cards would follow. Notes of a bot are for its owner.
    Raises Refused for a seat that the table has not, and for a match that is not over.
    """
    if why := reason_closed(sitting.board.match):
        raise why
    full = unpack(sitting)
    owned = owned_parties(sitting, viewer)
    meta = dict(full.get("meta", {}))
    inside: list[dict[str, Any]] = meta.pop("notes", [])
    notes: list[dict[str, Any]] = full.get("notes", inside)
    visible = [note for note in notes if sitting.seating[note["seat"]] in owned]
    if seat is None:
        return {**full, "meta": meta, "notes": visible}
    if seat != PUBLIC and (type(seat) is not int or not 0 <= seat < len(sitting.seating)):
        raise Refused(
            "there is no seat {seat!r} at this table; use 0 to {last}, or {public!r}",
            seat=seat,
            last=len(sitting.seating) - 1,
            public=PUBLIC,
        )
    shown = seat if isinstance(seat, int) else None
    restricted = {name: full[name] for name in HEADER if name in full}
    restricted["events"] = engine.redact(full["events"], shown)
    restricted["view"] = seat
    restricted["notes"] = [note for note in visible if note["seat"] == seat]
    return restricted


def reason_closed(match: Match) -> Refused | None:
    """Why the cards of a match cannot be seen yet, None if they can: it is not over, or its deals are being played again in another match."""
    if match.status == MatchStatus.FINISHED:
        return None
    if match.status != MatchStatus.VOID:
        return Refused(
            "match {match} is {status}; its replays can be seen when it is finished",
            match=match.public_id,
            status=MatchStatus(match.status).label,
        )
    same_deals = Match.objects.filter(
        secret=match.secret, table=match.table, first_board=match.first_board, status__in=WAITING
    )
    again = same_deals.exclude(pk=match.pk).first()
    if again is None:
        return None
    return Refused(
        "match {match} is being played again on the same cards, as match {again}; it can be seen when that one is over",
        match=match.public_id,
        again=again.public_id,
    )


def unpack(sitting: Sitting) -> dict[str, Any]:
    """The stored record, whole. Only for code that checks or repairs; what people get passes through `replay`."""
    record: dict[str, Any] = json.loads(zlib.decompress(bytes(sitting.replay)))
    return record


def owned_parties(sitting: Sitting, viewer: Player | None) -> set[int]:
    """Numbers of the parties at the table that belong to `viewer`; all of them for the staff."""
    parties = sitting.board.match.parties.select_related("version__bot")
    return {party.number for party in parties if may_inspect(party, viewer)}


def may_inspect(party: Party, viewer: Player | None) -> bool:
    """Whether `viewer` may read what a bot wrote for its author: the owner and the staff may."""
    if viewer is None:
        return False
    return party.version.bot.owner_id == viewer.pk or viewer.user.is_staff


@dataclass(frozen=True)
class PartyView:
    """A party of a finished match as a viewer may see it. `private` says whether the last three fields are given."""

    party: Party
    private: bool
    fault_detail: str
    faults: list[dict[str, Any]]
    stderr: str


def party_view(party: Party, viewer: Player | None = None) -> PartyView:
    """A party as `viewer` may see it: kind and place of a fault are public; its text, the lines before it and stderr are for the owner."""
    if may_inspect(party, viewer):
        return PartyView(party, True, party.fault_detail, party.faults, party.stderr)
    public = [
        {key: fault[key] for key in ("kind", "board", "sitting", "step", "seat", "party") if key in fault}
        for fault in party.faults
    ]
    return PartyView(party, False, "", public, "")
