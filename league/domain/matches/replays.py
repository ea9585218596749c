"""The replays of sittings, restricted to the information that a viewer may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Max

import engine
from league.domain.core.errors import Refused
from league.domain.matches import embargoes, logs, packing
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import MatchStatus
from league.models import Match, Party, Player, Sitting

PUBLIC = "public"  # The view of a spectator who sees no hidden card
WAITING = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
HEADER = ("format", "engine", "game", "revision", "options", "players", "deals", "over", "scores")


class Unreadable(Refused):
    """The error for a replay that cannot be shown as it was stored. The result of its match stands. missing: it is no longer stored."""

    missing = False

    @property
    def status(self) -> int:
        """Return the status of the HTTP response."""
        return 410 if self.missing else 500


class Missing(Unreadable):
    """The error for a replay that is no longer stored."""

    missing = True


class Underivable(Unreadable):
    """The error for a replay whose events the rules of this release do not derive."""

    missing = True


def replay(sitting: Sitting, viewer: Player | None = None, seat: int | str | None = None) -> dict[str, Any]:
    """Return the record of one sitting as `viewer` may see it.

    seat: None for the whole record, since a finished match is public; a number for the knowledge of that seat; "public" for the common knowledge of
    the table. A restricted view has neither seed nor actions, from which the hidden cards would follow. Only the owner of a bot sees its notes.
    Raise Refused for a seat that the table does not have and for an unfinished match; Unreadable if the replay cannot be shown.
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
    observer = seat if isinstance(seat, int) else None
    restricted = {name: full[name] for name in HEADER if name in full}
    restricted["events"] = engine.redact(full["events"], observer)
    restricted["view"] = seat
    restricted["notes"] = [note for note in visible if note["seat"] == seat]
    return restricted


def reason_closed(match: Match) -> Refused | None:
    """Return why the cards of a match are hidden, or None if they are not. `match` must have been read with its tournament.

    Cards are hidden until the match finishes, while they are withheld, and while another match plays the same deals again.
    """
    if match.status in (MatchStatus.FINISHED, MatchStatus.VOID) and (until := embargoes.in_force(match)):
        return Refused(
            "the replays of match {match} are hidden until {until} UTC; its result stands",
            match=match.public_id,
            until=f"{until:%Y-%m-%d %H:%M}",
        )
    if match.status == MatchStatus.FINISHED:
        return None
    if match.status != MatchStatus.VOID:
        return Refused(
            "match {match} is {status}; you can see its replays when it has finished",
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
        "match {match} is being played again with the same cards, as match {again}; you can see it when "
        "match {again} has finished",
        match=match.public_id,
        again=again.public_id,
    )


def unpack(sitting: Sitting) -> dict[str, Any]:
    """Return the whole stored record, for code that checks or repairs. People get theirs through `replay`. Raise Unreadable.

    To read several sittings of a match, let their boards share the `match` object, so that its log is read and unpacked once.
    """
    try:
        return logs.opened(sitting.board.match).record((sitting.board.number, sitting.number))
    except KeyError:
        raise _lost(sitting) from None
    except logs.Unopened as error:
        raise {"missing": _lost, "exchanged": _exchanged, "damaged": _damaged}[error.why](sitting) from None
    except packing.OtherRules as error:
        raise Underivable(
            "board {board}, seating {sitting} of match {match} was played by revision {revision} of the rules, "
            "and the current rules give another course of play, so it cannot be shown; its result stands, and "
            "its deal and actions are stored",
            revision=error.revision,
            **_place(sitting),
        ) from None


def gone(public_id: str, board: int, sitting: int) -> Missing | None:
    """Return the error for a played sitting that is no longer stored, or None if there never was such a sitting.

    sitting: from 0 up to the highest number on any stored board of the match.
    """
    match = Match.objects.filter(public_id=public_id, status=MatchStatus.FINISHED).first()
    if (
        match is None
        or reason_closed(match)
        or not match.first_board <= board < match.first_board + match.boards_planned
    ):
        return None
    stored = Sitting.objects.filter(board__match=match)
    if sitting > (stored.aggregate(last=Max("number"))["last"] or 0) or stored.filter(
        board__number=board, number=sitting
    ):
        return None
    return _missing(match=public_id, board=board, sitting=sitting + 1)


def _lost(sitting: Sitting) -> Missing:
    return _missing(**_place(sitting))


def _missing(**place: Any) -> Missing:
    return Missing(
        "the replay of board {board}, seating {sitting} of match {match} is no longer stored; its result "
        "stands, and other seatings may still be available",
        **place,
    )


def _damaged(sitting: Sitting) -> Unreadable:
    return Unreadable(
        "the stored replay of board {board}, seating {sitting} of match {match} is damaged, so it cannot be "
        "shown; its result stands, and the operators are notified and can restore it from its actions",
        **_place(sitting),
    )


def _exchanged(sitting: Sitting) -> Unreadable:
    return Unreadable(
        "the stored replay of board {board}, seating {sitting} of match {match} belongs to another seating, "
        "so it cannot be shown; its result stands, and the operators are notified",
        **_place(sitting),
    )


def _place(sitting: Sitting) -> dict[str, Any]:
    """Return board and sitting for messages, which count sittings from 1."""
    return {"match": sitting.board.match.public_id, "board": sitting.board.number, "sitting": sitting.number + 1}


def owned_parties(sitting: Sitting, viewer: Player | None) -> set[int]:
    """Return the numbers of the parties at the table into whose logs `viewer` may look."""
    parties = sitting.board.match.parties.select_related("version__bot")
    return {party.number for party in parties if may_inspect(party, viewer)}


def may_inspect(party: Party, viewer: Player | None) -> bool:
    """Return True if `viewer` may read the bot's notes and faults."""
    return ownership.may(viewer, party.version.bot, BotAct.LOOK)


@dataclass(frozen=True)
class PartyView:
    """A party of a finished match as a viewer may see it. `private`: True if the last three fields are filled in."""

    party: Party
    private: bool
    fault_detail: str
    faults: list[dict[str, Any]]
    stderr: str


def party_view(party: Party, viewer: Player | None = None) -> PartyView:
    """Return a party as `viewer` may see it: a fault's kind and place are public; its text, the last lines and stderr are for the owner."""
    if may_inspect(party, viewer):
        return PartyView(party, True, party.fault_detail, party.faults, party.stderr)
    public = [
        {key: fault[key] for key in ("kind", "board", "sitting", "step", "seat", "party") if key in fault}
        for fault in party.faults
    ]
    return PartyView(party, False, "", public, "")
