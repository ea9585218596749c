"""The process that starts bots: its spares, the networks they are in, and the remains after it or the worker dies."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.sandbox import Policy, Sandbox, SandboxError
from engine.sandbox.cgroups import slots
from engine.sandbox.cgroups.rights import SYS_ADMIN, effective
from engine.sandbox.process import spawn, strays
from engine.sandbox.tiers import namespaces
from engine.sandbox.tiers.choosing import start
from tests.engine.sandbox.support import StateDirectory, gone, running, worker
from tests.support.processes import wait_for


def _line(descriptor: int) -> bytes:
    os.set_blocking(descriptor, True)
    return os.read(descriptor, 100)


LEAVES_A_CHILD = "sleep 300 & echo $!; read line; kill -9 $$"
LEAVES_A_SESSION = "setsid sh -c 'echo $$; exec sleep 300' & read line; kill -9 $$"
PLAN = {
    "groups": [],
    "own_network": False,
    "core": None,
    "limits": [],
    "root": None,
    "user": None,
    "refuse_root": False,
    "drop_capabilities": False,
    "program": None,
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
    orphan = int(_line(started.stdout))
    assert running(orphan)

    os.write(started.stdin, b"\n")
    assert started.child.collect(60)
    started.discard()

    gone([orphan])


@pytest.mark.skipif(os.getuid() != 0, reason="only the bots of a worker that is root have users of their own")
def test_the_next_worker_ends_what_a_killed_one_left_under_a_bots_user_and_nothing_that_lives(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    """It is in a session of its own, like bubblewrap's child once it has reported its number."""
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    started = spawn.launch({**PLAN, "user": slots.users()[-1], "argv": ["/bin/sh", "-c", LEAVES_A_SESSION]})
    orphan = int(_line(started.stdout))
    box = Sandbox(tiers_here[0], state.path)
    assert running(orphan)  # its wrapper, a child of the forkserver, lives

    with box.start(directory, state.python, "bot.py", Policy()) as process:
        os.write(started.stdin, b"\n")
        assert started.child.collect(60)
        started.discard()
        assert running(orphan)
        Sandbox(tiers_here[0], state.path)
        gone([orphan])
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"


OTHER_RELEASE = """
import os, sys
from engine.sandbox.process import spawn
from tests.engine.sandbox.test_forkserver import PLAN, _line, slots
spawn._BOOT += "# Another release has another text."
started = spawn.launch({**PLAN, "user": slots.users()[-1], "argv": ["/bin/sh", "-c", "echo ready; exec cat"]})
assert _line(started.stdout) == b"ready\\n"
print(started.child.pid, flush=True)
os.write(started.stdin, sys.stdin.readline().encode())
print(_line(started.stdout).decode(), end="", flush=True)
started.discard()
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only the bots of a worker that is root have users of their own")
def test_a_worker_leaves_the_bots_of_another_release_alone() -> None:
    """Workers of two releases share a machine during an upgrade."""
    words = [sys.executable, "-c", OTHER_RELEASE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        bot = int(other.stdout.readline())
        strays.clear()
        assert other.communicate("play 1o\n", timeout=60)[0] == "play 1o\n"
    gone([bot])


def test_a_wrapper_that_dies_with_the_forkserver_leaves_no_process() -> None:
    """The kernel may choose just that process when memory runs out."""
    started = spawn.launch(PLAN)
    orphan = int(_line(started.stdout))

    os.kill(spawn.ready(), signal.SIGKILL)
    assert started.child.collect(60)
    started.discard()

    gone([orphan])


def test_no_process_outlives_the_worker_whose_wrapper_made_it() -> None:
    runner = worker(f"""
