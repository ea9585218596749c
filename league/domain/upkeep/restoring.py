"""Restoring replays that are damaged, lost or swapped: from copies elsewhere in the database, else by playing the actions again.

Before a repeated record is stored, its cards, actions and scores are verified. The bots' response times and notes are lost, and the record says so.
Results never change. Repeatable. Damaged analyses and consultations are queued again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

import engine
from engine.analysis import JUDGE
from engine.replay import ReplayError
from engine.runner.evidence.replays import check
from engine.runner.match import suits_of
from league.domain.consultations import asking as consulting
from league.domain.consultations import reading
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.judgements import asking as judging
from league.domain.judgements import bodies
from league.domain.matches import logs, packing, replays
from league.enums import JudgementStatus, MatchStatus
from league.models import Consultation, Judgement, Match, MatchLog, Party, Sitting

CHUNK = 200  # Matches that are read together.
RESTORED = "played again from its actions; the bots' response times and notes are lost"
SHOWN = (MatchStatus.FINISHED, MatchStatus.VOID)
Place = tuple[str, int, int]  # Public id of the match, board, sitting.


@dataclass
class RestoreReport:
    """The effects of a run, or of a dry run. Texts name match, board and sitting."""

    bound: int = 0  # Sittings from before there were digests that were checked and got one.
    put_back: list[str] = field(default_factory=list)
    played: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)  # Analyses and consultations to be done again.

    @property
    def is_empty(self) -> bool:
        """Return True if there was nothing to do."""
        return not (self.bound or self.put_back or self.played or self.lost or self.again)


def restore_replays(*, actor: str, dry_run: bool = False, now: datetime | None = None) -> RestoreReport:
    """Check the replays of all finished matches, add missing digests, and restore what can be restored."""
    now = clock.now_or(now)
    report = RestoreReport()
    damaged: list[int] = []
    for rows in _batches():
        with transaction.atomic():
            damaged += _bind(rows, report)
            transaction.set_rollback(dry_run)
    strays = {place: packed for packed in _packed(damaged) if (place := _place_of(packed))}
    for key in damaged:
        with transaction.atomic():
            sitting = Sitting.objects.select_for_update(of=("self",)).select_related("board__match__pool").get(pk=key)
            _restore(sitting, strays, report, actor=actor, now=now)
            transaction.set_rollback(dry_run)
    _restore_logs(report, actor=actor, dry_run=dry_run, now=now)
    _make_again(report, actor=actor, dry_run=dry_run, now=now)
    return report


def _make_again(report: RestoreReport, *, actor: str, dry_run: bool, now: datetime) -> None:
    """Queue damaged analyses (which still count once) and consultations again, in their own rows."""
    finished: dict[str, Any] = {"status": JudgementStatus.DONE}
    # Only analyses of the current program: older ones are no longer shown, and this program would store different losses under their name.
    judgements = Judgement.objects.filter(judge=JUDGE, **finished).select_related("match").order_by("pk")
    consultations = Consultation.objects.filter(**finished).select_related("match", "version__bot").order_by("pk")
    afresh: dict[str, Any] = {"cpu_s": 0.0, "finished": None, "limited": False}
    for row in judgements.iterator(chunk_size=CHUNK):
        if _is_damaged(partial(bodies.unpack, bytes(row.body))):
            report.again.append(f"{row.match.public_id}, {row.kind} judgement")
            if not dry_run:
                with transaction.atomic():
                    transitions.move(row, JudgementStatus.ASKED, now=now, actor=actor, body=b"", **afresh)
                    judging.enqueue(row, now=now)
    for consultation in consultations.iterator(chunk_size=CHUNK):
        if _is_damaged(partial(reading.answers, consultation)):
            place = f"board {consultation.board}, sitting {consultation.sitting}, seat {consultation.seat}"
            report.again.append(f"{consultation.match.public_id}, {place}, answers of {consultation.version}")
            if not dry_run:
                with transaction.atomic():
                    transitions.move(consultation, JudgementStatus.ASKED, now=now, actor=actor, answers=[], **afresh)
                    consulting.enqueue(consultation, now=now)


def _is_damaged(read: Callable[[], object]) -> bool:
    try:
        read()
    except Refused:
        return True
    return False


# ---- logs


def _restore_logs(report: RestoreReport, *, actor: str, dry_run: bool, now: datetime) -> None:
    damaged = [match.pk for match in _logged() if logs.doubt(match)]
    strays = {}
    for data in MatchLog.objects.filter(match__in=damaged).values_list("data", flat=True).iterator(chunk_size=CHUNK):
        log = logs.open_data(bytes(data))
        if log and log.whole:
            strays[log.match()] = bytes(data)
    for pk in damaged:
        with transaction.atomic():
            match = Match.objects.select_for_update(of=("self",), no_key=True).select_related("pool").get(pk=pk)
            _restore_log(match, strays.get(match.public_id), report, actor=actor, now=now)
            transaction.set_rollback(dry_run)


def _logged() -> Iterator[Match]:
    """Yield the matches whose replays are in a log, or should be."""
    ids = list(
        Match.objects.filter(status__in=SHOWN, boards__isnull=False)
        .order_by("pk")
        .distinct()
        .values_list("pk", flat=True)
    )
    for start in range(0, len(ids), CHUNK):
        loose = Sitting.objects.filter(board__match__in=ids[start : start + CHUNK]).exclude(digest="", replay=b"")
        rows = Match.objects.filter(pk__in=ids[start : start + CHUNK]).exclude(pk__in=loose.values("board__match"))
        yield from rows.select_related("log").order_by("pk")


def _restore_log(match: Match, stray: bytes | None, report: RestoreReport, *, actor: str, now: datetime) -> None:
    row = logs.row_of(match)
    if row and stray is not None and logs.digest(match.public_id, stray) == row.digest:
        how, data = "put back", stray
        report.put_back.append(match.public_id)
    else:
        records = _log_played_again(match, bytes(row.data) if row else b"", report)
        if not records:
            return
        how, data = "played again", logs.pack_records(records)
    logs.replace(match, data)
    journal.append("match.replay_restored", f"match:{match.public_id}", now=now, actor=actor, how=how)


def _log_played_again(match: Match, data: bytes, report: RestoreReport) -> dict[packing.Place, dict[str, Any]]:
    """Play the readable part of a log again and return the records; add restored and lost replays to `report`."""
    log = logs.open_data(data)
    own_log = log if log and log.match() == match.public_id else None
    records = {}
    sittings = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for sitting in sittings.defer("replay"):
        sitting.board.match = match
        place = (sitting.board.number, sitting.number)
        name = f"{match.public_id}, board {place[0]}, sitting {place[1]}"
        record = _played_and_checked(sitting, own_log.played(place)) if own_log and place in own_log.records else None
        if record is None:
            report.lost.append(name)
        else:
            records[place] = record
            report.played.append(name)
    return records


def _played_and_checked(sitting: Sitting, played: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record that the actions give, if its scores are those of the row."""
    try:
        state = engine.replay.restore(played | {"events": []})
        record: dict[str, Any] = engine.replay.make(state, _meta(sitting, played)) | _referee_fields(sitting, played)
        check(record)
    except (ReplayError, TypeError):
        return None
    return record if _scores(record) == sitting.scores else None


