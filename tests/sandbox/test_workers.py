"""Several workers at once, and workers that die."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.sandbox import Policy, Sandbox, SandboxError, slots, spawn, tier_namespaces
from engine.sandbox.rights import SYS_ADMIN, effective
from engine.sandbox.tiers import start
from tests.sandbox.support import REPOSITORY, StateDirectory

HOLD = """
import sys
from engine.sandbox import slots
slots.NAME = sys.argv[1]
held = [slots.acquire() for _ in range(10)]
print(*[slot.user for slot in held], flush=True)
sys.stdin.read()
"""

RUNNER = """
import sys, time
from pathlib import Path
from engine.sandbox import Policy, Sandbox, runtimes
state = Path(sys.argv[2])
box = Sandbox(sys.argv[1], state)
bots = [box.start(Path(sys.argv[3]), runtimes.python(state), "bot.py", Policy()) for _ in range(3)]
bots[0].freeze()
print(*[bot.pid for bot in bots], flush=True)
time.sleep(60)
"""


def worker(source: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", source, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.fixture
def own_slots(monkeypatch: pytest.MonkeyPatch) -> str:
    """Other processes of this machine take slots and give them back meanwhile."""
    monkeypatch.setattr(slots, "NAME", f"tute-test-{os.getpid()}-")
    return slots.NAME


def test_concurrent_workers_never_share_a_slot(own_slots: str) -> None:
    workers = [worker(HOLD, own_slots) for _ in range(4)]
    users = [int(word) for each in workers for word in each.stdout.readline().split()]
    for each in workers:
        each.communicate("", timeout=60)

    assert sorted(users) == list(range(slots.FIRST_USER, slots.FIRST_USER + 40))


def test_a_slot_is_free_again_when_its_holder_lets_go_or_dies(own_slots: str) -> None:
    first = slots.acquire()
    second = slots.acquire()
    assert (first.user, second.user) == (slots.FIRST_USER, slots.FIRST_USER + 1)
    first.release()
    first.release()
    again = slots.acquire()
    assert again.user == first.user
    again.release()
    second.release()

    holder = worker(HOLD, own_slots)
    users = {int(word) for word in holder.stdout.readline().split()}
    while_held = slots.acquire()
    assert while_held.user == max(users) + 1
    while_held.release()
    holder.kill()
    holder.communicate(timeout=60)
    freed = slots.acquire()
    assert freed.user == min(users)
    freed.release()


def test_bots_die_with_a_worker_that_is_killed(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import time\ntime.sleep(60)\n")
    assert state.python.root.is_dir()
    for tier in tiers_here:
        runner = worker(RUNNER, tier, str(state.path), str(directory))
        bots = [int(word) for word in runner.stdout.readline().split()]
        assert len(bots) == 3 and all(map(running, bots))

        os.kill(runner.pid, signal.SIGKILL)
        runner.communicate(timeout=60)
        _gone(bots)


@pytest.mark.skipif(os.getuid() != 0, reason="only the bots of a worker that is root are copied")
def test_the_next_worker_removes_what_a_killed_one_left_and_nothing_that_lives(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    copies = state.python.root / "bot"
    box = Sandbox(tiers_here[0], state.path)
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    runner = worker(RUNNER, tiers_here[0], str(state.path), str(directory))
    assert runner.stdout
    runner.stdout.readline()
    runner.kill()
    runner.communicate(timeout=20)
    assert len(list(copies.iterdir())) >= 3
    beginning = (
        copies / f"{slots.FIRST_USER}-1"
    )  # of a worker in a container with the same volume, about to start a bot
    beginning.mkdir()
    lock = os.open(beginning, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    with box.start(directory, state.python, "bot.py", Policy()) as process:
        Sandbox(tiers_here[0], state.path)
        playing = copies / f"{process.user}-{slots.realm()}"
        assert set(copies.iterdir()) == {playing, beginning}
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"
    os.close(lock)
    Sandbox(tiers_here[0], state.path)
    assert not list(copies.iterdir())


LEAVES_A_CHILD = "sleep 300 & echo $!; read line; kill -9 $$"
PLAN = {
    "groups": [],
    "own_network": False,
    "core": None,
    "limits": [],
    "root": None,
    "user": None,
    "refuse_root": False,
    "drop_capabilities": False,
    "no_new_privileges": True,
    "directory": "/",
    "landlock": None,
    "filter": None,
    "numbers": {},
    "argv": ["/bin/sh", "-c", LEAVES_A_CHILD],
    "environment": {"PATH": "/usr/bin:/bin"},
}


def test_a_wrapper_that_dies_too_early_leaves_no_process() -> None:
    """Bubblewrap, killed while it sets up, leaves a child that waits for it for ever."""
    started = spawn.launch(PLAN)
    left = int(_line(started.stdout))
    assert running(left)

    os.write(started.stdin, b"\n")
    assert started.child.collect(60)
    started.discard()

    _gone([left])


def test_a_wrapper_that_dies_with_the_nursery_leaves_no_process() -> None:
    """As the kernel may choose just that process when memory runs out."""
    started = spawn.launch(PLAN)
    left = int(_line(started.stdout))

    os.kill(spawn.ready(), signal.SIGKILL)
    assert started.child.collect(60)
    started.discard()

    _gone([left])


def test_no_process_outlives_the_worker_whose_wrapper_made_it() -> None:
    runner = worker(f"""
