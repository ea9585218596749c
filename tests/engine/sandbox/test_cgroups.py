"""Control groups, of the kind that this machine really offers (the end of the report says which), and their absence.

The other kind is played in a kernel of its own: see test_other_kernel.py.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.sandbox import BotFault, Policy, Sandbox, SandboxError
from engine.sandbox.cgroups import groups
from engine.sandbox.errors import BrokenOff
from engine.sandbox.process import death
from engine.sandbox.tiers import choosing
from tests.engine.sandbox.support import REPOSITORY, StateDirectory, gone, held_tiers, running, worker
from tests.engine.sandbox.test_workers import RUNNER
from tests.support.parts import mostly_slow

POLICY = Policy(memory_mb=64, threads=8)


@pytest.fixture(scope="module", autouse=True)
def asked_for() -> Iterator[None]:
    """Switch control groups on, as an operator does; workers that the tests start inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(groups.SWITCH, "1")
        yield


def test_there_is_none_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(groups.SWITCH)

    available = groups.available()

    assert (available.name, available.make(POLICY)) == ("none", None)
    assert f"{groups.SWITCH}=1" in available.note


@pytest.fixture(scope="module")
def kind(asked_for: None) -> groups.GroupKind:
    available = groups.available()
    held_tiers.add(f"control groups: {available.name}: {available.note}")
    return available


@pytest.fixture
def group(kind: groups.GroupKind) -> Iterator[groups.ControlGroup]:
    group = kind.make(POLICY)
    if group is None:
        pytest.skip(f"control groups here: {kind.note}. They are tested in another kernel: test_other_kernel.py")
    yield group
    group.remove()


def groups_left(kind: groups.GroupKind, owner: int) -> list[str]:
    return [place.name for parent in kind.parents.values() for place in parent.glob(f"tute-bot-{owner}-*")]