# ---- replays of releases before the logs


def _batches() -> Iterator[Sequence[Sitting]]:
    ids = list(Match.objects.filter(status__in=SHOWN).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        rows = Sitting.objects.filter(board__match__in=ids[start : start + CHUNK]).exclude(digest="", replay=b"")
        yield list(rows.select_related("board__match__pool").order_by("pk"))


def _bind(rows: Iterable[Sitting], report: RestoreReport) -> Iterator[int]:
    """Add digests to intact replays without one; yield the ids of damaged ones."""
    fresh = []
    for sitting in rows:
        try:
            if sitting.digest:
                if replays.doubt(sitting):
                    yield sitting.pk
                continue
            record = replays.unpack(sitting)
        except replays.Unreadable:
            yield sitting.pk
            continue
        if _scores(record) == sitting.scores:
            sitting.digest = _digest(sitting, bytes(sitting.replay))
            fresh.append(sitting)
        else:
            yield sitting.pk
    report.bound += len(fresh)
    Sitting.objects.bulk_update(fresh, ["digest"], batch_size=100)


def _scores(record: dict[str, Any]) -> Any:
    return record.get("forfeit", record).get("scores")


def _digest(sitting: Sitting, packed: bytes) -> str:
    return replays.digest(sitting.board.match.public_id, sitting.board.number, sitting.number, packed)


def _packed(keys: Sequence[int]) -> Iterator[bytes]:
    for start in range(0, len(keys), CHUNK):
        for packed in Sitting.objects.filter(pk__in=keys[start : start + CHUNK]).values_list("replay", flat=True):
            yield bytes(packed)


def _place_of(packed: bytes) -> Place | None:
    """Return the sitting to which a stored record says that it belongs."""
    try:
        meta = json.loads(zlib.decompress(packed))["meta"]
        return meta["match"], meta["board"], meta["sitting"]
    except (zlib.error, ValueError, KeyError, TypeError):
        return None


def _restore(sitting: Sitting, strays: dict[Place, bytes], report: RestoreReport, *, actor: str, now: datetime) -> None:
    match, number = sitting.board.match, sitting.board.number
    name = f"{match.public_id}, board {number}, sitting {sitting.number}"
    packed = strays.get((match.public_id, number, sitting.number))
    if packed is not None and sitting.digest in ("", _digest(sitting, packed)):
        how = "put back"
        report.put_back.append(name)
    else:
        record = _played_again(sitting)
        if record is None:
            report.lost.append(name)
            return
        packed, how = replays.pack(record), "played again"
        report.played.append(name)
    sitting.replay, sitting.digest = packed, _digest(sitting, packed)
    sitting.save(update_fields=["replay", "digest"])
    where = {"board": number, "sitting": sitting.number, "how": how}
    journal.append("match.replay_restored", f"match:{match.public_id}", now=now, actor=actor, **where)


def _played_again(sitting: Sitting) -> dict[str, Any] | None:
    """Return the record that the actions give, verified by the rules and the scores of the row; None if that is impossible."""
    old_text = _beginning(bytes(sitting.replay))
    try:
        actions, _ = json.JSONDecoder().raw_decode(old_text.removeprefix('{"actions":'))
    except ValueError:
        return None
    sibling = _sibling(sitting)
    if not isinstance(actions, list) or sibling is None:
        return None
    match = sitting.board.match
    game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
    seed = engine.board_seed(bytes(match.secret), game.key, match.table, sitting.board.number)
    header = {name: sibling[name] for name in ("format", "game", "revision", "options", "players", "deals")}
    for suits in (suits_of(game, seed, sitting.number), game.pack.suits):  # In early records suits were not exchanged.
        record = header | {"suits": suits, "seed": seed.hex(), "actions": actions, "events": []}
        try:
            replayed: dict[str, Any] = engine.replay.make(engine.replay.restore(record), _meta(sitting, sibling))
            replayed |= _referee_fields(sitting, sibling)
            check(replayed)
        except (ReplayError, TypeError):
            continue
        if _scores(replayed) == sitting.scores and _agrees(replayed, old_text):
            return replayed
    return None


def _beginning(packed: bytes) -> str:
    """Return the text of a damaged record up to the damage, or a little beyond."""
    decompressor, text = zlib.decompressobj(), b""
    try:
        for at in range(len(packed)):
            text += decompressor.decompress(packed[at : at + 1])
    except zlib.error:
        pass
    return text.decode("utf-8", "ignore")


def _agrees(record: dict[str, Any], old_text: str) -> bool:
    """Return True if the readable part of the old record equals the new one before the key "moments", after which times differ."""
    start = json.dumps({name: record[name] for name in ("actions", "deals")}, sort_keys=True, separators=(",", ":"))
    return old_text.startswith(start[:-1][: len(old_text)])


def _sibling(sitting: Sitting) -> dict[str, Any] | None:
    """Return an intact record of the same match, preferably of the same pass."""
    others = Sitting.objects.filter(board__match=sitting.board.match_id).exclude(pk=sitting.pk)
    others = others.select_related("board__match").order_by("board__number", "number")
    for other in sorted(others, key=lambda row: row.number != sitting.number):
        try:
            return replays.unpack(other)
        except replays.Unreadable:
            continue
    return None


def _meta(sitting: Sitting, sibling: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = sibling.get("meta", {})
    own = {"board": sitting.board.number, "sitting": sitting.number, "seating": sitting.seating}
    return meta | own | {"match": sitting.board.match.public_id, "restored": RESTORED}


def _referee_fields(sitting: Sitting, sibling: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record besides cards and scores: faults, forfeits, and the lines that the bots of the pass were sent."""
    parties = Party.objects.filter(match=sitting.board.match_id).order_by("number")
    faults = [fault for party in parties for fault in party.faults if fault["sitting"] == sitting.number]
    faults = [fault for fault in faults if fault["board"] <= sitting.board.number]
    of_board = [fault for fault in faults if fault["board"] == sitting.board.number]
    short = [{"step": fault["step"], "seat": fault["seat"], "fault": fault["kind"], "detail": ""} for fault in of_board]
    own: dict[str, Any] = {"faults": short, "notes": []}
    if sitting.fault:
        own["forfeit"] = {"seats": sorted({fault["seat"] for fault in faults}), "scores": sitting.scores}
    if sibling.get("meta", {}).get("sitting") == sitting.number and "pass" in sibling:
        own["pass"] = sibling["pass"]
    return own
