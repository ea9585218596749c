"""Choosing a tier: proved by the canary, never by hope."""

from __future__ import annotations

import functools
import os
import time

import pytest

from engine.sandbox import TIERS, Sandbox, SandboxUnavailable, check, is_weaker
from engine.sandbox.process.bot import BotProcess, Reply
from engine.sandbox.tiers import canary, choosing, namespaces
from tests.engine.sandbox.support import REPOSITORY, StateDirectory

UNTRIED_WITHOUT_ISOLATION = 15  # an unprivileged or unlucky attempt may fail by itself even where nothing stops it


def test_auto_is_the_best_tier_that_holds(state: StateDirectory, tiers_here: list[str]) -> None:
    box = Sandbox("auto", state.path)

    assert box.tier == tiers_here[0]
    assert all(box.report.canaries.values())
    assert len(box.report.canaries) >= 40


def test_every_report_names_its_tier_and_what_to_do(state: StateDirectory) -> None:
    reports = check(state.path)

    assert [report.name for report in reports] == [tier.name for tier in TIERS]
    for report in reports:
        assert report.holds or (report.reasons and report.remedies)


def test_the_canary_sees_that_nothing_is_contained_without_a_sandbox(state: StateDirectory) -> None:
    results, failures = canary.battery(functools.partial(choosing.start, "none"), state.python, state.path)

    escaped = {name for name, contained in results.items() if not contained}
    assert len(escaped) >= UNTRIED_WITHOUT_ISOLATION, failures
    assert {
        "read a file of the host",
        "connect to the local network",
        "connect to a local socket",
        "start a process",
        "signal the worker",
        "write in a directory of the worker",
        "hold shared memory",
        "make a timer that wakes it",
    } <= escaped
    assert {"play", "compute while frozen", "compute for ever"} <= results.keys() - escaped
    assert len(failures) == len(escaped)


def test_a_busy_machine_is_no_reason_to_refuse_a_tier(
    state: StateDirectory, tiers_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The canary leaves a thread that computes while the worker waits for a core to read the answer."""
    ask = BotProcess.ask

    def late(bot: BotProcess, data: bytes, cpu_budget_s: float, wall_cap_s: float) -> Reply:
        if data != b"spin\n":
            return ask(bot, data, cpu_budget_s, wall_cap_s)
        bot.thaw()
        bot.begin()
        before, until = bot.cpu(), time.monotonic() + 60
        bot.send(data)
        while bot.cpu() < before + 1.5:
            assert time.monotonic() < until
            time.sleep(0.05)
        reply = bot.read_line(cpu_budget_s, wall_cap_s)
        bot.freeze()
        return reply

    monkeypatch.setattr(BotProcess, "ask", late)
    assert canary.battery(functools.partial(choosing.start, tiers_here[0]), state.python, state.path)[1] == []


def test_a_tier_whose_program_is_missing_is_refused_with_the_remedy(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    choosing._report.cache_clear()
    try:
        with pytest.raises(SandboxUnavailable, match=r"bubblewrap is not installed\. Install the package `bubblewrap`"):
            Sandbox("namespaces", state.path)
        with pytest.raises(SandboxUnavailable, match="Install the package"):
            namespaces.bubblewrap()
    finally:
        choosing._report.cache_clear()


def test_none_is_chosen_only_by_name(state: StateDirectory) -> None:
    assert Sandbox("none", state.path).tier == "none"
    assert [tier.name for tier in TIERS if not tier.isolates] == ["none"]


def test_strength_follows_from_the_order_of_the_tiers() -> None:
    assert is_weaker("none", than="landlock")
    assert is_weaker("landlock", than="namespaces")
    assert not is_weaker("landlock", than="landlock")
    assert not is_weaker("namespaces", than="none")
    with pytest.raises(ValueError, match="tier 'jail' is unknown"):
        is_weaker("landlock", than="jail")


def test_the_table_of_the_tiers_in_the_documents_is_fresh() -> None:
    page = (REPOSITORY / "docs" / "sandbox.md").read_text(encoding="utf-8")

    between = page.partition("<!-- tiers: begin -->\n")[2].partition("<!-- tiers: end -->")[0]
    assert between == choosing.table(), "run: make texts"


def test_an_unknown_tier_is_refused(state: StateDirectory) -> None:
    with pytest.raises(ValueError, match="tier 'docker' is unknown; expected auto, namespaces, landlock, none"):
        Sandbox("docker", state.path)


def test_a_directory_that_other_users_cannot_pass_is_named(state: StateDirectory) -> None:
    closed = state.path / "closed"
    closed.mkdir(mode=0o700)

    assert namespaces.unreachable(state.path) is None
    assert namespaces.unreachable(closed) == closed


def test_an_ordinary_user_has_a_tier_too(state: StateDirectory) -> None:
    reports = {report["name"]: report for report in state.as_ordinary_user("tests.engine.sandbox.say_tiers")}

    assert reports["landlock"]["holds"] or reports["namespaces"]["holds"], reports
    assert os.getuid() != 0 or reports["landlock"]["canaries"].keys() == state.reports["landlock"].canaries.keys()
