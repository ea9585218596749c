"""`tute sandbox`: test which tiers of isolation hold on this machine, and measure covert channels between bots."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.output import command, json_flag, paragraph, print_json, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem, require
from engine.cli.table import state_dir

if TYPE_CHECKING:
    from engine.sandbox.channels.meter import ChannelResult

MIN_TRIALS = 4
EXAMPLE = """
tute sandbox check
tute sandbox check --json
tute sandbox tiers
tute sandbox channels --tier namespaces
tute sandbox channels --json
"""
DETAILS = """
check   starts a canary bot in every tier. A tier holds only if all its attempts to do harm fail and it can play. Exit code 1 if no tier that
        isolates bots holds. A tier seals bots if a canary that reads every clock cannot notice that it was stopped. Control groups are a second
        limit on each bot if this machine has them; no tier needs them.
tiers   prints what confines a bot in each tier, what the tier needs and what it leaves open.
channels starts two bots, frozen between their turns, and lets one send the other symbols without the referee through every known channel: clocks,
        counters, pages, caches. Prints bits per decision with a 95% interval, for every tier that holds, sealed and not. Keep the machine idle.
tiers and channels: --write puts the table into a document.
"""

MARKS = "<!-- {}: begin -->\n", "<!-- {}: end -->\n"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "sandbox", "test which sandbox tiers hold here, or list them", EXAMPLE, DETAILS)
    parser.add_argument("action", choices=("check", "tiers", "channels"))
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="tiers, channels: put the table between the markers in FILE"
    )
    parser.add_argument("--tier", action="append", metavar="NAME", help="channels: only this tier; may be repeated")
    parser.add_argument(
        "--trials", type=int, default=200, metavar="N", help="channels: symbols sent through each channel (default 200)"
    )
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Test the tiers, list them, or measure their covert channels."""
    return {"check": check, "tiers": tiers, "channels": channels}[args.action](args)


def tiers(args: argparse.Namespace) -> int:
    """List the tiers, the strongest first."""
    from engine.sandbox import TIERS
    from engine.sandbox.tiers.choosing import table

    if args.write:
        _write(args.write, "tiers", table())
    elif args.json:
        words = ("name", "isolates", "held_by", "needs", "leaves_open", "remedies")
        print_json({"tiers": [{word: getattr(tier, word) for word in words} for tier in TIERS]})
    else:
        print(table(), end="")
    return OK


def _write(file: Path, name: str, table: str) -> None:
    file.write_text(_with_table(file.read_text(encoding="utf-8"), name, table), encoding="utf-8")


def _with_table(text: str, name: str, table: str) -> str:
    """Return the document with the table between its markers. Raise Problem if it lacks the markers."""
    begin, end = (mark.format(name) for mark in MARKS)
    head, opening, rest = text.partition(begin)
    _old, closed, tail = rest.partition(end)
    if not opening or not closed:
        raise Problem(f"the file has no lines {begin.strip()} and {end.strip()}; add them where the table belongs")
    return head + begin + table + end + tail


def channels(args: argparse.Namespace) -> int:
    """Measure every channel in every tier that holds here. Raise Problem if no tier holds, or a named tier does not."""
    from engine.sandbox import SandboxError
    from engine.sandbox.channels.meter import KINDS, measure
    from engine.sandbox.files import runtimes
    from engine.sandbox.tiers import choosing

    require(args, trials=MIN_TRIALS)
    findings_by_mode: dict[str, list[ChannelResult]] = {}
    try:
        with progress("channels") as advance:
            modes = _modes(args.tier)
            for tier, sealed in modes:
                findings = findings_by_mode[f"{tier}, sealed" if sealed else tier] = []
                start = partial(choosing.start, tier)
                for finding in measure(start, runtimes.python(state_dir()), trials=args.trials, sealed=sealed):
                    findings.append(finding)
                    advance(sum(map(len, findings_by_mode.values())), len(modes) * len(KINDS))
    except SandboxError as error:
        raise Problem(str(error), INFRASTRUCTURE) from None
    if args.write:
        _write(args.write, "channels", _channel_table(findings_by_mode))
    if args.json:
        rows = [
            {
                "tier": name,
                "channel": finding.kind.name,
                "symbols": finding.kind.symbols,
                "refused": finding.refused,
                "conclusive": finding.estimate.conclusive and not finding.blind,
                **asdict(finding.estimate),
            }
            for name, findings in findings_by_mode.items()
            for finding in findings
        ]
        print_json({"format": "tute-sandbox-channels/1", "machine": machine(), "rows": rows})
    elif not args.write:
        print(_channel_table(findings_by_mode), end="")
    return OK


def machine() -> str:
    """Describe this machine for the report of a measurement."""
    return f"Linux {platform.release()}, {platform.machine()}, {os.cpu_count()} processors, {'root' if os.geteuid() == 0 else 'an ordinary user'}"


def _modes(tier_names: Sequence[str] | None) -> list[tuple[str, bool]]:
    """Return (tier, sealed) for each way to start a bot in the named tiers, by default in all that hold here."""
    from engine.sandbox import check

    reports = {report.name: report for report in check(state_dir())}
    names = list(tier_names or (name for name, report in reports.items() if report.holds and report.isolates))
    missing = [name for name in names if name not in reports or not reports[name].holds]
    if missing or not names:
        raise Problem(
            f"no tier {', '.join(missing) or 'that isolates'} holds here; run `tute sandbox check` to see why"
        )
    return [
        (name, sealed) for name in names for sealed in (False, True) if not sealed or reports[name].unsealed is None
    ]


def _channel_table(findings_by_mode: Mapping[str, Sequence[ChannelResult]]) -> str:
    lines = [
        f"| channel | tried | {' | '.join(f'`{name}`' for name in findings_by_mode)} |",
        f"|---|---|{'---|' * len(findings_by_mode)}",
    ]
    for row in zip(*findings_by_mode.values(), strict=True):
        kind = row[0].kind
        lines.append(f"| {kind.name} | {log2(kind.symbols):g} | {' | '.join(finding.text for finding in row)} |")
    return "\n".join(lines) + "\n"


def check(args: argparse.Namespace) -> int:
    """Test every tier by its canary. Return FAILED if none isolates bots."""
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
