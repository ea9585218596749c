"""Matches of a bot that does one act at one moment against an honest one, and what is wrong with each. Also a program, for an ordinary user.

As a program: acts.py STATE_DIR, cells one a line on stdin (act, moment and tier, parted by tabs), one JSON list of what is wrong a line on stdout.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import engine
from engine.runner import BotSpec, Infrastructure, Limits, MatchSpec
from engine.runner.match import forfeited, play_match
from engine.sandbox import Sandbox

GAME = "a_dos"
HOSTILE, HONEST = 0, 1
MOMENTS = ("start", "decision", "frozen", "end")
LIMITS = Limits(start_s=0.3, move_s=0.1, bank_s=0.0, wall_factor=1.0, wall_extra_s=0.6, memory_mb=64, threads=8)
FAULT, EITHER, PLAYS_ON = "fault", "either", "plays on"
STATUSES = (0, 1, 3, 126, 127, 128, 129, 134, 137, 139, 143, 159, 255)
REFUSED = (9, 18, 19)  # The filter refuses these signals: kill, continue and stop itself
HARMLESS = (17, 23, 28)
SIGNALS = [n for n in range(1, 32) if n not in (*REFUSED, *HARMLESS)] + [34, 64]
LIMITED = (0, 1, 2, 3, 4, 6, 7, 8, 9, 12)

# Act -> what it comes to when it is done at the start or in a decision. A bot that does it while it is frozen may be thawed too late to do
# it at all; what it does after `end` counts for nothing.
ACTS: dict[str, str] = {
    **{f"exit|{status}": FAULT for status in STATUSES},
    **{f"signal|{number}": EITHER for number in SIGNALS},  # the first process of a namespace is spared
    **{f"signal|{number}": PLAYS_ON for number in (*REFUSED, *HARMLESS)},
    **{f"limit|{number}": PLAYS_ON for number in LIMITED},
    "limit and spin|0": FAULT,
    "abort|0": FAULT,
    "null|0": FAULT,
    "trap|0": FAULT,
    "stack|0": FAULT,
    "forbidden|0": FAULT,
    "spin|0": FAULT,
    "threads that spin|0": EITHER,
    "threads that wake|0": EITHER,
    "thread that ends all|137": FAULT,
    "first thread ends|137": FAULT,
    "vfork|137": PLAYS_ON,
    "vfork of a thread|0": PLAYS_ON,
    "fork|0": PLAYS_ON,
    "close|0": FAULT,
    "close|1": FAULT,
    "close|2": PLAYS_ON,
    "close all|0": FAULT,
    "flood|1": FAULT,
    "flood|2": PLAYS_ON,
    "lines|0": FAULT,
    "half a line|137": FAULT,
    "words|1": FAULT,
    "name|0": PLAYS_ON,
    "name|1": PLAYS_ON,
    "sleep|0": FAULT,
    "nap|5": PLAYS_ON,
    "nap|5000": FAULT,
    "read ahead|0": FAULT,
    "become another|0": EITHER,  # In `landlock` as an ordinary user it can execute itself again, and waits for lines that are gone
    "memory|137": FAULT,
}


@dataclass(frozen=True)
class Cell:
    """One act at one moment in one tier."""

    act: str
    moment: str
    tier: str

    @property
    def ends(self) -> str:
        """Return the end that the act must have."""
        if self.moment == "end":
            return PLAYS_ON
        return EITHER if self.moment == "frozen" else ACTS[self.act]


@dataclass
class Table:
    """The place where cells are played: a state directory with the bots' program in `bot`."""

    state: Path
    boxes: dict[str, Sandbox] = field(default_factory=dict)

    def bot(self, act: str, *, entry: str = "bot") -> BotSpec:
        """Return the bot of an act, "MOMENT|ACT|NUMBER"."""
        folder = self.state / "acts" / f"{entry} {act}".replace("|", " ")
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / "act").write_text(act + "\n")
            (folder / entry).hardlink_to(self.state / "bot")
        return BotSpec(act, folder, "binary", entry)

    def match(self, hostile: BotSpec) -> MatchSpec:
        """Return a match of one board against an honest bot, on fixed cards."""
        parties = (hostile, self.bot("never|nothing|0"))
        return MatchSpec("acts", GAME, b"s" * 32, "t1", range(1, 2), parties, limits=LIMITS, deals=1)

    def wrong(self, cell: Cell) -> list[str]:
        """Return what is wrong with the match of a cell; empty if nothing is."""
        return self.judge(self.bot(f"{cell.moment}|{cell.act}"), cell.tier, cell.ends)

    def judge(self, hostile: BotSpec, tier: str, ends: str) -> list[str]:
        """Return what is wrong with the match of a bot that must end as `ends` says."""
        if tier not in self.boxes:
            self.boxes[tier] = Sandbox(tier, self.state)
        try:
            result = play_match(self.match(hostile), self.boxes[tier])
        except Infrastructure as error:
            return [f"broken off: {error}"]
        blamed = [(fault.kind, fault.detail) for fault in result.parties[HOSTILE].faults]
        findings = [f"the honest bot was blamed: {fault}" for fault in result.parties[HONEST].faults]
        if ends != EITHER and bool(blamed) != (ends == FAULT):
            findings.append(f"it was blamed for {blamed}, but must be one that {ends}")
        board = result.boards[0]
        if not board.complete:
            findings.append("the board is not complete")
        for sitting, undisturbed in zip(board.sittings, self.undisturbed(tier), strict=True):
            seats = {fault.seat for fault in sitting.faults}
            due = forfeited(_game(), seats) if seats else undisturbed
            if sitting.scores != due:
                findings.append(f"the result is {sitting.scores}, not {due}")
        return findings

    def undisturbed(self, tier: str) -> list[list[int]]:
        """Return the scores by sitting of an undisturbed match: both kinds of bots choose the same actions."""
        if tier not in _honest:
            result = play_match(self.match(self.bot("never|nothing|0")), self.boxes[tier])
            assert not any(party.faults for party in result.parties), result.parties
            _honest[tier] = [sitting.scores for sitting in result.boards[0].sittings]
        return _honest[tier]


_honest: dict[str, list[list[int]]] = {}


@cache
def _game() -> engine.Game:
    return engine.load(GAME)


def main() -> None:
    """Play the cells on stdin."""
    table = Table(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(table.wrong(Cell(*line.rstrip("\n").split("\t")))), flush=True)


if __name__ == "__main__":
    main()
