"""The referee's memory does not grow with the matches it has played."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLAYS = """
import gc, sys, tempfile
from pathlib import Path
from engine.runner import Limits, MatchSpec, load_package
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.support.bots import HONEST

matches, boards, tier, state_dir = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
(state_dir / "honest.py").write_text(HONEST)
bot = load_package(state_dir / "honest.py", state_dir / "packages")
box = Sandbox(tier, state_dir)

def resident_kib():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

for number in range(matches):
    spec = MatchSpec(f"m{number}", "partnership", b"s" * 32, f"t{number}", range(1, boards + 1), (bot, bot), limits=Limits())
    result = play_match(spec, box)
    assert not any(party.faults for party in result.parties)
    del result
    print(resident_kib(), len(list(Path("/proc/self/fd").iterdir())), flush=True)
"""


def played(matches: int, boards: int, tier: str, state_dir: Path) -> list[tuple[int, int]]:
    """Return (resident KiB, open files) after each match of a process that plays them one after another."""
    process = subprocess.run(
        [sys.executable, "-c", PLAYS, str(matches), str(boards), tier, str(state_dir)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=3000,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return [(int(kib), int(files)) for kib, files in (line.split() for line in process.stdout.splitlines())]


@pytest.mark.slow
def test_memory_is_flat_from_match_to_match(state_dir: Path) -> None:
    """384 deals; the first matches fill caches: the texts of actions, tables of cards."""
    usage = played(8, 24, "none", state_dir)

    assert max(kib for kib, _ in usage[4:]) - usage[3][0] < 1024
    assert len({files for _, files in usage[1:]}) == 1


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_memory_is_flat_over_ten_thousand_deals(state_dir: Path) -> None:
    usage = played(50, 100, "auto", state_dir)

    after_1000, after_10000 = usage[4][0], usage[-1][0]
    print([kib for kib, _ in usage])
    print(f"resident after 1,000 deals {after_1000} KiB, after 10,000 deals {after_10000} KiB")
    assert after_10000 - after_1000 < 2048
    assert len({files for _, files in usage[1:]}) == 1