import os, time
from engine.sandbox.process import spawn
started = spawn.launch({PLAN!r})
os.set_blocking(started.stdout, True)
print(os.read(started.stdout, 100).decode(), flush=True)
time.sleep(60)
""")
    assert runner.stdout
    orphan = int(runner.stdout.readline())
    assert running(orphan)

    runner.kill()
    runner.communicate(timeout=60)

    gone([orphan])


ASKING = f"""
import os, signal, sys, threading, time
from engine.sandbox.process import spawn
PLAN = {PLAN!r}
started = spawn.launch(PLAN)
os.set_blocking(started.stdout, True)
left = os.read(started.stdout, 100).decode().strip()
forkserver = spawn.ready()
os.kill(forkserver, signal.SIGSTOP)
threading.Thread(target=lambda: spawn.launch(PLAN), daemon=True).start()
time.sleep(0.3)
print(left, forkserver, flush=True)
time.sleep(60)
"""


def test_no_process_outlives_a_worker_that_dies_while_it_asks_for_a_bot() -> None:
    runner = worker(ASKING)
    assert runner.stdout
    orphan, forkserver = map(int, runner.stdout.readline().split())

    runner.kill()
    runner.communicate(timeout=60)
    os.kill(forkserver, signal.SIGCONT)

    gone([orphan, forkserver])


def test_a_worker_goes_on_when_its_forkserver_was_killed(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    """Its bots are lost, by no fault of theirs; the next one is started by a new forkserver."""
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


def test_a_forked_worker_has_a_forkserver_of_its_own(state: StateDirectory, bot: Callable[[str], Path]) -> None:
    """Celery forks its workers from a process that may have checked the sandbox."""
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


def name_of(pid: int) -> str:
    """Name of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def woken() -> int:
    """Process id of our forkserver, with all its spares: after a minute without bots it has none."""
    spawn.launch(WAITS).discard()
    forkserver = spawn.ready()
    spares_of(forkserver)
    return forkserver


def spares_of(forkserver: int) -> list[int]:
    """Children that a forkserver keeps ready, once it has as many as it wants."""

    def all_of_them() -> list[int]:
        spares = [pid for pid in children(forkserver) if name_of(pid) == "tute-spare"]
        return spares if len(spares) == 4 else []

    return wait_for(all_of_them, "four spares", 60, every=0.01)


def kinds_of_links(pid: int) -> list[str]:
    """Kinds of the descriptors of a process; one that closes meanwhile, such as that of its name, is left out."""
    links = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.add(str(path.readlink()).partition(":")[0])
    return sorted(links)


def test_spares_hold_nothing_and_die_with_the_forkserver(state: StateDirectory) -> None:
    holder = worker(
        "import sys\nfrom engine.sandbox.process import spawn\nprint(spawn.ready(), flush=True)\nsys.stdin.read()"
    )
    assert holder.stdout
    forkserver = int(holder.stdout.readline())
    spares = spares_of(forkserver)
    for pid in spares:
        wait_for(lambda pid=pid: kinds_of_links(pid) == ["/dev/null", "socket"], "a spare to close the rest", 60)

    os.kill(forkserver, signal.SIGKILL)
    holder.communicate("", timeout=60)
    gone(spares)


WAITS = PLAN | {"argv": ["/bin/sh", "-c", "read line"]}
NETWORK = {"argv": ["/bin/sh", "-c", "readlink /proc/self/ns/net; read line"]}


def network_of(plan: dict[str, object]) -> str:
    """Return the network in which a started program finds itself."""
    started = spawn.launch(PLAN | NETWORK | plan)
    try:
        return _line(started.stdout).decode().strip()
    finally:
        started.discard()


@pytest.mark.parametrize("forked", [False, True], ids=["spare", "forked"])
def test_who_wants_a_network_of_its_own_gets_it_and_nobody_else_by_accident(forked: bool) -> None:
    """A spare may have left our network already; beside a table of four a child is forked, which has not."""
    ours = str(Path("/proc/self/ns/net").readlink())
    table = [spawn.launch(WAITS) for _ in range(4 if forked else 0)]
    try:
        for own_network in (True, False, True, True, False, False, None):
            if not forked:
                woken()
            if own_network and not effective(SYS_ADMIN):
                with pytest.raises(SandboxError, match=r"failed at choose_network: .*not permitted"):
                    network_of({"own_network": own_network})
                continue
            network = network_of({"own_network": own_network})
            assert network.startswith("net:[")
            assert own_network is None or (network != ours) == own_network
    finally:
        for program in table:
            program.discard()


