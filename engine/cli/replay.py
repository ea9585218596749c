"""`tute replay`: print a match of a league as text, or fetch its log."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import OK, Problem

EXAMPLE = """
tute replay h7k2m9xq4d --league https://tute.example
tute replay h7k2m9xq4d --board 3
tute replay h7k2m9xq4d --log match.jsonl
"""
DETAILS = """
Prints a finished match like a newspaper's bridge column, or writes its log for tute verify, tute repro and tute audit. The last two also accept
the id of a match instead of a log.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    from engine.cli import remote

    parser = command(commands, "replay", "print a match of a league, or fetch its log", EXAMPLE, DETAILS)
    parser.add_argument("match", metavar="ID", help="the id of the match: the end of its address, /m/ID")
    parser.add_argument("--board", type=int, metavar="N", help="only this board")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write the log of the whole match to FILE (.jsonl)")
    remote.add_league_flag(parser)
    json_flag(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fetch a match and print it, or write its log."""
    from engine.cli import remote

    league = remote.chosen(args.league)
    if args.log is not None:
        if args.log.suffix != ".jsonl":
            raise Problem(f"--log {args.log}: the log has one replay per line; give it a name that ends in .jsonl")
        text = remote.match_log(league, args.match)
        args.log.write_text(text, encoding="utf-8")
        document = {"match": args.match, "file": str(args.log), "replays": text.count("\n")}
        if args.json:
            print_json(document)
        else:
            print(f"wrote {document['replays']} replays of {args.match} to {args.log}")
        return OK
    if args.json:
        print_json(league.get(f"matches/{quote(args.match, safe='')}"))
        return OK
    board = f"?b={args.board}" if args.board is not None else ""
    text = league.ask("GET", f"/m/{quote(args.match, safe='')}.txt{board}").body.decode()
    sys.stdout.write("".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text))
    return OK
