"""`tute serve`: run a league on this machine."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from engine.cli.output import command
from engine.cli.problem import INFRASTRUCTURE, Problem

EXAMPLE = """
tute serve
tute serve --bind 127.0.0.1:8080 --state ~/my-league
"""
DETAILS = """
Runs web server, worker and scheduler of a league until Ctrl-C. Its database is a file in the state folder, whose name is printed; the same
folder brings the same league back. Needs the extra `league`: pip install 'tute-league[league]'.
`tute-manage` has the operator's commands, such as tute-manage enter_house for the house bots.
"""
EXTRA = "league"


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "serve", "run a league on this machine", EXAMPLE, DETAILS)
    parser.add_argument("--bind", metavar="ADDRESS:PORT", help="address of the site (127.0.0.1:8000)")
    parser.add_argument("--slots", type=int, metavar="N", help="matches played in parallel (2, or 1 on a single core)")
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="folder of the league's data (default: STATE_DIR, else ~/.local/share/tute-league, for root /var/lib/tute-league)",
    )
    parser.add_argument("--quiet", action="store_true", help="log warnings and errors only")


def run(args: argparse.Namespace) -> NoReturn:
    """Become the league's own `serve`: the toolbox only knows how to start the league."""
    if importlib.util.find_spec("django") is None or importlib.util.find_spec("league") is None:
        raise Problem(
            f"only the toolbox is installed here, not the league. Add it with: pip install 'tute-league[{EXTRA}]'",
            INFRASTRUCTURE,
        )
    words = [
        word
        for name in ("bind", "slots")
        if (value := getattr(args, name)) is not None
        for word in (f"--{name}", str(value))
    ]
    words += ["--quiet"] if args.quiet else []
    environment = dict(os.environ)
    if args.state is not None:
        environment["STATE_DIR"] = str(args.state.expanduser().absolute())
    # -P: a file of the current folder, such as a bot named random.py, must not be imported as a module.
    os.execve(sys.executable, [sys.executable, "-P", "-m", "league.manage", "serve", *words], environment)  # noqa: S606 - the league's program