def test_a_bot_that_was_left_in_our_network_is_stopped(
    state: StateDirectory, bot: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tiers_here: list[str]
) -> None:
    if namespaces.TIER.name not in tiers_here:
        pytest.skip("namespaces does not hold here, as the summary says")
    real = namespaces.launch
    command = namespaces.command
    monkeypatch.setattr(namespaces, "command", lambda *order, **how: command(*order, **how | {"own_network": True}))
    monkeypatch.setattr(namespaces, "launch", lambda plan, **how: real(plan | {"own_network": False}, **how))
    directory = bot("import sys\nsys.stdin.read()\n")

    with pytest.raises(SandboxError, match="it shares our net namespace"):
        start(namespaces.TIER.name, directory, state.python, "bot.py", Policy())


@pytest.mark.parametrize("free", range(13))
def test_a_forkserver_out_of_descriptors_says_so_and_goes_on(free: int) -> None:
    """Wherever they run out: five come with a request, and a handle is opened when the bot is there already.

    The limit is below what the launcher needs to put them in order, too.
    """
    # The links of spares take the lowest numbers: `poll` refuses to watch more handles than the limit.
    forkserver = woken()
    table = [spawn.launch(WAITS) for _ in range(4)]  # While they live there are no spares, whose links would be closed
    before = set(children(forkserver))
    used = {int(name) for name in os.listdir(f"/proc/{forkserver}/fd")}  # noqa: PTH208
    soft, hard = resource.prlimit(forkserver, resource.RLIMIT_NOFILE)
    last = [number for number in range(soft) if number not in used][free]
    assert last > len(table)
    resource.prlimit(forkserver, resource.RLIMIT_NOFILE, (last, hard))
    try:
        with pytest.raises(SandboxError, match=r"open files|arrange: "):
            spawn.launch(WAITS).discard()
        time.sleep(0.02)
        assert spawn.ready() == forkserver
        assert set(children(forkserver)) == before
    finally:
        resource.prlimit(forkserver, resource.RLIMIT_NOFILE, (soft, hard))
        for program in table:
            program.discard()


def test_spares_end_after_a_while_without_bots_and_come_back_with_the_next(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience, little = (number.to_bytes(4, "little") for number in (60_000, 200))  # Milliseconds, in marshal's form.
    assert spawn._code().count(patience) == 1
    code = spawn._code().replace(patience, little)
    monkeypatch.setattr(spawn, "_code", lambda: code)
    spawn._close()
    try:
        forkserver = spawn.ready()

        def come_with_a_bot() -> bool:  # Whoever looks after their time sees none.
            spawn.launch(WAITS).discard()
            time.sleep(0.05)
            return any(name_of(pid) == "tute-spare" for pid in children(forkserver))

        for _ in range(2):
            wait_for(come_with_a_bot, "spares beside a bot", 60)
            wait_for(lambda: not children(forkserver), "the spares to end", 60)
    finally:
        spawn._close()  # The next one has the usual patience.


def test_a_spare_that_was_killed_is_replaced(
    state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    forkserver = woken()
    spares = spares_of(forkserver)
    for pid in spares:
        os.kill(pid, signal.SIGKILL)
    gone(spares)

    with Sandbox(tiers_here[0], state.path).start(directory, state.python, "bot.py", Policy()) as process:
        process.send(b"play 1o\n")
        assert process.read_line(5, 10).line == b"play 1o"
    assert len(spares_of(forkserver)) == 4
