"""`tute sandbox check`: which tiers of isolation hold on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from engine.cli.output import command, json_flag, paragraph, print_json, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem
from engine.cli.table import state_dir

EXAMPLE = """
tute sandbox check
tute sandbox check --json
"""
DETAILS = """
Starts canary bots that try to do harm, in every tier; a tier holds only if all of them fail and an honest bot plays. Exit code 1 if neither
namespaces nor landlock holds. Control groups are a second fence round each bot where this machine has them; every tier holds without."""


def add(commands: Any) -> None:
    parser = command(commands, "sandbox", "prove which sandbox tiers hold here", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("check",))
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from engine.sandbox import SandboxError, check, control_groups

    try:
        with progress("canary bots"):
            reports = check(state_dir())
            groups = control_groups()
    except SandboxError as error:
        raise Problem(str(error), INFRASTRUCTURE) from None
    good = any(report.holds for report in reports if report.name != "none")
    if args.json:
        print_json(
            {
                "tiers": [
                    {
                        "name": report.name,
                        "holds": report.holds,
                        "reasons": list(report.reasons),
                        "remedies": list(report.remedies),
                        "canaries": dict(report.canaries),
                    }
                    for report in reports
                ],
                "control_groups": {"kind": groups.name, "note": groups.note},
            }
        )
        return OK if good else FAILED
    for report in reports:
        passed = sum(bool(value) for value in report.canaries.values())
        print(
            f"{report.name}: {'holds' if report.holds else 'does not hold'} ({passed} of {len(report.canaries)} canaries contained)"
        )
        for name, value in report.canaries.items():
            if not value:
                print(f"  not contained: {name}")
        for reason in report.reasons:
            paragraph(f"why: {reason}", "  ")
        for remedy in report.remedies:
            paragraph(f"do: {remedy}", "  ")
    print(f"control groups: {groups.name}")
    paragraph(groups.note, "  ")
    return OK if good else FAILED