def inside(group: groups.ControlGroup, program: str) -> subprocess.Popen[str]:
    """Start a Python program that is in the group before its first line."""
    enter = "".join(f"open({place + '/cgroup.procs'!r}, 'w').write('0')\n" for place in group.places)
    command = [sys.executable, "-I", "-c", f"import os, sys, time\n{enter}{program}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_what_there_is_is_named_and_none_has_a_reason(kind: groups.GroupKind) -> None:
    assert kind.name in ("v2", "v1", "none")
    assert bool(kind.parents) == (kind.name != "none")
    assert kind.note
    if kind.name == "none":
        assert kind.make(POLICY) is None


def test_a_mount_that_comes_later_is_not_used(
    kind: groups.GroupKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to somebody who builds a root file system, and goes with that."""
    if kind.name != "v1":
        pytest.skip(f"control groups here: {kind.note}. They are tested in another kernel: test_other_kernel.py")
    own = groups._own_groups(Path("/proc/self/cgroup").read_text())
    for name in kind.parents:
        (tmp_path / name / own[name].lstrip("/")).mkdir(parents=True)
    mounts = [*groups._mounts("cgroup"), *(("/", str(tmp_path / name), name) for name in kind.parents)]
    monkeypatch.setattr(groups, "_mounts", lambda _: mounts)

    assert groups._by_controller() == kind.parents


def test_a_bot_is_in_its_group_and_the_group_goes_with_it(
    kind: groups.GroupKind, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    for tier in [*tiers_here, "none"]:
        with choosing.start(tier, directory, state.python, "bot.py", POLICY) as process:
            process.send(b"play 1o\n")
            assert process.read_line(5, 10).line == b"play 1o"
            content = Path(f"/proc/{process.pid}/cgroup").read_text()
            ours = [line for line in content.splitlines() if f"/tute-bot-{os.getpid()}-" in line]
            assert len(ours) == len(kind.parents), content
        assert groups_left(kind, os.getpid()) == []


def test_memory_is_counted_for_all_that_runs_in_it(group: groups.ControlGroup) -> None:
    assert not group.out_of_memory()
    hog = inside(group, "hoard = [bytearray(8 << 20) for _ in range(64)]\nprint('free')")

    assert hog.communicate(timeout=60)[0] == ""
    assert hog.returncode == -signal.SIGKILL
    assert group.out_of_memory()


def test_processes_are_counted(group: groups.ControlGroup) -> None:
    bomb = inside(
        group,
        "made = 0\ntry:\n    while made < 100:\n        if not os.fork(): time.sleep(60)\n        made += 1\n"
        "except OSError: pass\nprint(made, flush=True)\ntime.sleep(60)",
    )
    assert bomb.stdout
    assert int(bomb.stdout.readline()) == POLICY.threads + 1
    children = [int(word) for word in Path(f"/proc/{bomb.pid}/task/{bomb.pid}/children").read_text().split()]
    assert len(children) == POLICY.threads + 1

    group.remove()  # and with it whatever was left in it
    bomb.communicate(timeout=60)
    assert bomb.returncode == -signal.SIGKILL
    gone(children)
    group.remove()  # without harm


def test_time_is_counted_for_all_that_ever_ran_in_it(group: groups.ControlGroup) -> None:
    spender = inside(
        group,
        "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nif not os.fork():\n"
        "    while time.process_time() < 0.3: pass\n    os._exit(0)\ntime.sleep(0.1)\n"
        "try: os.wait()\nexcept ChildProcessError: pass",
    )
    spender.communicate(timeout=60)

    assert group.cpu_s() >= 0.3


def test_the_kernels_end_for_memory_is_the_bots_fault() -> None:
    end = death.End(-signal.SIGKILL, 1000, 0.1, b"")
    assert death.fault(end, POLICY).kind == "crash"

    fault = death.fault(dataclasses.replace(end, group_was_full=True), POLICY)
    assert (fault.kind, "control group" in fault.detail) == ("memory", True)


def test_a_kill_is_ours_where_the_kernel_has_killed_for_memory_meanwhile(
    group: groups.ControlGroup, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n")
    with Sandbox(tiers_here[0], state.path).start(directory, state.python, "bot.py", POLICY) as early:
        inside(group, "hoard = [bytearray(8 << 20) for _ in range(64)]").communicate(timeout=60)
        os.kill(early.pid, signal.SIGKILL)
        with pytest.raises(BrokenOff, match="for lack of memory on the host"):
            early.read_line(5, 10)

    def killed() -> str:
        """Say how a bot ended. Another test, too, may make the kernel kill meanwhile."""
        with Sandbox(tiers_here[0], state.path).start(directory, state.python, "bot.py", POLICY) as late:
            os.kill(late.pid, signal.SIGKILL)
            with pytest.raises((BotFault, BrokenOff)) as caught:
                late.read_line(5, 10)
        return str(caught.value)

    assert any(killed() == "crash: ended by signal SIGKILL" for _ in range(100))


def test_a_limit_that_is_not_taken_stops_the_start(
    kind: groups.GroupKind, state: StateDirectory, bot: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Promised kinds fail closed: a limit that cannot be written, or reads back as another, or a directory that is gone."""
    directory = bot("print('started', flush=True)")
    assert state.python.root.is_dir()
    if not kind.parents:
        pytest.skip(f"control groups here: {kind.note}")
    place = next(iter(kind.parents.values()))
    breaks = (
        {"_limits": lambda group, policy: [(next(iter(group.directories.values())) / "no.such.limit", "1")]},
        {"_limits": lambda group, policy: [(_pids(group), "-5")]},
        {"_limits": lambda group, policy: [(_pids(group), "007")]},
        {"available": lambda: groups.GroupKind("v1", {"pids": place / "nowhere"}, "")},
    )
    for change in breaks:
        with monkeypatch.context() as broken:
            for name, value in change.items():
                broken.setattr(groups, name, value)
            with pytest.raises(SandboxError, match=r"control group|is 7 after 007"):
                choosing.start("none", directory, state.python, "bot.py", POLICY)
        assert groups_left(kind, os.getpid()) == []


def _pids(group: groups.ControlGroup) -> Path:
    return (group.directories.get("unified") or group.directories["pids"]) / "pids.max"


def test_a_bot_outside_its_group_is_seen_from_outside(group: groups.ControlGroup) -> None:
    assert len(group.differences(os.getpid())) == len(group.directories)


@pytest.mark.parametrize(
    ("places", "source", "reason"),
    [
        (["/proc/nowhere"], "print('started', flush=True)", "the sandbox failed at enter_groups: "),
        ([], "import sys\nsys.stdin.read()", r"is not confined as required.* control group"),
    ],
    ids=["cannot be entered", "not entered"],
)
def test_a_bot_outside_its_group_does_not_start(
    kind: groups.GroupKind,
    group: groups.ControlGroup,
    state: StateDirectory,
    bot: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    places: list[str],
    source: str,
    reason: str,
) -> None:
    group.remove()
    monkeypatch.setattr(groups.ControlGroup, "places", property(lambda self: places))

    with pytest.raises(SandboxError, match=reason):
        choosing.start("none", bot(source), state.python, "bot.py", POLICY)

    assert groups_left(kind, os.getpid()) == []


def with_bots(tier: str, state: StateDirectory, directory: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a worker with three bots, of which the first is frozen; return it and their process ids."""
    runner = worker(RUNNER, tier, str(state.path), str(directory))
    assert runner.stdout
    bots = [int(word) for word in runner.stdout.readline().split()]
    assert len(bots) == 3
    return runner, bots


@pytest.mark.parametrize("victim", mostly_slow(["worker", "worker and forkserver"], "worker".__eq__))
def test_no_group_outlives_a_worker_that_is_killed(
    kind: groups.GroupKind, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str], victim: str
) -> None:
    directory = bot("import time\ntime.sleep(60)\n")
    assert state.python.root.is_dir()
    for tier in tiers_here:
        runner, bots = with_bots(tier, state, directory)
        assert len(groups_left(kind, runner.pid)) == 3 * len(kind.parents)
        forkservers = Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()

        os.kill(runner.pid, signal.SIGKILL)
        for forkserver in forkservers if "forkserver" in victim else []:
            os.kill(int(forkserver), signal.SIGKILL)
        runner.communicate(timeout=60)
        until = time.monotonic() + 60
        while (any(map(running, bots)) or ("forkserver" not in victim and groups_left(kind, runner.pid))) and (
            time.monotonic() < until
        ):
            time.sleep(0.005)
        if "forkserver" in victim:  # nobody is left who could: the next worker does
            again = [sys.executable, "-c", "from engine.sandbox.cgroups import groups; groups.available()"]
            subprocess.run(again, check=True, cwd=REPOSITORY, timeout=60)

        assert groups_left(kind, runner.pid) == [], tier


def groups_go(kind: groups.GroupKind, owner: int) -> bool:
    """Return True if all groups of a worker go within a minute."""
    until = time.monotonic() + 60
    while groups_left(kind, owner) and time.monotonic() < until:
        time.sleep(0.005)
    return not groups_left(kind, owner)


def test_the_group_of_a_bot_that_ended_goes_with_a_worker_that_had_not_removed_it(
    kind: groups.GroupKind, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import time\ntime.sleep(60)\n")
    for tier in tiers_here:
        runner, (_frozen, *ending) = with_bots(tier, state, directory)
        os.kill(runner.pid, signal.SIGSTOP)
        for pid in ending:
            os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 60
        while any(map(running, ending)) and time.monotonic() < until:
            time.sleep(0.005)
        assert groups_left(kind, runner.pid)

        runner.kill()
        runner.communicate(timeout=60)

        assert groups_go(kind, runner.pid), tier


def test_what_else_lives_in_a_group_ends_with_its_worker(
    kind: groups.GroupKind, state: StateDirectory, bot: Callable[[str], Path], tiers_here: list[str]
) -> None:
    directory = bot("import time\ntime.sleep(60)\n")
    for tier in tiers_here:
        runner, _ = with_bots(tier, state, directory)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"]) as stray:
            for parent in kind.parents.values():
                place = max(parent.glob(f"tute-bot-{runner.pid}-*"))
                (place / "cgroup.procs").write_text(str(stray.pid))

            runner.kill()
            runner.communicate(timeout=60)

            assert stray.wait(60) == -signal.SIGKILL
        assert groups_go(kind, runner.pid), tier


def test_none_is_told_with_the_remedy_where_a_user_may_make_none(state: StateDirectory) -> None:
    """An ordinary user's bots are held without: that is said, with what to do."""
    answer = state.as_ordinary_user("tests.engine.sandbox.say_groups")[0]

    assert answer["name"] in ("none", "v2", "v1")
    assert os.getuid() != 0 or answer["name"] != "none" or ("v2: " in answer["note"] and "v1: " in answer["note"])


def test_groups_of_a_worker_that_lives_are_not_swept(kind: groups.GroupKind, group: groups.ControlGroup) -> None:
    groups._sweep(kind.parents)

    assert all(place.is_dir() for place in group.directories.values())
