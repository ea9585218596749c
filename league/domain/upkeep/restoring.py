"""Replays that the disk has damaged, lost or exchanged: put back where they are kept elsewhere, else played again from their actions.

What is played again has the same cards, actions and scores, which is proved before it is stored; when bots answered and what they noted is
lost, and the record says so. Results are never touched. It may be run twice. What was made of replays and is damaged, judgements and answers of
bots that were asked, workers make again.
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
from league.domain.consultations import reading
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.judgements import bodies
from league.domain.matches import logs, packing, replays
from league.enums import JudgementStatus, MatchStatus
from league.models import Consultation, Judgement, Match, MatchLog, Party, Sitting

CHUNK = 200  # matches that are looked at together
RESTORED = "played again from its actions: when the bots answered, and their notes, are lost"
SHOWN = (MatchStatus.FINISHED, MatchStatus.VOID)
Place = tuple[str, int, int]  # public id of the match, board, sitting


@dataclass
class Restored:
    """What was done, or would be. Texts name match, board and sitting."""

    bound: int = 0  # sittings from before there were digests, found to be right, that have one now
    put_back: list[str] = field(default_factory=list)
    played: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)  # judgements and answers

    @property
    def empty(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.bound or self.put_back or self.played or self.lost or self.again)


def restore_replays(*, actor: str, dry_run: bool = False, now: datetime | None = None) -> Restored:
    """Look at the replays of all matches that were played to their end, bind those that are not bound, and restore what can be restored."""
    now = clock.now_or(now)
    found = Restored()
    damaged: list[int] = []
    for rows in _batches():
        with transaction.atomic():
            damaged += _bind(rows, found)
            transaction.set_rollback(dry_run)
    strays = {place: packed for packed in _packed(damaged) if (place := _names(packed))}
    for key in damaged:
        with transaction.atomic():
            sitting = Sitting.objects.select_for_update(of=("self",)).select_related("board__match__pool").get(pk=key)
            _restore(sitting, strays, found, actor=actor, now=now)
            transaction.set_rollback(dry_run)
    _restore_logs(found, actor=actor, dry_run=dry_run, now=now)
    _make_again(found, actor=actor, dry_run=dry_run, now=now)
    return found


def _make_again(found: Restored, *, actor: str, dry_run: bool, now: datetime) -> None:
    """What nobody can read is made again, in the row that it has: judgements, which stay counted once, and answers of bots of the house."""
    done: dict[str, Any] = {"status": JudgementStatus.DONE}
    # Those of an earlier judge are shown nowhere, and this one would judge otherwise under its name
    judged = Judgement.objects.filter(judge=JUDGE, **done).select_related("match").order_by("pk")
    asked = Consultation.objects.filter(**done).select_related("match", "version__bot").order_by("pk")
    afresh: dict[str, Any] = {"progress": 0, "attempts": 0, "cpu_s": 0.0, "finished": None, "limited": False}
    for row in judged.iterator(chunk_size=CHUNK):
        if _is_damaged(partial(bodies.unpack, bytes(row.body))):
            found.again.append(f"{row.match.public_id}, {row.kind} judgement")
            if not dry_run:
                transitions.move(row, JudgementStatus.ASKED, now=now, actor=actor, body=b"", **afresh)
    for one in asked.iterator(chunk_size=CHUNK):
        if _is_damaged(partial(reading.answers, one)):
            place = f"board {one.board}, sitting {one.sitting}, seat {one.seat}"
            found.again.append(f"{one.match.public_id}, {place}, answers of {one.version}")
            if not dry_run:
                transitions.move(one, JudgementStatus.ASKED, now=now, actor=actor, answers=[], **afresh)


def _is_damaged(read: Callable[[], object]) -> bool:
    try:
        read()
    except Refused:
        return True
    return False


# ---- logs


def _restore_logs(found: Restored, *, actor: str, dry_run: bool, now: datetime) -> None:
    damaged = [match.pk for match in _logged() if logs.doubt(match)]
    strays = {}
    for data in MatchLog.objects.filter(match__in=damaged).values_list("data", flat=True).iterator(chunk_size=CHUNK):
        told = logs.open_data(bytes(data))
        if told and told.whole:
            strays[told.match()] = bytes(data)
    for pk in damaged:
        with transaction.atomic():
            match = Match.objects.select_for_update(of=("self",), no_key=True).select_related("pool").get(pk=pk)
            _restore_log(match, strays.get(match.public_id), found, actor=actor, now=now)
            transaction.set_rollback(dry_run)


def _logged() -> Iterator[Match]:
    """The matches whose replays are in a log, or should be."""
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


def _restore_log(match: Match, stray: bytes | None, found: Restored, *, actor: str, now: datetime) -> None:
    row = logs.row_of(match)
    if row and stray is not None and logs.digest(match.public_id, stray) == row.digest:
        how, data = "put back", stray
        found.put_back.append(match.public_id)
    else:
        made = _log_played_again(match, bytes(row.data) if row else b"", found)
        if not made:
            return
        how, data = "played again", logs.pack_records(made)
    logs.replace(match, data)
    journal.append("match.replay_restored", f"match:{match.public_id}", now=now, actor=actor, how=how)


def _log_played_again(match: Match, data: bytes, found: Restored) -> dict[packing.Place, dict[str, Any]]:
    """The records that can be made again of what is left of a log. Which can and which cannot is noted in `found`."""
    told = logs.open_data(data)
    here = told if told and told.match() == match.public_id else None
    made = {}
    sittings = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for sitting in sittings.defer("replay"):
        sitting.board.match = match
        place = (sitting.board.number, sitting.number)
        name = f"{match.public_id}, board {place[0]}, sitting {place[1]}"
        record = _proved_again(sitting, here.played(place)) if here and place in here.records else None
        if record is None:
            found.lost.append(name)
        else:
            made[place] = record
            found.played.append(name)
    return made


def _proved_again(sitting: Sitting, played: dict[str, Any]) -> dict[str, Any] | None:
    """The record that the actions make, if it has the scores of the row."""
    try:
        state = engine.replay.restore(played | {"events": []})
        made: dict[str, Any] = engine.replay.make(state, _meta(sitting, played)) | _referees_own(sitting, played)
        check(made)
    except (ReplayError, TypeError):
        return None
    return made if _scores(made) == sitting.scores else None


# ---- replays of releases before the logs


def _batches() -> Iterator[Sequence[Sitting]]:
    ids = list(Match.objects.filter(status__in=SHOWN).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        rows = Sitting.objects.filter(board__match__in=ids[start : start + CHUNK]).exclude(digest="", replay=b"")
        yield list(rows.select_related("board__match__pool").order_by("pk"))


def _bind(rows: Iterable[Sitting], found: Restored) -> Iterator[int]:
    """Bind what is right and not bound; the ids of those that are not right."""
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
    found.bound += len(fresh)
    Sitting.objects.bulk_update(fresh, ["digest"], batch_size=100)


def _scores(record: dict[str, Any]) -> Any:
    return record.get("forfeit", record).get("scores")


def _digest(sitting: Sitting, packed: bytes) -> str:
    return replays.digest(sitting.board.match.public_id, sitting.board.number, sitting.number, packed)


def _packed(keys: Sequence[int]) -> Iterator[bytes]:
    for start in range(0, len(keys), CHUNK):
        for packed in Sitting.objects.filter(pk__in=keys[start : start + CHUNK]).values_list("replay", flat=True):
            yield bytes(packed)


def _names(packed: bytes) -> Place | None:
    """The sitting that a stored record says it is of."""
    try:
        told = json.loads(zlib.decompress(packed))["meta"]
        return told["match"], told["board"], told["sitting"]
    except (zlib.error, ValueError, KeyError, TypeError):
        return None


def _restore(sitting: Sitting, strays: dict[Place, bytes], found: Restored, *, actor: str, now: datetime) -> None:
    match, number = sitting.board.match, sitting.board.number
    name = f"{match.public_id}, board {number}, sitting {sitting.number}"
    packed = strays.get((match.public_id, number, sitting.number))
    if packed is not None and sitting.digest in ("", _digest(sitting, packed)):
        how = "put back"
        found.put_back.append(name)
    else:
        record = _played_again(sitting)
        if record is None:
            found.lost.append(name)
            return
        packed, how = replays.pack(record), "played again"
        found.played.append(name)
    sitting.replay, sitting.digest = packed, _digest(sitting, packed)
    sitting.save(update_fields=["replay", "digest"])
    where = {"board": number, "sitting": sitting.number, "how": how}
    journal.append("match.replay_restored", f"match:{match.public_id}", now=now, actor=actor, **where)


def _played_again(sitting: Sitting) -> dict[str, Any] | None:
    """The record of what its actions make, proved by the rules and the scores of the row; None where that cannot be had."""
    told = _beginning(bytes(sitting.replay))
    try:
        actions, _ = json.JSONDecoder().raw_decode(told.removeprefix('{"actions":'))
    except ValueError:
        return None
    sibling = _sibling(sitting)
    if not isinstance(actions, list) or sibling is None:
        return None
    match = sitting.board.match
    game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
    seed = engine.board_seed(bytes(match.secret), game.key, match.table, sitting.board.number)
    header = {name: sibling[name] for name in ("format", "game", "revision", "options", "players", "deals")}
    for suits in (suits_of(game, seed, sitting.number), game.pack.suits):  # they were not exchanged at first
        record = header | {"suits": suits, "seed": seed.hex(), "actions": actions, "events": []}
        try:
            made: dict[str, Any] = engine.replay.make(engine.replay.restore(record), _meta(sitting, sibling))
            made |= _referees_own(sitting, sibling)
            check(made)
        except (ReplayError, TypeError):
            continue
        if _scores(made) == sitting.scores and _agrees(made, told):
            return made
    return None


def _beginning(packed: bytes) -> str:
    """The text of a damaged record up to the damage, or somewhat beyond."""
    reading, text = zlib.decompressobj(), b""
    try:
        for at in range(len(packed)):
            text += reading.decompress(packed[at : at + 1])
    except zlib.error:
        pass
    return text.decode("utf-8", "ignore")


def _agrees(made: dict[str, Any], told: str) -> bool:
    """Whether what was read of the old record up to its moments is what was made: keys are sorted, so these stand behind the actions."""
    whole = json.dumps({name: made[name] for name in ("actions", "deals")}, sort_keys=True, separators=(",", ":"))
    return told.startswith(whole[:-1][: len(told)])


def _sibling(sitting: Sitting) -> dict[str, Any] | None:
    """A sound record of the same match, of the same pass if there is one."""
    others = Sitting.objects.filter(board__match=sitting.board.match_id).exclude(pk=sitting.pk)
    others = others.select_related("board__match").order_by("board__number", "number")
    for other in sorted(others, key=lambda one: one.number != sitting.number):
        try:
            return replays.unpack(other)
        except replays.Unreadable:
            continue
    return None


def _meta(sitting: Sitting, sibling: dict[str, Any]) -> dict[str, Any]:
    theirs: dict[str, Any] = sibling.get("meta", {})
    mine = {"board": sitting.board.number, "sitting": sitting.number, "seating": sitting.seating}
    return theirs | mine | {"match": sitting.board.match.public_id, "restored": RESTORED}


def _referees_own(sitting: Sitting, sibling: dict[str, Any]) -> dict[str, Any]:
    """What stands in a record beside cards and scores: faults, the forfeit that they cost, and what the bots of the pass were told."""
    parties = Party.objects.filter(match=sitting.board.match_id).order_by("number")
    told = [fault for party in parties for fault in party.faults if fault["sitting"] == sitting.number]
    told = [fault for fault in told if fault["board"] <= sitting.board.number]
    mine = [fault for fault in told if fault["board"] == sitting.board.number]
    here = [{"step": fault["step"], "seat": fault["seat"], "fault": fault["kind"], "detail": ""} for fault in mine]
    own: dict[str, Any] = {"faults": here, "notes": []}
    if sitting.fault:
        own["forfeit"] = {"seats": sorted({fault["seat"] for fault in told}), "scores": sitting.scores}
    if sibling.get("meta", {}).get("sitting") == sitting.number and "pass" in sibling:
        own["pass"] = sibling["pass"]
    return own
