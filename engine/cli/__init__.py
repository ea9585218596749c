"""The `tute` command. A command's module loads its dependencies only when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine.cli.output import BAD, paint, set_color
from engine.cli.problem import INFRASTRUCTURE, INTERRUPTED, OK, USAGE, Problem
from engine.client import LeagueError
from engine.console import escape_what_cannot_be_shown
from engine.errors import meant

COMMANDS = (
    *(
        "games",
        "play",
        "bot",
        "login",
        "submit",
        "remote",
        "volunteer",
        "status",
        "serve",
        "replay",
        "verify",
        "repro",
        "audit",
    ),
    *("verify-certificate", "data", "analyse", "puzzles", "probe", "tune", "lab", "cases", "rules", "sandbox", "bench"),
)

DESCRIPTION = "Play, check and measure bots and rules of the Tute family of card games."
EPILOG = """\
exit codes:
  0  success; what was checked is valid
  1  what was checked is not valid
  2  the command or its input is wrong
  3  something on this machine failed (sandbox, disk); no bot is to blame
  130  Ctrl-C ended it

example:
  tute play greedy random -g partnership -n 100 --seed 7 --log games.jsonl
  tute verify games.jsonl
"""


class _Version(argparse.Action):
    """Prints the version and which rules run, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import engine
        from engine.compiled import described

        print(f"tute {engine.__version__}, rules: {described()}")
        parser.exit()


class CommandParser(argparse.ArgumentParser):
    """A parser that says what is wrong first, and names the command or option that was probably meant."""

    def error(self, message: str) -> NoReturn:
        """Print the message and where to find help, and exit with 2."""
        usage = self.format_usage() if message.startswith("the following arguments are required") else ""
        _complain(f"{message}\n{usage}{self.prog} --help explains all")
        sys.exit(USAGE)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        what = f"the value {value!r}" if action.option_strings else repr(value)
        words = [str(choice) for choice in action.choices]
        if action.dest == "command":
            self.error(f"there is no command {value!r}{meant(str(value), words)}")
        raise argparse.ArgumentError(
            action, f"{what} is not allowed{meant(str(value), words)}; choose one of: {', '.join(words)}"
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse options that this parser does not know. The parser of a command runs before that of `tute`."""
        values, rest = super().parse_known_args(args, namespace)
        unknown = next((word for word in rest if word.startswith("-") and word != "-"), None)
        if unknown is not None:
            options = [text for action in self._actions for text in action.option_strings]
            self.error(f"there is no option {unknown}{meant(unknown.partition('=')[0], options)}")
        return values, rest


def _complain(text: str) -> None:
    """Print one message to stderr."""
    print(f"{paint('tute:', BAD, sys.stderr)} {text}", file=sys.stderr)


def _module(command: str) -> Any:
    """Return the module of a command: `add` declares it, `run` carries it out."""
    return importlib.import_module(f"engine.cli.{'connect' if command == 'remote' else command.replace('-', '_')}")


def parser() -> CommandParser:
    """Build the parser for all commands."""
    top = CommandParser(
        prog="tute", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and whether the rules are compiled")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        _module(name).add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code (see EPILOG). Usage errors are printed to stderr and exit with 2."""
    escape_what_cannot_be_shown()
    args = parser().parse_args(argv)
    set_color(args.color)
    try:
        code = _module(args.command).run(args)
        sys.stdout.flush()
    except Problem as problem:
        _complain(str(problem))
        return problem.code
    except LeagueError as error:
        _complain(str(error))
        return INFRASTRUCTURE if error.is_away else USAGE
    except KeyboardInterrupt as interrupt:
        _complain(str(interrupt) or "interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Nobody reads our output any more; avoid a second error at exit.
        return OK
    except OSError as error:
        if error.filename is None:
            _complain(str(error))
            return INFRASTRUCTURE
        _complain(f"{error.filename}: {error.strerror}")
        return USAGE
    return int(code)
