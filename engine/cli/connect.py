"""`tute remote`: let a bot play in a league from this machine."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

from engine.cli.output import command
from engine.cli.problem import Problem, require
from engine.client import API, LeagueError, NotThere

EXAMPLE = """
tute remote my_bot
tute remote my_bot --matches 4
tute remote --run "python3 my_model.py --gpu" --as my-model --games brisca,subastado
"""
DETAILS = """
The league draws matches for the bot as long as this command runs, and the bot answers from here, without a sandbox: so it may use a GPU, a network or
a language model. It plays in pools of its own, with seconds to think (docs/remote-bots.md). tute login first. A lost connection costs only time.
Ctrl-C ends it after the current matches, at once if there is none; a second one ends it at once, and the bot loses what it was playing.
"""
IDLE_S, PLAYING_S = 10.0, 1.0  # Seconds between two requests while the league announces changes.
RETRY_S = 2.0
END_S = 2.0


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    from engine.cli import remote

    parser = command(commands, "remote", "let a bot play in a league from this machine", EXAMPLE, DETAILS)
    parser.add_argument("path", type=Path, nargs="?", metavar="PATH", help="folder with a bot.toml, or a source file")
    parser.add_argument("--run", metavar="COMMAND", help="command that starts the bot, in place of PATH")
    parser.add_argument("--protocol", choices=("json", "line"), help="how a bot of --run talks (default: json)")
    parser.add_argument("--as", dest="name", metavar="NAME", help="name of the bot (default: that of the package)")
    parser.add_argument("--games", metavar="KEYS", help="games that it plays, separated by commas (default: all)")
    parser.add_argument("--matches", type=int, default=1, metavar="N", help="most matches at a time (default: 1)")
    remote.add_league_flag(parser)


@dataclass(frozen=True)
class HomeBot:
    """A bot on this machine: how to start it, and what the league needs to know."""

    name: str
    command: Sequence[str]
    folder: Path
    games: Sequence[str]
    protocol: str
    digest: str  # A league rates each digest as a version of its own.
    parameters: Mapping[str, float] = field(default_factory=dict)  # Their values, which stay on this machine.

    def manifest(self) -> bytes:
        """Return the bot.toml of the remote bot."""
        values = {"name": self.name, "runtime": "remote", "games": list(self.games), "version": self.digest}
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()).encode()


def run(args: argparse.Namespace) -> int:
    """Register the bot, and answer for it until the user ends it."""
    from engine.cli import remote

    require(args, matches=1)
    league = remote.chosen(args.league, signed_in=True)
    bot = _bot(args)
    version = _register(league, bot)
    print(f"{version['bot']} version {version['number']} is connected to {league.url}", flush=True)
    return _Connection(league, bot, version["bot"], args.matches).play()


def _bot(args: argparse.Namespace) -> HomeBot:
    """Return the bot of the command line. Raise Problem."""
    from engine.cli import table
    from engine.game import games as known_games
    from engine.packages import manifest
    from engine.spsa import start_values

    if (args.path is None) == (args.run is None):
        raise Problem("name a bot: a folder, a source file, or a command with --run")
    try:
        games = [table.find_game(game) for game in args.games.split(",")] if args.games else []
    except ValueError as error:
        raise Problem(str(error)) from None
    if args.run is not None:
        if not args.name:
            raise Problem("give the bot a name with --as")
        digest = hashlib.sha256(args.run.encode()).hexdigest()[:16]
        return HomeBot(args.name, shlex.split(args.run), Path(), games, args.protocol or manifest.JSON, digest)
    try:
        if args.path.is_dir():
            names = [path.relative_to(args.path).as_posix() for path in args.path.rglob("*") if path.is_file()]
            text = (args.path / manifest.FILE).read_bytes()
            folder, what = args.path, manifest.parse(text, names, known_games())
        else:
            folder, what = args.path.parent, manifest.for_file(args.path.name, games, known_games())
            text = what.toml().encode()
    except (ValueError, FileNotFoundError) as refused:
        raise Problem(f"{args.path}: {refused}") from None
    python = [sys.executable]
    starters: dict[str, list[str]] = {"python": python, "python-numpy": python, "node": ["node"], "binary": []}
    if what.runtime not in starters:
        raise Problem(f"{args.path}: a bot with the runtime {what.runtime} has no program; use --run")
    entry = (folder / what.entry).resolve()
    digest = hashlib.sha256(text + entry.read_bytes()).hexdigest()[:16]
    start = [*starters[what.runtime], str(entry)]
    values = start_values(what.parameters)
    return HomeBot(args.name or what.name, start, folder, games or what.games, what.protocol, digest, values)


def _register(league: Any, bot: HomeBot) -> dict[str, Any]:
    """Return the version of the bot in the league; upload its manifest if it is new."""
    from engine.packages.archive import BotPackage
    from engine.packages.manifest import FILE, REMOTE, Manifest, slug

    name = slug(bot.name)
    if not name:
        raise Problem("the bot's name has no letters or digits for its address; give another name, such as --as rufo-2")
    package = BotPackage(Manifest(bot.name, REMOTE, FILE), {FILE: bot.manifest()})
    where = f"bots/{quote(name, safe='')}/versions"
    with suppress(NotThere):
        for version in league.pages(where, 1):
            if version["sha256"] == package.sha256:
                return dict(version)
    headers = {"Content-Type": "application/octet-stream"}
    answer = league.ask("POST", f"{API}/{where}?filename=bot.zip", package.zip(), headers)
    return dict(answer.data())


class _MatchThread(threading.Thread):
    """A match: its lines are passed to a process of the bot in turn."""

    def __init__(self, player: _Connection, match: str) -> None:
        super().__init__(name=match, daemon=True)
        self.player, self.match = player, match
        self.last = 0  # Number of the last line that was queued.
        self.lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.process: _HomeProcess | None = None

    def run(self) -> None:
        """Answer the lines until None comes."""
        while (request := self.lines.get()) is not None:
            self.player.turn({"match": self.match, "number": request["number"], "line": self._answer(request)})
        if self.process is not None:
            self.process.close()

    def _answer(self, request: dict[str, Any]) -> str:
        """Return the bot's line; an empty one if the bot has failed: the league then need not wait for it."""
        try:
            begins = json.loads(request["line"])["type"] == "hello"
            if begins or self.process is None:
                if self.process is not None:
                    self.process.close()
                self.process = _HomeProcess(self.player.bot)
                for line, _ in request["before"]:
                    self.process.ask(line)
            return self.process.ask(request["line"])
        except (OSError, ValueError) as error:
            print(f"match {self.match}: the bot failed: {error}", file=sys.stderr, flush=True)
            return ""


