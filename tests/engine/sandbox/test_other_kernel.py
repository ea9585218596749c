"""The sandbox in another kernel: control groups v2, delegated to an ordinary user, and no Landlock."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from engine.sandbox.cgroups import groups as cgroups
from tests.engine.sandbox.support import ORDINARY_USER, REPOSITORY, StateDirectory, held_tiers
from tests.support import uml

# As systemd does for a unit with Delegate=yes: a group with the controllers, owned by the user, the worker inside it.
DELEGATE = """
echo "+memory +pids" > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/league
chown -R {user}:{user} /sys/fs/cgroup/league
echo $$ > /sys/fs/cgroup/league/cgroup.procs
"""
SOME = [
    "memory bomb",
    "memory hidden by making it read-only",
    "thread bomb",
    "fork bomb",
    "compute for ever",
    "leave a daemon behind",
    "ponder in a thread",
]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_groups_of_version_2_as_root_of_a_delegated_group(state: StateDirectory) -> None:
    """The same tests that run on this machine's control groups, less what the other test of this file asks of a user, and a twin."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--durations=9",
        "-p",
        "no:cacheprovider",
        "tests/engine/sandbox/test_cgroups.py",
        "-k",
        "not none_is_told_with_the_remedy and not killed[worker]",
    ]
    assert state.python.root.is_dir()
    script = f"""{DELEGATE.format(user=0)}
    cd {REPOSITORY}
    TUTE_TEST_STATE={state.path} {shlex.join(words)}
    ls /sys/fs/cgroup/league"""

    printed = uml.run(script, 380)

    assert "control groups: v2: each bot is in a group of its own" in printed, printed
    assert "skipped" not in printed.splitlines()[-1], printed
    assert "failed" not in printed, printed
    assert "tute-bot" not in printed.partition("passed")[2]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_bots_of_an_ordinary_user_with_a_delegated_group(state: StateDirectory) -> None:
    program, environment, _ = state.for_others()
    home = "/run/ordinary"  # A file created through hostfs belongs to the user who started this kernel
    user = os.getuid() or ORDINARY_USER
    environment = [*environment, f"TMPDIR={home}", f"{cgroups.SWITCH}=1"]
    python = f"setpriv --reuid {user} --regid {user} --clear-groups env {shlex.join(environment)} {program} -s -S -B"
    attacks = "".join(f"{name}\\n" for name in SOME)
    script = f"""{DELEGATE.format(user=user)}
    install -d -o {user} {home}
    {python} -m tests.engine.sandbox.say_groups
    {python} -m tests.engine.sandbox.say_tiers {home}
    printf {shlex.quote(attacks)} | {python} -m tests.hostile.arena {home} namespaces
    ls /sys/fs/cgroup/league | grep tute-bot || echo '"none left"'"""

    answers = [json.loads(line) for line in uml.run(script, 380).splitlines() if line.startswith(("{", '"'))]

    groups, *rest = answers
    assert groups["name"] == "v2", groups
    tiers = {report["name"]: report for report in rest[:3]}
    held_tiers.tell("an ordinary user of another kernel", "namespaces", tiers["namespaces"]["holds"], [])
    assert tiers["namespaces"]["holds"], tiers["namespaces"]["reasons"]
    assert "cannot disable the time stamp counter" in tiers["namespaces"]["unsealed"]  # at once: no bot is waited for
    assert not tiers["landlock"]["holds"]
    assert "the kernel lacks it" in tiers["landlock"]["reasons"][0]
    played = {outcome["name"]: outcome for outcome in rest[3:-1]}
    assert list(played) == SOME
    assert {name: outcome["remains"] for name, outcome in played.items() if outcome["remains"]} == {}
    assert {
        name: outcome["got"] for name, outcome in played.items() if outcome["fault"] is None and outcome["got"]
    } == {}
    # That kernel computes slowly: whatever tries much may come to the end of its time first, but it must not get by.
    assert {*SOME[:2], "compute for ever"} <= {name for name, outcome in played.items() if outcome["fault"]}
    assert {outcome["fault"] for outcome in played.values()} <= {None, "memory", "timeout"}
    assert rest[-1] == "none left"
