"""`tute sandbox check`: which tiers of isolation hold on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.cli.output import command, json_flag, paragraph, print_json, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem
from engine.cli.table import state_dir

EXAMPLE = """
tute sandbox check
tute sandbox check --json
tute sandbox tiers
"""
DETAILS = """
check   starts a canary bot in every tier. A tier holds only if each of its attempts to do harm fails and it can play. Exit code 1 if no tier
        that isolates bots holds. A tier seals bots where one that looks at every clock learns nothing of having been stopped. Control groups
        are a second limit on each bot where this machine has them; no tier needs them.
tiers   prints what holds a bot in each tier, what the tier needs and what it leaves open. --write puts that table into a document.
"""

BEGIN, END = "<!-- tiers: begin -->\n", "<!-- tiers: end -->\n"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "sandbox", "prove which sandbox tiers hold here, or list them", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("check", "tiers"))
    parser.add_argument("--write", type=Path, metavar="FILE", help="tiers: put the table between the marks of FILE")
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check the tiers, or list them."""
    return check(args) if args.action == "check" else tiers(args)


def tiers(args: argparse.Namespace) -> int:
    """List the tiers, the strongest first."""
    from engine.sandbox import TIERS
    from engine.sandbox.tiers.choosing import table

    if args.write:
        args.write.write_text(_with_table(args.write.read_text(encoding="utf-8"), table()), encoding="utf-8")
    elif args.json:
        words = ("name", "isolates", "held_by", "needs", "leaves_open", "remedies")
        print_json({"tiers": [{word: getattr(tier, word) for word in words} for tier in TIERS]})
    else:
        print(table(), end="")
    return OK


def _with_table(text: str, table: str) -> str:
    """A document with the table between its marks. Problem where it has none."""
    head, begin, rest = text.partition(BEGIN)
    _old, end, tail = rest.partition(END)
    if not begin or not end:
        raise Problem(f"the file has no lines {BEGIN.strip()} and {END.strip()} between which the table would stand")
    return head + begin + table + end + tail


def check(args: argparse.Namespace) -> int:
    """Prove every tier by its canary. FAILED where none isolates bots."""
    from engine.sandbox import SandboxError, check, control_groups

    try:
        with progress("canary bots"):
            reports = check(state_dir())
            groups = control_groups()
    except SandboxError as error:
        raise Problem(str(error), INFRASTRUCTURE) from None
    good = any(report.holds for report in reports if report.isolates)
    if args.json:
        print_json(
            {
                "tiers": [
                    {
                        "name": report.name,
                        "isolates": report.isolates,
                        "holds": report.holds,
                        "reasons": list(report.reasons),
                        "remedies": list(report.remedies),
                        "canaries": dict(report.canaries),
                        "seals": report.unsealed is None,
                        "unsealed": report.unsealed,
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
        if report.isolates and report.holds:
            paragraph(f"seals bots: {'no, ' + report.unsealed if report.unsealed else 'yes'}", "  ")
    print(f"control groups: {groups.name}")
    paragraph(groups.note, "  ")
    return OK if good else FAILED
