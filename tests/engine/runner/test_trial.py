"""A bot is tried at one table: whole boards, rare states, a long match and one that is broken off."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest

from engine.runner import BotSpec, Limits, MatchSpec
from engine.runner.spec import ALWAYS
from engine.runner.trial import CHECKS, REPEATED, START, Trial, TrialCheck, try_bot
from engine.sandbox import BotProcess, Sandbox
from tests.engine.runner.conftest import Maker

FAITHLESS = """import json, sys

board = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready"}}), flush=True)
        continue
    for event in message["events"]:
        board += event["e"] == "deal"
        if event["e"] == "fault":
            {on_fault}
    if message["type"] == "act":
        if board > {boards}:
            sys.exit(7)
        print(json.dumps({{"id": message["id"], "do": message["legal"][0]}}), flush=True)
"""


def tried(box: Sandbox, bot: BotSpec, rival: BotSpec, *, stop: object = None, **more: Any) -> Trial:
    spec = MatchSpec("t", "two_player", secret=b"trial", table="t", boards=(1,), parties=(bot, rival), **more)
    return try_bot(spec, box, stop=stop)  # type: ignore[arg-type]


def by_name(trial: Trial) -> dict[str, TrialCheck]:
    return {check.name: check for check in trial.checks}


def test_an_honest_bot_comes_through_every_check(box: Sandbox, honest: BotSpec) -> None:
    trial = tried(box, honest, honest)

    assert [check.name for check in trial.checks] == list(CHECKS[:-1])
    assert trial.faulty is None
    assert trial.complete
    assert all(check.decisions > 0 for check in trial.checks if check.name != START)
    assert by_name(trial)[START].max_cpu_s > 0
    assert {"play", "sing", "exchange"} <= trial.met.keys()
    assert len(trial.result.boards[0].sittings) == 2


@pytest.mark.parametrize(
    ("boards", "on_fault", "failed", "kind"),
    [
        (0, "pass", "boards", "crash"),
        (11, "pass", "long", "crash"),
        (99, "raise ValueError(event)", "cancelled", "crash"),
    ],
)
def test_each_check_finds_what_it_is_there_for(
    boards: int, on_fault: str, failed: str, kind: str, box: Sandbox, honest: BotSpec, make: Maker
) -> None:
    bot = make(source=FAITHLESS.format(boards=boards, on_fault=on_fault))

    trial = tried(box, bot, honest)

    assert trial.faulty is not None
    assert (trial.faulty.name, trial.faulty.fault.kind if trial.faulty.fault else "") == (failed, kind)
    assert [check.name for check in trial.checks if check.fault] == [failed] if failed != "boards" else True


@pytest.mark.parametrize(("chooses", "fault_kind"), [("len(m['events'])", None), ("os.urandom(1)[0]", "protocol")])
def test_who_declares_itself_deterministic_is_asked_the_same_once_more(
    chooses: str, fault_kind: str | None, box: Sandbox, honest: BotSpec, make: Maker
) -> None:
    """The second one chooses by chance of its own, so two processes of it differ."""
    bot = make(
        f"def act(m): return json.dumps({{'id': m['id'], 'do': m['legal'][({chooses}) % len(m['legal'])]}}) + '\\n'"
    )

    trial = tried(box, dataclasses.replace(bot, deterministic=True), honest)

    fault = by_name(trial)[REPEATED].fault
    assert (fault and fault.kind) == fault_kind
    assert by_name(trial)[REPEATED].decisions > 0
    if fault:
        assert "remove deterministic = true from bot.toml" in fault.detail
        assert fault.answer in fault.request


def test_a_bot_that_is_not_ready_at_a_seat_fails_by_its_start(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    """It comes to the table at its whole boards, of which it plays one, and not where more than that are announced."""
    bot = make("def hello(m):\n    if m['boards'] > 1: sys.exit(9)\n    return '{\"type\":\"ready\"}\\n'")

    trial = tried(box, bot, honest)

    assert [(check.name, check.fault and check.fault.kind) for check in trial.checks[:2]] == [
        ("boards", None),
        ("start", "crash"),
    ]


def test_leaving_after_the_end_without_a_word_is_no_fault(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    bot = make(source=FAITHLESS.format(boards=99, on_fault="sys.exit(0)"))

    assert tried(box, bot, honest).faulty is None


@pytest.mark.parametrize("decisions", [3, 60])
def test_a_trial_that_is_stopped_is_not_complete_and_blames_nobody(
    decisions: int, box: Sandbox, honest: BotSpec
) -> None:
    calls = itertools.count()

    trial = tried(box, honest, honest, stop=lambda: next(calls) > decisions)

    assert not trial.complete
    assert trial.faulty is None


class Counting(Sandbox):
    """Knows how many processes it has started."""

    started = 0

    def start(self, *arguments: Any, **keywords: Any) -> BotProcess:
        self.started += 1
        return super().start(*arguments, **keywords)


def test_a_trial_that_is_stopped_while_a_bot_is_asked_once_more_is_not_complete(
    state_dir: Path, honest: BotSpec
) -> None:
    """Four processes play the whole boards, one talks at each seat; the next is asked once more."""
    counting = Counting("auto", state_dir)

    trial = tried(
        counting,
        dataclasses.replace(honest, deterministic=True),
        honest,
        stop=lambda: counting.started > 6,
    )

    assert [check.name for check in trial.checks] == list(CHECKS)
    assert by_name(trial)[REPEATED].decisions == 0
    assert not trial.complete
    assert trial.faulty is None


ALONE = """
import os, sys, time
def hello(m):
    print("conversation" if m["boards"] > 1 else "match", file=sys.stderr, flush=True)
    if not m["sealed"] or time.strftime("%Y-%m-%d") != "2026-01-01":
        sys.exit(3)
    return '{"type":"ready"}\\n'
