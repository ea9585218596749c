"""A bot finds what every program expects, as root and as an ordinary user, sealed or not, and nothing that tells it about its start."""

from __future__ import annotations

import os

from engine.sandbox.cgroups import slots
from engine.sandbox.files import inventory
from engine.sandbox.policy import DAY
from tests.engine.sandbox.say_surroundings import EXPECTED, REFUSED, findings
from tests.engine.sandbox.support import StateDirectory


def test_a_bot_finds_what_every_program_expects_and_can_change_no_file(state: StateDirectory) -> None:
    answers_by_tier = {
        (report.name, sealed): findings(report.name, state.path, sealed=sealed)
        for report in state.reports.values()
        for sealed in (False, True)
        if report.isolates and report.holds and not (sealed and report.unsealed)
    }
    for answer in state.as_ordinary_user("tests.engine.sandbox.say_tiers"):
        if answer["holds"] and answer["isolates"]:
            (answers,) = state.as_ordinary_user("tests.engine.sandbox.say_surroundings", answer["name"])
            answers_by_tier[f"{answer['name']} as an ordinary user", False] = answers

    assert len(answers_by_tier) >= 2
    for who, answers in answers_by_tier.items():
        assert {expression: answers[expression] for expression in EXPECTED} == EXPECTED, who
        assert [expression for expression in REFUSED if not answers[expression].endswith("Error")] == [], who


def test_a_copy_of_a_bot_tells_nothing_of_when_and_where_it_was_made(state: StateDirectory) -> None:
    for report in state.reports.values():
        if report.isolates and report.holds and os.getuid() == 0:
            answers = findings(report.name, state.path)
            path = answers["sys.orig_argv[-1]"]
            assert answers["os.stat('.').st_mtime, os.stat('bot.py').st_mtime"] == str((float(DAY),) * 2)
            assert inventory.kernel() not in path
            assert not any(f"/{user}" in path for user in slots.users())