import os, time
from engine.sandbox import spawn
started = spawn.launch({PLAN!r})
os.set_blocking(started.stdout, True)
print(os.read(started.stdout, 100).decode(), flush=True)
time.sleep(60)
""")
    assert runner.stdout
    left = int(runner.stdout.readline())
    assert running(left)

    runner.kill()
    runner.communicate(timeout=60)

    _gone([left])


def _line(descriptor: int) -> bytes:
    os.set_blocking(descriptor, True)
    return os.read(descriptor, 100)


def _gone(pids: list[int]) -> None:
    until = time.monotonic() + 60
    while any(map(running, pids)) and time.monotonic() < until:
        time.sleep(0.005)
    assert not [pid for pid in pids if running(pid)]


def test_a_worker_goes_on_when_its_nursery_was_killed(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    """Its bots are lost, by no fault of theirs; the next one is started by a new nursery."""
    box = Sandbox(tiers_here[0], state.path)
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    lost = box.start(directory, state.python, "bot.py", Policy())
    os.kill(spawn.ready(), signal.SIGKILL)
    with pytest.raises(SandboxError, match="killed from outside"):
        lost.read_line(5, 10)
    lost.close()
    assert not running(lost.pid)

    with box.start(directory, state.python, "bot.py", Policy()) as process:
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"


def test_a_forked_worker_has_a_nursery_of_its_own(state: StateDirectory, bot: Callable[[str], Path]) -> None:
    """As Celery forks its workers from a process that may have checked the sandbox."""
    ours = spawn.ready()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if spawn.ready() != ours else 1)
        finally:
            os._exit(2)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert spawn.ready() == ours


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def spares_of(nursery: int) -> list[int]:
    """Children that a nursery keeps ready, once it has as many as it wants."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        pids = children(nursery)
        names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids]
        if names.count("tute-spare") == 4:
            return [pid for pid, name in zip(pids, names, strict=True) if name == "tute-spare"]
        time.sleep(0.01)
    raise AssertionError(f"no spares: {names}")


def test_spares_hold_nothing_and_die_with_the_nursery(state: StateDirectory) -> None:
    holder = worker("import sys\nfrom engine.sandbox import spawn\nprint(spawn.ready(), flush=True)\nsys.stdin.read()")
    assert holder.stdout
    nursery = int(holder.stdout.readline())
    spares = spares_of(nursery)
    for pid in spares:
        held = {path.readlink() for path in Path(f"/proc/{pid}/fd").iterdir()}
        assert sorted(str(link).partition(":")[0] for link in held) == ["/dev/null", "socket"]

    os.kill(nursery, signal.SIGKILL)
    holder.communicate("", timeout=60)
    until = time.monotonic() + 60
    while any(map(running, spares)) and time.monotonic() < until:
        time.sleep(0.005)

    assert not any(map(running, spares))


NETWORK = {"argv": ["/bin/sh", "-c", "readlink /proc/self/ns/net; read line"]}


def network_of(plan: dict[str, object]) -> str:
    """The network in which a started program finds itself."""
    started = spawn.launch(PLAN | NETWORK | plan)
    try:
        return _line(started.stdout).decode().strip()
    finally:
        started.discard()


def test_who_wants_a_network_of_its_own_gets_it_and_nobody_else_by_accident() -> None:
    """Of a spare, which has left ours already where it may, and of a child that was forked for it."""
    ours = str(Path("/proc/self/ns/net").readlink())
    for _ in range(5):  # one more than there are spares
        spares_of(spawn.ready())
        assert network_of({}) == ours
    for _ in range(6):
        if effective(SYS_ADMIN):
            assert network_of({"own_network": True}) != ours
        else:
            with pytest.raises(SandboxError, match=r"failed at choose_network: .*not permitted"):
                network_of({"own_network": True})


def test_a_bot_that_was_left_in_our_network_is_stopped(
    state: StateDirectory, bot: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tier_namespaces.launch
    command = tier_namespaces.command
    monkeypatch.setattr(tier_namespaces, "command", lambda *order, own_network: command(*order, own_network=True))
    monkeypatch.setattr(tier_namespaces, "launch", lambda plan, keep: real(plan | {"own_network": False}, keep=keep))
    directory = bot("import sys\nsys.stdin.read()\n")

    with pytest.raises(SandboxError, match="it shares our net namespace"):
        start(tier_namespaces.NAME, directory, state.python, "bot.py", Policy())


@pytest.mark.parametrize("free", range(12))
def test_a_nursery_out_of_descriptors_says_so_and_leaves_nobody(free: int) -> None:
    """Wherever they run out: seven come with a request, and a handle is opened when the bot is there already."""
    nursery = spawn.ready()
    spares_of(nursery)
    plan = PLAN | {"argv": ["/bin/sh", "-c", "read line"]}
    table = [spawn.launch(plan) for _ in range(4)]  # while they live there are no spares, whose links would be let go
    there = set(children(nursery))
    used = {int(name) for name in os.listdir(f"/proc/{nursery}/fd")}  # noqa: PTH208
    soft, hard = resource.prlimit(nursery, resource.RLIMIT_NOFILE)
    last = [number for number in range(soft) if number not in used][free]
    resource.prlimit(nursery, resource.RLIMIT_NOFILE, (last, hard))
    try:
        started = spawn.launch(plan)
    except SandboxError as error:
        assert "open files" in str(error)
    else:
        started.discard()
    if spawn.ready() == nursery:
        resource.prlimit(nursery, resource.RLIMIT_NOFILE, (soft, hard))
        assert set(children(nursery)) == there
    for program in table:
        program.discard()


def test_a_spare_that_was_killed_is_replaced(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    nursery = spawn.ready()
    spares = spares_of(nursery)
    for pid in spares:
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 60
    while any(map(running, spares)) and time.monotonic() < until:
        time.sleep(0.005)

    with Sandbox(tiers_here[0], state.path).start(directory, state.python, "bot.py", Policy()) as process:
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"
    assert len(spares_of(nursery)) == 4
