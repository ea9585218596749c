"""A client for the REST API of a league. Standard library only."""

from __future__ import annotations

import json
import os
import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

from engine.cli.problem import INFRASTRUCTURE, Problem

API = "/api/v1"
PATIENCE_S = 30.0  # Timeout of one answer.
LARGEST = 64 << 20  # Bytes of one answer.
TRIES = 5  # Attempts while the league asks to retry later.
LONGEST_WAIT_S = 60.0
DEAF_S = 0.5  # Seconds between two requests while a league announces no changes.
RETRY_S = 2.0
STREAM_S = 45.0  # A stream without a ping for this long is broken.
MATCH_ID = re.compile("[a-z0-9]{6,20}")


@dataclass(frozen=True)
class LeagueAnswer:
    """The headers and the body of an answer."""

    headers: Message
    body: bytes

    def data(self) -> Any:
        """Parse the body as JSON. Raise Problem if it is not."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Problem("the answer is not JSON; this address is not a Tute league", INFRASTRUCTURE) from None


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: a token is sent only to the league that issued it."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Message, newurl: str) -> NoReturn:
        raise Problem(f"{req.full_url} redirects to {newurl}. If that is the league's address, run tute login there")


_opener = build_opener(_NoRedirects)


@dataclass(frozen=True)
class League:
    """A league. `token` may be empty: reading needs none."""

    url: str
    token: str = ""

    def get(self, path: str, **query: object) -> Any:
        """Return the JSON at an address of the API."""
        return self.ask("GET", f"{API}/{path}" + (f"?{urlencode(query)}" if query else "")).data()

    def pages(self, path: str, most: int, **query: object) -> Iterator[Any]:
        """Yield at most `most` rows of a list, page after page."""
        address: str | None = f"{API}/{path}?{urlencode({'page_size': min(most, 50), **query})}"
        while address and most > 0:
            page = self.ask("GET", address).data()
            yield from page["results"][:most]
            most -= len(page["results"])
            address = page["next"] and urlsplit(page["next"])._replace(scheme="", netloc="").geturl()

    def ask(
        self, method: str, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> LeagueAnswer:
        """Send one request to this league. Raise Problem if the league refuses (with its own message) or cannot be reached."""
        request = Request(self.url + address, data=body, method=method, headers=dict(headers or {}))  # noqa: S310 - `at` allows only http and https
        request.add_header("Accept", "application/json, */*;q=0.5")
        if self.token:
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        for attempt in range(TRIES):
            try:
                with _opener.open(request, timeout=PATIENCE_S) as response:
                    return LeagueAnswer(response.headers, response.read(LARGEST))
            except HTTPError as error:
                wait = _wait(error, attempt)
                if wait is None:
                    _refusal(error)
                time.sleep(wait)
            except (URLError, OSError, ssl.SSLError) as error:
                reason = getattr(error, "reason", error)
                raise Problem(
                    f"cannot reach {self.url}: {reason}. Check the address, and whether the league is up",
                    INFRASTRUCTURE,
                ) from None
        raise AssertionError("the last attempt does not wait")


def _wait(error: HTTPError, attempt: int) -> float | None:
    """Return how long to wait before repeating the request; None if repeating is useless."""
    if error.code not in (429, 503) or attempt == TRIES - 1:
        return None
    try:
        wait = float(error.headers.get("Retry-After", ""))
    except ValueError:
        wait = 1.0 if error.code == 503 else LONGEST_WAIT_S + 1
    return wait if 0 <= wait <= LONGEST_WAIT_S else None


def _refusal(error: HTTPError) -> NoReturn:
    body = error.read(1 << 16)
    try:
        document = json.loads(body)
        text = _in_words(document)
    except (ValueError, AttributeError):
        text = f"it answered {error.code}, {error.reason}; this address may be no page of a league"
    raise RefusedByLeague(error.code, f"the league refused this: {text}")


def _in_words(document: dict[str, Any]) -> str:
    """Return what happened and what to do. Messages about single fields say both, and replace the general advice."""
    errors = document.get("errors") or {}
    by_field = [str(text) for texts in errors.values() for text in (texts if isinstance(texts, list) else [texts])]
    parts = by_field or [str(document[part]) for part in ("detail", "what_to_do") if document.get(part)]
    return " ".join(f"{part.rstrip('.')}." for part in parts) or str(document["title"])


class RefusedByLeague(Problem):
    """The league answered with a status of 400 or above."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


# ---- Waiting for changes


class Announcements:
    """The changes of one topic that a league announces (`/live`), heard in a thread of its own. `changed` is set at each."""

    def __init__(self, league: League, topic: str) -> None:
        self.changed = threading.Event()
        self.hears = False  # False while the connection is broken.
        self._address = f"{league.url}/live?topic={quote(topic)}"
        threading.Thread(target=self._listen, daemon=True).start()

    def wait(self, pause_s: float) -> None:
        """Wait for a change, at most `pause_s` seconds; at most DEAF_S seconds while the connection is broken."""
        self.changed.wait(pause_s if self.hears else min(pause_s, DEAF_S))
        self.changed.clear()

    def _listen(self) -> None:
        while True:
            with suppress(OSError, ValueError), urlopen(self._address, timeout=STREAM_S) as stream:  # noqa: S310 - `at` allows only http and https
                self.hears = True
                for line in stream:
                    if line.startswith(b"event: change"):
                        self.changed.set()
            self.hears = False
            time.sleep(RETRY_S)


# ---- Choosing a league


def at(url: str) -> str:
    """Reduce the address of any page of a league to scheme and host. Raise Problem if no token may be sent to it."""
    parts = urlsplit(url if "//" in url else f"https://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise Problem(f"{url} is not the address of a league; give one such as https://tute.example")
    if parts.scheme == "http" and not _local(parts.hostname):
        raise Problem(f"{url} is not encrypted, so others could read your token on the way; use https")
    return f"{parts.scheme}://{parts.netloc}"


def _local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
    where = at(where)
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
    except RefusedByLeague as refused:
        if refused.status != 404:
            raise
        raise Problem(
            f"{league.url} has no match {match} with public cards; check the id, and whether the match is finished"
        ) from None
