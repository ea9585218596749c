"""Restoring replays that are damaged, lost or swapped: from copies elsewhere in the database, else by playing the actions again.

Before a repeated record is stored, its cards, actions and scores are verified. The bots' response times and notes are lost, and the record says so.
Results never change. Repeatable. Damaged analyses and consultations are queued again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

import engine
from engine.analysis import JUDGE
from engine.replay import ReplayError
from engine.runner.evidence.replays import check
from league.domain.consultations import reading
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.judgements import asking as judging
from league.domain.judgements import bodies
from league.domain.matches import logs, packing
from league.enums import JudgementStatus, MatchStatus
from league.models import Consultation, Judgement, Match, MatchLog, Party, Sitting

CHUNK = 200  # Matches that are read together.
RESTORED = "played again from its actions; the bots' response times and notes are lost"
SHOWN = (MatchStatus.FINISHED, MatchStatus.VOID)


@dataclass
class RestoreReport:
    """The effects of a run, or of a dry run. Texts name match, board and sitting."""

    put_back: list[str] = field(default_factory=list)
    played: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)  # Analyses and consultations to be done again.

    @property
    def is_empty(self) -> bool:
        """Return True if there was nothing to do."""
        return not (self.put_back or self.played or self.lost or self.again)


def restore_replays(*, actor: str, dry_run: bool = False, now: datetime | None = None) -> RestoreReport:
    """Check the replays of all finished matches, and restore what can be restored."""
    now = clock.now_or(now)
    report = RestoreReport()
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
                    judging.enqueue(consultation, now=now)


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
        rows = Match.objects.filter(pk__in=ids[start : start + CHUNK])
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
    for sitting in sittings:
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


def _scores(record: dict[str, Any]) -> Any:
    return record.get("forfeit", record).get("scores")


def _meta(sitting: Sitting, played: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = played.get("meta", {})
    own = {"board": sitting.board.number, "sitting": sitting.number, "seating": sitting.seating}
    return meta | own | {"match": sitting.board.match.public_id, "restored": RESTORED}


def _referee_fields(sitting: Sitting, played: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record besides cards and scores: faults, forfeits, and the lines that the bots of the pass were sent."""
    parties = Party.objects.filter(match=sitting.board.match_id).order_by("number")
    faults = [fault for party in parties for fault in party.faults if fault["sitting"] == sitting.number]
    faults = [fault for fault in faults if fault["board"] <= sitting.board.number]
    of_board = [fault for fault in faults if fault["board"] == sitting.board.number]
    short = [{"step": fault["step"], "seat": fault["seat"], "fault": fault["kind"], "detail": ""} for fault in of_board]
    own: dict[str, Any] = {"faults": short, "notes": []}
    if sitting.fault:
        own["forfeit"] = {"seats": sorted({fault["seat"] for fault in faults}), "scores": sitting.scores}
    if "pass" in played:
        own["pass"] = played["pass"]
    return own
