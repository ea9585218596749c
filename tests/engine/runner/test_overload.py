"""A machine that is too busy, or stands still, costs no honest bot its match."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.runner import BotSpec, Limits
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import match

ROOT = Path(__file__).resolve().parents[3]
THINKS = (
    "def act(m):\n    until = time.process_time() + {cpu_s} * (m['id'] < 3)\n"
    "    while time.process_time() < until: pass\n    return good(m)"
)
# The wall-clock cap of an answer is 0.45 s.
TIGHT = Limits(start_s=2.0, move_s=0.3, bank_s=0.1, wall_factor=1.0, wall_extra_s=0.05)


@contextmanager
def busy(core: int, number: int) -> Iterator[None]:
    """Run `number` busy programs on a core, each in a session of its own, because some kernels share a core out by sessions."""
    others = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass",
            ],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in range(number)
    ]
    try:
        for other in others:
            assert other.stdout
            other.stdout.readline()
        yield
    finally:
        for other in others:
            other.kill()
            other.communicate()


@pytest.mark.slow
def test_other_programs_on_the_core_cost_nobody_a_match(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    core = max(os.sched_getaffinity(0))
    thinks = make(THINKS.format(cpu_s=0.25), name="thinks")
    spec = match(thinks, honest, boards=1, limits=TIGHT)

    with busy(core, 4):
        result = play_match(spec, box, core=core)

    assert [report.faults for report in result.parties] == [[], []]
    # the cap would have ended it, had all the time counted
    slowest = max(max(sitting.replay["timings"]["wall"]) for sitting in result.boards[0].sittings)
    assert slowest > 1e6 * TIGHT.wall_s(TIGHT.move_s + TIGHT.bank_s)


@pytest.mark.slow
def test_a_bot_that_only_waits_is_cut_off_on_a_busy_core_too(box: Sandbox, make: Maker, honest: BotSpec) -> None:
    core = max(os.sched_getaffinity(0))
    waits = make("def act(m): time.sleep(3600)", name="waits")

    with busy(core, 3):
        result = play_match(match(waits, honest, boards=1, limits=TIGHT), box, core=core)

    assert result.parties[0].fault == "timeout"
    assert result.parties[1].faults == []


PLAYS = """
import json, sys
from pathlib import Path
from engine.runner import BotSpec, Limits
from engine.runner.match import play_match
from engine.sandbox import Sandbox
from tests.support.bots import match
given = json.loads(sys.argv[1])
bots = [BotSpec(bot["name"], Path(bot["path"]), "python", bot["entry"]) for bot in given["bots"]]
box = Sandbox(given["tier"], Path(given["state_dir"]))
print("ready", flush=True)
result = play_match(match(*bots, boards=1, limits=Limits(**given["limits"])), box)
print(json.dumps([[fault.kind + ": " + fault.detail for fault in party.faults] for party in result.parties]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["the worker", "the worker and all its processes"])
def test_a_worker_that_stands_still_costs_nobody_a_match(whom: str, box: Sandbox, make: Maker, honest: BotSpec) -> None:
    thinks = make(THINKS.format(cpu_s=0.2), name="thinks")
    bots = [{"name": bot.name, "path": str(bot.path), "entry": bot.entry} for bot in (thinks, honest)]
    arguments = {"bots": bots, "tier": box.tier, "state_dir": str(box.state_dir), "limits": vars(TIGHT)}
    with subprocess.Popen(
        [sys.executable, "-c", PLAYS, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
        stops = 0
        while worker.poll() is None and stops < 4:
            time.sleep(0.35)
            below = descendants(worker.pid) if "all" in whom else []
            for pid in [worker.pid, *below]:
                send(pid, signal.SIGSTOP)
            time.sleep(1.3)
            for pid in [*below, worker.pid]:
                send(pid, signal.SIGCONT)
            stops += 1
        output = worker.stdout.read()

    assert json.loads(output) == [[], []]
    assert stops >= 2


def descendants(pid: int) -> list[int]:
    pids = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    for child in children:
        pids += [child, *descendants(child)]
    return pids


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
