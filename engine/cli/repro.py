"""`tute repro`: send a bot again what it received in a logged match."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import remote, table
from engine.cli.output import command, json_flag, print_json, progress, seats
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem

if TYPE_CHECKING:
    from engine.runner import BotSpec
    from engine.runner.rebuild import Exchange
    from engine.runner.rerun import RepeatedDecision
    from engine.sandbox import Sandbox

EXAMPLE = """
tute repro games.jsonl --bot my_bot
tute repro games.jsonl --bot my_bot --pass B --seat 2 --sandbox none
tute repro games.jsonl --pass A --seat 3 --lines > requests.jsonl
tute repro h7k2m9xq4d --bot my_bot --league https://tute.example
"""
DETAILS = """
Rebuilds from the log of a match every byte that a bot received, sends it to a fresh process of the bot, and shows where the bot now gives an
answer that differs from the log. It stops at a fault, with the exact request and answer. LOG is the output of tute play --log, the log of a
whole match from the site, or the id of a match there.

exit codes:
  0  every answer is the same as in the log
  1  an answer differs, or the bot failed
  2  the log, the bot or the choice of seats is wrong
  3  something on this machine failed
"""
SHOWN = 20  # Number of differences printed; --json has all.


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "repro", "repeat a logged match with a bot", EXAMPLE, DETAILS)
    parser.add_argument("log", metavar="LOG|ID")
    remote.add_league_flag(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--bot", metavar="PATH", help="a file, folder, zip or house bot")
    what.add_argument("--lines", action="store_true", help="print the requests and the logged answers instead")
    parser.add_argument("--party", type=int, help="the bot's party in the match (by default the one with its name)")
    parser.add_argument(
        "--pass", type=_letter, dest="number", metavar="A", help="only this pass: the seats A, B, ... of the pages"
    )
    parser.add_argument(
        "--seat", type=_place, metavar="N", help="only this seat (1 is the first; the protocol calls it 0)"
    )
    table.add_sandbox_flags(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Send the logged requests to the bot again, or print them."""
    from engine.replay import ReplayError
    from engine.runner.rebuild import exchanges, passes

    try:
        groups = [group for group in passes(documents(args.log, args.league)) if args.number in (None, _pass(group))]
        if not groups:
            raise Problem(f"{args.log} has no {seats(args.number)}")
        if args.lines:
            return _print_lines(list(exchanges(groups[0])), args)
        bot = table.find_bot(args.bot)
        box = table.open_sandbox(args.sandbox)
        party = party_of(groups[0], bot, args.party)
        reports = []
        with progress(f"asking {bot.name}") as advance:
            for finished, group in enumerate(groups):
                advance(finished, len(groups))
                for seat in seats_of(group, party, args.seat):
                    seat_exchanges = [exchange for exchange in exchanges(group) if exchange.seat == seat]
                    reports.append(_again(bot, box, group[0], seat_exchanges, party))
    except (ReplayError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{args.log}: {error}") from None
    if not reports:
        raise Problem(f"party {party} did not hold seat {args.seat + 1}")
    same = all(report["fault"] is None and not report["differences"] for report in reports)
    if args.json:
        print_json({"format": "tute-repro/1", "bot": bot.name, "sha256": bot.sha256, "same": same, "seats": reports})
    else:
        _print(bot, reports)
    return OK if same else FAILED


def _letter(text: str) -> int:
    """Parse the letter of a pass: 0 for A. Raise ArgumentTypeError."""
    if len(text) != 1 or not "A" <= text.upper() <= "Z":
        raise argparse.ArgumentTypeError(f"{text!r} is no pass; write its letter, A for the first")
    return ord(text.upper()) - ord("A")


def _place(text: str) -> int:
    """Parse the number of a seat: 0 for 1."""
    return int(text) - 1


# ---- The log


def documents(log: str, league: str | None) -> Iterator[dict[str, Any]]:
    """Yield the replays of a log, which is a file with one replay per line, or a match of the league. Raise Problem if it is not a log."""
    path = Path(log)
    if remote.is_match_id(log):
        path, text = Path(f"{log}.jsonl"), remote.match_log(remote.chosen(league), log)
    else:
        text = path.read_text(encoding="utf-8")
    try:
        if path.suffix != ".jsonl":
            yield json.loads(text)
            return
        for line in text.splitlines():
            if line.strip():
                yield json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not a log: {error}") from None


def _pass(group: Sequence[dict[str, Any]]) -> int:
    return int(group[0]["meta"]["sitting"])


def party_of(group: Sequence[dict[str, Any]], bot: BotSpec, wanted_number: int | None) -> int:
    """Return the bot's party in the match: the one with its name, or `wanted_number`. Raise Problem if there is no such party."""
    names = group[0]["meta"]["parties"]
    if wanted_number is not None:
        if not 0 <= wanted_number < len(names):
            raise Problem(f"--party {wanted_number}: the match has parties 0 to {len(names) - 1}: {', '.join(names)}")
        return wanted_number
    numbers = [number for number, name in enumerate(names) if name == bot.name]
    if len(numbers) != 1:
        raise Problem(
            f"choose with --party which party was {bot.name}: {', '.join(f'{n} {x}' for n, x in enumerate(names))}"
        )
    return numbers[0]


def seats_of(group: Sequence[dict[str, Any]], party: int, wanted_number: int | None) -> list[int]:
    """Return the seats of a party in a pass, or only seat `wanted_number`."""
    return [
        seat for seat, who in enumerate(group[0]["meta"]["seating"]) if who == party and wanted_number in (None, seat)
    ]


def _print_lines(exchanges: Sequence[Exchange], args: argparse.Namespace) -> int:
    seats_here = {exchange.seat for exchange in exchanges}
    if args.seat not in seats_here:
        raise Problem(f"--lines prints one seat of one pass; give --seat 1 to {max(seats_here) + 1}")
    for exchange in exchanges:
        if exchange.seat == args.seat:
            sys.stdout.write(exchange.request.decode())
            if exchange.answer and exchange.step >= 0:
                print(json.dumps({"id": json.loads(exchange.request)["id"], "do": exchange.answer}))
    return OK


# ---- The bot


def _again(
    bot: BotSpec, box: Sandbox, first: dict[str, Any], exchanges: Sequence[Exchange], party: int
) -> dict[str, Any]:
    """Send the requests of one seat and pass to a fresh process; return its answers and its fault."""
    from dataclasses import asdict

    from engine.runner import Limits
    from engine.runner.rerun import Rerun, rerun
    from engine.sandbox import SandboxError

    limits = Limits(**first["pass"]["limits"])
    number = first["meta"]["sitting"]
    try:
        result = rerun(bot, box, exchanges, limits, party=party, sitting=number) or Rerun()
    except (SandboxError, OSError) as error:
        raise Problem(f"{error}; this is not the bot's fault", INFRASTRUCTURE) from None
    return {
        "pass": number,
        "seat": exchanges[0].seat,
        "decisions": len(result.replies),
        "differences": [_difference(reply) for reply in result.replies if reply.differs and reply.now in reply.legal],
        "fault": asdict(result.fault) if result.fault else None,
        "max_cpu_s": result.max_cpu_s,
        "stderr": result.stderr,
    }


def _difference(reply: RepeatedDecision) -> dict[str, Any]:
    at = reply.exchange
    logged = at.answer or f"(failed by {at.fault})"
    return {
        "board": at.board,
        "step": at.step,
        "id": reply.request,
        "logged": logged,
        "now": reply.now,
        "legal": reply.legal,
    }


# ---- The report


def _print(bot: BotSpec, reports: Sequence[dict[str, Any]]) -> None:
    from engine.cli.explain import explain, print_log_end
    from engine.runner import FaultReport

    for report in reports:
        differing = report["differences"]
        print(
            f"{seats(report['pass'])}, seat {report['seat'] + 1}: {report['decisions'] - len(differing)} of {report['decisions']} answers"
            f" match the log, slowest {report['max_cpu_s'] * 1000:.1f} ms of CPU"
        )
        for difference in differing[:SHOWN]:
            print(
                "  board {board}, request {id}, after {step} actions: now {now}, in the log {logged}".format(
                    **difference
                )
            )
        if len(differing) > SHOWN:
            print(f"  ... and {len(differing) - SHOWN} more (--json shows all)")
        if report["fault"]:
            explain(bot.name, FaultReport(**report["fault"]), "  ")
            print_log_end(report["stderr"])
    decisions = sum(report["decisions"] for report in reports)
    same = decisions - sum(len(report["differences"]) for report in reports)
    failed = sum(report["fault"] is not None for report in reports)
    print(
        f"\n{same} of {decisions} answers of {bot.name} match the log; it failed in {failed} of {len(reports)} conversations"
    )
