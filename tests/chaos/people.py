"""People who use a league in a storm, over HTTP: they create, enter, start, pause, cancel and upload, each request until it is answered.

Their answers stay true: a request repeated with its key gets the same answer, and a refusal is a problem in JSON. So an event of two
stages for which the owner of a bot is asked, requests that are granted, refused and taken back at once, and challenges, come into the storm.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import psycopg

from tests.chaos.conftest import Troubled
from tests.chaos.table import HERMIT
from tests.support.bots import FRAME
from tests.support.stack import HOST

PROBLEM = "application/problem+json"
PATIENCE_S = 60
AWAY = (OSError, http.client.HTTPException)  # A client sees these when the web process is killed
MAY_COME = {200, 201, 202, 204, 409, 429, 503}
SERIES = {
    "name": "Series",
    "game": "variable_trump",
    "stages": [
        {"format": "round_robin", "boards": 1, "groups": 2, "advance": 1},
        {"format": "round_robin", "boards": 1},
    ],
}
STAGES = ("series-stage-1-group-1", "series-stage-1-group-2", "series-stage-2")


@dataclass(frozen=True)
class Answer:
    """One answer of the API."""

    status: int
    body: Any
    replayed: bool


class Person:
    """A player of the league with the key of their program."""

    def __init__(self, league: Troubled, name: str, chance: random.Random, counts: Counter[str]) -> None:
        self.league, self.name, self.chance, self.counts = league, name, chance, counts
        self.created_by_key: dict[str, tuple[tuple[Any, ...], Any]] = {}  # Key -> the request and what it created

    def ask(
        self, method: str, path: str, body: bytes | None, may: Collection[int] = (), **headers: str
    ) -> Answer | None:
        """Send one request; return None if the web went away before it answered. may: statuses that are allowed besides the usual ones."""
        fields = {"Host": HOST, "Authorization": f"Bearer {self.league.tokens[self.name]}", **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.league.stack.port, timeout=PATIENCE_S)
        try:
            connection.request(method, f"/api/v1{path}", body, {k.replace("_", "-"): v for k, v in fields.items()})
            got = connection.getresponse()
            text = got.read().decode()
        except AWAY:
            self.counts["no answer"] += 1
            return None
        finally:
            connection.close()
        self.counts[str(got.status)] += 1
        assert got.status in MAY_COME | {*may}, (method, path, got.status, text)
        if got.status >= 400:
            assert got.headers["Content-Type"] == PROBLEM, (method, path, got.status, text)
        return Answer(got.status, json.loads(text) if text else None, "Idempotency-Replayed" in got.headers)

    def insist(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        unsettled: Collection[int] = (429, 503),
        **headers: str,
    ) -> Answer:
        """Repeat a request until it succeeds or is finally refused. In trouble it is sometimes sent twice at once."""
        while True:
            times = 2 if "Idempotency_Key" in headers and self.chance.random() < 0.3 else 1
            with ThreadPoolExecutor(times) as pool:
                futures = [pool.submit(self.ask, method, path, body, **headers) for _ in range(times)]
                answers = [future.result() for future in futures]
            settled = [answer for answer in answers if answer and answer.status not in unsettled]
            created = [json.dumps(answer.body, sort_keys=True) for answer in settled if answer.status == 201]
            assert len(set(created)) <= 1, created
            if settled:
                return settled[0]
            time.sleep(self.chance.uniform(0.1, 0.5))

    def post(self, path: str, data: object = None, key: str = "", **headers: str) -> Answer:
        """Send one POST with JSON or bytes; with a key, remember what it created."""
        body = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
        headers = {"Content_Type": "application/json", **headers} | ({"Idempotency_Key": key} if key else {})
        answer = self.insist("POST", path, body, **headers)
        if key:
            self.created_by_key[key] = ((path, body, headers), answer)
        return answer

    def asks_again(self) -> None:
        """Check that every request with a key gets the same answer again."""
        for key, ((path, body, headers), answer) in self.created_by_key.items():
            again = self.insist("POST", path, body, **headers)
            assert again.replayed, (self.name, key)
            assert (again.status, again.body) == (answer.status, answer.body), (self.name, key)

    def stays_within_limits(self) -> None:
        """Check that they are within each of their limits now."""
        answer = self.ask("GET", "/me/limits", None)
        if answer and answer.status == 200:
            over = [row for row in answer.body if row["limit"] is not None and row["used"] > row["limit"]]
            assert not over, (self.name, over)


class Owner:
    """Makes one tournament after the other with the bots of four people, and troubles them and those that are there."""

    OTHERS = ("player-0", "player-1", "player-2", "player-3")

    def __init__(self, league: Troubled, chance: random.Random, counts: Counter[str], *, wild: bool) -> None:
        """wild: with pauses, and a cancel now and then."""
        self.league, self.chance, self.counts, self.wild = league, chance, counts, wild
        self.people = {name: Person(league, name, chance, counts) for name in self.OTHERS}
        self.me = self.people["player-0"]
        self.hermit = Person(league, HERMIT, chance, counts)
        self.cancelled: set[str] = set()
        self.created: list[str] = []
        self.calm = threading.Event()

    def run(self, games: list[tuple[str, str]]) -> None:
        """games: names of tournaments and their games. Ends when the storm is over and all of them are under way."""
        self._make_series()
        for name, game in games:
            if self.calm.is_set():
                break
            self._make(name, game)
            self.created.append(name)
            for _ in range(self.chance.randrange(1, 5) if self.wild else 0):
                self._trouble()
        while self.wild and not self.calm.wait(self.chance.uniform(0, 3)):
            self._trouble()

    def _make(self, name: str, game: str) -> None:
        self._create("tournament", name, {"name": name, "game": game, "boards": 2, "seeding": "entry"})
        entries = {}
        for number, (player, person) in enumerate(self.people.items()):
            entry = person.post(f"/tournaments/{name}/entries", {"bot": f"bot-{number}"}, key=f"{name}-{player}")
            assert entry.status == 201, entry
            entries[player] = entry.body["number"]
        if game == "brisca":  # one changes their mind
            leaver = self.people["player-2"]
            gone = leaver.insist("DELETE", f"/tournaments/{name}/entries/{entries['player-2']}")
            assert gone.status in (204, 404), gone
        started = self.me.post(f"/tournaments/{name}/start")
        assert (started.status, started.body["status"]) in ((200, "running"), (200, "finished")), started

    def _make_series(self) -> None:
        """Create an event of two stages. The owner of one bot must agree, so it does not start before its cards are set."""
        bots = ["bot-0", "bot-1", "bot-2", HERMIT]
        self._create("event", "series", {"document": SERIES, "bots": bots})
        answer = self.hermit.insist("GET", "/me/requests?status=asked")
        (request,) = [row for row in answer.body["results"] if row["slug"] == "series"]
        granted = self.hermit.post(f"/requests/{request['id']}/grant")
        assert (granted.status, granted.body["status"]) == (200, "granted"), granted
        started = self.me.post("/events/series/start")
        assert (started.status, started.body["status"]) in ((200, "running"), (200, "finished")), started
        self.created += STAGES

    def _create(self, what: str, name: str, wish: dict[str, Any]) -> None:
        """Create a tournament or an event as soon as there is room for it."""
        for attempt in range(10_000):
            answer = self.me.post(f"/{what}s", wish, key=f"{name}-{attempt}")
            if answer.status == 201:
                break
            assert "tournaments, events and circuits" in answer.body["detail"], answer
            time.sleep(0.5)  # until another one is over
        assert answer.body["slug"] == name, answer
        self._sow(what, name)

    def _sow(self, what: str, name: str) -> None:
        """Set the cards that the quiet league plays, too: nobody can choose them from outside."""
        seed = hashlib.sha256(name.encode()).digest()
        words = f"UPDATE league_{what} SET secret = %s, secret_sha256 = %s WHERE slug = %s"
        while True:
            try:
                with self.league.database() as connection:
                    connection.execute(words.encode(), (seed, hashlib.sha256(seed).hexdigest(), name))
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return

    def _trouble(self) -> None:
        """Act like an owner who cannot make up their mind; whatever was paused goes on afterwards."""
        active = [name for name in self.created if name not in self.cancelled and name != STAGES[-1]]
        name = self.chance.choice(["pairs", "seats", *active])
        ends = name in self.created and name not in STAGES
        act = self.chance.choices(["pause", "bot", "cancel", "look"], [4, 2, 1 if ends else 0, 2])[0]
        self.counts[act] += 1
        if act == "pause":
            self.me.post(f"/tournaments/{name}/pause")
            self._wait()
            self.me.post(f"/tournaments/{name}/resume")
        elif act == "bot":
            number = self.chance.randrange(4)
            self._set_bot(number, "paused")
            self._wait()
            self._set_bot(number, "active")
        elif act == "cancel":
            answer = self.me.post(f"/tournaments/{name}/cancel", {"why": "a storm"})
            if answer.status == 200:
                self.cancelled.add(name)
        else:
            for person in self.people.values():
                person.stays_within_limits()

    def _wait(self) -> None:
        """Wait, sometimes longer than league.domain.upkeep.invariants.MOMENT, after which a match that starts anyway is a finding."""
        self.calm.wait(self.chance.uniform(0, 4) if self.chance.random() < 0.7 else self.chance.uniform(12, 20))

    def _set_bot(self, number: int, state: str) -> None:
        person = self.people[f"player-{number}"]
        body = json.dumps({"state": state}).encode()
        answer = person.insist("PATCH", f"/bots/bot-{number}", body, Content_Type="application/json")
        assert (answer.status, answer.body["state"]) == (200, state), answer


class Guest:
    """Uploads bots, more than are taken, several at once; challenges others with them, and asks for the hermit's bot."""

    def __init__(self, league: Troubled, chance: random.Random, counts: Counter[str]) -> None:
        self.me, self.hermit = (Person(league, name, chance, counts) for name in ("guest", HERMIT))
        self.chance, self.counts = chance, counts
        self.calm = threading.Event()
        self.taken: set[int] = set()  # versions
        self.challenges: set[str] = set()  # matches
        self.fairs: list[str] = []  # tournaments that are asked for and then cancelled
        self.number = 0

    def run(self) -> None:
        """Until the storm is over."""
        while not self.calm.wait(self.chance.uniform(0, 5)):
            with ThreadPoolExecutor(3) as pool:
                uploads = [pool.submit(self._upload, self.number + more) for more in range(self.chance.randrange(1, 4))]
            self.number += len(uploads)
            for future in uploads:
                future.result()
            self._challenge()
            if self.chance.random() < 0.4:
                self._ask()
            self.me.stays_within_limits()

    def _challenge(self) -> None:
        """Start one unrated match of a bot that may still be in validation."""
        rival = f"bot-{self.chance.randrange(4)}"
        wish = {"bot": f"guest-{self.chance.randrange(3)}", "against": rival, "game": "partnership", "boards": 1}
        if not self.taken:
            return
        answer = self.me.ask("GET", f"/bots/{wish['bot']}", None, may={404})
        if not answer or answer.status != 200:
            return
        path, body, key = "/challenges", json.dumps(wish).encode(), f"challenge-{self.number}"
        headers = {"Content_Type": "application/json", "Idempotency_Key": key}
        created = self.me.insist("POST", path, body, unsettled=[503], **headers)  # 429: enough for a day
        if created.status == 201:
            self.me.created_by_key[key] = ((path, body, headers), created)
            self.counts["challenge"] += 1
            self.challenges.add(created.body["id"])
        else:
            assert created.status in (409, 429), created

    def _ask(self) -> None:
        """Ask the hermit, who answers while the request is withdrawn: exactly one of them comes first. Then nothing comes of it."""
        name = f"fair-{len(self.fairs)}"
        fair = self.me.post("/tournaments", {"name": name, "game": "partnership", "boards": 1}, key=name)
        if fair.status != 201:
            assert "tournaments, events and circuits" in fair.body["detail"], fair
            return
        self.fairs.append(name)
        entry = self.me.post(f"/tournaments/{name}/entries", {"bot": HERMIT}, key=f"{name}-asked")
        if entry.status == 202:
            self.counts["request"] += 1
            place = f"/requests/{entry.body['id']}"
            answer = self.chance.choice(["grant", "refuse"])
            with ThreadPoolExecutor(2) as pool:
                reply = pool.submit(self.hermit.post, f"{place}/{answer}")
                other = pool.submit(self.me.insist, "DELETE", place) if self.chance.random() < 0.7 else None
            came = [reply.result().status == 200, other is not None and other.result().status == 204]
            now = self.me.insist("GET", place).body["status"]
            entered = self.me.insist("GET", f"/tournaments/{name}/entries").body["results"]
            assert sum(came) == 1, (place, came)
            assert now == ("withdrawn" if came[1] else {"grant": "granted", "refuse": "refused"}[answer]), (place, now)
            assert len(entered) == (now == "granted"), (place, now, entered)
        gone = self.me.post(f"/tournaments/{name}/cancel", {"why": "nothing comes of it"})
        assert gone.status in (200, 409), gone

    def _upload(self, number: int) -> None:
        """Upload one version; give up if it is refused because there are too many."""
        name = f"guest-{number % 3}"
        source = FRAME.format(body=f"def act(m): return good(m)  # {number}").encode()
        headers = {"Content_Type": "application/octet-stream", "Idempotency_Key": f"upload-{number}"}
        path = f"/bots/{name}/versions?filename=bot.py&games={quote('partnership')}"
        while True:
            answer = self.me.ask("POST", path, source, **headers)
            if answer and answer.status == 201:
                self.me.created_by_key[headers["Idempotency_Key"]] = ((path, source, headers), answer)
                self.taken.add(answer.body["id"])
            if answer and answer.status in (201, 429):
                return
            assert answer is None or answer.status == 503, answer
            time.sleep(0.2)


class Thread(threading.Thread):
    """A thread that reports how it ended."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.act, self.error = act, None
        self.start()

    def run(self) -> None:
        """Act."""
        try:
            self.act()
        except BaseException as error:
            self.error: BaseException | None = error

    def result(self, seconds: float) -> None:
        """Wait for the end; raises what it ended with."""
        self.join(seconds)
        if self.error is not None:
            raise self.error
        assert not self.is_alive(), "it has not come to its end"
