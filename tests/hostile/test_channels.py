"""Two bots of one table cannot talk through a channel that is closed by construction. Open channels are measured, never judged here."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path

import pytest

from engine.sandbox import Policy
from engine.sandbox.channels import channel_probe
from engine.sandbox.channels.meter import KINDS, TRIALS, measure
from engine.sandbox.tiers import choosing
from tests.engine.sandbox.support import REPOSITORY, StateDirectory, held_tiers
from tests.hostile.say_channels import findings
from tests.support.parts import mostly_slow

CLOSED = {kind.name for kind in KINDS if kind.refused}
ALL = [kind.name for kind in KINDS]


def modes(state: StateDirectory) -> list[tuple[str, bool]]:
    """Return (tier, sealed) for every way in which bots can be started here."""
    reports = [report for report in state.reports.values() if report.isolates and report.holds]
    assert reports, "no tier holds on this host: nothing could be tested"
    return [
        (report.name, sealed) for report in reports for sealed in (False, True) if not sealed or not report.unsealed
    ]


@pytest.mark.parametrize("step", mostly_slow([1, 3], (3).__eq__), ids=["all", "some"])
def test_what_is_closed_by_construction_is_refused_in_every_tier(step: int, state: StateDirectory) -> None:
    for tier, sealed in modes(state)[::step]:
        results = findings(tier, state.path, sealed=sealed)

        assert [finding.kind.name for finding in results] == ALL
        assert CLOSED - {finding.kind.name for finding in results if finding.refused} == set(), (tier, sealed)
        assert all(0 <= each.estimate.low <= each.estimate.bits <= each.estimate.high for each in results)


@pytest.mark.slow
def test_it_is_refused_to_an_ordinary_users_bots_too(state: StateDirectory) -> None:
    tiers = [
        answer["name"]
        for answer in state.as_ordinary_user("tests.engine.sandbox.say_tiers")
        if answer["holds"] and answer["isolates"]
    ]
    assert tiers
    for tier in tiers:
        results = state.as_ordinary_user("tests.hostile.say_channels", tier)

        assert [finding["name"] for finding in results] == ALL
        assert CLOSED - {finding["name"] for finding in results if finding["refused"]} == set(), tier


def test_the_meter_hears_what_is_told(state: StateDirectory) -> None:
    """Without a sandbox a lock on a file is seen by everybody: no decision of it is lost."""
    start = functools.partial(choosing.start, "none")
    (result,) = measure(start, state.python, [kind for kind in KINDS if kind.channel == "Locks"], trials=40)

    assert (result.refused, result.estimate.bits, result.estimate.high) == (None, 1.0, 1.0)
    assert result.estimate.low > 0.3


def test_the_receivers_clock_moves_in_every_bot(state: StateDirectory, tmp_path: Path) -> None:
    """A sealed bot has a clock that stands still for milliseconds, and the meter sees with it all the same.

    One reading of it can be wrong by more than a short work takes, when the machine is busy. The median of nine is not.
    """
    tmp_path.chmod(0o755)
    shutil.copy(channel_probe.__file__, tmp_path)
    (tmp_path / "bot.py").write_text(
        "import sys, statistics, channel_probe\nfor line in sys.stdin:\n    watch = channel_probe.Stopwatch()\n"
        "    long, short = [statistics.median(watch.time(work) for _ in range(9)) for work in (lambda: sum(range(2_000_000)), int)]\n"
        "    print(watch.exact, long > short, flush=True)\n"
    )
    for tier, sealed in modes(state):
        policy = Policy(memory_mb=256, sealed=sealed)
        with choosing.start(tier, tmp_path, state.python, "bot.py", policy) as bot:
            assert bot.ask(b"\n", 60, 600).line.split() == [str(not sealed).encode(), b"True"], (tier, sealed)


def test_few_trials_tell_nothing(state: StateDirectory) -> None:
    start = functools.partial(choosing.start, modes(state)[0][0])
    (result,) = measure(start, state.python, [kind for kind in KINDS if kind.channel == "FileTimes"], trials=4)

    assert result.text == "not told: too few trials"


def test_the_document_lists_every_channel() -> None:
    page = (REPOSITORY / "docs/sandbox-evidence.md").read_text()
    table = re.search("<!-- channels: begin -->\n(.*?)<!-- channels: end -->", page, re.DOTALL)
    assert table
    rows = [line.split("|") for line in table[1].splitlines()[2:]]

    assert [row[1].strip() for row in rows] == ALL
    assert {row[1].strip() for row in rows if {cell.strip() for cell in row[3:-1]} == {"refused"}} & CLOSED == CLOSED


@pytest.mark.soak
def test_channels_in_full(state: StateDirectory) -> None:
    for tier, sealed in modes(state):
        for finding in findings(tier, state.path, sealed=sealed, trials=TRIALS):
            held_tiers.add(f"{tier}{', sealed' if sealed else ''}, {finding.kind.name}: {finding.text}")
            assert finding.refused is not None or finding.kind.name not in CLOSED
