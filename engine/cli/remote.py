"""The league of a command: where it is chosen, and its token stored."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.cli.problem import OK, Problem
from engine.client import League, LeagueError, NotThere, address_of

DEAF_S = 0.5  # Seconds between two requests while a league announces no changes.
RETRY_S = 2.0
LOOK_S = 0.3
END_S = 1.5  # Seconds for the last words to a league after Ctrl-C.
STREAM_S = 45.0  # A stream without a ping for this long is broken.
MATCH_ID = re.compile("[a-z0-9]{6,20}")


class Announcements:
    """The changes of one topic that a league announces (`/live`), heard in a thread of its own. `changed` is set at each."""

    def __init__(self, league: League, topic: str) -> None:
        self.changed = threading.Event()
        self.hears = False  # False while the connection is broken.
        self._league, self._address = league, f"/live?topic={quote(topic)}"
        threading.Thread(target=self._listen, daemon=True).start()

    def wait(self, pause_s: float) -> None:
        """Wait for a change, at most `pause_s` seconds; at most DEAF_S seconds while the connection is broken."""
        self.changed.wait(pause_s if self.hears else min(pause_s, DEAF_S))
        self.changed.clear()

    def _listen(self) -> None:
        while True:
            with (
                suppress(OSError, ValueError, LeagueError),
                self._league.open("GET", self._address, timeout=STREAM_S) as stream,
            ):
                self.hears = True
                for line in stream:
                    if line.startswith(b"event: change"):
                        self.changed.set()
            self.hears = False
            time.sleep(RETRY_S)


def play_until_interrupted(play: Callable[[], object], stop: Callable[[], float | None]) -> int:
    """Call `play` in a thread of its own, so that Ctrl-C interrupts nothing half done. Raise KeyboardInterrupt after Ctrl-C.

    At Ctrl-C call `stop`, which lets `play` end soon. It returns the most seconds until then; None: `play` says itself when it has ended.
    """
    result: Future[object] = Future()

    def run() -> None:
        try:
            result.set_result(play())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    until, is_interrupted = float("inf"), False
    while True:
        try:
            while not result.done() and time.monotonic() < until:
                wait([result], LOOK_S)  # A signal that another thread takes would not end a wait without a limit.
            break
        except KeyboardInterrupt:
            patience_s, is_interrupted = stop(), True
            until = float("inf") if patience_s is None else time.monotonic() + patience_s
    if result.done():
        result.result()
    if is_interrupted:
        raise KeyboardInterrupt
    return OK


# ---- Choosing a league


def leagues_file() -> Path:
    """Return the path of the file with addresses and tokens, which only its owner can read."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "tute-league" / "leagues.json"


def _stored() -> dict[str, Any]:
    try:
        document = json.loads(leagues_file().read_text(encoding="utf-8"))
        return {"latest": document["latest"], "tokens": dict(document["tokens"])}
    except FileNotFoundError:
        return {"latest": None, "tokens": {}}
    except (ValueError, KeyError, TypeError):
        raise Problem(f"{leagues_file()} cannot be read; remove it and run tute login again") from None


def keep(league: League | None, forget: str = "") -> None:
    """Store a league and its token as the latest league, or remove the league `forget`."""
    stored = _stored()
    if league is not None:
        stored["tokens"][league.url] = league.token
        stored["latest"] = league.url
    else:
        stored["tokens"].pop(forget, None)
        stored["latest"] = next(iter(stored["tokens"]), None) if stored["latest"] == forget else stored["latest"]
    path = leagues_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1)
    beside.replace(path)


def chosen(url: str | None, *, signed_in: bool = False) -> League:
    """Return the league of --league, TUTE_LEAGUE or the latest `tute login`, and the token of TUTE_TOKEN or that login. Raise Problem without one."""
    stored = _stored()
    where = url or os.environ.get("TUTE_LEAGUE") or stored["latest"]
    if where is None:
        raise Problem("no league is chosen; run tute login ADDRESS once, or give --league ADDRESS")
    where = address_of(where)
    token = os.environ.get("TUTE_TOKEN") or stored["tokens"].get(where, "")
    if signed_in and not token:
        raise Problem(f"you are not signed in at {where}: run tute login {where}")
    return League(where, token)


def add_league_flag(parser: Any) -> None:
    """Declare --league."""
    parser.add_argument(
        "--league", metavar="ADDRESS", help="address of the league (default: that of the latest tute login)"
    )


# ---- Shared requests


def is_match_id(text: str) -> bool:
    """Return True if a word looks like the id of a match and is not a file here."""
    return bool(MATCH_ID.fullmatch(text)) and not Path(text).exists()


def match_log(league: League, match: str) -> str:
    """Return the replays of a finished match, one per line. Raise Problem if there is no such match, or its cards are not public yet."""
    try:
        return league.ask("GET", f"/m/{quote(match)}.jsonl").body.decode()
    except NotThere:
        raise Problem(
            f"{league.url} has no match {match} with public cards; check the id, and whether the match is finished"
        ) from None
