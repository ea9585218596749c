"""Measure how much a slow bot delays the others: two real workers, sandboxed bots, PostgreSQL.

    .venv/bin/python benchmarks/slow.py

The slow bot may hold half of the workers, so the others take at most twice as long, however many of its matches wait.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.league import on_postgres  # noqa: E402

SLEEPER = b"""import time
from tute_bot import Bot, run


class Slow(Bot):
    def act(self, view, legal):
        time.sleep(0.1)
        return legal[0]


run(Slow())
"""


def slow() -> None:
    """Measure the round robin of the other bots, alone and queued behind the matches of a slow bot, with two real workers."""
    from league.domain.bots import bots
    from league.domain.core import transitions
    from league.domain.people import players
    from league.models import Match
    from tests.support.league import accepted, started

    owners = [players.create(f"player-{i}") for i in range(2)]
    versions = [accepted(owners[0], f"bot-{i}", games=("partnership",)) for i in range(4)]
    late = bots.upload(owners[1], "slow", SLEEPER, "bot.py", ["partnership"])
    Match.objects.filter(kind="validation").update(status="cancelled")
    transitions.move(late, "accepted", now=late.created)
    folder = Path(tempfile.mkdtemp(prefix="tute-bench-"))
    folder.chmod(0o755)
    command, environment = [sys.executable, "manage.py", "worker"], {**os.environ, "STATE_DIR": str(folder)}
    quiet = subprocess.DEVNULL
    running = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet) for _ in range(2)]

    def lasts(name: str) -> float:
        """Return the seconds that a round robin of the four bots takes, from its first match to its last."""
        cup = started(owners[0], versions, boards=4, name=name)
        while cup.matches.exclude(status="finished").exists():
            time.sleep(0.1)
        times = cup.matches.values_list("started", "finished")
        return (max(end for _, end in times) - min(begin for begin, _ in times)).total_seconds()

    try:
        lasts("Warm")
        alone = lasts("Alone")
        slower = [started(owners[1], [late, other], boards=4, name=f"Slow {i}") for i, other in enumerate(versions)]
        Match.objects.filter(tournament__in=slower).update(virtual_s=0)
        while not Match.objects.filter(tournament__in=slower, status="running").exists():
            time.sleep(0.05)
        beside = lasts("Beside")
        unfinished = Match.objects.filter(tournament__in=slower).exclude(status="finished").count()
    finally:
        for worker in running:
            worker.terminate()
        for worker in running:
            worker.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
    print("| 6 matches of 4 boards, two workers | seconds | times alone |\n| --- | ---: | ---: |")
    print(f"| nothing else waits | {alone:.1f} | 1 |")
    print(
        f"| four matches of a slow bot stand before them, {unfinished} are left at the end | {beside:.1f} | {beside / alone:.2f} |"
    )


if __name__ == "__main__":
    on_postgres("slow", "slow")
