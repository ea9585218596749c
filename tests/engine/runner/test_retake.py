"""A bot records all that it can see and measure in matches and in audits, and nothing shows it which of them it plays in."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from engine.runner import BotSpec, MatchResult, MatchSpec
from engine.runner.match import play_match
from engine.runner.retake import retake
from engine.runner.spec import POSSIBLE
from engine.sandbox import Sandbox, SandboxError
from engine.sandbox.channels.bits import estimate
from tests.engine.runner.conftest import Maker
from tests.engine.runner.test_audit import log_of
from tests.support.bots import SHORT, match
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.usefixtures("own_cores")
RECORDER = Path(__file__).with_name("recorder_bot.py").read_text()
OWN_COPY = re.compile(r"/bot/[0-9a-f]{32}")  # The folder in `landlock`, whose name is drawn for each process.
SCARCE = dataclasses.replace(SHORT, memory_mb=40)  # Less than a stand-in has.
Records = list[dict[str, Any]]


def spec(*bots: BotSpec, seed: int = 0, **more: Any) -> MatchSpec:
    more = {"boards": 1, "sealing": POSSIBLE} | more
    return dataclasses.replace(match(*bots, **more), secret=bytes([seed]) * 32)


def retaken(bot: BotSpec, box: Sandbox, result: MatchResult, seed: str = "") -> list[str]:
    """Audit every conversation of a match of a bot against itself. Return what the bot has written to its error output."""
    outputs = []
    for group in log_of(result):
        for seat in range(len(group[0]["meta"]["seating"])):
            run = retake(bot, box, group, seat, seed=f"{seed} {seat}")
            assert run is not None
            assert run.fault is None, run.fault
            outputs.append(run.stderr)
    return outputs


def records(output: str) -> Records:
    return [json.loads(OWN_COPY.sub("/bot/copy", line)) for line in output.splitlines() if line.startswith("{")]


def in_match_and_audit(bot: BotSpec, box: Sandbox, matches: int) -> tuple[Records, Records]:
    """Play matches, and audit every conversation. Return what was recorded in the matches and in the audits."""
    played, audited = [], []
    for number in range(matches):
        result = play_match(spec(bot, bot, seed=number, limits=SCARCE), box)
        assert [party.faults for party in result.parties] == [[], []], result.parties[0].stderr
        played += [record for party in result.parties for record in records(party.stderr)]
        audited += [record for output in retaken(bot, box, result, str(number)) for record in records(output)]
    assert len(played) == len(audited) >= 7 * matches  # Some seats have too few decisions.
    return played, audited


def facts(recorded: Records) -> dict[str, set[str]]:
    values = defaultdict(set)
    for record in recorded:
        for name, value in record["facts"].items():
            values[name].add(json.dumps(value))
    return dict(values)


def telling(played: Records, audited: Records) -> dict[str, float]:
    """Return the numbers by which a bot could tell an audit from a match, with what the meter hears of it at least, in bits."""
    heard = {}
    for name in played[0]["numbers"]:
        in_match, in_audit = ([record["numbers"][name] for record in recorded] for recorded in (played, audited))
        # Every second trial tests the decoder that the others train, so two of each kind follow each other.
        trials = [
            (kind, number)
            for at in range(0, len(in_match), 2)
            for kind, numbers in ((0, in_match), (1, in_audit))
            for number in numbers[at : at + 2]
        ]
        if (low := estimate(trials, 2).low) > 0.2:
            heard[name] = low
    return heard


@pytest.mark.parametrize(
    ("tier", "sealable"), mostly_slow([("namespaces", True), ("landlock", False)], lambda case: case[1])
)
def test_a_bot_sees_the_same_in_an_audit_as_in_a_match(tier: str, sealable: bool, state_dir: Path, make: Maker) -> None:
    bot = dataclasses.replace(make(name="recorder", source=RECORDER), sealable=sealable)

    played, audited = in_match_and_audit(bot, Sandbox(tier=tier, state_dir=state_dir), 1)

    assert facts(played) == facts(audited)


LINES = """import sys, zlib
for line in sys.stdin:
    fields = [field for field in line.split("; ") if not field.startswith("bank ")]
    print(fields[0].strip(), zlib.crc32("; ".join(fields).encode()), file=sys.stderr)
    print("ready" if line.startswith("hello") else line.rpartition("; legal ")[2].split(", ")[0].strip(), flush=True)
"""


def test_a_bot_of_the_line_protocol_is_sent_the_same_lines(box: Sandbox, make: Maker) -> None:
    bot = dataclasses.replace(make(name="lines", source=LINES), protocol="line")
    result = play_match(spec(bot, bot, boards=2), box)
    assert [party.faults for party in result.parties] == [[], []]

    played, audited = (
        sorted(line for output in outputs for line in output.splitlines() if line.startswith(("hello", "act")))
        for outputs in ([party.stderr for party in result.parties], retaken(bot, box, result))
    )

    assert len(played) > 100
    assert played == audited


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["namespaces", "landlock"])
@pytest.mark.parametrize("sealable", [True, False])
def test_nothing_that_a_bot_can_measure_tells_an_audit_from_a_match(
    tier: str, sealable: bool, state_dir: Path, make: Maker
) -> None:
    bot = dataclasses.replace(make(name="recorder", source=RECORDER), sealable=sealable)

    played, audited = in_match_and_audit(bot, Sandbox(tier=tier, state_dir=state_dir), 4)

    assert facts(played) == facts(audited)
    assert telling(played, audited) == {}


def test_the_time_left_follows_from_the_time_that_the_bot_uses_now(box: Sandbox, make: Maker) -> None:
    """A bot that uses a random part of its bank could otherwise see that the time left is that of another run."""
    quick = make("def act(m):\n    print(m['bank_s'], file=sys.stderr)\n    return good(m)", name="quick")
    slow = make(
        "def act(m):\n    for _ in range(1_000_000): pass\n    print(m['bank_s'], file=sys.stderr)\n    return good(m)"
    )
    limits = dataclasses.replace(SHORT, move_s=0.01, bank_s=60.0)
    result = play_match(spec(quick, quick, game="a_dos", limits=limits), box)

    outputs = retaken(slow, box, result)

    lines = [line for party in result.parties for line in party.stderr.splitlines() if not line.startswith("---")]
    assert min(map(float, lines)) > 59
    for output in outputs:
        banks = list(map(float, output.split()))
        assert banks[0] == 60
        assert all(later < earlier for earlier, later in itertools.pairwise(banks))


def test_a_match_of_sealed_bots_is_audited_only_where_bots_can_be_sealed(
    box: Sandbox, state_dir: Path, honest: BotSpec
) -> None:
    result = play_match(spec(honest, honest), box)

    with pytest.raises(SandboxError, match="cannot seal the bots of this match: it confines nothing"):
        retake(honest, Sandbox(tier="none", state_dir=state_dir), log_of(result)[0], 0, seed="")
