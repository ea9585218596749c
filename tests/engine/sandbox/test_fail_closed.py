"""Break every step and every limit in turn: the bot never starts, the step is named, nothing is left."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.sandbox import Policy, SandboxError
from engine.sandbox.cgroups import placing
from engine.sandbox.cgroups.attest import Expectation
from engine.sandbox.policy import user_wide_processes
from engine.sandbox.process import launcher
from engine.sandbox.process.bot import BotProcess
from engine.sandbox.process.spawn import launch
from engine.sandbox.tiers import landlock
from tests.engine.sandbox.support import StateDirectory
from tests.hostile.traces import children, open_files

POLICY = Policy(memory_mb=128)
# It waits: one that has ended cannot be looked at any more.
BOT = "import sys\nprint('started', flush=True)\nsys.stdin.read()"
Plan = dict[str, Any]


@pytest.fixture
def place(state: StateDirectory, bot: Callable[[str], Path]) -> Iterator[placing.BotPlace]:
    where = placing.place(bot(BOT), state.python, POLICY, own_user=True)
    yield where
    where.give_back()


@pytest.fixture
def plan(place: placing.BotPlace, state: StateDirectory) -> Plan:
    return landlock.plan(place, state.python, "bot.py", POLICY, None)


def higher(limit: tuple[int, int, int]) -> tuple[int, int, int]:
    return limit[0], limit[2] + 1, limit[2]  # a soft limit above the hard one, which the kernel refuses


NUMBERS = [number for number, *_ in POLICY.limits(processes=9)]
BREAKS: dict[str, Callable[[Plan], Plan]] = {
    "pin": lambda plan: {"core": 4095},
    "change_root": lambda plan: {"root": "/nowhere"},
    "change_user": lambda plan: {"user": None} if os.getuid() == 0 else {"user": 61000},
    "drop_capabilities": lambda plan: {"numbers": plan["numbers"] | {"capset": 4095}},
    "enter_directory": lambda plan: {"directory": "/nowhere"},
    "restrict_files": lambda plan: {"landlock": (b"\xff" * 24, plan["landlock"][1])},
    "filter_calls": lambda plan: {"filter": (b"\xff" * 8, ())},
    "become": lambda plan: {"argv": ["/nowhere"]},
}
MORE_BREAKS: list[tuple[str, Callable[[Plan], Plan]]] = [
    ("restrict_files", lambda plan: {"landlock": (plan["landlock"][0], [("/nowhere", 4, 4)])}),
    ("restrict_files", lambda plan: {"numbers": plan["numbers"] | {"landlock_restrict_self": 4095}}),
    ("filter_calls", lambda plan: {"numbers": plan["numbers"] | {"seccomp": 4095}}),
    ("filter_calls", lambda plan: {"filter": (b"", ())}),
    *[
        (
            "set_limits",
            lambda plan, number=number: {
                "limits": [higher(limit) if limit[0] == number else limit for limit in plan["limits"]]
            },
        )
        for number in NUMBERS
    ],
]


@pytest.mark.parametrize(("step", "change"), [*BREAKS.items(), *MORE_BREAKS])
def test_a_step_that_fails_stops_the_start(plan: Plan, step: str, change: Callable[[Plan], Plan]) -> None:
    before = open_files(), children()

    with pytest.raises(SandboxError, match=f"the bot was not started, the sandbox failed at {step}: "):
        launch(plan | change(plan))

    assert (open_files(), children()) == before


def test_a_parent_that_has_gone_stops_the_start(plan: Plan) -> None:
    """The launcher gets the number of its parent before it can look, and refuses another."""
    source = Path(launcher.__file__).read_text()
    namespace: dict[str, Any] = {}
    exec(compile(source, "launcher", "exec"), namespace)
    child = os.fork()
    if child == 0:
        try:
            namespace["die_with_parent"](plan | {"parent": 1 if os.getppid() != 1 else 2})
        except OSError:
            os._exit(7)
        os._exit(0)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


one_core = len(os.sched_getaffinity(0)) == 1
OMISSIONS = [
    ({"filter": None}, "system calls are not filtered"),
    ({"filter": None, "landlock": None, "no_new_privileges": False}, "it may gain privileges|filter"),
    pytest.param(
        {"core": None},
        "it may run on cores",
        marks=pytest.mark.skipif(one_core, reason="one core: a bot can run on no other"),
    ),
    *[
        ({"limits": [limit for limit in POLICY.limits(processes=9) if limit[0] != n]}, "is .*, expected")
        for n in NUMBERS
    ],
]


@pytest.mark.parametrize(("omission", "finding"), OMISSIONS)
def test_a_step_that_is_left_out_is_seen_from_outside(
    plan: Plan, place: placing.BotPlace, omission: Plan, finding: str
) -> None:
    core = max(os.sched_getaffinity(0))
    limits = POLICY.limits(processes=9)
    expected = Expectation(user=place.user, limits=limits, core=core)
    before = open_files(), children()

    with pytest.raises(SandboxError, match=finding):
        BotProcess(
            launch(plan | {"core": core, "limits": limits} | omission),
            POLICY,
            expected,
            gated=True,
            on_close=lambda: None,
        )

    assert (open_files(), children()) == before


def test_the_same_start_with_nothing_left_out_is_attested(plan: Plan, place: placing.BotPlace) -> None:
    core = max(os.sched_getaffinity(0))
    limits = POLICY.limits(processes=9 if place.slot else user_wide_processes())
    expected = Expectation(user=place.user, limits=limits, core=core)
    started = launch(plan | {"core": core, "limits": limits})
    with BotProcess(started, POLICY, expected, gated=True, on_close=lambda: None) as process:
        assert process.read_line(5, 10).line == b"started"


def test_another_user_than_expected_is_seen_from_outside(plan: Plan, place: placing.BotPlace) -> None:
    expected = Expectation(user=place.user + 1, limits=plan["limits"])

    with pytest.raises(SandboxError, match=rf"user ids are {place.user}.*expected {place.user + 1}"):
        BotProcess(launch(plan), POLICY, expected, gated=True, on_close=lambda: None)


def test_shared_namespaces_are_seen_from_outside(plan: Plan, place: placing.BotPlace) -> None:
    expected = Expectation(user=place.user, limits=plan["limits"], own_namespaces=True)

    with pytest.raises(
        SandboxError, match=r"no process namespace of its own.*shares our user namespace.*shares our mnt namespace"
    ):
        BotProcess(launch(plan), POLICY, expected, gated=True, on_close=lambda: None)


@pytest.mark.parametrize("free", range(12))
def test_out_of_descriptors_is_ours_and_leaves_nothing(plan: Plan, free: int) -> None:
    """Wherever the descriptors run out, and a start takes a dozen at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = open_files(), children()
    used = {int(name.split(":")[0]) for name in before[0]}
    first_free = [number for number in range(soft) if number not in used][:free] or [0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free[-1] + 1, hard))
    refusal = None
    try:
        launch(plan).discard()
    except SandboxError as error:
        refusal = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    if free == 0:
        assert refusal is not None, "no descriptor is left at all"
    assert refusal is None or re.search(r"open files|process limit", refusal)
    assert (open_files(), children()) == before
