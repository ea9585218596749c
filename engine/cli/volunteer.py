"""`tute volunteer`: work for a league on this machine."""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.cli.output import command
from engine.cli.problem import Problem, require
from engine.client import API, League, LeagueError

EXAMPLE = """
tute volunteer https://tute.example --key-file key.txt
tute volunteer https://tute.example --key-file key.txt --processes 4
"""
DETAILS = """
Judges the decisions of finished public matches for a league until you end it with Ctrl-C. An operator of the league gives you the key
(docs/volunteers.md). It works at the lowest priority, gets no bot and no account, and opens no port. The league computes some results again; if one
differs, the key ends, so run it on sound hardware.
"""
MOST = 16  # Processes: the most tasks that a league gives to one key.
IDLE_S = 30.0  # Seconds between two requests while there is no work.
LEAST_S = 1.0  # The same while the league announces changes.
RETRY_S, LONGEST_RETRY_S = 2.0, 60.0


def add(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "volunteer", "work for a league on this machine", EXAMPLE, DETAILS)
    parser.add_argument("league", metavar="URL", help="address of the league")
    parser.add_argument("--key-file", type=Path, required=True, metavar="FILE", help="file with the key")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help=f"tasks at a time, at most {MOST}")


def run(args: argparse.Namespace) -> int:
    """Work until the user ends it."""
    require(args, processes=1)
    try:
        key = args.key_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{args.key_file} cannot be read: {error}") from None
    if not key.isascii() or not key.isprintable() or not key:
        raise Problem(f"{args.key_file} has no key: put the key that an operator gave you on its first line")
    return _Volunteer(League(args.league, key), min(args.processes, MOST)).work()


class _Task(threading.Thread):
    """A task: its records are judged in a process of their own. At the end `sittings` has the result, or None if there is none."""

    def __init__(self, task: dict[str, Any], changed: threading.Event) -> None:
        super().__init__(daemon=True)
        self.task, self.changed = task, changed
        self.names = {"task": task["task"], "token": task["token"]}
        self.progress = 0
        self.stops = False  # True if the task is lost, or the user ends the command.
        self.is_over = False
        self.sittings: list[Any] | None = None

    def run(self) -> None:
        """Judge the records."""
        from engine.judging import Broken, Child, Stopped

        task, sittings = self.task, []
        child = Child(cpu_s=task["cpu_s"], fair=task["fair"], nodes=task["nodes"])
        try:
            for number, record in enumerate(task["records"]):
                self.progress = 100 * number // len(task["records"])
                verdicts, is_whole = child.judge(record, stop=lambda: self.stops)
                if not is_whole:
                    raise Broken("it takes more time than the league allows")
                sittings.append(
                    [
                        (row.step, row.lost, row.best, row.par, row.worth, row.error, row.line)
                        for row in verdicts
                        if row.lost is not None
                    ]
                )
            self.sittings = sittings
        except Stopped:
            pass
        except Broken as error:
            print(f"task {task['task']}: given back: {error}", file=sys.stderr, flush=True)
        finally:
            child.close()
            self.is_over = True
            self.changed.set()


@dataclass
class _Volunteer:
    """The connection with a league."""

    league: Any
    processes: int
    tasks: list[_Task] = field(default_factory=list)
    announcements: Any = None
    count: int = 0  # Results that the league took.
    interrupted: threading.Event = field(default_factory=threading.Event)  # Set once the user ends it.

    def work(self) -> int:
        """Work until the user ends it."""
        from engine.cli import remote

        try:
            return remote.play_until_interrupted(self._work, self._stop)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted; tasks done: {self.count}") from None

    def _work(self) -> None:
        from engine.cli import remote

        while not self.interrupted.is_set():
            answer = self._turn(wants=len(self.tasks) < self.processes)
            if self.announcements is None:
                print(f"works for {self.league.url}; Ctrl-C ends it", flush=True)
                self.announcements = remote.Announcements(self.league, answer["topic"])
            if (task := answer["task"]) is not None:
                print(f"task {task['task']}: {len(task['records'])} records", flush=True)
                self.tasks.append(_Task(task, self.announcements.changed))
                self.tasks[-1].start()
                if len(self.tasks) < self.processes:
                    continue
            self._wait(answer["beat_s"] if self.tasks else IDLE_S)
        for running in self.tasks:
            running.stops = True
        for running in self.tasks:
            running.join()
        while self.tasks:  # One result a request
            self._turn(wants=False)

    def _stop(self) -> float:
        """Take no more tasks, and give back those that are not over. Return the seconds for this; none if it was asked before."""
        from engine.cli import remote

        if self.interrupted.is_set():
            return 0.0
        self.interrupted.set()
        for task in list(self.tasks):
            task.stops = True
        if self.announcements is not None:
            self.announcements.changed.set()
        return remote.END_S

    def _wait(self, pause_s: float) -> None:
        """Wait until a task is over, the league announces something, the time is up, or the user ends it."""
        if any(task.is_over for task in self.tasks):
            return
        # Not all volunteers ask in the same instant.
        if not self.interrupted.wait(LEAST_S * (0.5 + random.random())):
            self.announcements.wait(pause_s)

    def _turn(self, *, wants: bool) -> Any:
        """Report what is over, renew the rest, and perhaps ask for a task."""
        from engine.judging import fingerprint

        over = [task for task in self.tasks if task.is_over]
        finished = next((task for task in over if task.sittings is not None), None)
        dropped = [task for task in over if task.sittings is None]
        running = [task for task in self.tasks if task not in dropped and task is not finished]
        state: dict[str, Any] = {
            "engine": fingerprint(),
            "wants": wants,
            "running": [task.names | {"progress": task.progress} for task in running],
            "dropped": [task.names for task in dropped],
        }
        if finished is not None:
            state["result"] = finished.names | {"sittings": finished.sittings}
        answer = self._ask(json.dumps(state).encode())
        for task in running:
            task.stops |= task.task["task"] in answer["lost"]
        self.tasks = running
        if finished is not None:
            self.count += answer["accepted"]
            print(f"task {finished.names['task']}: {'reported' if answer['accepted'] else 'too late'}", flush=True)
        return answer

    def _ask(self, body: bytes) -> Any:
        """Send one request. While the league cannot be reached, try again after longer and longer pauses."""
        pause = RETRY_S
        while True:
            try:
                headers = {"Content-Type": "application/json"}
                return self.league.ask("POST", f"{API}/volunteer", body, headers).data()
            except LeagueError as error:
                if not error.is_away:
                    raise
                print(f"{error}; trying again", file=sys.stderr, flush=True)
                if self.interrupted.wait(pause):
                    raise KeyboardInterrupt from None  # A worker does its tasks when their leases have expired.
                pause = min(2 * pause, LONGEST_RETRY_S)
