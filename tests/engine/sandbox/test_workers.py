"""Several workers at once, and workers that die."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.sandbox import NoFreeUser, Policy, Sandbox, SandboxError
from engine.sandbox.cgroups import placing, reservations, slots
from tests.engine.sandbox.support import StateDirectory, elsewhere, gone, running, worker

HOLD = """
import sys
from engine.sandbox.cgroups import slots
held = [slots.acquire() for _ in range(10)]
print(*[slot.user for slot in held], flush=True)
sys.stdin.read()
"""

RUNNER = """
import sys, time
from pathlib import Path
from engine.sandbox import NoFreeUser, Policy, Sandbox, SandboxError
from engine.sandbox.files import runtimes
state = Path(sys.argv[2])
box = Sandbox(sys.argv[1], state)
bots = [box.start(Path(sys.argv[3]), runtimes.python(state), "bot.py", Policy()) for _ in range(3)]
bots[0].freeze()
print(*[bot.pid for bot in bots], flush=True)
time.sleep(60)
"""


@pytest.fixture
def own_slots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other processes of this machine take slots and give them back meanwhile."""
    monkeypatch.setenv(reservations.SETTING, str(tmp_path))


@pytest.mark.skipif(os.getuid() != 0, reason="only a worker that is root has users for bots")
@pytest.mark.usefixtures("own_slots")
def test_concurrent_workers_never_share_a_slot() -> None:
    """Not those in other network namespaces either, as containers have them."""
    workers = [worker(HOLD, before=before) for before in ((), (), *[elsewhere("--net")] * 2)]
    users = [int(word) for each in workers for word in each.stdout.readline().split()]
    for each in workers:
        each.communicate("", timeout=60)

    assert len(set(users)) == len(users) == 40
    assert set(users) <= set(slots.users())


def free_users() -> set[int]:
    """Acquire every slot that is free, and release them again."""
    acquired: list[slots.Slot] = []
    with contextlib.suppress(SandboxError):
        acquired.extend(iter(slots.acquire, None))
    for slot in acquired:
        slot.release()
    return {slot.user for slot in acquired}


@pytest.mark.usefixtures("own_slots")
def test_a_slot_is_free_again_when_its_holder_lets_go_or_dies() -> None:
    everybody = set(slots.users())
    first, second = slots.acquire(), slots.acquire()
    assert free_users() == everybody - {first.user, second.user}
    first.release()
    first.release()
    assert free_users() == everybody - {second.user}
    second.release()

    holder = worker(HOLD)
    users = {int(word) for word in holder.stdout.readline().split()}
    assert free_users() == everybody - users
    holder.kill()
    holder.communicate(timeout=60)
    assert free_users() == everybody


@pytest.mark.usefixtures("own_slots")
def test_bots_of_tables_leave_a_quarter_of_the_users_to_matches() -> None:
    most = int(slots.SHARE * len(slots.users()))
    assert most >= 200 * 2.5, "a machine seats two hundred tables"
    acquired = [slots.acquire(leaves_room=True) for _ in range(most)]
    with pytest.raises(NoFreeUser, match=f"all {most} bot users"):
        slots.acquire(leaves_room=True)
    assert len(free_users()) == len(slots.users()) - most
    acquired.pop().release()
    acquired.append(slots.acquire(leaves_room=True))
    for slot in acquired:
        slot.release()


@pytest.mark.parametrize(
    ("uid_map", "users"),
    [
        ("0 0 4294967295", slots.USERS),
        ("0 1000 1\n1 100000 65536", slots.FEW_USERS),
        ("0 100000 65536", slots.FEW_USERS),
        ("0 1000 66500", slots.FEW_USERS),
        ("0 0 1000\n66000 66000 1000", slots.USERS),
    ],
)
def test_a_container_that_maps_fewer_users_has_fewer(uid_map: str, users: range, tmp_path: Path) -> None:
    (tmp_path / "uid_map").write_text(uid_map)
    assert slots.users(tmp_path / "uid_map") == users


@pytest.mark.usefixtures("own_slots")
def test_a_user_is_drawn_by_chance() -> None:
    """A bot reads its own number: that must not tell how many others there are, nor whether it sits in a match or in an audit."""
    drawn = []
    for _ in range(12):
        slot = slots.acquire()
        drawn.append(slot.user)
        slot.release()

    assert len(set(drawn)) > 6


