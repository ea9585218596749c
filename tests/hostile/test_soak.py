"""`make soak`: house bots, crashing bots and hostile bots at the same tables for SOAK_S seconds, and then nothing is left.

Where SOAK_REPORT names a file, the numbers are written to it as JSON.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

import engine
from engine.runner import BotSpec, Infrastructure, MatchResult, MatchSpec, load_package
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from engine.sandbox.process import forkserver, spawn
from tests.engine.sandbox.support import REPOSITORY, StateDirectory
from tests.hostile import players, traces
from tests.hostile.arena import Surroundings
from tests.hostile.attacks import ATTACKS
from tests.support.bots import FRAME

SETTLED = 30  # matches until everything that is kept for ever has been loaded: games, runtimes, code
MEMORY_ROOM_MB = 24
ATTEMPTS = 3  # at a match that a fault of the platform breaks off, as in the league
CRASHES = {
    "exits": "def act(m): sys.exit(3)",
    "raises": "def act(m): raise ValueError('my mistake')",
    "aborts": "def act(m): os.abort()",
    "dies at the start": "def hello(m): sys.exit(1)",
    "dies at the end": "def end(m): os.abort()",
    "says nonsense": "def act(m): return 'I play the ace!\\n'",
    "plays what it has not": "def act(m): return json.dumps({'id': m['id'], 'do': 'bid 70'}) + '\\n'",
    "crashes in its third board": "def act(m):\n    return good(m) if counter < 20 else 1 / 0",
}
HONEST = "house"


class Field:
    """The bots of the soak by camp, and the numbers it keeps."""

    def __init__(self, folder: Path, around: Surroundings) -> None:
        self.camps: dict[str, list[BotSpec]] = {HONEST: [], "crashing": [], "hostile": []}
        for path in sorted((REPOSITORY / "bots/house").iterdir()):
            if path.is_dir() and not path.name.startswith("_"):
                self.camps[HONEST].append(load_package(path, folder / "packages"))
        for name, body in CRASHES.items():
            self._add("crashing", name, FRAME.format(body=body), folder)
        for number, (name, attack) in enumerate(sorted(ATTACKS.items())):
            self._add("hostile", name, players.source(attack, around, 1 + number % 7), folder)
        self.camp_of = {bot.sha256: camp for camp, bots in self.camps.items() for bot in bots}
        self.faults: Counter[str] = Counter()
        self.wronged: list[str] = []
        self.matches = self.boards = self.decisions = 0
        self.broken_off: list[str] = []

    def play(self, spec: MatchSpec, box: Sandbox) -> MatchResult:
        """Play the match, and again if the machine gave its bots no processor for a minute, as the league does."""
        for _ in range(1, ATTEMPTS):
            try:
                return play_match(spec, box)
            except Infrastructure as error:
                self.broken_off.append(str(error))
        return play_match(spec, box)

    def _add(self, camp: str, name: str, source: str, folder: Path) -> None:
        path = folder / f"{camp}-{len(self.camps[camp])}" / "bot.py"  # An attack may find this in its own directory
        path.parent.mkdir()
        path.write_text(source)
        self.camps[camp].append(load_package(path, folder / "packages"))

    def table(self, number: int, chance: random.Random) -> MatchSpec:
        """Draw a match of a random game with at least one house bot and, mostly, others."""
        game = engine.load(chance.choice(engine.game.games()))
        camps = {
            name: [bot for bot in bots if game.key in (bot.games or [game.key])] for name, bots in self.camps.items()
        }
        parties = [chance.choice(camps[HONEST])]
        while len(parties) < len(game.sides):
            camp = chance.choices(list(self.camps), weights=(2, 1, 3))[0]
            parties.append(chance.choice(camps[camp]))
        chance.shuffle(parties)
        return MatchSpec(
            match_id=f"soak-{number}",
            game=game.key,
            secret=chance.randbytes(32),
            table="soak",
            boards=range(1, chance.randint(1, 3) + 1),
            parties=tuple(parties),
            limits=players.LIMITS,
            deals=1,
        )

    def note(self, spec: MatchSpec, result: MatchResult) -> None:
        """Count what happened, and whether a house bot was blamed for anything."""
        self.matches += 1
        self.boards += sum(board.complete for board in result.boards)
        self.decisions += result.decisions
        for bot, party in zip(spec.parties, result.parties, strict=True):
            camp = self.camp_of[bot.sha256]
            for fault in party.faults:
                self.faults[f"{camp}: {fault.kind}"] += 1
                if camp == HONEST:
                    self.wronged.append(f"{spec.match_id} {spec.game} {bot.name}: {fault.kind}: {fault.detail}")
        if not all(board.complete for board in result.boards):
            self.wronged.append(f"{spec.match_id}: boards are missing")
        notes = [note for board in result.boards for sitting in board.sittings for note in sitting.replay["notes"]]
        self.wronged += [f"{spec.match_id}: {note}" for note in notes if players.OBTAINED in note["note"]]


def holdings(state: StateDirectory) -> dict[str, Any]:
    """Return what this process and its forkserver hold once the forkserver has forked its spares, each of which costs it a descriptor."""
    ours = [psutil.Process(), psutil.Process(spawn.ready())]
    until = time.monotonic() + 60
    while [child.name() for child in ours[1].children()] != [forkserver._SPARE_NAME] * forkserver._SPARES:
        assert time.monotonic() < until, ours[1].children()
        time.sleep(0.05)
    return {
        "descriptors": [process.num_fds() for process in ours],
        "memory_mb": [round(process.memory_info().rss / 2**20, 1) for process in ours],
        "traces": sorted(traces.collect(state.path)),
        "bytes_on_disk": sum(
            path.lstat().st_size for path in (state.path / "runtimes").rglob("*") if not path.is_dir()
        ),
    }


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_nothing_is_left_and_nobody_is_wronged(state: StateDirectory) -> None:
    seconds = float(os.environ.get("SOAK_S", "300"))
    tiers = [name for name, report in state.reports.items() if report.holds and name != "none"]
    assert tiers, state.reports
    boxes = [Sandbox(name, state.path) for name in tiers]
    chance = random.Random(int(os.environ.get("SOAK_SEED", "1")))
    with tempfile.TemporaryDirectory(prefix="hostile-") as scratch:
        around = Surroundings(Path(scratch))
        field = Field(state.path, around)
        began, before = time.monotonic(), {}
        while time.monotonic() - began < seconds or field.matches <= SETTLED:
            if field.matches == SETTLED:
                before = holdings(state)
            spec = field.table(field.matches, chance)
            field.note(spec, field.play(spec, boxes[field.matches % len(boxes)]))
        after = holdings(state)
        touched = around.touched()
        around.close()
    report = {
        "seconds": round(time.monotonic() - began),
        "tiers": tiers,
        "matches": field.matches,
        "boards": field.boards,
        "decisions": field.decisions,
        "faults": dict(sorted(field.faults.items())),
        "broken_off": field.broken_off,
        "wronged": field.wronged,
        "touched": touched,
        "before": before,
        "after": after,
    }
    print(json.dumps(report, indent=1))
    if os.environ.get("SOAK_REPORT"):
        Path(os.environ["SOAK_REPORT"]).write_text(json.dumps(report, indent=1) + "\n")

    assert field.wronged == []
    assert [reason for reason in field.broken_off if "this machine is overloaded" not in reason] == []
    assert touched == []
    assert sum(count for kind, count in field.faults.items() if not kind.startswith(HONEST)) > 0
    assert (after["traces"], after["descriptors"]) == (before["traces"], before["descriptors"])
    assert after["bytes_on_disk"] == before["bytes_on_disk"]
    grown = [now - then for now, then in zip(after["memory_mb"], before["memory_mb"], strict=True)]
    assert max(grown) < MEMORY_ROOM_MB, grown
