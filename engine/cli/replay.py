"""`tute replay`: print a match as text, from a log of your own or from a league, or fetch its log."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import FAILED, OK, Problem

EXAMPLE = """
tute replay games.jsonl
tute replay games.jsonl --board 3
tute replay h7k2m9xq4d --league https://tute.example
tute replay h7k2m9xq4d --log match.jsonl
"""
DETAILS = """
Prints the games in a log of your own (tute play --log) or of a finished match of a league like a newspaper's bridge column. With --log it writes
the log of a league's match for tute verify, tute repro and tute audit. The last two also accept the id of a match instead of a log.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    from engine.cli import remote

    parser = command(commands, "replay", "print a match, yours or of a league", EXAMPLE, DETAILS)
    parser.add_argument("match", metavar="FILE|ID", help="a log, or the id of a match: the end of its address, /m/ID")
    parser.add_argument("--board", type=int, metavar="N", help="only this board")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write the log of the whole match to FILE (.jsonl)")
    remote.add_league_flag(parser)
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Print a log, or fetch a match and print it or write its log."""
    from engine.cli import remote

    path = Path(args.match)
    if path.is_file():
        return _own(path, args)
    if path.suffix or len(path.parts) > 1:
        raise Problem(
            f"there is no file {args.match}; tute play --log FILE writes one, and a match of a league has an id"
        )
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
    _write(text)
    return OK


def _own(path: Path, args: argparse.Namespace) -> int:
    """Print the replays that a local file contains."""
    from engine.cli import table
    from engine.cli.column import column
    from engine.replay import ReplayError, restore

    if args.log is not None:
        raise Problem(f"{path} is the log already; --log fetches that of a league's match")
    text = path.read_text(encoding="utf-8")
    documents = [line for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else [text]
    replays = []
    for number, document in enumerate(documents, 1):
        try:
            replay = json.loads(document)
            restore(replay)
        except (ValueError, RecursionError, ReplayError) as error:
            raise Problem(f"{path}, line {number}: this is no replay: {error}", FAILED) from None
        if args.board is None or replay["meta"].get("board", 1) == args.board:
            replays.append(replay)
    if not replays:
        boards = f"has no board {args.board}" if args.board is not None else "has no replay"
        raise Problem(f"{path} {boards}")
    if args.json:
        print_json(replays)
        return OK
    _write("\n".join(column(replay, table.title(replay["game"])) for replay in replays))
    return OK


def _write(text: str) -> None:
    """Print text written by others, without its control characters."""
    sys.stdout.write("".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text))
