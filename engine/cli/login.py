"""`tute login`: sign in to a league."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from engine.cli.output import command, json_flag, print_json
from engine.cli.problem import OK, Problem

EXAMPLE = """
tute login https://tute.example
tute login http://127.0.0.1:8000 < token.txt
tute login https://tute.example --forget
"""
DETAILS = """
Asks for a token, checks it, and stores both for tute submit and tute status. Create a token on your account page, with the scope submit. It is
read from the terminal without being shown, or from a pipe; never pass it as an argument, where others could read it. Programs may set
TUTE_LEAGUE and TUTE_TOKEN instead.
"""


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "login", "sign in to a league, for submit and status", EXAMPLE, DETAILS)
    parser.add_argument("league", metavar="ADDRESS", help="the address of the league's site")
    parser.add_argument("--forget", action="store_true", help="remove the league and its token")
    json_flag(parser)


def run(args: argparse.Namespace) -> int:
    """Store a league and a token that it accepts."""
    from engine.cli import remote
    from engine.client import League, address_of

    url = address_of(args.league)
    if args.forget:
        remote.keep(None, forget=url)
        _report(
            args,
            {"league": url, "player": None},
            f"removed {url} from this machine; revoke its token on your account page",
        )
        return OK
    if sys.stdin.isatty():
        print(
            f"Create a token with the scope submit on {url}/accounts/me/ and paste it here; it is not shown.",
            file=sys.stderr,
        )
        token = getpass.getpass("token: ", stream=sys.stderr)
    else:
        token = sys.stdin.readline()
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise Problem("no token was given; a token is tute_ followed by letters and digits")
    league = League(url, token)
    name = str(league.get("me")["name"])
    remote.keep(league)
    _report(args, {"league": url, "player": name}, f"signed in at {url} as {name}; stored in {remote.leagues_file()}")
    return OK


def _report(args: argparse.Namespace, document: dict[str, Any], text: str) -> None:
    if args.json:
        print_json(document)
    else:
        print(text)
