"""Puzzles of the league's own matches: a pass over those that were judged fairly, with a bound on its work, kept in a file beside the shipped one.

Only finished matches count that everybody may see, and that nobody ever held back. What is not so any more is taken out by the next pass.
The file says by itself how far the passes have come: a pass that is killed leaves the file of the one before it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q

from engine.analysis import JUDGE, USUAL_NODES
from engine.puzzles import DEALS, NotAPuzzleError, Puzzle, find, read
from engine.replay import ReplayError
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import logs, replays, sight
from league.enums import JudgementKind, JudgementStatus, MatchKind, MatchStatus
from league.models import Judgement, Match, Sitting

OF_A_MATCH = 3  # puzzles, those of the largest margins: more are much alike
OF_A_PASS = 1000  # judgements at most
MOST = 500  # kept in all; the oldest are left out
FORMAT = "tute-league-puzzles/1"

Advance = Callable[[str], None]


def own_file() -> Path:
    """Where they are: the first line says how far the passes have come, a puzzle a line follows."""
    return Path(settings.STATE_DIR) / "puzzles.jsonl"


@dataclass(frozen=True)
class Pass:
    """What a pass did. matches: looked at to their end; left: whether judged matches wait for the next pass."""

    matches: int = 0
    made: int = 0
    dropped: int = 0
    left: bool = False


@dataclass
class _Kept:
    """The file. after: when the last judgement that was looked at was finished, and its number."""

    after: tuple[str, int]
    lines: list[Puzzle]


class BusyError(RuntimeError):
    """Another pass is under way."""


def look(
    seconds: float,
    *,
    deals: int = DEALS,
    nodes: int = USUAL_NODES,
    margin: float | None = None,
    advance: Advance | None = None,
    now: datetime | None = None,
) -> Pass:
    """One pass: matches are begun for so many seconds; the one at hand is looked at to its end. Raises BusyError, OSError.

    deals, nodes, margin: as `engine.puzzles.find` has them.
    """
    until, now = time.monotonic() + seconds, clock.given(now)
    with _alone():
        kept = _read()
        rows = Judgement.objects.select_related("match__tournament").defer("body", "match__tournament__secret")
        made: list[Puzzle] = []
        matches = 0
        left = False
        for number in _judged(kept.after):
            if time.monotonic() >= until:
                left = True
                break
            row = rows.filter(pk=number).first()
            if row is None:  # it went with its match
                continue
            if _is_open(row.match):
                if advance is not None:
                    advance(row.match.public_id)
                made += _best(_of_match(row.match, deals, nodes, margin))
                matches += 1
            kept.after = (row.finished.isoformat() if row.finished else "", row.pk)
        before = {one.id for one in kept.lines}
        new = [one for one in made if one.id not in before]
        # Last, so that what was held back meanwhile is not in it
        shown = _shown([*kept.lines, *new])
        _write(_Kept(kept.after, shown[-MOST:]))
    there = {one.id for one in shown}
    return Pass(matches, sum(one.id in there for one in new), sum(one not in there for one in before), left)


def _judged(after: tuple[str, int]) -> list[int]:
    """The next fair judgements that are done and were not looked at, by number, in the order in which they were finished. One query."""
    rows = Judgement.objects.filter(kind=JudgementKind.FAIR, status=JudgementStatus.DONE, judge=JUDGE)
    if after[0]:
        moment = datetime.fromisoformat(after[0])
        rows = rows.filter(Q(finished__gt=moment) | Q(finished=moment, pk__gt=after[1]))
    return list(rows.order_by("finished", "pk").values_list("pk", flat=True)[:OF_A_PASS])


def _is_open(match: Match) -> bool:
    """Whether everybody may see its cards, and always might since it was finished. Needs its tournament."""
    if match.status != MatchStatus.FINISHED or match.kind == MatchKind.VALIDATION:
        return False
    return not sight.is_held_back(match.tournament) and replays.reason_closed(match) is None


def _shown(lines: Iterable[Puzzle]) -> list[Puzzle]:
    """Those whose match everybody may see now. One query."""
    every = list(lines)
    names = {str(one.source.get("match")) for one in every}
    rows = Match.objects.filter(public_id__in=names).select_related("tournament").defer("tournament__secret")
    seen = {match.public_id for match in rows if _is_open(match)}
    return [one for one in every if one.source.get("match") in seen]


def _of_match(match: Match, deals: int, nodes: int, margin: float | None) -> Iterator[Puzzle]:
    """The puzzles of all its sittings; none of what cannot be read."""
    if logs.was_let_go(match):
        return
    rows = Sitting.objects.filter(board__match=match).select_related("board").order_by("board__number", "number")
    for sitting in list(rows):
        sitting.board.match = match
        try:
            for one in find(replays.unpack(sitting), deals=deals, nodes=nodes, margin=margin):
                place: dict[str, Any] = {"match": match.public_id, "board": sitting.board.number}
                yield replace(one, source={**place, "sitting": sitting.number, "step": one.source["step"]})
        except (Refused, ReplayError):
            continue


def _best(found: Iterable[Puzzle]) -> list[Puzzle]:
    by_id = {one.id: one for one in found}
    return sorted(by_id.values(), key=lambda one: -one.margin)[:OF_A_MATCH]


# ---- the file


@contextmanager
def _alone() -> Iterator[None]:
    """One pass at a time, on this file."""
    with own_file().with_suffix(".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError("another pass is under way") from None
        yield


def _read() -> _Kept:
    """What is there; nothing where there is none, or where it is none of ours. Lines of an older revision of the rules are left out."""
    kept = _Kept(("", 0), [])
    try:
        first, *lines = own_file().read_text(encoding="utf-8").splitlines()
        head = json.loads(first)
        if head["format"] != FORMAT or head["judge"] != JUDGE:
            return kept
        kept.after = (str(head["after"][0]), int(head["after"][1]))
    except (FileNotFoundError, ValueError, KeyError, TypeError, IndexError):
        return kept
    for line in lines:
        try:
            kept.lines.append(read(line))
        except NotAPuzzleError:
            continue
    return kept


def _write(kept: _Kept) -> None:
    """All at once: whoever reads finds the file of before or the new one."""
    head = {"format": FORMAT, "judge": JUDGE, "after": list(kept.after)}
    beside = own_file().with_suffix(".new")
    text = "\n".join([json.dumps(head), *(one.line() for one in kept.lines)]) + "\n"
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(own_file())