def test_slots_of_a_folder_that_others_can_change_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(reservations.SETTING, str(tmp_path))
    slots.acquire().release()
    (tmp_path / "users").chmod(0o777)
    with pytest.raises(SandboxError, match="does not belong to this user alone"):
        slots.acquire()


@pytest.mark.skipif(os.getuid() != 0, reason="only a worker that is root has users for bots")
def test_a_container_that_shares_nothing_takes_users_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(reservations.SETTING, raising=False)
    users = []
    for _ in range(2):
        holder = worker(HOLD, before=elsewhere("--ipc"))
        users.append([int(word) for word in holder.stdout.readline().split()])
        holder.communicate("", timeout=60)
    for users_of_worker in users:
        assert len(set(users_of_worker)) == 10
        assert set(users_of_worker) <= set(slots.users())
    assert users[0] != users[1]


def test_bots_die_with_a_worker_that_is_killed(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import time\ntime.sleep(60)\n")
    assert state.python.root.is_dir()
    for tier in tiers_here:
        runner = worker(RUNNER, tier, str(state.path), str(directory))
        bots = [int(word) for word in runner.stdout.readline().split()]
        assert len(bots) == 3
        assert all(map(running, bots))

        os.kill(runner.pid, signal.SIGKILL)
        runner.communicate(timeout=60)
        gone(bots)


@pytest.mark.skipif(os.getuid() != 0, reason="only the bots of a worker that is root are copied")
def test_the_next_worker_removes_what_a_killed_one_left_and_nothing_that_lives(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = state.python.root / "bot"
    box = Sandbox(tiers_here[0], state.path)
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    runner = worker(RUNNER, tiers_here[0], str(state.path), str(directory))
    assert runner.stdout
    assert len(runner.stdout.readline().split()) == 3, "the worker has started no bots"
    runner.kill()
    runner.communicate(timeout=60)
    assert len(list(copies.iterdir())) >= 3
    # Copies of tests in another kernel
    others = {path for path in copies.iterdir() if path.name[16:] != placing._mark(path.name[:16])}
    beginning = copies / (
        "b" * 16 + placing._mark("b" * 16)
    )  # A worker in a container with the same volume, about to start a bot
    elsewhere = copies / ("e" * 32)  # One in a virtual machine, whose lock is not visible here
    for path in (beginning, elsewhere):
        path.mkdir()
    lock = os.open(beginning, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    with box.start(directory, state.python, "bot.py", Policy()) as process:
        Sandbox(tiers_here[0], state.path)
        playing = set(copies.iterdir()) - others - {beginning, elsewhere}
        assert len(playing) == 1
        assert {beginning, elsewhere} < set(copies.iterdir())
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"
    os.close(lock)
    Sandbox(tiers_here[0], state.path)
    assert set(copies.iterdir()) == others | {elsewhere}
    monkeypatch.setattr(placing, "_LONGER_THAN_A_MATCH_S", -1)  # A week later
    Sandbox(tiers_here[0], state.path)
    assert elsewhere not in set(copies.iterdir())


@pytest.mark.slow
def test_no_sweep_takes_what_is_being_claimed(tmp_path: Path) -> None:
    """Two threads claim and two sweep, all the time: a claimed copy exists and is locked until it is released."""
    copies = tmp_path / "python" / "bot"
    copies.mkdir(parents=True)
    finished = threading.Event()
    swept: list[int] = []

    def sweeping() -> None:
        while not finished.is_set():
            swept.append(placing.sweep(tmp_path))

    def claiming(number: int) -> list[str]:
        wrong = []
        for _ in range(300):
            place, lock = placing._claim(copies)
            (place / "bot.py").write_text("")
            if not os.path.samestat(os.fstat(lock), place.stat()):
                wrong.append(place.name)
            os.close(lock)
            if number % 2:
                shutil.rmtree(place, ignore_errors=True)
        return wrong

    with ThreadPoolExecutor() as pool:
        sweepers = [pool.submit(sweeping) for _ in range(2)]
        claims = [pool.submit(claiming, number) for number in range(2)]
        errors = [claim.result() for claim in claims]
        finished.set()
        for sweeper in sweepers:
            sweeper.result()

    assert errors == [[], []]
    assert sum(swept) > 0