"""


def test_who_plays_sealed_is_tried_sealed_and_is_told_so(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    bot = make(ALONE)

    trial = tried(box, bot, dataclasses.replace(honest, sealable=False), sealing=ALWAYS)

    assert trial.faulty is None, trial.faulty
    assert [check.name for check in trial.checks] == list(CHECKS[:-1])
    assert trial.stderr.split() == ["conversation"] * 2


def test_who_has_failed_at_one_seat_is_not_tried_at_the_next(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    speaks = FAITHLESS.replace("board = 0\n", "board = 0\nprint('begins', file=sys.stderr, flush=True)\n")
    bot = make(source=speaks.format(boards=4, on_fault="pass"))

    trial = tried(box, bot, honest)

    assert [check.name for check in trial.checks if check.fault] == ["awkward"]
    assert trial.stderr.split().count("begins") == 1


# Twelve threads, all of them there at once
GATHER = (
    "gate = threading.Barrier(13); "
    "[threading.Thread(target=gate.wait, daemon=True).start() for _ in range(12)]; "
    "gate.wait()"
)


@pytest.mark.parametrize(
    ("limit", "few", "uses"),
    [
        ("memory_mb", 100, "held = bytearray(160 << 20)"),
        ("threads", 6, GATHER),
    ],
)
def test_a_bot_is_tried_within_the_limits_of_its_matches(
    limit: str, few: int, uses: str, box: Sandbox, honest: BotSpec, make: Maker
) -> None:
    """It takes more than them, and less than is usual, where more boards are announced than it was to play whole."""
    bot = make(f"def hello(m):\n    if m['boards'] > 1: {uses}\n    return '{{\"type\":\"ready\"}}\\n'")

    trial = tried(box, bot, honest, limits=dataclasses.replace(Limits(), **{limit: few}))

    assert trial.faulty is not None
    assert trial.faulty.name == START


def test_no_more_of_its_words_is_kept_than_its_limits_say(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    bot = make("def hello(m):\n    sys.stderr.write('word ' * 2000)\n    return '{\"type\":\"ready\"}\\n'")

    trial = tried(box, bot, honest, limits=Limits(stderr_kib=1))

    assert trial.faulty is None
    assert 2 * 1000 < len(trial.stderr) < 2 * 1500