class _HomeProcess:
    """A process of the bot, for one conversation."""

    def __init__(self, bot: HomeBot) -> None:
        from engine.packages.manifest import LINE
        from engine.runner.line_protocol import LineTranslator
        from engine.runner.runtimes import modules

        self.translator = LineTranslator() if bot.protocol == LINE else None
        self.number, self.parameters = 0, bot.parameters
        sdk = {str(path.parent) for name, path in modules().items() if "/" not in name}
        paths = os.pathsep.join([*sorted(sdk), *filter(None, [os.environ.get("PYTHONPATH")])])
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(
            bot.command, cwd=bot.folder or None, env=os.environ | {"PYTHONPATH": paths}, process_group=0, **pipes
        )  # In a group of its own, because the terminal sends Ctrl-C to all processes of this one.

    def ask(self, line: str) -> str:
        """Pass a line of the league on and return the answer. Raise OSError or ValueError if the process has ended."""
        from engine.runner.faults import Fault
        from engine.runner.protocol import with_parameters

        kind = json.loads(line)["type"]
        text = line.encode() + b"\n"
        if kind == "hello" and self.parameters:
            text = with_parameters(text, self.parameters)
        assert self.process.stdin is not None  # noqa: S101 - for the types
        assert self.process.stdout is not None  # noqa: S101
        self.process.stdin.write(self.translator.request(text) if self.translator else text)
        self.process.stdin.flush()
        if kind == "end":
            return ""
        reply: bytes = self.process.stdout.readline()
        if not reply:
            raise ValueError(f"it ended with the exit code {self.process.wait()}")
        if self.translator is None:
            return reply.decode("utf-8", "replace").rstrip("\r\n")
        self.number += kind == "act"
        try:
            return (
                self.translator.ready(reply) if kind == "hello" else self.translator.answer(reply, self.number)
            ).decode()
        except Fault as fault:
            raise ValueError(fault.detail) from None

    def close(self) -> None:
        """Let the process end; kill it if it does not."""
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class _Connection:
    """The connection of one bot with its league."""

    league: Any
    bot: HomeBot
    slug: str
    matches: int
    playing: dict[str, _MatchThread] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    announcements: Any = None
    topic: str = ""
    drawn: int = 0  # Number of matches that are not over, with those that have not begun.
    # Set once the league knows that the bot takes no more matches.
    parted: threading.Event = field(default_factory=threading.Event)

    def play(self) -> int:
        """Play until the user ends it."""
        from engine.cli import remote

        try:
            return remote.play_until_interrupted(self._play, self._stop)
        finally:
            for talk in list(self.playing.values()):
                if talk.process is not None:
                    talk.process.process.kill()

    def _play(self) -> None:
        from engine.cli import remote

        while True:
            self.turn()
            if not self.matches and not self.playing and not self.drawn:
                return
            if self.announcements is None:
                self.announcements = remote.Announcements(self.league, self.topic)
                if not self.matches:  # Ctrl-C came before.
                    continue
            self.announcements.wait(PLAYING_S if self.playing else IDLE_S)

    def _stop(self) -> float | None:
        """Take no more matches. Return the seconds until the end; None if matches are being played, which may end first."""
        from engine.cli import remote

        if not self.matches:
            return 0.0
        self.matches = 0
        if self.announcements is not None:
            self.announcements.changed.set()
        is_parted = self.parted.wait(remote.END_S)  # The league may have drawn a match since the last request.
        if not self.playing and not self.drawn:
            return remote.END_S if is_parted else 0.0
        print("ends after the current matches; Ctrl-C again ends at once", file=sys.stderr, flush=True)
        return None

    def turn(self, answer: dict[str, Any] | None = None) -> None:
        """Send an answer, if any, and start on the open requests. If the league cannot be reached, try again."""
        address = f"{API}/bots/{self.slug}/remote"
        while True:
            with self.lock:
                state: dict[str, Any] = {"matches": self.matches, "playing": list(self.playing)}
            body = json.dumps(state | ({"answer": answer} if answer else {})).encode()
            try:
                data = self.league.ask("POST", address, body, {"Content-Type": "application/json"}).data()
            except LeagueError as error:
                if not error.is_away:
                    raise
                print(f"{error}; trying again", file=sys.stderr, flush=True)
                time.sleep(RETRY_S)
                continue
            self._begin(data)
            if not state["matches"]:
                self.parted.set()
            return

    def _begin(self, data: dict[str, Any]) -> None:
        """Hand the requests to their conversations, and end those of matches that are over."""
        with self.lock:
            self.topic, self.drawn = data["topic"], len(data["matches"])
            for request in data["requests"]:
                match = request["match"]
                if match not in self.playing:
                    if json.loads(request["line"])["type"] == "end":
                        continue
                    print(f"match {match}: {self.league.url}/m/{match}/", flush=True)
                    self.playing[match] = _MatchThread(self, match)
                    self.playing[match].start()
                talk = self.playing[match]
                if request["number"] > talk.last:
                    talk.last = request["number"]
                    talk.lines.put(request)
            open_matches = {*data["matches"], *(request["match"] for request in data["requests"])}
            for match in set(self.playing) - open_matches:
                self.playing.pop(match).lines.put(None)
                print(f"match {match} is over", flush=True)
