"""`tute repro`: what a bot was sent in a logged match, put to it again."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import remote, table
from engine.cli.output import command, json_flag, print_json, progress
from engine.cli.problem import FAILED, INFRASTRUCTURE, OK, Problem

if TYPE_CHECKING:
    from engine.runner import BotSpec
    from engine.runner.rebuild import Exchange
    from engine.runner.rerun import Reply
    from engine.sandbox import Sandbox

EXAMPLE = """
tute repro games.jsonl --bot my_bot
tute repro games.jsonl --bot my_bot --pass 1 --seat 2 --sandbox none
tute repro games.jsonl --pass 0 --seat 2 --lines > requests.jsonl
tute repro h7k2m9xq4d --bot my_bot --league https://tute.example
"""
DETAILS = """
Works out from the log of a match every byte that a bot was sent, sends it to a fresh process of the bot, and shows where the bot now gives another
answer than the log. It stops at a fault, with the exact request and answer. LOG is what tute play --log wrote, the log of a whole match from the
site, or the id of a match there.

exit codes:
  0  every answer is the one in the log
  1  an answer differs, or the bot failed
  2  the log, the bot or the choice of seats is wrong
  3  something of this machine failed
"""
SHOWN = 20  # differences in the printed report; --json has all


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "repro", "put a logged match to a bot again", EXAMPLE, DETAILS)
    parser.add_argument("log", metavar="LOG|ID")
    remote.add_league_flag(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--bot", metavar="PATH", help="a file, folder, zip or house bot")
    what.add_argument("--lines", action="store_true", help="print the requests and the answers in the log instead")
    parser.add_argument("--party", type=int, help="which party of the match the bot was (the one of its name)")
    parser.add_argument("--pass", type=int, dest="number", metavar="N", help="only this pass (0 is the first)")
    parser.add_argument("--seat", type=int, help="only this seat")
    table.add_sandbox_flags(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Put a logged match to a bot again, or print its lines."""
    from engine.replay import ReplayError
    from engine.runner.rebuild import exchanges, passes

    try:
        groups = [group for group in passes(documents(args.log, args.league)) if args.number in (None, _pass(group))]
        if not groups:
            raise Problem(f"{args.log} has no pass {args.number}")
        if args.lines:
            return _print_lines(list(exchanges(groups[0])), args)
        bot = table.find_bot(args.bot)
        box = table.open_sandbox(args.sandbox)
        party = party_of(groups[0], bot, args.party)
        reports = []
        with progress(f"asking {bot.name}") as advance:
            for done, group in enumerate(groups):
                advance(done, len(groups))
                for seat in seats_of(group, party, args.seat):
                    mine = [exchange for exchange in exchanges(group) if exchange.seat == seat]
                    reports.append(_again(bot, box, group[0], mine, party))
    except (ReplayError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{args.log}: {error}") from None
    if not reports:
        raise Problem(f"party {party} had no seat {args.seat} there")
    same = all(report["fault"] is None and not report["differences"] for report in reports)
    if args.json:
        print_json({"format": "tute-repro/1", "bot": bot.name, "sha256": bot.sha256, "same": same, "seats": reports})
    else:
        _print(bot, reports)
    return OK if same else FAILED


# ---- the log


def documents(log: str, league: str | None) -> Iterator[dict[str, Any]]:
    """The replays of a log: of one file, or one a line, or of a match of the league. Problem where it is none."""
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


def party_of(group: Sequence[dict[str, Any]], bot: BotSpec, given: int | None) -> int:
    """Which party of the match the bot was: the one of its name, or the one given. Problem where that says nothing."""
    names = group[0]["meta"]["parties"]
    if given is not None:
        if not 0 <= given < len(names):
            raise Problem(f"--party {given}: the match has parties 0 to {len(names) - 1}: {', '.join(names)}")
        return given
    found = [number for number, name in enumerate(names) if name == bot.name]
    if len(found) != 1:
        raise Problem(
            f"say with --party which one {bot.name} was: {', '.join(f'{n} {x}' for n, x in enumerate(names))}"
        )
    return found[0]


def seats_of(group: Sequence[dict[str, Any]], party: int, given: int | None) -> list[int]:
    """The seats of a party in a pass, or the one given if it is among them."""
    return [seat for seat, who in enumerate(group[0]["meta"]["seating"]) if who == party and given in (None, seat)]


def _print_lines(found: Sequence[Exchange], args: argparse.Namespace) -> int:
    seats = {exchange.seat for exchange in found}
    if args.seat not in seats:
        raise Problem(f"--lines prints one seat of one pass: give --seat 0 to {max(seats)}")
    for exchange in found:
        if exchange.seat == args.seat:
            sys.stdout.write(exchange.request.decode())
            if exchange.answer and exchange.step >= 0:
                print(json.dumps({"id": json.loads(exchange.request)["id"], "do": exchange.answer}))
    return OK


# ---- the bot


def _again(
    bot: BotSpec, box: Sandbox, first: dict[str, Any], exchanges: Sequence[Exchange], party: int
) -> dict[str, Any]:
    """Put the requests of one seat and pass to a fresh process; what it answered, and where it failed."""
    from dataclasses import asdict

    from engine.runner import Limits
    from engine.runner.rerun import Rerun, rerun
    from engine.sandbox import SandboxError

    limits = Limits(**first["pass"]["limits"])
    number = first["meta"]["sitting"]
    try:
        found = rerun(bot, box, exchanges, limits, party=party, sitting=number) or Rerun()
    except (SandboxError, OSError) as error:
        raise Problem(f"{error}; this is not the bot's fault", INFRASTRUCTURE) from None
    return {
        "pass": number,
        "seat": exchanges[0].seat,
        "decisions": len(found.replies),
        "differences": [_difference(reply) for reply in found.replies if reply.differs and reply.now in reply.legal],
        "fault": asdict(found.fault) if found.fault else None,
        "max_cpu_s": found.max_cpu_s,
        "stderr": found.stderr,
    }


def _difference(reply: Reply) -> dict[str, Any]:
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


# ---- the report


def _print(bot: BotSpec, reports: Sequence[dict[str, Any]]) -> None:
    from engine.cli.explain import explain
    from engine.runner import FaultReport

    for report in reports:
        differing = report["differences"]
        print(
            f"pass {report['pass']}, seat {report['seat']}: {report['decisions'] - len(differing)} of {report['decisions']} answers as in the log,"
            f" slowest {report['max_cpu_s'] * 1000:.1f} ms of CPU"
        )
        for found in differing[:SHOWN]:
            print("  board {board}, request {id}, after {step} actions: now {now}, in the log {logged}".format(**found))
        if len(differing) > SHOWN:
            print(f"  ... and {len(differing) - SHOWN} more (--json shows all)")
        if report["fault"]:
            explain(bot.name, FaultReport(**report["fault"]), "  ")
            for line in report["stderr"].splitlines()[-12:]:
                print("    " + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line[:200]))
    asked = sum(report["decisions"] for report in reports)
    same = asked - sum(len(report["differences"]) for report in reports)
    failed = sum(report["fault"] is not None for report in reports)
    print(
        f"\n{same} of {asked} answers of {bot.name} are those of the log; it failed in {failed} of {len(reports)} conversations"
    )
