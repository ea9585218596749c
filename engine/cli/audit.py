"""`tute audit`: compare a match with what the bot plays among stand-ins."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.cli import remote, table
from engine.cli.output import command, json_flag, print_json, progress, seats
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem
from engine.cli.repro import documents, party_of, seats_of

EXAMPLE = """
tute audit games.jsonl my_bot
tute audit games.jsonl my_bot --party 1 --json
"""
DETAILS = """
Sends a bot every line that it received in a logged match twice more, in fresh processes, among stand-ins for the other bots, and compares the
three answers to each request. A bot whose bot.toml says deterministic = true must give the same answer three times; for any other bot the log may
differ from the two runs no more than they differ from each other. The league does the same with a sample of its matches (docs/fairness.md,
"Audits").

exit codes:
  0  the match is what the bot plays by itself
  1  it is not, or the bot failed in a run
  2  the log, the bot or the choice of the party is wrong
  3  something on this machine failed
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(
        commands, "audit", "compare a logged match with what the bot plays among stand-ins", EXAMPLE, DETAILS
    )
    parser.add_argument("log", metavar="LOG|ID")
    remote.add_league_flag(parser)
    parser.add_argument("bot", metavar="BOT", help="a file, folder, zip or house bot")
    parser.add_argument("--party", type=int, help="the bot's party in the match (by default the one with its name)")
    table.add_sandbox_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Audit each seat of the bot in each pass."""
    from engine.replay import ReplayError
    from engine.runner.audit import DIFFERS, audit
    from engine.runner.audit import FAILED as BROKEN
    from engine.runner.rebuild import passes
    from engine.sandbox import SandboxError

    bot = table.find_bot(args.bot)
    reports = []
    try:
        groups = passes(documents(args.log, args.league))
        party = party_of(groups[0], bot, args.party)
        box = table.open_sandbox(args.sandbox)
        with progress(f"asking {bot.name} twice") as advance:
            for finished, group in enumerate(groups):
                advance(finished, len(groups))
                for seat in seats_of(group, party, None):
                    number = group[0]["meta"]["sitting"]
                    result = audit(bot, box, group, seat, deterministic=bot.deterministic, seed=f"{number} {seat}")
                    if result is not None:
                        reports.append({"pass": number, "seat": seat, **result.plain()})
    except (ReplayError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Problem(f"{args.log}: {error}") from None
    except SandboxError as error:
        raise Problem(f"{error}; this is not the bot's fault", INFRASTRUCTURE) from None
    good = all(report["verdict"] not in (DIFFERS, BROKEN) for report in reports)
    if args.json:
        print_json({"format": "tute-audit/1", "bot": bot.name, "sha256": bot.sha256, "good": good, "seats": reports})
    else:
        _print(reports)
    return OK if good else FAILED


def _print(reports: Sequence[dict[str, Any]]) -> None:
    from engine.runner.audit import VERDICTS

    for report in reports:
        print(
            f"{seats(report['pass'])}, seat {report['seat'] + 1}: {VERDICTS[report['verdict']]} ({report['decisions']} decisions;"
            f" odd one out: the match {report['log_odd']} times, a run {report['run_odd']} times; all three differ {report['all_differ']} times)"
        )
        if first := report["first"]:
            print(
                f"  first difference: board {first['board']}, request {first['request']}, after {first['step']} actions:"
                f" in the match {first['logged']}, in the runs {' and '.join(run or 'nothing' for run in first['runs'])}"
            )
        if report["fault"]:
            print(f"  it failed by {report['fault']}: {report['detail']}")
